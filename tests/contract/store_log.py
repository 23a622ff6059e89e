"""The store's contract: vectors, the log, states, purging and checking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast.domain.lesson import Evidence, Provenance, in_state
from holdfast.domain.query import Query
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import (
    CLONE,
    DECIDED,
    FAMILIES,
    LEARNING_MOMENTS,
    LESSON_STATES,
    OUTCOME_WEIGHTS,
    PLACE,
    REMOTE_TEXTS,
    STAGED_SEEN,
    SYNCED_FILES,
    SYNCED_LESSONS,
    TIDIED,
)
from holdfast.domain.vocabulary import EventId, LessonId, SessionId
from holdfast.errors import LessonNotFoundError, StaleWriteError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter, Store
from holdfast.testing.builders import (
    PROJECT,
    SESSION,
    START,
    make_change,
    make_checkpoint,
    make_delivery,
    make_event,
    make_lesson,
    make_outcome,
    next_version,
)

from .store_questions import (
    EMBEDDER,
    OTHER,
    assert_found,
    found,
    minutes,
    reachable,
)


class VectorContract:
    """Vectors."""

    def near(self, store: Store, vector: Sequence[float], **conditions: Any) -> list[LessonId]:
        return found(store, "match_vector", vector=tuple(vector), embedder_id=EMBEDDER, **conditions)

    def test_the_nearest_come_first_with_their_cosine(self, store: Store) -> None:
        lessons = [make_lesson() for _ in range(3)]
        store.put(lessons, {})
        store.put_vectors(EMBEDDER, {lessons[0].id: (0, 1, 0), lessons[1].id: (0.6, 0.8, 0), lessons[2].id: (-1, 0, 0)})
        matches = store.match_vector(Query(project=PROJECT, vector=(1.0, 0.0, 0.0), embedder_id=EMBEDDER), 9)
        assert [match.id for match in matches] == [lessons[1].id, lessons[0].id, lessons[2].id]
        assert [match.cosine for match in matches] == pytest.approx([0.6, 0.0, -1.0], abs=0.01)

    def test_vectors_of_two_embedders_never_meet(self, store: Store) -> None:
        lesson = reachable(store)
        assert found(store, "match_vector", vector=(1.0, 0.0, 0.0), embedder_id="other") == []
        assert found(store, "match_vector", vector=(1.0, 0.0), embedder_id=EMBEDDER) == []
        store.put_vectors("other", {lesson.id: (0.0, 1.0, 0.0)})
        assert found(store, "match_vector", vector=(0.0, 1.0, 0.0), embedder_id="other") == [lesson.id]

    def test_a_vector_written_after_a_search_is_found(self, store: Store) -> None:
        first = reachable(store)
        assert self.near(store, (1, 0, 0)) == [first.id]
        second = reachable(store)
        assert set(self.near(store, (1, 0, 0))) == {first.id, second.id}

    def test_a_vector_put_again_replaces_the_old_one(self, store: Store) -> None:
        lesson, other = reachable(store), reachable(store)
        store.put_vectors(EMBEDDER, {lesson.id: (0.0, 1.0, 0.0)})
        assert self.near(store, (1, 0, 0)) == [other.id, lesson.id]
        assert self.near(store, (0, 1, 0)) == [lesson.id, other.id]

    def test_a_revised_lessons_vector_is_gone_with_its_text(self, store: Store) -> None:
        lesson = reachable(store)
        changed = next_version(lesson, insight="Something else")
        store.put([changed], {lesson.id: lesson.recorded_at})
        assert self.near(store, (1, 0, 0)) == []
        assert store.find(LessonFilter(project=PROJECT, without_vector=EMBEDDER)) == [changed]

    def test_a_lesson_that_only_changes_its_state_keeps_its_vector(self, store: Store) -> None:
        lesson = reachable(store, state="candidate")
        store.put([in_state(lesson, "active", at=minutes(1))], {lesson.id: lesson.recorded_at})
        assert self.near(store, (1, 0, 0)) == [lesson.id]
        assert store.find(LessonFilter(project=PROJECT, without_vector=EMBEDDER)) == []

    def test_lessons_without_a_vector_of_an_embedder_are_counted(self, store: Store) -> None:
        reachable(store), reachable(store)
        bare = make_lesson(project="elsewhere")
        store.put([bare, make_lesson(state="forgotten")], {})
        assert [store.count_without_vector(name) for name in (EMBEDDER, "other", "")] == [1, 3, 3]
        store.put_vectors(EMBEDDER, {bare.id: (1.0, 0.0, 0.0)})
        assert store.count_without_vector(EMBEDDER) == 0

    def test_vectors_of_other_embedders_can_be_erased(self, store: Store) -> None:
        lesson = reachable(store)
        store.put_vectors("a", {lesson.id: (0.0, 1.0, 0.0)})
        store.put_vectors("z", {lesson.id: (0.0, 1.0, 0.0)})
        store.drop_other_vectors("z")
        assert found(store, "match_vector", vector=(0.0, 1.0, 0.0), embedder_id="z") == [lesson.id]
        assert [store.count_without_vector(name) for name in ("a", EMBEDDER, "z")] == [1, 1, 0]
        assert self.near(store, (1, 0, 0)) == []

    def test_a_vector_of_an_unknown_lesson_is_skipped(self, store: Store) -> None:
        store.put_vectors(EMBEDDER, {LessonId("gone"): (1.0, 0.0, 0.0)})
        assert self.near(store, (1, 0, 0)) == []
        assert store.check() == []


class LogContract:
    """The log."""

    def test_log_records_come_back_whole_newest_first(self, store: Store) -> None:
        make: Any
        for make in (make_delivery, make_outcome):
            old, new = make(at=minutes(1)), make(at=minutes(2))
            store.record([new, old])
            assert store.find_records(type(new), LogFilter()) == [new, old]
            assert store.find_records(type(new), LogFilter(limit=1)) == [new]

    def test_changes_and_checkpoints_come_back_in_the_order_received_whatever_the_clock_stated(
        self, store: Store
    ) -> None:
        make: Any
        for make in (make_checkpoint, make_change):
            first, second = make(at=minutes(2)), make(at=minutes(1))
            store.record([first, second])
            assert store.find_records(type(first), LogFilter()) == [second, first]
            assert store.find_records(type(first), LogFilter(project=PROJECT, limit=1)) == [second]

    def test_a_record_stored_already_is_skipped(self, store: Store) -> None:
        first = make_delivery()
        store.record([first])
        store.record([replace(first, reason="again"), make_change(id=first.id)])
        assert store.find_records(Delivery, LogFilter()) == [first]
        assert len(store.find_records(Change, LogFilter())) == 1

    def test_log_records_are_filtered(self, store: Store) -> None:
        lesson, session = LessonId("lesson-2"), SessionId("session-2")
        make: Any
        for make in (make_delivery, make_outcome):
            wanted = make(lesson=lesson, session=session, project=OTHER)
            store.record([make(), wanted])
            for where in (LogFilter(project=OTHER), LogFilter(session=session), LogFilter(lesson=lesson)):
                assert store.find_records(type(wanted), where) == [wanted]
            assert store.find_records(type(wanted), LogFilter(lesson=lesson, session=SESSION)) == []

    def test_checkpoints_and_changes_are_filtered_by_what_they_have(self, store: Store) -> None:
        lesson = LessonId("lesson-2")
        checkpoint = make_checkpoint(project=OTHER, session=SessionId("session-2"), done=("a", "b"), closed=True)
        change = make_change(project=OTHER, lessons=(lesson, LessonId("lesson-3")))
        store.record([make_checkpoint(), checkpoint, make_change(), change])
        assert store.find_records(Checkpoint, LogFilter(session=SessionId("session-2"))) == [checkpoint]
        assert store.find_records(Change, LogFilter(lesson=lesson)) == [change]
        assert store.find_records(Change, LogFilter(project=OTHER)) == [change]
        assert store.find_records(Checkpoint, LogFilter(lesson=lesson)) == []
        assert store.find_records(Change, LogFilter(session=SESSION)) == []

    def test_records_are_filtered_by_project_and_session_or_lesson_at_once(self, store: Store) -> None:
        lesson, session = LessonId("lesson-2"), SessionId("session-2")
        make: Any
        for make in (make_delivery, make_outcome):
            wanted = make(lesson=lesson, session=session)
            store.record([make(), wanted, make(lesson=lesson, session=session, project=OTHER)])
            for more in ({"session": session}, {"lesson": lesson}, {"session": session, "lesson": lesson}):
                assert store.find_records(type(wanted), LogFilter(project=PROJECT, **more)) == [wanted]

    def test_what_text_cannot_hold_is_replaced_in_a_record(self, store: Store) -> None:
        store.record([make_delivery(trigger="a\0b\ud800")])
        assert store.find_records(Delivery, LogFilter())[0].trigger == "a\ufffdb\ufffd"


class StateContract:
    """State that Holdfast stores about its own work."""

    def test_a_state_is_empty_until_it_is_set(self, store: Store) -> None:
        assert store.get_state(PLACE, "/a") == ""
        for value in ("1", "2", "2", ""):
            store.set_state(PLACE, "/a", value)
            assert store.get_state(PLACE, "/a") == value
        store.set_state(PLACE, "k\0\ud800", "v\0")
        assert store.get_state(PLACE, "k\0\ud800") == "v\ufffd"

    def test_several_states_are_read_in_order(self, store: Store) -> None:
        store.set_state(PLACE, "/a", "1")
        store.set_state(CLONE, "/a", "2")
        store.set_state(PLACE, "k\0\ud800", "3")
        cells = [(CLONE, "/a"), (PLACE, "/b"), (PLACE, "k\0\ud800"), (PLACE, "/a"), (CLONE, "/a")]
        assert store.get_states(cells) == ["2", "", "3", "1", "2"]
        assert store.get_states([]) == []

    def test_a_state_belongs_to_its_family_and_owner(self, store: Store) -> None:
        store.set_state(PLACE, "a", "1")
        store.set_state(PLACE, "b", "2")
        store.set_state(DECIDED, "a", "3")
        store.set_state(TIDIED, "", "4")
        assert [store.get_state(PLACE, owner) for owner in ("a", "b", "", "A")] == ["1", "2", "", ""]
        assert (store.get_state(DECIDED, "a"), store.get_state(TIDIED)) == ("3", "4")

    def test_a_state_is_edited_from_what_it_is(self, store: Store) -> None:
        assert store.edit_state(TIDIED, "", lambda value: value + "a") == "a"
        assert store.edit_state(TIDIED, "", lambda value: value + "b\0") == "ab\ufffd"
        assert store.get_state(TIDIED) == "ab\ufffd"
        assert store.edit_state(TIDIED, "", lambda value: "") == store.get_state(TIDIED) == ""

    def test_an_edit_that_fails_changes_nothing(self, store: Store) -> None:
        store.set_state(TIDIED, "", "1")
        with pytest.raises(ZeroDivisionError):
            store.edit_state(TIDIED, "", lambda value: str(1 // 0))
        assert store.get_state(TIDIED) == "1"

    def test_states_go_when_their_days_are_over(self, store: Store) -> None:
        now = datetime.now(UTC)
        for family in FAMILIES:
            store.set_state(family, "x", "kept")
        assert store.expire_states(now) == 0
        for day in sorted({family.kept_days for family in FAMILIES if family.kept_days}):
            due = [family for family in FAMILIES if family.kept_days == day]
            assert store.expire_states(now + timedelta(days=day) - timedelta(minutes=1)) == 0
            assert store.expire_states(now + timedelta(days=day) + timedelta(hours=1)) == len(due)
        assert {family for family in FAMILIES if store.get_state(family, "x")} == {
            family for family in FAMILIES if not family.kept_days
        }

    def test_a_purged_lesson_is_named_by_no_state_that_names_lessons(self, store: Store) -> None:
        lesson, stays = reachable(store), reachable(store)
        store.set_state(LESSON_STATES, "a", f'[{{"lesson":"{lesson.id}","at":"1"}},{{"lesson":"{stays.id}","at":"2"}}]')
        store.set_state(OUTCOME_WEIGHTS, "a", f'{{"lessons":{{"{lesson.id}":{{}},"{stays.id}":{{}}}},"shifts":{{}}}}')
        store.set_state(STAGED_SEEN, "a", f"c1 main close {lesson.id} {stays.id}")
        store.set_state(STAGED_SEEN, "b", f"c1 main close {stays.id}")
        store.set_rows(SYNCED_LESSONS, "a", {"k": f'{{"lesson":"{lesson.id}"}}'})
        assert store.purge([lesson.id])["state"] == 3
        assert store.get_state(LESSON_STATES, "a") == f'[{{"lesson":"{stays.id}","at":"2"}}]'
        assert store.get_state(OUTCOME_WEIGHTS, "a") == f'{{"lessons":{{"{stays.id}":{{}}}},"shifts":{{}}}}'
        assert (store.get_state(STAGED_SEEN, "a"), store.get_state(STAGED_SEEN, "b")) == (
            "", f"c1 main close {stays.id}",
        )  # fmt: skip
        assert lesson.id in store.get_rows(SYNCED_LESSONS, "a")["k"], "else its file would be taken in again"


class RowsContract:
    """Values by family, owner and key."""

    def test_rows_are_set_and_removed_one_at_a_time(self, store: Store) -> None:
        assert store.get_rows(SYNCED_LESSONS, "a") == {}
        assert store.set_rows(SYNCED_LESSONS, "a", {"2": "two", "1": "one", "\ufffd": "last", "é": "é"}) == 4
        assert list(store.get_rows(SYNCED_LESSONS, "a").items()) == [
            ("1", "one"), ("2", "two"), ("é", "é"), ("\ufffd", "last"),
        ]  # fmt: skip
        assert store.set_rows(SYNCED_LESSONS, "a", {"2": "", "3": "three", "4": ""}) == 2
        assert [*store.get_rows(SYNCED_LESSONS, "a")] == ["1", "3", "é", "\ufffd"]
        assert store.set_rows(SYNCED_LESSONS, "a", {}) == 0

    def test_rows_belong_to_their_family_and_owner(self, store: Store) -> None:
        store.set_rows(SYNCED_LESSONS, "a", {"k": "1"})
        store.set_rows(SYNCED_LESSONS, "b", {"k": "2"})
        store.set_rows(SYNCED_FILES, "a", {"k": "3"})
        store.set_rows(SYNCED_LESSONS, "b", {"k": ""})
        families = (SYNCED_LESSONS, SYNCED_FILES)
        assert [[store.get_rows(family, owner) for owner in ("a", "b", "A")] for family in families] == [
            [{"k": "1"}, {}, {}],
            [{"k": "3"}, {}, {}],
        ]

    def test_only_the_named_rows_are_read(self, store: Store) -> None:
        everything = {f"key {number:04}": str(number) for number in range(1_200)}
        assert store.set_rows(SYNCED_FILES, "a", everything) == 1_200
        assert store.get_rows(SYNCED_FILES, "a") == everything
        assert store.get_rows(SYNCED_FILES, "a", []) == {}
        assert store.get_rows(SYNCED_FILES, "a", ["key 0007", "missing", "key 0003", "key 0003"]) == {
            "key 0003": "3", "key 0007": "7",
        }  # fmt: skip
        assert store.get_rows(SYNCED_FILES, "a", [*everything, "missing"]) == everything

    def test_a_row_is_counted_only_if_it_changes(self, store: Store) -> None:
        store.set_rows(SYNCED_FILES, "a", {"1": "one", "2": "two"})
        assert store.set_rows(SYNCED_FILES, "a", {"1": "one", "2": "two"}) == 0
        assert store.set_rows(SYNCED_FILES, "a", {"1": "one", "2": "zwei"}) == 1

    def test_keys_and_values_may_have_any_length_and_character(self, store: Store) -> None:
        long = "k" * 3_000
        store.set_rows(SYNCED_FILES, "o\0", {long: "v" * 100_000, "k\0\ud800": "v\0"})
        rows = store.get_rows(SYNCED_FILES, "o\0", [long, "k\0\ud800"])
        assert rows == {long: "v" * 100_000, "k\ufffd\ufffd": "v\ufffd"}


class PurgeContract:
    """Purging and checking."""

    def test_a_purged_lessons_file_is_gone_from_the_rows_of_its_project(self, store: Store) -> None:
        lesson = make_lesson(insight="the pier is closed")
        text = "---\nid: 1\nwhy: storm\n---\n\nthe pier is closed\n"
        other = "---\nid: 2\nrivals:\n  - the pier is closed\n---\n\nthe pier is open\n"
        store.put([lesson], {lesson.id: None})
        owner = f"{lesson.scope.project}\nhttps://memory.example.com"
        store.set_rows(REMOTE_TEXTS, owner, {"1": text, "2": other})
        store.set_rows(REMOTE_TEXTS, "another\nhttps://memory.example.com", {"1": text})
        store.purge([lesson.id])
        assert store.get_rows(REMOTE_TEXTS, owner) == {"2": other}
        assert store.get_rows(REMOTE_TEXTS, "another\nhttps://memory.example.com") == {"1": text}

    def test_a_purged_lessons_moments_are_gone_and_so_are_its_words_in_those_of_others(self, store: Store) -> None:
        evidence = Evidence(event=EventId("e1"), quote="the pier is closed")
        lesson = make_lesson(
            insight="Pier 9 is closed.", provenance=Provenance(session=SESSION, evidence=(evidence,)),
        )  # fmt: skip
        store.put([lesson], {})
        stays = f'{{"event":"e3","session":"{SESSION}","kind":"file","text":"quay.py"}}'
        quoted = f'{{"event":"e1","session":"{SESSION}","kind":"file","text":"pier.py"}}'
        spoken = f'{{"event":"e2","session":"{SESSION}","kind":"prompt","text":"As PIER 9 is  closed, use the quay"}}'
        begun = f'{{"event":"e4","session":"{SESSION}","kind":"prompt","text":"Note that pier 9 is clo"}}'
        elsewhere = '{"event":"e2","session":"session-2","kind":"prompt","text":"Pier 9 is closed"}'
        store.set_state(LEARNING_MOMENTS, lesson.id, f"[{stays}]")
        store.set_state(LEARNING_MOMENTS, "other", f"[{quoted},{stays},{spoken},{begun},{elsewhere}]")
        store.set_state(LEARNING_MOMENTS, "third", f"[{spoken}]")
        store.set_state(LEARNING_MOMENTS, "fourth", f"[{stays}]")
        assert store.purge([lesson.id])["state"] == 3
        values = [store.get_state(LEARNING_MOMENTS, owner) for owner in (lesson.id, "other", "third", "fourth")]
        assert values == ["", f"[{stays},{elsewhere}]", "", f"[{stays}]"]

    def test_a_purged_lesson_is_gone_with_all_that_derives_from_it(self, store: Store) -> None:
        lesson, stays = reachable(store, insight="the walrus secret"), reachable(store)
        store.put([next_version(lesson, insight="the second walrus secret")], {lesson.id: lesson.recorded_at})
        store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
        both = make_change(lessons=(lesson.id, stays.id), summary="about the walrus")
        store.record(
            [make_delivery(lesson=lesson.id), make_outcome(lesson=lesson.id), make_change(lessons=(lesson.id,))]
        )
        store.record([both, make_delivery(lesson=stays.id)])
        erased = store.purge([lesson.id])
        assert sum(erased.values()) >= 7
        assert all(rows > 0 for rows in erased.values())
        with pytest.raises(LessonNotFoundError):
            store.get([lesson.id], as_of=START)
        assert_found(store, lesson, False)
        assert_found(store, stays, True)
        assert [d.lesson for d in store.find_records(Delivery, LogFilter())] == [stays.id]
        assert store.find_records(Outcome, LogFilter()) == []
        assert store.find_records(Change, LogFilter()) == [replace(both, lessons=(stays.id,), summary="")]
        assert store.check() == []

    def test_a_purge_and_its_change_are_written_together(self, store: Store) -> None:
        lesson, change = reachable(store), make_change(verb="purge")
        store.purge([lesson.id], change)
        assert store.find_records(Change, LogFilter()) == [change]

    def test_the_events_a_purged_lesson_quotes_lose_their_texts(self, store: Store) -> None:
        quoted, other = make_event(text="Remember that pier 9 is closed"), make_event(text="Pier 9 is closed, noted")
        elsewhere = make_event(text="Pier 9 is closed", session=SessionId("session-2"))
        store.append_events([quoted, other, elsewhere])
        evidence = Evidence(event=quoted.id, quote="pier 9 is closed")
        lesson = make_lesson(insight="Pier 9 is closed.", provenance=Provenance(session=SESSION, evidence=(evidence,)))
        store.put([lesson], {})
        store.purge([lesson.id])
        texts = [event.text for _, event in store.find_events(EventFilter())]
        assert texts == ["", "[purged], noted", "Pier 9 is closed"]

    def test_old_events_lose_their_texts_and_stay_known(self, store: Store) -> None:
        old, new = make_event(at=START, text="Pier 9", files=("a.py",)), make_event(at=minutes(9), text="Pier 8")
        silent = make_event(kind="file_edit", text="", at=START)
        store.append_events([old, new, silent])
        assert store.erase_event_texts(minutes(9)) == 1
        assert store.erase_event_texts(minutes(9)) == 0
        assert [event for _, event in store.find_events(EventFilter())] == [replace(old, text=""), new, silent]

    def test_outcomes_of_other_lessons_lose_the_words_of_a_purged_one(self, store: Store) -> None:
        rule = "Pier 9 is closed to all ships."
        lesson = make_lesson(insight=rule, provenance=Provenance(session=SESSION))
        store.put([lesson], {})
        other = make_outcome(note="pier 9 is closed to all ships", trigger="Pier 9 is closed to")
        store.record([other])
        store.purge([lesson.id])
        (stored,) = store.find_records(Outcome, LogFilter())
        assert (stored.note, stored.trigger, stored.verdict) == ("[purged]", "[purged]", other.verdict)

    def test_purging_what_is_not_there_erases_nothing(self, store: Store) -> None:
        lesson = reachable(store)
        assert store.purge([LessonId("nope"), LessonId("\ud800")]) == {}
        assert store.purge([]) == {}
        assert_found(store, lesson, True)

    def test_events_outlive_the_lessons_learnt_from_them(self, store: Store) -> None:
        lesson = reachable(store)
        store.append_events([make_event()])
        store.purge([lesson.id])
        assert len(store.find_events(EventFilter())) == 1

    def test_a_new_store_is_sound(self, store: Store) -> None:
        assert store.check() == []

    def test_checking_changes_nothing(self, store: Store) -> None:
        lesson = reachable(store)
        assert store.check() == []
        assert store.check() == []
        assert store.get([lesson.id]) == [lesson]


class ReadingContract:
    """Reads that belong to one answer."""

    def test_a_store_says_which_content_it_has(self, store: Store) -> None:
        content = store.content()
        store.put([make_lesson()], {})
        assert store.content() == content
        assert hash(store.content()) == hash(content)

    def test_reads_of_one_answer_see_what_the_same_answer_wrote(self, store: Store) -> None:
        with store.reading():
            assert store.find(LessonFilter(project=PROJECT)) == []
            lesson = make_lesson()
            store.put([lesson], {})
            with store.reading():
                assert store.get([lesson.id]) == [lesson]
            with pytest.raises(LessonNotFoundError):
                store.get([LessonId("never")])
            assert store.find(LessonFilter(project=PROJECT)) == [lesson]
        assert store.get([lesson.id]) == [lesson]


class ChangingContract:
    """Calls that are one transaction."""

    def test_calls_inside_are_written_together(self, store: Store) -> None:
        lesson, change = make_lesson(), make_change()
        with store.changing():
            store.put([lesson], {})
            assert store.get([lesson.id]) == [lesson]
            store.record([change])
            store.set_state(TIDIED, "", "1")
            assert store.append_events([make_event()]) == 1
        assert store.get([lesson.id]) == [lesson]
        assert store.find_records(Change, LogFilter()) == [change]
        assert store.get_state(TIDIED) == "1"
        assert len(store.find_events(EventFilter())) == 1

    def test_an_error_takes_all_of_them_back(self, store: Store) -> None:
        before, lesson = reachable(store), make_lesson()
        store.append_events([make_event()])
        store.set_state(TIDIED, "", "1")
        extent = store.extent()

        def write() -> None:
            store.put([lesson, next_version(before, insight="changed")], {before.id: before.recorded_at})
            store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
            assert found(store, "match_vector", vector=(1.0, 0.0, 0.0), embedder_id=EMBEDDER) == [lesson.id]
            store.append_events([make_event()])
            store.edit_state(TIDIED, "", lambda value: value + "2")
            store.purge([before.id], make_change())

        _write_and_fail(store, write)
        assert store.extent() == extent
        assert store.find(LessonFilter(project=PROJECT)) == [before]
        assert len(store.find_events(EventFilter())) == 1
        assert store.get_state(TIDIED) == "1"
        assert store.find_records(Change, LogFilter()) == []
        assert_found(store, before, True)
        another = reachable(store)
        assert set(found(store, "match_vector", vector=(1.0, 0.0, 0.0), embedder_id=EMBEDDER)) == {
            before.id, another.id,
        }  # fmt: skip
        assert store.check() == []

    def test_a_call_that_fails_takes_back_its_own_writes_only(self, store: Store) -> None:
        first, second = make_lesson(), make_lesson()
        with store.changing():
            store.put([first], {})
            with pytest.raises(StaleWriteError):
                store.put([second, next_version(first)], {first.id: None})
            with pytest.raises(LessonNotFoundError):
                store.get([second.id])
            store.set_state(TIDIED, "", "1")
        assert store.find(LessonFilter(project=PROJECT)) == [first]
        assert store.get_state(TIDIED) == "1"

    def test_one_inside_another_belongs_to_it_and_can_fail_alone(self, store: Store) -> None:
        first, second, third = make_lesson(), make_lesson(), make_lesson()
        with store.changing():
            with store.changing():
                store.put([first], {})
            _write_and_fail(store, lambda: store.put([second], {}))
            store.put([third], {})
        assert {lesson.id for lesson in store.find(LessonFilter(project=PROJECT))} == {first.id, third.id}

        def purge() -> None:
            with store.changing():
                store.purge([first.id])

        _write_and_fail(store, purge)
        assert store.get([first.id]) == [first]

    def test_a_change_inside_a_reading_ends_with_its_own_block(self, store: Store) -> None:
        lesson = make_lesson()
        with store.reading():
            assert store.find(LessonFilter(project=PROJECT)) == []
            with store.changing():
                store.put([lesson], {})
                with store.reading():
                    assert store.get([lesson.id]) == [lesson]
            assert store.get([lesson.id]) == [lesson]
        assert store.get([lesson.id]) == [lesson]


def _write_and_fail(store: Store, write: Callable[[], object]) -> None:
    """Write in a transaction that an error ends."""

    def write_then_fail() -> None:
        with store.changing():
            write()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_then_fail()
