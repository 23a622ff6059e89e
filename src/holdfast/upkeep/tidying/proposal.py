"""Proposal: the steps by which a project's memory becomes smaller, each with its reason and the lessons it is about."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from holdfast.domain.vocabulary import LessonId
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.records import Frozen
from holdfast.lean.texts import dumps, loads, short_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.domain.lesson import Lesson

Verb = Literal["merge", "retitle", "retire"]


class Step(Frozen):
    """One thing to do: merge lessons into one that stays, give one a better title, or retire one."""

    verb: str
    lesson: LessonId
    """The lesson that stays, is retitled or is retired."""
    replaces: tuple[LessonId, ...] = ()
    """Lessons that are superseded by the one that stays."""
    title: str = ""
    """The new title; empty: it keeps its own."""
    reason: str = ""
    by: str = "rule"
    """`rule`, or the id of the model that proposed it."""


class Proposal(Frozen, nested={"steps": Step}):
    """The checked steps, and why others were refused."""

    at: datetime
    living: int
    """Living lessons before the steps."""
    steps: tuple[Step, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def closed(self) -> int:
        """How many lessons the steps supersede or retire."""
        return sum(len(step.replaces) + (step.verb == "retire") for step in self.steps)


def dump(proposal: Proposal) -> str:
    """Return the proposal as text for the store."""
    return dumps(to_plain(proposal))


def load(text: str) -> Proposal | None:
    """Return the stored proposal; None without one, or for one that another version wrote."""
    try:
        return from_plain(Proposal, loads(text)) if text else None
    except (KeyError, TypeError, ValueError):
        return None


def render_diff(proposal: Proposal, lessons: Mapping[LessonId, Lesson]) -> Iterator[str]:
    """Yield the proposal as a diff of lessons: `-` what goes, `+` what it becomes, ` ` what stays."""
    for step in proposal.steps:
        if step.lesson not in lessons or any(id_ not in lessons for id_ in step.replaces):
            continue
        yield f"@@ {step.verb} ({step.by}): {step.reason}"
        stays = lessons[step.lesson]
        if step.verb == "retire":
            yield _row("-", stays, stays.title)
            continue
        yield from (_row("-", lessons[id_], lessons[id_].title) for id_ in step.replaces)
        if step.title:
            yield _row("-", stays, stays.title)
            yield _row("+", stays, step.title)
        else:
            yield _row(" ", stays, stays.title)


def _row(mark: str, lesson: Lesson, title: str) -> str:
    return f"{mark} {short_id(lesson.id)} {title}"


def as_json(proposal: Proposal) -> Any:
    """Return the proposal as `--json` prints it."""
    return to_plain(proposal)
