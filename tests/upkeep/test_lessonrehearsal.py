"""Lessons at the moments at which they were learnt: where each is told, and what got worse since a baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson, Link, Triggers
from holdfast.domain.moments import CHANNELS
from holdfast.domain.records import LearningMoment
from holdfast.domain.statefamilies import LEARNING_MOMENTS
from holdfast.domain.vocabulary import EventId, LessonId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import dumps
from holdfast.testing.builders import SESSION, make_lesson, next_version
from holdfast.upkeep.lessonrehearsal import (
    FORMAT,
    KnownLesson,
    LessonRehearsal,
    PlayedMoment,
    RehearsedLesson,
    compare,
    read_baseline,
    rehearse_lessons,
    says,
    write_baseline,
)

INSTALL = ("command", "npm install left-pad")
ASKED = ("prompt", "Which berth is free for the walrus ferry at low tide?")


@pytest.fixture
def quiet(memory: Memory) -> Memory:
    """The memory without deliveries at a session's start, which tell all of so few lessons."""
    deliver = tuple(channel for channel in CHANNELS if channel != "session_start")
    return memory.with_services(replace(memory.services, deliver=deliver))


def kept(memory: Memory, *moments: tuple[str, str], error: str = "", **fields: Any) -> Lesson:
    """A confirmed lesson with those moments, each (kind, text)."""
    lesson = make_lesson(**{"project": memory.location.project.id, **fields})
    memory.services.store.put([lesson], {lesson.id: None})
    records = [
        LearningMoment(event=EventId(f"{lesson.id}-{at}"), session=SESSION, kind=kind, text=text, error=error)
        for at, (kind, text) in enumerate(moments)
    ]
    memory.services.store.set_state(LEARNING_MOMENTS, lesson.id, dumps(list(map(to_plain, records))))
    return lesson


def changed(memory: Memory, lesson: Lesson, **fields: Any) -> Lesson:
    after = next_version(lesson, **fields)
    memory.services.store.put([after], {lesson.id: lesson.recorded_at})
    return after


def where_told(memory: Memory, lesson: Lesson) -> str:
    return next(each.told for each in rehearse_lessons(memory).lessons if each.id == lesson.id)


def test_a_lesson_in_the_brief_is_delivered_at_the_start(memory: Memory) -> None:
    lesson = kept(memory, ASKED, insight="Packages are installed with pnpm")
    [rehearsed] = rehearse_lessons(memory).lessons
    assert (rehearsed.id, rehearsed.told, rehearsed.title) == (lesson.id, "start", lesson.title)
    assert [(moment.kind, moment.is_told) for moment in rehearsed.moments] == [("prompt", False)]


def test_a_lesson_is_lost_when_its_trigger_is_edited_away(quiet: Memory) -> None:
    insight = "Packages are installed with pnpm"
    lesson = kept(quiet, INSTALL, insight=insight, when=Triggers(commands=("npm install",)))
    assert where_told(quiet, lesson) == "command"
    lesson = changed(quiet, lesson, when=Triggers(edited=True))
    assert where_told(quiet, lesson) == "no"


def test_a_lesson_is_lost_when_others_outrank_it(quiet: Memory) -> None:
    lesson = kept(quiet, ASKED, insight="The walrus ferry carries no horses on the sundeck in winter")
    for number in range(12):  # decoys about other things
        kept(quiet, insight=f"Lighthouse number {number} is painted white")
    assert where_told(quiet, lesson) == "prompt"
    for side in ("north", "south", "east", "west"):
        for pier in ("inner", "outer", "upper", "lower", "old", "new", "long", "short"):
            kept(quiet, insight=f"The free berth for the walrus ferry at low tide is the {pier} {side} berth")
    assert where_told(quiet, lesson) == "no"


