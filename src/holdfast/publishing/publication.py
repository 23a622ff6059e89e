"""Decides which lessons may be written into a project's own files, and in which words.

Others read a project's files, and other programs do too. So a lesson is written only if it is the project's own and
still valid, and its text must not work as an instruction, a comment or a reference.
"""

from __future__ import annotations

import re

from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Outcome
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.freshness.verify import STALE
from holdfast.lean.records import Frozen
from holdfast.lessons.suspicion import suspicion
from holdfast.outcomes.standing import Standing, since_of, standing_of
from holdfast.ports.store import LogFilter
from holdfast.redaction import redact
from holdfast.rendering.lines import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from holdfast.domain.project import Location
    from holdfast.domain.symbol import Verdict
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.services import Services

_REFERENCE = re.compile(r"(?<![\w`/.@])@(?=[\w~./$\\])[^\s`]+")


class Withheld(Frozen):
    """A useful lesson that must not be written, and why."""

    lesson: Lesson
    reason: str


def is_public(lesson: Lesson, location: Location, seen: Collection[LessonId] | None) -> bool:
    """Return whether it is the project's own, not private, and, if staged on a branch, `seen` here."""
    scope = lesson.scope
    is_here = not scope.branch or lesson.id in (seen or ())
    return not lesson.private and scope.project == location.project.id and is_here


def reason_against(lesson: Lesson, verdicts: Sequence[Verdict], standing: Standing) -> str:
    """Return why a lesson may not be written; empty if it may."""
    texts = (lesson.title, lesson.insight, lesson.why, lesson.how, lesson.command, lesson.error_signature)
    doubt = next(filter(None, map(suspicion, texts)), "")
    if doubt:
        return doubt
    stale = next((verdict for verdict in verdicts if verdict.freshness in STALE), None)
    if stale:
        return f"{stale.anchor.path}: {stale.words or stale.freshness}"
    return "it is in doubt: holdfast review" if standing.is_doubted else ""


def outcomes_of(services: Services, location: Location) -> dict[LessonId, list[Outcome]]:
    """Return the outcomes of the project's lessons, by lesson."""
    outcomes: dict[LessonId, list[Outcome]] = {}
    for outcome in services.store.find_records(Outcome, LogFilter(project=location.project.id, limit=EVERY_LESSON)):
        outcomes.setdefault(outcome.lesson, []).append(outcome)
    return outcomes


def standing_in(services: Services, lesson: Lesson, outcomes: Sequence[Outcome]) -> Standing:
    """Return the lesson's standing by these outcomes, without those before somebody last vouched for it."""
    if not outcomes:
        return Standing()
    changes = services.store.find_records(Change, LogFilter(lesson=lesson.id, limit=EVERY_LESSON))
    return standing_of(outcomes, since_of(changes))


def publishable(text: str) -> str:
    """Return one redacted line that cannot open a comment, look like a fence, or make a host read a file."""
    return unreferring(clean(redact(text)).replace("<!--", "&lt;!--"))


def unreferring(text: str) -> str:
    """Return the line with references that hosts follow (`@file`, `#[[file:…]]`) made into code, which none follows.

    Sources: Claude Code's, Gemini CLI's and Kiro's documentation of their rules files, 2026-11-21.
    """
    if "@" in text:
        if text.count("`") % 2 or "``" in text:
            text = text.replace("`", "'")
        spans = text.split("`")  # every second one is code already
        spans[::2] = [_REFERENCE.sub(r"`\g<0>`", span) for span in spans[::2]]
        text = "`".join(spans)
    return text.replace("#[[", "# [[")
