"""Publication: what of the memory may be written into a project's own files, and in what words.

A file in a project is read by others and by other programs: only what is the project's own, holds, and cannot be taken
for an instruction, a comment or a reference.
"""

from __future__ import annotations

import re

from holdfast.domain.frozen import Frozen
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Outcome
from holdfast.ports.store import LogFilter
from holdfast.ranking.compile import clean
from holdfast.service.suspicion import suspicion
from holdfast.service.verify import EVERY, STALE
from holdfast.text.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.project import Place
    from holdfast.domain.symbol import Verdict
    from holdfast.domain.vocabulary import LessonId
    from holdfast.service.parts import Parts

_REFERENCE = re.compile(r"(?<![\w`/.@])@(?=[\w~./$\\])[^\s`]+")


class Withheld(Frozen):
    """A lesson that would be of use, but must not be written, and why."""

    lesson: Lesson
    reason: str


def is_public(lesson: Lesson, place: Place) -> bool:
    """Whether it is the project's own, of no other branch, and not private."""
    scope = lesson.scope
    return not lesson.private and scope.project == place.project.id and scope.branch in ("", place.branch)


def reason_against(lesson: Lesson, verdicts: Sequence[Verdict], outcomes: Sequence[Outcome]) -> str:
    """Why a lesson may not be written; empty when it may."""
    told = (lesson.title, lesson.insight, lesson.why, lesson.how, lesson.command, lesson.error_signature)
    doubt = next(filter(None, map(suspicion, told)), "")
    if doubt:
        return doubt
    stale = next((verdict for verdict in verdicts if verdict.freshness in STALE), None)
    if stale:
        return f"{stale.anchor.path}: {stale.words or stale.freshness}"
    hurt = sum(outcome.verdict == "hurt" for outcome in outcomes)
    return "it did harm" if hurt and hurt >= len(outcomes) - hurt else ""


def outcomes_of(parts: Parts, place: Place) -> dict[LessonId, list[Outcome]]:
    """What became of each of the project's lessons that was shown."""
    outcomes: dict[LessonId, list[Outcome]] = {}
    for outcome in parts.store.find_records(Outcome, LogFilter(project=place.project.id, limit=EVERY)):
        outcomes.setdefault(outcome.lesson, []).append(outcome)
    return outcomes


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
