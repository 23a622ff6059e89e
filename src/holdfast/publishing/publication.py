"""Publication: what of the memory may be written into a project's own files, and in what words.

A file in a project is read by others and by other programs: only what is the project's own, holds, and cannot be taken
for an instruction, a comment or a reference.
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
from holdfast.rendering.lines import clean
from holdfast.text.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from holdfast.domain.project import Place
    from holdfast.domain.symbol import Verdict
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.parts import Parts

_REFERENCE = re.compile(r"(?<![\w`/.@])@(?=[\w~./$\\])[^\s`]+")


class Withheld(Frozen):
    """A lesson that would be of use, but must not be written, and why."""

    lesson: Lesson
    reason: str


def is_public(lesson: Lesson, place: Place, seen: Collection[LessonId] | None) -> bool:
    """Whether it is the project's own, not private, and, where it is staged on a branch, `seen` here."""
    scope = lesson.scope
    is_here = not scope.branch or lesson.id in (seen or ())
    return not lesson.private and scope.project == place.project.id and is_here


def reason_against(lesson: Lesson, verdicts: Sequence[Verdict], standing: Standing) -> str:
    """Why a lesson may not be written; empty when it may."""
    texts = (lesson.title, lesson.insight, lesson.why, lesson.how, lesson.command, lesson.error_signature)
    doubt = next(filter(None, map(suspicion, texts)), "")
    if doubt:
        return doubt
    stale = next((verdict for verdict in verdicts if verdict.freshness in STALE), None)
    if stale:
        return f"{stale.anchor.path}: {stale.words or stale.freshness}"
    return "it did harm" if standing.is_harmful else ""


def outcomes_of(parts: Parts, place: Place) -> dict[LessonId, list[Outcome]]:
    """What became of each of the project's lessons that was shown."""
    outcomes: dict[LessonId, list[Outcome]] = {}
    for outcome in parts.store.find_records(Outcome, LogFilter(project=place.project.id, limit=EVERY_LESSON)):
        outcomes.setdefault(outcome.lesson, []).append(outcome)
    return outcomes


def standing_in(parts: Parts, lesson: Lesson, outcomes: Sequence[Outcome]) -> Standing:
    """The lesson's standing by these outcomes, those before somebody last vouched for it left out."""
    if not outcomes:
        return Standing()
    changes = parts.store.find_records(Change, LogFilter(lesson=lesson.id, limit=EVERY_LESSON))
    return standing_of(lesson, outcomes, since_of(changes))


def publishable(text: str) -> str:
    """One redacted line that cannot open a comment, pass for a fence, or have a host read a file."""
    return unreferring(clean(redact(text)).replace("<!--", "&lt;!--"))


def unreferring(text: str) -> str:
    """The line with references that hosts follow in rules files (`@file`, `#[[file:…]]`) as code, which none follows.

    Sources: Claude Code's, Gemini CLI's and Kiro's documentation of their rules files, 2026-11-21.
    """
    if "@" in text:
        if text.count("`") % 2 or "``" in text:
            text = text.replace("`", "'")
        spans = text.split("`")  # every second one is code already
        spans[::2] = [_REFERENCE.sub(r"`\g<0>`", span) for span in spans[::2]]
        text = "`".join(spans)
    return text.replace("#[[", "# [[")
