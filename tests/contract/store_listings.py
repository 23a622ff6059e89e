"""The store's contract: sessions, counts by a facet, and the filters of lessons and log records by subject and time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import pytest

from holdfast.domain.lesson import Anchor, Evidence, Lesson, Provenance, in_state
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.vocabulary import STATES, EventId, LessonId, SessionId
from holdfast.ports.store import (
    EVERY,
    ROOT_AREA,
    EventFilter,
    Facet,
    LessonFilter,
    LogFilter,
    SessionFilter,
    SessionRow,
    Store,
)
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
from holdfast.text.searchkeys import facet_values

from .store_questions import HOSTILE, OTHER, minutes

FACETS: tuple[Facet, ...] = get_args(Facet)


def listed(store: Store, **conditions: Any) -> list[str]:
    """Return the sessions that match, in order."""
    return [row.session for row in store.list_sessions(SessionFilter(**{"project": PROJECT, **conditions}))]


class SessionsContract:
    """Sessions."""

    def talk(self, store: Store, session: str, start: int, **over: Any) -> None:
        store.append_events([make_event(session=SessionId(session), at=minutes(start), **over)])

    def test_a_session_is_the_sum_of_its_events(self, store: Store) -> None:
        store.append_events([
            make_event(kind="tool_failure", at=minutes(5), branch="main", text="boom"),
            make_event(at=minutes(1), branch="fix", text="please fix it"),
            make_event(kind="reply", at=minutes(9), text="done"),
        ])  # fmt: skip
        store.append_events([make_event(at=minutes(7), host="codex", text="thanks")])
        assert store.list_sessions(SessionFilter(project=PROJECT)) == [
            SessionRow(
                project=PROJECT, session=SESSION, host="claude-code", branch="fix", first=minutes(1), last=minutes(9),
                events=4, prompts=2, opening="please fix it",
            )
        ]  # fmt: skip

    def test_an_event_that_is_stored_already_adds_nothing(self, store: Store) -> None:
        first, again = make_event(key="k", at=minutes(1)), make_event(key="k", at=minutes(60), branch="late")
        store.append_events([first, again])
        store.append_events([again])
        (row,) = store.list_sessions(SessionFilter(project=PROJECT))
        assert (row.events, row.prompts, row.last, row.branch) == (1, 1, minutes(1), "")

    def test_the_session_with_the_newest_event_comes_first_and_ties_are_in_order_of_ids(self, store: Store) -> None:
        for name, start in (("b", 1), ("old", 0), ("a", 1), ("new", 2)):
            self.talk(store, name, start)
        assert listed(store) == ["new", "a", "b", "old"]
        self.talk(store, "old", 3)
        assert listed(store) == ["old", "new", "a", "b"]

    def test_pages_follow_one_another_without_gaps(self, store: Store) -> None:
        for number in range(7):
            self.talk(store, f"s{number}", number // 2)
        names: list[str] = []
        beyond = None
        while rows := store.list_sessions(SessionFilter(project=PROJECT, beyond=beyond, limit=2)):
            names += [row.session for row in rows]
            beyond = rows[-1].last, rows[-1].session
        assert names == listed(store)
        assert len(set(names)) == 7
        assert listed(store, limit=0) == []

    def test_sessions_are_filtered_by_project_id_host_and_branch(self, store: Store) -> None:
        self.talk(store, "a", 1, branch="main", host="codex")
        self.talk(store, "a", 2, branch="fix")
        self.talk(store, "b", 3, branch="main")
        self.talk(store, "b", 4, project=OTHER)
        assert listed(store) == ["b", "a"]
        assert listed(store, branch="main") == ["b", "a"]
        assert listed(store, branch="fix") == ["a"]
        assert listed(store, branch="fi") == []
        assert listed(store, host="codex") == ["a"]
        assert listed(store, session="b") == ["b"]
        assert listed(store, project=OTHER, branch="main") == []
        every = store.list_sessions(SessionFilter(session=SessionId("b")))
        assert [(row.project, row.events, row.last) for row in every] == [
            (OTHER, 1, minutes(4)),
            (PROJECT, 1, minutes(3)),
        ]

    def test_sessions_are_filtered_by_time(self, store: Store) -> None:
        for name, start, end in (("early", 0, 10), ("long", 5, 90), ("late", 60, 70)):
            self.talk(store, name, start)
            self.talk(store, name, end)
        assert listed(store, since=minutes(10)) == ["long", "late", "early"]
        assert listed(store, since=minutes(11)) == ["long", "late"]
        assert listed(store, until=minutes(60)) == ["long", "early"]
        assert listed(store, since=minutes(20), until=minutes(60)) == ["long"]

    def test_the_opening_goes_with_the_text_of_its_event(self, store: Store) -> None:
        self.talk(store, "a", 0, text="a secret")
        self.talk(store, "b", 90, text="stays")
        store.erase_event_texts(minutes(30))
        rows = store.list_sessions(SessionFilter(project=PROJECT))
        assert [(row.session, row.opening, row.prompts) for row in rows] == [("b", "stays", 1), ("a", "", 1)]

    def test_purging_a_lesson_takes_its_words_from_the_sessions(self, store: Store) -> None:
        rule = "never deploy the staging database"
        event = make_event(id="e1", text=f"Remember: {rule}.", branch="main")
        store.append_events([event, make_event(kind="reply", branch=f"fix/{rule}")])
        evidence = (Evidence(event=EventId("e1"), quote=rule),)
        lesson = make_lesson(insight=rule, provenance=Provenance(session=SESSION, evidence=evidence))
        store.put([lesson], {})
        store.purge([lesson.id])
        (row,) = store.list_sessions(SessionFilter(project=PROJECT))
        assert rule not in f"{row}"
        assert (row.events, row.prompts, row.opening) == (2, 1, "")
        assert listed(store, branch=f"fix/{rule}") == []

    def test_what_text_cannot_hold_is_replaced_in_a_session(self, store: Store) -> None:
        self.talk(store, "a\0b", 0, branch="x\ud800", text="hello\0")
        (row,) = store.list_sessions(SessionFilter(project=PROJECT, branch="x\ud800", session=SessionId("a\0b")))
        assert (row.session, row.branch, row.opening) == ("a\ufffdb", "x\ufffd", "hello\ufffd")
        for hostile in filter(None, HOSTILE):
            assert listed(store, branch=hostile, host=hostile, session=hostile) == []

    def test_projects_are_those_that_an_event_or_a_current_lesson_names(self, store: Store) -> None:
        assert store.list_projects() == []
        self.talk(store, "a", 0, project="talked")
        self.talk(store, "b", 0, project="talked")
        self.talk(store, "c", 0, project="")
        lesson, own = make_lesson(project="learnt"), make_lesson(level="user", project="")
        store.put([lesson, make_lesson(project="learnt"), make_lesson(project="also"), own], {})
        assert store.list_projects() == ["also", "learnt", "talked"]
        store.purge([lesson.id])
        assert store.list_projects() == ["also", "learnt", "talked"]

    def test_a_failed_change_takes_back_its_sessions(self, store: Store) -> None:
        self.talk(store, "a", 0)

        def change() -> None:
            with store.changing():
                self.talk(store, "a", 50)
                self.talk(store, "b", 60)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            change()
        (row,) = store.list_sessions(SessionFilter(project=PROJECT))
        assert (row.session, row.events, row.last) == ("a", 1, START)
        self.talk(store, "b", 60)
        assert listed(store) == ["b", "a"]
        assert len(store.find_events(EventFilter())) == 2


def varied(store: Store) -> list[Lesson]:
    """Store lessons that differ in every facet, and return them, oldest first."""
    ann = Provenance(person="ann", person_name="Ann", session=SESSION)
    bob = Provenance(person="bob", session=SessionId("session-2"))
    moved = Anchor(path="src/app/new/c.py", also=("lib/old.py::f", "README.md"))
    lessons = [
        make_lesson(paths=("src/app/a.py", "src/app/b.py"), provenance=ann, tags=("ci", "db")),
        make_lesson(path="src/apple/a.py", kind="fix", provenance=bob, tags=("ci",), trust="person"),
        make_lesson(path="setup.py", state="candidate", provenance=ann, trust="tool"),
        make_lesson(anchors=(moved,), state="retired", tags=("db", "db-migrations")),
        make_lesson(globs=("src/app/*.py",), kind="fix"),
        make_lesson(project=OTHER, path="src/app/a.py", provenance=ann, tags=("ci",)),
        make_lesson(path="src/app/a.py", state="forgotten", provenance=ann, tags=("ci",)),
    ]
    lessons = [replace(lesson, recorded_at=START + timedelta(days=9 * day)) for day, lesson in enumerate(lessons)]
    store.put(lessons, {})
    return lessons


class FacetsContract:
    """Filters and counts of lessons by what they are about, by who stated them and by time."""

    def numbers(self, store: Store, lessons: list[Lesson], **conditions: Any) -> list[int]:
        """Return the positions in `lessons` of those that match, oldest first."""
        ids = [lesson.id for lesson in lessons]
        return sorted(ids.index(lesson.id) for lesson in store.find(LessonFilter(project=PROJECT, **conditions)))

    @pytest.mark.parametrize(
        ("conditions", "expected"),
        [
            ({"area": "src/app"}, [0, 3]),
            ({"area": "src"}, [0, 1, 3]),
            ({"area": "src/app/new"}, [3]),
            ({"area": "lib"}, [3]),
            ({"area": ROOT_AREA}, [2, 3]),
            ({"area": "sr"}, []),
            ({"area": "src/app/a.py"}, []),
            ({"person": "ann"}, [0, 2]),
            ({"person": "an"}, []),
            ({"session": SESSION}, [0, 2]),
            ({"session": "session-2", "tag": "ci"}, [1]),
            ({"session": "session"}, []),
            ({"tag": "ci"}, [0, 1]),
            ({"tag": "db"}, [0, 3]),
            ({"trust": "person"}, [1]),
            ({"trust": "agent"}, [0, 3, 4]),
            ({"since": START + timedelta(days=9)}, [1, 2, 3, 4]),
            ({"until": START + timedelta(days=9)}, [0]),
            ({"since": START + timedelta(days=9), "until": START + timedelta(days=28)}, [1, 2, 3]),
            ({"area": "src", "tag": "ci", "person": "bob", "kinds": ("fix",)}, [1]),
            ({"area": "src", "tag": "ci", "person": "bob", "states": ("candidate",)}, []),
        ],
    )  # fmt: skip
    def test_lessons_are_filtered_by_a_facet(
        self, store: Store, conditions: dict[str, Any], expected: list[int]
    ) -> None:
        assert self.numbers(store, varied(store), **conditions) == expected

    @pytest.mark.parametrize("facet", FACETS)
    def test_a_facet_counts_what_its_filter_finds(self, store: Store, facet: Facet) -> None:
        lessons = varied(store)
        mine = [lesson for lesson in lessons[:5]]
        counts = store.count_by(LessonFilter(project=PROJECT, limit=EVERY), facet, 99)
        assert counts == Counter(value for lesson in mine for value in facet_values(lesson, facet))
        assert list(counts) == sorted(counts, key=lambda value: (-counts[value], value))
        filters: dict[Facet, Any] = {
            "area": lambda value: {"area": value}, "file": lambda value: {"path": value},
            "kind": lambda value: {"kinds": (value,)}, "person": lambda value: {"person": value},
            "state": lambda value: {"states": (value,)}, "tag": lambda value: {"tag": value},
            "trust": lambda value: {"trust": value},
        }  # fmt: skip
        if facet in filters:
            for value, count in counts.items():
                assert len(self.numbers(store, lessons, **filters[facet](value))) == count, value

    @pytest.mark.parametrize(
        "conditions",
        [
            {"states": ("active",)}, {"states": ("active", "candidate"), "kinds": ("fix",)}, {"area": "src"},
            {"area": "src/app", "tag": "db"}, {"person": "ann"}, {"tag": "ci", "trust": "person"}, {"path": "setup.py"},
            {"since": START + timedelta(days=8)}, {"until": START + timedelta(days=28)}, {"all_projects": True},
            {"limit": 2}, {"limit": 2, "area": "src"}, {"limit": 2, "offset": 1}, {"limit": 0},
            {"states": ("forgotten",)}, {"states": ("forgotten", "active"), "area": "src"}, {"staged": True},
            {"states": ("forgotten",), "person": "ann", "tag": "ci", "trust": "agent"},
            {"as_of": START + timedelta(days=20)}, {"as_of": START + timedelta(days=20), "area": "src", "tag": "ci"},
            {"as_of": START + timedelta(days=40), "area": ROOT_AREA, "person": "ann", "trust": "tool"},
            {"person": "nobody"}, {"topic_key": "x"},
            {"session": SESSION}, {"session": SESSION, "states": ("forgotten", "candidate")},
            {"session": SESSION, "as_of": START + timedelta(days=20)}, {"tag": "ci", "limit": 1},
            {"tag": "ci", "all_projects": True, "limit": EVERY}, {"area": "src", "limit": EVERY},
        ],
        ids=str,
    )  # fmt: skip
    def test_counts_are_those_of_the_lessons_that_would_be_found(
        self, store: Store, conditions: dict[str, Any]
    ) -> None:
        varied(store)
        where = LessonFilter(**{"project": PROJECT, **conditions})
        lessons = store.find(where)
        for facet in FACETS:
            expected = Counter(value for lesson in lessons for value in facet_values(lesson, facet))
            assert store.count_by(where, facet, 99) == expected, facet
        counts = store.count_facets(where, FACETS, 99)
        assert counts == {facet: store.count_by(where, facet, 99) for facet in FACETS}
        assert [*counts] == [*FACETS]
        assert store.count_facets(where, (), 99) == {}

    def test_versions_are_counted_by_the_instants_between_which_they_were_current(self, store: Store) -> None:
        first = varied(store)[0]
        retired = next_version(first, seconds=20 * 86_400, state="retired")
        store.put([retired], {first.id: first.recorded_at})
        mine, step = LessonFilter(project=PROJECT, states=STATES, limit=EVERY), timedelta(days=4)
        spans = store.count_versions(PROJECT, START, step, 12)
        for number in range(12):
            then = store.find(replace(mine, as_of=START + step * number))
            counted = Counter({span.state: 0 for span in spans})
            for span in spans:
                counted[span.state] += span.count if span.is_current_at(number) else 0
            assert +counted == Counter(lesson.state for lesson in then)
        assert sum(span.count for span in spans if span.end is None) == 6
        assert sum(span.count for span in spans) == 7

    def test_a_version_counts_from_the_very_instant_at_which_it_was_recorded(self, store: Store) -> None:
        lesson = make_lesson()
        store.put([lesson], {lesson.id: None})
        retired = next_version(lesson, seconds=3_600, state="retired")
        store.put([retired], {lesson.id: lesson.recorded_at})
        spans = store.count_versions(PROJECT, lesson.recorded_at, timedelta(hours=1), 3)
        assert sorted((span.state, span.begin, span.end, span.count) for span in spans) == [
            ("active", 0, 1, 1), ("retired", 1, None, 1),
        ]  # fmt: skip
        assert store.count_versions(OTHER, lesson.recorded_at, timedelta(hours=1), 3) == []

    def test_only_the_most_frequent_values_are_reported(self, store: Store) -> None:
        varied(store)
        where = LessonFilter(project=PROJECT, limit=EVERY)
        assert store.count_by(where, "state", 1) == {"active": 3}
        assert list(store.count_by(where, "tag", 2).items()) == [("ci", 2), ("db", 2)]
        assert store.count_by(where, "area", 0) == {}

    def test_counts_follow_a_lesson_that_changes(self, store: Store) -> None:
        lesson = make_lesson(path="src/app/a.py", tags=("ci",), provenance=Provenance(person="ann"), state="candidate")
        store.put([lesson], {})
        changed = next_version(lesson, anchors=(Anchor(path="lib/b.py"),), tags=("db",), trust="person")
        store.put([changed], {lesson.id: lesson.recorded_at})
        where = LessonFilter(project=PROJECT, limit=EVERY)
        assert [store.count_by(where, facet, 9) for facet in ("area", "file", "tag", "trust", "person")] == [
            {"lib": 1}, {"lib/b.py": 1}, {"db": 1}, {"person": 1}, {"ann": 1},
        ]  # fmt: skip
        gone = in_state(changed, "forgotten", at=minutes(60))
        store.put([gone], {lesson.id: changed.recorded_at})
        assert [store.count_by(where, facet, 9) for facet in FACETS] == [{}] * len(FACETS)
        back = next_version(gone, seconds=60, state="active")
        store.put([back], {lesson.id: gone.recorded_at})
        assert [store.count_by(where, facet, 9) for facet in ("area", "tag", "state")] == [
            {"lib": 1}, {"db": 1}, {"active": 1},
        ]  # fmt: skip
        store.purge([lesson.id])
        assert [store.count_by(where, facet, 9) for facet in FACETS] == [{}] * len(FACETS)

    def test_the_users_own_lessons_count_in_every_project(self, store: Store) -> None:
        own = make_lesson(level="user", project="", tags=("ci",))
        store.put([own, make_lesson(tags=("ci",)), make_lesson(project=OTHER, tags=("ci",))], {})
        assert store.count_by(LessonFilter(project=PROJECT), "tag", 9) == {"ci": 2}
        assert store.count_by(LessonFilter(), "tag", 9) == {"ci": 1}
        assert store.count_by(LessonFilter(all_projects=True), "tag", 9) == {"ci": 3}

    def test_hostile_values_find_nothing_and_count_nothing(self, store: Store) -> None:
        varied(store)
        for hostile in filter(None, (*HOSTILE, "src/", "/")):
            for name in ("area", "person", "session", "tag", "path"):
                where = LessonFilter(project=PROJECT, **{name: hostile})
                assert store.find(where) == []
                assert [store.count_by(where, facet, 9) for facet in FACETS] == [{}] * len(FACETS)


class TimesContract:
    """Log records by time."""

    def test_log_records_are_filtered_by_time(self, store: Store) -> None:
        makers: dict[type[Any], Any] = {
            Delivery: make_delivery, Outcome: make_outcome, Checkpoint: make_checkpoint, Change: make_change,
        }  # fmt: skip
        for kind, make in makers.items():
            entries = [make(at=minutes(minute)) for minute in (0, 10, 20)]
            store.record(entries)

            def at(kind: type[Any] = kind, **conditions: Any) -> list[int]:
                entries = store.find_records(kind, LogFilter(project=PROJECT, **conditions))
                return [round((entry.at - START).total_seconds() / 60) for entry in entries]

            assert at(since=minutes(10)) == [20, 10]
            assert at(until=minutes(10)) == [0]
            assert at(since=minutes(10), until=minutes(20)) == [10]
            assert at(since=minutes(1), until=minutes(90), limit=1) == [20]
            assert at(since=minutes(0), session=SessionId("nobody")) == []
            assert at(until=minutes(20), lesson=LessonId("nobody")) == []