@pytest.mark.parametrize(
    ("moment", "fields", "when"),
    [
        (("file", "src/tides.py"), {"path": "src/tides.py"}, "file"),
        (("file", "src/other.py"), {"path": "src/tides.py"}, "no"),
        (("search", "harbour_master"), {"insight": "Call `harbour_master` before mooring"}, "search"),
        (("search", "lighthouse"), {"insight": "Call `harbour_master` before mooring"}, "no"),
        (("command", "pytest -q"), {"kind": "fix", "error_signature": "KeyError: 'pilot'"}, "command"),
        (("command", "grep -rn harbour_master ."), {"insight": "Call `harbour_master` before mooring"}, "command"),
    ],
)
def test_each_kind_of_moment_is_played(
    quiet: Memory, moment: tuple[str, str], fields: dict[str, Any], when: str
) -> None:
    error = "KeyError: 'pilot'" if fields.get("kind") == "fix" else ""
    assert where_told(quiet, kept(quiet, moment, error=error, **fields)) == when


@pytest.mark.parametrize(
    ("title", "is_told"),
    [
        ("Install packages with pnpm, the store is shared", True),
        ("Lighthouses are painted white each spring", False),
        ("Pnpm shares crane gate berth", True),
        ("Pnpm gate crane berth tide", False),
    ],
)
def test_a_title_that_says_nothing_of_its_lesson_does_not_tell_it(memory: Memory, title: str, is_told: bool) -> None:
    insight = "When packages are installed, use pnpm, because the store of all harbours is shared"
    lesson = kept(memory, ("file", "a.py"), insight=insight, title=title, kind="bug_cause")
    assert (where_told(memory, lesson) == "start") == is_told
    assert says(title, lesson) == is_told


def test_only_confirmed_lessons_with_moments_are_played_and_the_others_counted(memory: Memory) -> None:
    kept(memory, ASKED, insight="One")
    kept(memory, ASKED, insight="Two", state="candidate")
    kept(memory, ASKED, insight="Three", state="retired")
    old = make_lesson(project=memory.location.project.id)
    memory.services.store.put([old], {})
    done: list[tuple[int, int]] = []
    rehearsal = rehearse_lessons(memory, progress=lambda number, total: done.append((number, total)))
    assert (len(rehearsal.lessons), rehearsal.without_moments, done) == (1, 1, [(1, 1)])


def test_a_lesson_that_replaced_others_has_their_moments(quiet: Memory) -> None:
    first = kept(quiet, INSTALL, insight="Never npm", state="superseded")
    second = kept(
        quiet, ("file", "a.py"), insight="Use pnpm", state="superseded",
        links=(Link(kind="supersedes", target=first.id),),
    )  # fmt: skip
    links = (Link(kind="supersedes", target=second.id), Link(kind="supersedes", target=LessonId("purged")))
    last = kept(quiet, insight="Packages come by pnpm", links=links, when=Triggers(commands=("npm install",)))
    [rehearsed] = rehearse_lessons(quiet).lessons
    assert (rehearsed.id, rehearsed.told) == (last.id, "command")
    assert set(rehearsed.replaces) == {first.id, second.id, "purged"}
    assert [moment.kind for moment in rehearsed.moments] == ["file", "command"]


def test_a_sample_stays_the_same_when_lessons_are_added(memory: Memory) -> None:
    for number in range(20):
        kept(memory, ASKED, insight=f"Rule number {number} of the harbour")
    before = {lesson.id for lesson in rehearse_lessons(memory, sample=5).lessons}
    kept(memory, ASKED, insight="Another rule")
    after = {lesson.id for lesson in rehearse_lessons(memory, sample=5).lessons}
    assert (len(before), len(after)) == (5, 5)
    assert len(before & after) >= 4


def test_a_rehearsal_writes_neither_events_nor_deliveries(memory: Memory) -> None:
    kept(memory, ASKED, INSTALL, ("file", "src/tides.py"), insight="The walrus ferry needs a free berth")
    rehearse_lessons(memory)
    assert (memory.services.store.extent().events, memory.log()) == (0, [])


# Baselines


def rehearsed(id_: str, when: str, *moments: tuple[str, bool], replaces: tuple[str, ...] = ()) -> RehearsedLesson:
    played = tuple(PlayedMoment(event=EventId(event), kind="prompt", is_told=is_told) for event, is_told in moments)
    return RehearsedLesson(
        id=LessonId(id_), kind="convention", title="A title", told=when, moments=played,
        replaces=tuple(map(LessonId, replaces)),
    )  # fmt: skip


