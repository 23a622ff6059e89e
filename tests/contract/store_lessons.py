"""The store's contract: events and versions of lessons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor, Link, in_state
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.ports.store import EventFilter, Extent, LessonFilter, LogFilter, Store
from holdfast.testing.builders import (
    PROJECT,
    SESSION,
    START,
    make_change,
    make_event,
    make_lesson,
    next_version,
)
from holdfast.text.words import duplicate_key

from .store_questions import (
    EMBEDDER,
    HOSTILE,
    OTHER,
    found,
    minutes,
)


class EventContract:
    """Events."""

    def test_events_come_back_whole_in_the_order_received(self, store: Store) -> None:
        events = [
            make_event(kind="file_edit", files=("a.py", "b.py"), old="x", new="y", exit_code=0, at=minutes(9)),
            make_event(kind="tool_failure", command="pytest", exit_code=1, branch="main", model="m", at=minutes(1)),
        ]
        assert store.append_events(events) == 2
        numbered = store.find_events(EventFilter())
        assert [event for _, event in numbered] == events
        assert numbered[0][0] < numbered[1][0]

    def test_an_event_with_a_stored_session_and_key_is_skipped(self, store: Store) -> None:
        first, again = make_event(key="k", text="first"), make_event(key="k", text="again")
        elsewhere = make_event(key="k", session=SessionId("session-2"))
        assert store.append_events([first, again]) == 1
        assert store.append_events([again, elsewhere]) == 1
        assert [event for _, event in store.find_events(EventFilter())] == [first, elsewhere]

    def test_appending_nothing_keeps_nothing(self, store: Store) -> None:
        assert store.append_events([]) == 0
        assert store.find_events(EventFilter()) == []

    def test_events_are_filtered_by_project_session_position_and_limit(self, store: Store) -> None:
        events = [
            make_event(), make_event(project=OTHER), make_event(session=SessionId("session-2")), make_event(),
        ]  # fmt: skip
        store.append_events(events)
        numbered = store.find_events(EventFilter())

        def keys(where: EventFilter) -> list[Event]:
            return [event for _, event in store.find_events(where)]

        assert keys(EventFilter(project=PROJECT)) == [events[0], events[2], events[3]]
        assert keys(EventFilter(session=SESSION)) == [events[0], events[1], events[3]]
        assert keys(EventFilter(project=PROJECT, session=SESSION, after=numbered[0][0])) == [events[3]]
        assert keys(EventFilter(after=numbered[1][0], limit=1)) == [events[2]]
        assert keys(EventFilter(limit=0)) == []

    def test_what_was_stated_is_found_by_its_kind_and_the_last_come_in_order(self, store: Store) -> None:
        prompts = [make_event(key=f"prompt:{i}") for i in range(3)]
        others = [
            make_event(kind="reply", key="reply:0"),
            make_event(key="promptly:0"),
            make_event(key="other prompt:"),
        ]
        store.append_events([prompts[0], *others, *prompts[1:]])

        def events(**conditions: Any) -> list[Event]:
            return [event for _, event in store.find_events(EventFilter(session=SESSION, **conditions))]

        assert events(kind="prompt") == prompts
        assert events(kind="reply") == others[:1]
        assert events(kind="prompt", last=2) == prompts[1:]
        assert events(last=2) == prompts[1:]
        assert events(last=3, limit=1) == others[2:]
        assert events(kind="prompt", last=9, after=store.find_events(EventFilter(kind="prompt"))[0][0]) == prompts[1:]

    def test_events_are_filtered_by_kind_and_the_last_so_many_are_reported_in_order(self, store: Store) -> None:
        events = [
            make_event(key=f"{kind}:{number}", kind=kind, text=f"{number}")
            for number in range(3)
            for kind in ("prompt", "reply")
        ]
        store.append_events([*events, make_event(key="prompter:1"), make_event(key="prompt")])

        def texts(**where: Any) -> list[str]:
            return [event.text for _, event in store.find_events(EventFilter(session=SESSION, **where))]

        assert texts(kind="prompt") == texts(kind="reply") == ["0", "1", "2"]
        assert texts(kind="reply", last=2) == ["1", "2"]
        assert texts(kind="reply", last=2, limit=1) == ["1"]
        assert texts(kind="reply", last=9) == ["0", "1", "2"]
        assert texts(kind="commit") == []
        assert len(store.find_events(EventFilter(last=1))) == 1
        assert store.find_events(EventFilter(last=2, limit=0)) == []

    def test_what_text_cannot_hold_is_replaced_in_an_event(self, store: Store) -> None:
        store.append_events([make_event(key="k\0", text="a\0b\ud800c 😀", files=("x\udfff.py",))])
        ((_, event),) = store.find_events(EventFilter())
        assert event.text == "a\ufffdb\ufffdc 😀"
        assert event.files == ("x\ufffd.py",)
        assert store.append_events([make_event(key="k\0")]) == 0

    def test_a_text_of_five_megabytes_is_stored(self, store: Store) -> None:
        store.append_events([make_event(text="long " * 1_000_000)])
        assert len(store.find_events(EventFilter())[0][1].text) == 5_000_000


class LessonContract:
    """Versions of lessons: put, get, find."""

    def test_a_lesson_comes_back_as_it_was_put(self, store: Store) -> None:
        lesson = make_lesson(
            why="because", how="so", snippets=("a()", "b()"), paths=("a.py", "b/c.py"), globs=("docs/**",),
            tags=("x",), topic_key="k", trust="person", confidence=0.75, salience=1.0, private=True, branch="dev",
            prefix="packages/api", links=(Link(kind="refines", target=LessonId("other")),), level="team",
            error_signature="E", command="c", sessions_seen=(SESSION,), revival="numpy>=3", valid_to=minutes(9),
        )  # fmt: skip
        store.put([lesson], {lesson.id: None})
        assert store.get([lesson.id]) == [lesson]

    def test_an_unknown_id_raises_lesson_not_found(self, store: Store) -> None:
        lesson = make_lesson()
        store.put([lesson], {})
        for unknown in ("nope", "", "\ud800", "%"):
            with pytest.raises(LessonNotFoundError):
                store.get([lesson.id, LessonId(unknown)])

    def test_lessons_come_in_the_order_requested(self, store: Store) -> None:
        lessons = [make_lesson() for _ in range(700)]
        store.put(lessons, {})
        ids = [lesson.id for lesson in reversed(lessons)]
        assert [lesson.id for lesson in store.get(ids)] == ids
        assert store.get([]) == []

    def test_current_versions_are_each_ones_state_and_time_of_recording(self, store: Store) -> None:
        lessons = [make_lesson() for _ in range(700)]
        store.put(lessons, {})
        revised = next_version(lessons[0], state="retired")
        store.put([revised], {lessons[0].id: lessons[0].recorded_at})
        ids = [lesson.id for lesson in lessons]
        versions = store.current_versions([*ids, LessonId("nowhere"), *map(LessonId, HOSTILE)])
        assert set(versions) == set(ids)
        assert versions[revised.id] == ("retired", revised.recorded_at)
        assert versions[ids[1]] == ("active", lessons[1].recorded_at)
        assert store.current_versions([]) == {}
        store.purge([ids[2]])
        assert store.current_versions(ids[2:3]) == {}

    def test_the_replaced_version_is_closed_when_the_new_one_begins(self, store: Store) -> None:
        first = make_lesson()
        second = next_version(first, insight="Different now")
        store.put([first], {})
        store.put([second], {first.id: first.recorded_at})
        assert store.get([first.id]) == [second]
        (past,) = store.get([first.id], as_of=first.recorded_at)
        assert past == replace(first, retracted_at=second.recorded_at)

    def test_a_stale_write_writes_nothing(self, store: Store) -> None:
        first = make_lesson()
        second, stale, new = next_version(first), next_version(first, 90, insight="stale"), make_lesson()
        store.put([first], {})
        store.put([second], {first.id: first.recorded_at})
        for expected in ({first.id: first.recorded_at}, {first.id: None}, {}):
            with pytest.raises(StaleWriteError):
                store.put([new, stale], expected)
        with pytest.raises(StaleWriteError):
            store.put([new], {new.id: first.recorded_at})
        assert store.get([first.id]) == [second]
        with pytest.raises(LessonNotFoundError):
            store.get([new.id])

    def test_a_purged_or_closed_lesson_has_no_version_to_write_after(self, store: Store) -> None:
        lesson = make_lesson()
        store.put([lesson], {})
        store.purge([lesson.id])
        with pytest.raises(StaleWriteError):
            store.put([next_version(lesson)], {lesson.id: lesson.recorded_at})
        store.put([lesson], {})
        assert store.get([lesson.id]) == [lesson]

    def test_a_rule_that_a_living_lesson_states_cannot_be_added_again(self, store: Store) -> None:
        first = make_lesson(insight="Never call commit twice.")
        again = make_lesson(insight="never call `commit` twice", title="Other title", state="candidate")
        store.put([first], {})
        for expected in ({}, {again.id: None}):
            with pytest.raises(StaleWriteError):
                store.put([make_lesson(), again], expected)
        with pytest.raises(StaleWriteError):
            store.put([make_lesson(insight="Pin the formatter"), make_lesson(insight="Pin the formatter!")], {})
        assert store.find(LessonFilter(project=PROJECT)) == [first]

    def test_other_readers_other_kinds_and_lessons_out_of_use_may_state_the_same(self, store: Store) -> None:
        text = "Never call commit twice"
        others: list[dict[str, Any]] = [
            {}, {"kind": "fix"}, {"project": OTHER}, {"level": "user", "project": ""}, {"level": "team"},
            {"state": "retired"}, {"state": "superseded"},
        ]  # fmt: skip
        store.put([make_lesson(insight=text, **over) for over in others], {})
        assert len(store.find(LessonFilter(all_projects=True))) == len(others)

    def test_a_lesson_may_take_over_the_rule_of_the_one_closed_in_the_same_call(self, store: Store) -> None:
        old = make_lesson(insight="Never call commit twice")
        new = make_lesson(insight="Never call commit twice", recorded_at=minutes(1))
        store.put([old], {})
        store.put([new, in_state(old, "superseded", at=minutes(1))], {old.id: old.recorded_at, new.id: None})
        assert store.find(LessonFilter(project=PROJECT, states=("active",))) == [new]

    def test_a_lesson_that_is_brought_back_may_state_what_another_states_by_now(self, store: Store) -> None:
        old = make_lesson(insight="Never call commit twice", state="retired")
        store.put([old], {})
        store.put([make_lesson(insight="Never call commit twice")], {})
        back = in_state(old, "active", at=minutes(1))
        store.put([back], {old.id: old.recorded_at})
        assert store.get([old.id]) == [back]

    def test_a_lesson_and_its_change_are_written_together(self, store: Store) -> None:
        lesson, change = make_lesson(), make_change()
        store.put([lesson], {}, change)
        assert store.find_records(Change, LogFilter()) == [change]
        with pytest.raises(StaleWriteError):
            store.put([next_version(lesson)], {}, make_change())
        assert store.find_records(Change, LogFilter()) == [change]

    def test_a_change_put_again_becomes_what_it_is_now(self, store: Store) -> None:
        first, second = make_lesson(), make_lesson()
        change = make_change(lessons=(first.id,))
        store.put([first], {}, change)
        more = replace(change, lessons=(first.id, second.id), at=minutes(1))
        store.put([second], {}, more)
        assert store.find_records(Change, LogFilter()) == [more]
        for lesson in (first, second):
            assert store.find_records(Change, LogFilter(lesson=lesson.id)) == [more]

    def test_its_extent_never_shrinks_but_for_the_lessons_there_are(self, store: Store) -> None:
        assert store.extent() == Extent()
        lesson = make_lesson()
        store.put([lesson, next_version(lesson), make_lesson(state="forgotten")], {})
        store.append_events([make_event()])
        assert store.extent() == Extent(lessons=1, versions=3, events=1)
        store.purge([lesson.id])
        assert store.extent() == Extent(lessons=0, versions=3, events=1)

    def test_nothing_is_left_out_of_a_sound_store_or_set_aside(self, store: Store) -> None:
        store.put([make_lesson()], {})
        assert (store.left_out(), store.set_aside()) == (0, {})

    def test_a_version_cannot_be_recorded_before_the_one_it_replaces(self, store: Store) -> None:
        lesson = make_lesson()
        store.put([lesson], {})
        with pytest.raises(InvalidValueError):
            store.put([lesson], {lesson.id: lesson.recorded_at})
        assert store.get([lesson.id]) == [lesson]

    def test_two_versions_of_one_lesson_in_one_call_follow_each_other(self, store: Store) -> None:
        first = make_lesson()
        second = next_version(first)
        store.put([first, second], {first.id: None})
        assert store.get([first.id]) == [second]
        assert store.get([first.id], as_of=first.recorded_at)[0].retracted_at == second.recorded_at

    def test_revising_closes_one_lesson_and_adds_its_successor_in_one_call(self, store: Store) -> None:
        chain = [make_lesson(insight="version 0")]
        store.put(chain, {})
        for i in range(1, 5):
            old, at = chain[-1], minutes(i)
            new = make_lesson(insight=f"version {i}", recorded_at=at, links=(Link(kind="supersedes", target=old.id),))
            store.put([in_state(old, "superseded", at=at), new], {old.id: old.recorded_at})
            chain.append(new)
        assert found(store, "match_text", text="version") == [chain[-1].id]
        for i, lesson in enumerate(chain):
            assert found(store, "match_text", text="version", as_of=minutes(i + 0.5)) == [lesson.id]
        assert [lesson.state for lesson in store.get([lesson.id for lesson in chain])] == ["superseded"] * 4 + [
            "active"
        ]

    def test_before_it_was_recorded_a_lesson_is_unknown(self, store: Store) -> None:
        lesson = make_lesson(recorded_at=minutes(5), valid_from=START)
        store.put([lesson], {})
        with pytest.raises(LessonNotFoundError):
            store.get([lesson.id], as_of=minutes(4))
        assert store.get([lesson.id], as_of=minutes(5)) == [lesson]
        assert store.find(LessonFilter(project=PROJECT, as_of=minutes(4))) == []

    def test_as_of_asks_what_was_true_as_well_as_what_was_known(self, store: Store) -> None:
        lesson = make_lesson(valid_from=minutes(10), valid_to=minutes(20))
        store.put([lesson], {})
        for at, true in ((5, False), (10, True), (19, True), (20, False)):
            assert bool(store.find(LessonFilter(project=PROJECT, as_of=minutes(at)))) is true
            assert bool(found(store, "list_recent", as_of=minutes(at))) is true

    def test_a_lesson_that_says_it_ended_can_be_requested_as_of_later(self, store: Store) -> None:
        lesson = make_lesson()
        ended = in_state(lesson, "retired", at=minutes(5))
        store.put([lesson, ended], {})
        assert store.find(LessonFilter(project=PROJECT, states=("retired",), as_of=minutes(9))) == [ended]
        assert found(store, "list_recent", states=("retired",), as_of=minutes(9)) == [lesson.id]
        assert found(store, "list_recent", as_of=minutes(4)) == [lesson.id]

    def test_what_text_cannot_hold_is_replaced_in_a_lesson(self, store: Store) -> None:
        lesson = make_lesson(insight="a\0b \udc00 end", title="t\0", tags=("\ud800",), path="x\0.py")
        store.put([lesson], {})
        (stored,) = store.get([lesson.id])
        assert (stored.insight, stored.title, stored.tags) == ("a\ufffdb \ufffd end", "t\ufffd", ("\ufffd",))
        assert store.find(LessonFilter(project=PROJECT, path="x\0.py")) == [stored]

    def test_find_answers_newest_first_in_pages(self, store: Store) -> None:
        lessons = [make_lesson(recorded_at=minutes(i // 2)) for i in range(7)]
        store.put(lessons, {})
        expected = sorted(lessons, key=lambda lesson: (-lesson.recorded_at.timestamp(), lesson.id))
        assert store.find(LessonFilter(project=PROJECT)) == expected
        assert store.find(LessonFilter(project=PROJECT, limit=3, offset=2)) == expected[2:5]
        assert store.find(LessonFilter(project=PROJECT, limit=0)) == []

    def test_find_goes_on_beyond_a_lesson_even_if_that_was_changed_meanwhile(self, store: Store) -> None:
        lessons = [make_lesson(recorded_at=minutes(i // 3)) for i in range(9)]
        store.put(lessons, {})
        expected = sorted(lessons, key=lambda lesson: (-lesson.recorded_at.timestamp(), lesson.id))
        for at, last in enumerate(expected):
            beyond = LessonFilter(project=PROJECT, beyond=(last.recorded_at, last.id), limit=3)
            assert store.find(beyond) == expected[at + 1 :][:3]
        last = expected[3]
        store.put([replace(last, insight="another", recorded_at=minutes(60))], {last.id: last.recorded_at})
        assert store.find(LessonFilter(project=PROJECT, beyond=(last.recorded_at, last.id))) == expected[4:]

    def test_find_keeps_to_the_project_and_the_user(self, store: Store) -> None:
        mine, theirs = make_lesson(), make_lesson(project=OTHER)
        users, team = make_lesson(level="user", project=""), make_lesson(level="team")
        store.put([mine, theirs, users, team], {})

        def ids(where: LessonFilter) -> set[str]:
            return {lesson.id for lesson in store.find(where)}

        assert ids(LessonFilter(project=PROJECT)) == {mine.id, users.id, team.id}
        assert ids(LessonFilter()) == {users.id}
        assert ids(LessonFilter(all_projects=True)) == {mine.id, theirs.id, users.id, team.id}

    def test_find_leaves_tombstones_out_unless_requested(self, store: Store) -> None:
        lesson = make_lesson(path="a.py")
        gone = in_state(lesson, "forgotten", at=minutes(1))
        store.put([lesson, gone], {})
        assert store.find(LessonFilter(project=PROJECT)) == []
        assert store.find(LessonFilter(project=PROJECT, states=("forgotten",))) == [gone]
        assert store.find(LessonFilter(project=PROJECT, states=("forgotten",), path="a.py")) == [gone]

    @pytest.mark.parametrize(
        "conditions",
        [
            {"kinds": ("fix",)},
            {"id_suffix": "LAST8"},
            {"id_short": "FIRST8"},
            {"topic_key": "db/engine"},
            {"path": "src/app.py"},
            {"states": ("candidate",)},
            {"duplicate_key": duplicate_key("Never call commit twice")},
            {"without_vector": EMBEDDER},
        ],
        ids=lambda conditions: next(iter(conditions)),
    )
    def test_find_filters_by(self, store: Store, conditions: dict[str, Any]) -> None:
        wanted = make_lesson(
            kind="fix", topic_key="db/engine", path="src/app.py", state="candidate", insight="Never call commit twice."
        )
        other = make_lesson(path="src/app.pyx", topic_key="db/engines", insight="Call commit twice")
        store.put([wanted, other], {})
        store.put_vectors(EMBEDDER, {other.id: (0.0, 1.0, 0.0)})
        if "id_suffix" in conditions:
            conditions = {"id_suffix": wanted.id[-8:]}
        if "id_short" in conditions:
            conditions = {"id_short": wanted.id[-8:]}
        assert store.find(LessonFilter(project=PROJECT, **conditions)) == [wanted]
        assert store.find(LessonFilter(project=PROJECT, as_of=minutes(1), **conditions)) == [wanted]

    def test_find_knows_the_places_that_an_anchor_was_seen_at_before(self, store: Store) -> None:
        anchor = Anchor(path="src/app.py", also=("lib/app.py", "old/app.py::run"))
        lesson = replace(make_lesson(), anchors=(anchor,))
        gone = in_state(lesson, "forgotten", at=minutes(5))
        store.put([lesson], {})
        for path in ("src/app.py", "lib/app.py", "old/app.py"):
            assert store.find(LessonFilter(project=PROJECT, path=path)) == [lesson]
            assert store.find(LessonFilter(project=PROJECT, path=path, as_of=minutes(1))) == [lesson]
        for path in ("app.py", "old/app", "old/app.py::run"):
            assert store.find(LessonFilter(project=PROJECT, path=path)) == []
            assert store.find(LessonFilter(project=PROJECT, path=path, as_of=minutes(1))) == []
        store.put([gone], {lesson.id: lesson.recorded_at})
        assert store.find(LessonFilter(project=PROJECT, states=("forgotten",), path="old/app.py")) == [gone]

    def test_filters_take_hostile_text_as_text(self, store: Store) -> None:
        store.put([make_lesson()], {})
        for text in filter(None, HOSTILE):
            for name in ("id_suffix", "id_short", "topic_key", "duplicate_key", "path"):
                assert store.find(LessonFilter(project=PROJECT, **dict[str, Any]([(name, text)]))) == []
