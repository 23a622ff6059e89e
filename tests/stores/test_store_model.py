"""The store against a dict of versions: whatever is done in whatever order, every instant reads the same in both."""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from holdfast.domain.lesson import Lesson, Link, in_state
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LIVING, TRANSITIONS, LessonId
from holdfast.errors import LessonNotFoundError, StaleWriteError
from holdfast.lean.records import replace
from holdfast.ports.store import LessonFilter, Store
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, make_lesson
from holdfast.testing.memorystore import MemoryStore

WORDS = st.lists(st.sampled_from(["apple", "pear", "plum", "fig"]), min_size=1, max_size=3).map(" ".join)


class Model(RuleBasedStateMachine):
    """Versions of each lesson, oldest first; time moves a second with every step."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[LessonId, list[Lesson]] = {}
        self.now = START
        self.store = self.open()

    def open(self) -> Store:
        raise NotImplementedError

    def teardown(self) -> None:
        assert self.store.check() == []
        self.store.__exit__(None, None, None)

    def tick(self) -> None:
        self.now += timedelta(seconds=1)

    def keep(self, lesson: Lesson) -> None:
        versions = self.versions.setdefault(lesson.id, [])
        if versions:
            versions[-1] = replace(versions[-1], retracted_at=lesson.recorded_at)
        versions.append(lesson)

    def put(self, *lessons: Lesson) -> bool:
        """Put the lessons here and there; False where a rule is stated already, which the store must refuse."""
        expected = {
            lesson.id: self.versions[lesson.id][-1].recorded_at if lesson.id in self.versions else None
            for lesson in lessons
        }
        closed = [lesson.id for lesson in lessons]
        living = [v[-1] for id_, v in self.versions.items() if v[-1].state in LIVING and id_ not in closed]
        rules = {_rule(lesson) for lesson in living}
        if any(lesson.id not in self.versions and _rule(lesson) in rules for lesson in lessons):
            with pytest.raises(StaleWriteError, match="states the same rule"):
                self.store.put(lessons, expected)
            return False
        self.store.put(lessons, expected)
        for lesson in lessons:
            self.keep(lesson)
        return True

    @rule(target=ids, words=WORDS, state=st.sampled_from(["candidate", "active"]), user=st.booleans())
    def remember(self, words: str, state: str, user: bool) -> Any:
        self.tick()
        lesson = make_lesson(
            insight=words, title=words, state=state, recorded_at=self.now, valid_from=self.now,
            level="user" if user else "project", path=f"src/{words.split()[0]}.py",
        )  # fmt: skip
        return lesson.id if self.put(lesson) else multiple()

    @rule(id_=ids, words=WORDS)
    def restate(self, id_: LessonId, words: str) -> None:
        self.tick()
        self.put(replace(self.versions[id_][-1], insight=words, title=words, recorded_at=self.now))

    @rule(target=ids, id_=ids, words=WORDS)
    def revise(self, id_: LessonId, words: str) -> Any:
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
        self.tick()
        old = self.versions[id_][-1]
        steps = TRANSITIONS[old.state]
        if steps:
            self.put(in_state(old, choice.choice(steps), at=self.now))  # type: ignore[attr-defined]

    @rule(id_=ids, words=WORDS)
    def write_what_is_stale(self, id_: LessonId, words: str) -> None:
        self.tick()
        stale = replace(self.versions[id_][-1], insight=words, recorded_at=self.now)
        with pytest.raises(StaleWriteError):
            self.store.put([make_lesson(insight=words), stale], {id_: START - timedelta(days=1)})

    @rule(id_=consumes(ids))
    def purge(self, id_: LessonId) -> None:
        self.store.purge([id_])
        del self.versions[id_]

    @invariant()
    def now_reads_the_same(self) -> None:
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
                continue  # an index of the past is made for one of the instants: it is dear
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


class SqliteModel(Model):
    """A file that is also closed, opened and left behind by killed processes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.generation = 0
        super().__init__()

    def open(self) -> SqliteStore:
        path = self.folder / str(self.generation) / "memory.db"
        return make({"url": f"sqlite://{path}", "timeout_s": "5"}).__enter__()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)

    @rule()
    def reopen(self) -> None:
        self.store.__exit__(None, None, None)
        self.store = self.open()

    @rule()
    def crash(self) -> None:
        """Go on with the files as a killed process would leave them: the log never moved into the file."""
        left = self.folder / str(self.generation)
        self.generation += 1
        (self.folder / str(self.generation)).mkdir()
        for name in ("memory.db", "memory.db-wal"):
            if (left / name).exists():
                shutil.copy(left / name, self.folder / str(self.generation) / name)
        self.store.__exit__(None, None, None)
        self.store = self.open()


class MemoryModel(Model):
    """The store in memory, which nothing survives."""

    def open(self) -> MemoryStore:
        return MemoryStore()


STEPS = settings(max_examples=40, stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow])
TestSqliteAgainstTheModel = SqliteModel.TestCase
TestMemoryAgainstTheModel = MemoryModel.TestCase
TestSqliteAgainstTheModel.settings = TestMemoryAgainstTheModel.settings = STEPS
