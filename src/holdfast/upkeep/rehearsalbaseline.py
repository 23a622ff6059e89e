"""A baseline of a rehearsal: where each lesson was told, to compare with later. It has ids, and no words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.domain.vocabulary import EventId, LessonId
from holdfast.errors import InvalidValueError
from holdfast.upkeep.lessonrehearsal import NEVER, START, WHEN_TOLD, LessonRehearsal, RehearsedLesson

FORMAT = 1
BASELINE_LIMIT = 50_000_000
"""Bytes of a baseline that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLesson:
    """Where a lesson was told, and its moments."""

    told: str
    moments: tuple[EventId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A lesson that was told and is not any more, or whose successor is not told where it was needed."""

    id: LessonId
    now: RehearsedLesson
    """The lesson now, or the one that superseded it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """What became of the baseline's lessons."""

    lost: tuple[Lost, ...] = ()
    gone: int = 0
    """Lessons that are not confirmed any more, and that no confirmed one superseded."""
    new: int = 0
    """Confirmed lessons that the baseline does not have."""


def write_baseline(path: str, rehearsal: LessonRehearsal) -> None:
    """Write the rehearsal as a baseline. Raises OSError."""
    lessons = {
        lesson.id: {"told": lesson.told, "moments": [moment.event for moment in lesson.moments]}
        for lesson in sorted(rehearsal.lessons, key=lambda lesson: lesson.id)
    }
    Path(path).write_text(json.dumps({"format": FORMAT, "lessons": lessons}, indent=1) + "\n", encoding="utf-8")


def read_baseline(path: str) -> dict[LessonId, KnownLesson] | None:
    """Return the baseline's lessons; None if there is no such file. Raises InvalidValueError for another file."""
    try:
        with open(path, "rb") as stream:
            document = json.loads(stream.read(BASELINE_LIMIT))
        if document["format"] != FORMAT:
            raise ValueError
        return {LessonId(id_): _known(entry) for id_, entry in document["lessons"].items()}
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        hint = "name a file that does not exist, to write a new one"
        raise InvalidValueError(f"{path} is no baseline of this version", hint=hint) from None


def _known(entry: Any) -> KnownLesson:
    moments = entry["moments"]
    if entry["told"] not in WHEN_TOLD or not all(isinstance(event, str) for event in moments):
        raise ValueError
    return KnownLesson(told=entry["told"], moments=tuple(moments))


def as_lost(lessons: Iterable[RehearsedLesson]) -> tuple[Lost, ...]:
    """Return the lessons as lost, where there is no baseline to compare with."""
    return tuple(Lost(id=lesson.id, now=lesson) for lesson in lessons)


def compare(known: Mapping[LessonId, KnownLesson], rehearsal: LessonRehearsal, *, sampled: bool) -> BaselineComparison:
    """Return what got worse since the baseline; of a sample, nothing counts as gone."""
    now = {replaced: lesson for lesson in rehearsal.lessons for replaced in lesson.replaces}
    now |= {lesson.id: lesson for lesson in rehearsal.lessons}
    lost = [Lost(id=id_, now=now[id_]) for id_, entry in known.items() if id_ in now and _is_lost(id_, entry, now[id_])]
    return BaselineComparison(
        lost=tuple(lost),
        gone=0 if sampled else sum(id_ not in now for id_ in known),
        new=sum(lesson.id not in known for lesson in rehearsal.lessons),
    )


def _is_lost(id_: LessonId, before: KnownLesson, now: RehearsedLesson) -> bool:
    """Return whether the lesson was told and is told nowhere now; a successor has to be told where the lesson was."""
    if before.told == NEVER or now.told == START:
        return False
    own = [moment for moment in now.moments if now.id == id_ or moment.event in before.moments]
    return not any(moment.is_told for moment in own)