def lost_since(before: list[RehearsedLesson], after: list[RehearsedLesson]) -> list[str]:
    known = {
        lesson.id: KnownLesson(told=lesson.told, moments=tuple(moment.event for moment in lesson.moments))
        for lesson in before
    }
    return [lost.id for lost in compare(known, LessonRehearsal(lessons=tuple(after)), sampled=False).lost]


@pytest.mark.parametrize(
    ("before", "after", "is_lost"),
    [
        (rehearsed("a", "start", ("e", False)), rehearsed("a", "no", ("e", False)), True),
        (rehearsed("a", "prompt", ("e", True)), rehearsed("a", "no", ("e", False)), True),
        (rehearsed("a", "start", ("e", False)), rehearsed("a", "prompt", ("e", True)), False),
        (rehearsed("a", "prompt", ("e", True)), rehearsed("a", "start", ("e", False)), False),
        (rehearsed("a", "no", ("e", False)), rehearsed("a", "no", ("e", False)), False),
        (
            rehearsed("a", "prompt", ("e", True), ("f", True)),
            rehearsed("a", "prompt", ("e", False), ("f", True)),
            False,
        ),
        (rehearsed("a", "prompt", ("e", True)), rehearsed("b", "no", ("e", False)), False),
        (rehearsed("a", "prompt", ("e", True)), rehearsed("b", "no", ("e", False), replaces=("a",)), True),
        (
            rehearsed("a", "prompt", ("e", True)),
            rehearsed("b", "prompt", ("own", True), ("e", False), replaces=("a",)),
            True,
        ),
        (
            rehearsed("a", "prompt", ("e", True)),
            rehearsed("b", "prompt", ("own", False), ("e", True), replaces=("a",)),
            False,
        ),
        (rehearsed("a", "prompt", ("e", True)), rehearsed("b", "start", ("e", False), replaces=("a",)), False),
    ],
)
def test_only_what_was_delivered_and_is_not_any_more_is_lost(
    before: RehearsedLesson, after: RehearsedLesson, is_lost: bool
) -> None:
    assert lost_since([before], [after]) == (["a"] if is_lost else [])


def test_lessons_that_came_and_went_are_counted() -> None:
    known = {LessonId("a"): KnownLesson(told="start"), LessonId("b"): KnownLesson(told="start")}
    now = LessonRehearsal(lessons=(rehearsed("a", "start"), rehearsed("c", "no")))
    comparison = compare(known, now, sampled=False)
    assert (comparison.lost, comparison.gone, comparison.new) == ((), 1, 1)
    assert compare(known, now, sampled=True).gone == 0


def test_a_baseline_is_read_as_it_was_written_and_has_no_words(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert read_baseline(str(path)) is None
    write_baseline(str(path), LessonRehearsal(lessons=(rehearsed("a", "prompt", ("e", True), ("f", False)),)))
    assert read_baseline(str(path)) == {"a": KnownLesson(told="prompt", moments=(EventId("e"), EventId("f")))}
    assert "title" not in path.read_text()
    assert json.loads(path.read_text())["format"] == FORMAT == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"tide", b"[]", b'{"format": 2, "lessons": {}}', b'{"format": 1, "lessons": {"a": {"told": "tide"}}}',
        b'{"format": 1, "lessons": {"a": {"told": "start", "moments": [1]}}}', b'{"format": 1, "lessons": []}',
        b"\xff\xfe{", b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_baseline_is_refused_with_a_hint(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "baseline.json"
    path.write_bytes(content)
    with pytest.raises(InvalidValueError, match="is no baseline") as caught:
        read_baseline(str(path))
    assert "does not exist" in caught.value.hint


def test_a_baseline_larger_than_its_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.upkeep.lessonrehearsal.BASELINE_LIMIT", 40)
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"format": 1, "lessons": {"a" * 40: {"told": "start", "moments": []}}}))
    with pytest.raises(InvalidValueError, match="is no baseline"):
        read_baseline(str(path))
