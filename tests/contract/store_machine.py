"""A store compared with a dict of versions: after any steps in any order, both read the same at every instant.

A backend's tests inherit `StoreMachine` and open their store; pytest finds the class that Hypothesis makes of it.

class MyMachine(StoreMachine):
    def open(self): ...  # an open, empty Store

TestMyStoreAgainstTheModel = MyMachine.TestCase
TestMyStoreAgainstTheModel.settings = STEPS
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from holdfast.domain.lesson import Lesson, Link, in_state
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LIVING, TRANSITIONS, LessonId
from holdfast.errors import LessonNotFoundError, StaleWriteError
from holdfast.ports.store import LessonFilter, Store
from holdfast.testing.builders import PROJECT, START, make_lesson

STEPS = settings(stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow])
"""Number and length of the machine's runs."""


def some_words() -> st.SearchStrategy[str]:
    """Return one to three of four words, so few that lessons often state the same rule."""
    return st.lists(st.sampled_from(["apple", "pear", "plum", "fig"]), min_size=1, max_size=3).map(" ".join)


class StoreMachine(RuleBasedStateMachine):
    """Versions of each lesson, oldest first; time moves a second with every step."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[LessonId, list[Lesson]] = {}
        self.now = START
        self.store = self.open()

    def open(self) -> Store:
        """Return an open, empty store."""
        raise NotImplementedError

    def teardown(self) -> None:
        """Check at the end that the store is sound."""
        assert self.store.check() == []
        self.store.__exit__(None, None, None)

    def tick(self) -> None:
        """Advance the time by a second."""
        self.now += timedelta(seconds=1)

    def keep(self, lesson: Lesson) -> None:
        """Put the version into the model."""
        versions = self.versions.setdefault(lesson.id, [])
        if versions:
            versions[-1] = replace(versions[-1], retracted_at=lesson.recorded_at)
        versions.append(lesson)

    def put(self, *lessons: Lesson) -> bool:
        """Put the lessons into store and model; return False if a rule exists already, which the store must refuse."""
        expected = {
            lesson.id: self.versions[lesson.id][-1].recorded_at if lesson.id in self.versions else None
            for lesson in lessons
        }
        closed = [lesson.id for lesson in lessons]
        living = [v[-1] for id_, v in self.versions.items() if v[-1].state in LIVING and id_ not in closed]
        rules = {_rule(lesson) for lesson in living}
        if any(lesson.id not in self.versions and _rule(lesson) in rules for lesson in lessons):
            with pytest.raises(StaleWriteError):
                self.store.put(lessons, expected)
            return False
        self.store.put(lessons, expected)
        for lesson in lessons:
            self.keep(lesson)
        return True

    @rule(target=ids, words=some_words(), state=st.sampled_from(["candidate", "active"]), user=st.booleans())
    def remember(self, words: str, state: str, user: bool) -> Any:
        """Add a lesson."""
        self.tick()
        lesson = make_lesson(
            insight=words, title=words, state=state, recorded_at=self.now, valid_from=self.now,
            level="user" if user else "project", path=f"src/{words.split()[0]}.py",
        )  # fmt: skip
        return lesson.id if self.put(lesson) else multiple()

    @rule(id_=ids, words=some_words())
    def restate(self, id_: LessonId, words: str) -> None:
        """Write a version in other words."""
        self.tick()
        self.put(replace(self.versions[id_][-1], insight=words, title=words, recorded_at=self.now))

    @rule(target=ids, id_=ids, words=some_words())
    def revise(self, id_: LessonId, words: str) -> Any:
        """Close a lesson and add its successor."""
        self.tick()
        old = self.versions[id_][-1]
        if "superseded" not in TRANSITIONS[old.state]:
            return multiple()
        new = make_lesson(
            insight=words, title=words, recorded_at=self.now, valid_from=self.now,
            links=(Link(kind="supersedes", target=id_),),
        )  # fmt: skip
        return new.id if self.put(in_state(old, "superseded", at=self.now), new) else multiple()

    @rule(id_=ids, choice=st.randoms(use_true_random=False))
    def change_state(self, id_: LessonId, choice: object) -> None:
        """Take one step of the lesson's state machine."""
        self.tick()
        old = self.versions[id_][-1]
        steps = TRANSITIONS[old.state]
        if steps:
            self.put(in_state(old, choice.choice(steps), at=self.now))  # type: ignore[attr-defined]

    @rule(id_=ids, words=some_words())
    def write_what_is_stale(self, id_: LessonId, words: str) -> None:
        """Expect another version than the current one."""
        self.tick()
        stale = replace(self.versions[id_][-1], insight=words, recorded_at=self.now)
        with pytest.raises(StaleWriteError):
            self.store.put([make_lesson(insight=words), stale], {id_: START - timedelta(days=1)})

    @rule(id_=consumes(ids))
    def purge(self, id_: LessonId) -> None:
        """Erase a lesson."""
        self.store.purge([id_])
        del self.versions[id_]

    @invariant()
    def now_reads_the_same(self) -> None:
        """Check that both have the same current versions, and that these are found by their words."""
        current = [versions[-1] for versions in self.versions.values()]
        shown = [lesson for lesson in current if lesson.state != "forgotten"]
        expected = sorted(shown, key=lambda lesson: (-lesson.recorded_at.timestamp(), lesson.id))
        assert self.store.find(LessonFilter(project=PROJECT)) == expected
        if current:
            assert self.store.get([lesson.id for lesson in current]) == current
        for word in ("apple", "fig"):
            ids = _found(self.store, Query(project=PROJECT, text=word))
            assert ids == {lesson.id for lesson in current if lesson.state == "active" and word in _text(lesson)}

    @invariant()
    def every_instant_reads_the_same(self) -> None:
        """Check that both have the same versions known and true at an instant."""
        span = (self.now - START).total_seconds()
        for share in (0.0, 0.5, 0.9):
            at = START + timedelta(seconds=round(span * share))
            known = [v for versions in self.versions.values() for v in versions if _known(v, at)]
            for lesson in known:
                assert self.store.get([lesson.id], as_of=at) == [lesson]
            for id_ in set(self.versions) - {lesson.id for lesson in known}:
                with pytest.raises(LessonNotFoundError):
                    self.store.get([id_], as_of=at)
            if share != 0.5:
                continue  # an index of the past is expensive, so it is made for one instant only
            query = Query(project=PROJECT, text="apple", as_of=at)
            active = {v.id for v in known if v.state == "active" and _true(v, at)}
            assert {match.id for match in self.store.list_recent(query, 99)} == active
            matching = {v.id for v in known if v.id in active and "apple" in _text(v)}
            assert _found(self.store, query) == matching


def _found(store: Store, query: Query) -> set[LessonId]:
    return {match.lesson[1] for match in store.match_text(query, 99, 0).matches}


def _rule(lesson: Lesson) -> tuple[str, str]:
    return lesson.scope.level, lesson.insight


def _text(lesson: Lesson) -> str:
    return f"{lesson.insight} {' '.join(lesson.paths)}"


def _known(lesson: Lesson, at: object) -> bool:
    return lesson.recorded_at <= at and (lesson.retracted_at is None or lesson.retracted_at > at)  # type: ignore[operator]


def _true(lesson: Lesson, at: object) -> bool:
    valid = lesson.validity
    return valid.valid_from <= at and (valid.valid_to is None or valid.valid_to > at)  # type: ignore[operator]
