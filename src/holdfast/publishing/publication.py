"""Decides which lessons may be written into a project's own files, and in which words.

Others read a project's files, and other programs do too. So a lesson is written only if it is the project's own and
still valid, and its text must not work as an instruction, a comment or a reference.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Outcome
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import LessonId
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.freshness.verify import STALE
from holdfast.lean.texts import short_id
from holdfast.lessons.statement import suspicion
from holdfast.outcomes.standing import Standing, since_of, standing_of
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter
from holdfast.redaction import redact
from holdfast.rendering.lines import clean
from holdfast.rendering.verdicts import verdict_words

_REFERENCE = re.compile(r"(?<![\w`/.@])@(?=[\w~./$\\])[^\s`]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
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
        return f"{stale.anchor.path}: {verdict_words(stale) or stale.freshness}"
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


# Renders lessons as one Markdown text for people, grouped by kind, each with its reason, remedy and standing


def render_markdown(lessons: Sequence[Lesson], heading: str) -> Iterator[str]:
    """Yield the text's lines, redacted again, without private lessons; kinds in their usual order."""
    yield f"# {heading}"
    for kind in LESSON_KINDS:
        chosen = [lesson for lesson in lessons if lesson.kind == kind and not lesson.private]
        if chosen:
            yield from ("", f"## {kind.replace('_', ' ').capitalize()}")
        for lesson in chosen:
            yield ""
            yield from redact("\n".join(_entry(lesson))).split("\n")


def _entry(lesson: Lesson) -> Iterator[str]:
    title = " ".join(lesson.title.split())
    yield f"### {title}"
    yield ""
    if lesson.insight.strip() != lesson.title:
        yield from (lesson.insight.strip(), "")
    for label, text in (("Why", lesson.why), ("How", lesson.how)):
        if text:
            yield from (f"**{label}:** {text.strip()}", "")
    for snippet in lesson.snippets:
        fence = "`" * max(3, _longest_run(snippet) + 1)
        yield from (fence, snippet.rstrip("\n"), fence, "")
    yield f"*{'; '.join(_standing(lesson))}*"


def _standing(lesson: Lesson) -> Iterator[str]:
    yield short_id(lesson.id)
    yield lesson.state
    yield f"trust: {lesson.trust}"
    yield f"since {lesson.validity.valid_from:%Y-%m-%d}"
    if lesson.paths:
        yield f"about {', '.join(lesson.paths)}"
    if lesson.scope.level == "user":
        yield "for all projects"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
