"""Finds lessons that the code itself could say or check, by their shape and by how often they are told at their place.

A lesson that forbids a piece of code, of which the code has little, could be a *lint rule*. A cause of a defect in one
definition that no test names could be a *test*. What else is true of one definition could be a *comment* there, unless
its file says it already. What a linter demands is checked already.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.domain.kinds import family_of, profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import PARTICULAR_MOMENTS
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.notice import SOUND
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter
from holdfast.recall.written import is_written, passages_of
from holdfast.rendering.lines import safe_title
from holdfast.reports.advice import Suggestion
from holdfast.reports.tuning import (
    ADVICE_LOG,
    AGAINST_LEAST,
    CODE_USES,
    DRIFT_SHARE,
    FILE_BYTES,
    SAID_SHARE,
    TOLD_LEAST,
)
from holdfast.text.occasions import linters_in
from holdfast.text.triggers import derive_triggers

_NOT = r"(?:never|not|no|don't|instead of|rather than|avoid)"
_TOKEN = re.compile(r"^(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*\(?\)?$")
"""Code that a lint rule can name: `os.Getwd(`, `Author.When`."""
_LINT = re.compile(r"\b(?:lint|linters?|linting|eslint|clippy)\b", re.IGNORECASE)
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[_.-](?:test|tests|spec)\.\w+$|Tests?\.\w+$")
_NAME = re.compile(r"\b[A-Za-z_]\w*\(\)|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){3,}\b")
"""A name of a definition: a call, or words run together."""
AGAINST = ("ignored", "overridden", "failed", "missed")
"""Verdicts by which a lesson that was told did not help."""


@dataclass(slots=True)
class _Use:
    """Where a lesson was told, and how often in vain."""

    sessions: dict[SessionId, None] = field(default_factory=dict)
    """Sessions that were told it at its place, newest first."""
    against: int = 0

    @property
    def is_again(self) -> bool:
        """Whether it is told again and again."""
        return len(self.sessions) >= TOLD_LEAST or (self.against >= AGAINST_LEAST and len(self.sessions) > 1)

    @property
    def words(self) -> str:
        """The counts in words."""
        often = f"told at its place in {len(self.sessions)} sessions"
        times = "once" if self.against == 1 else f"{self.against} times"
        return f"{often}, {times} in vain" if self.against else often


def advise_on_code(services: Services, location: Location, lessons: Sequence[Lesson]) -> list[Suggestion]:
    """Return the advice, the lesson that was told in vain and told most often first."""
    uses = _read_uses(services, location)
    shape = _Shapes(services, location)
    advice = []
    for lesson in lessons:
        use = uses.get(lesson.id)
        if use is None or not use.is_again or _is_linted(lesson):
            continue
        if (made := shape.advise(lesson, use)) is not None:
            advice.append(made)
    return sorted(advice, key=lambda each: -each.weight)


def _read_uses(services: Services, location: Location) -> dict[LessonId, _Use]:
    uses: dict[LessonId, _Use] = defaultdict(_Use)
    where = LogFilter(project=location.project.id, limit=ADVICE_LOG)
    for delivery in services.store.find_records(Delivery, where):
        if delivery.moment in PARTICULAR_MOMENTS:
            uses[delivery.lesson].sessions[delivery.session] = None
    for outcome in services.store.find_records(Outcome, where):
        if outcome.verdict in AGAINST and not outcome.withheld:
            uses[outcome.lesson].against += 1
    return uses


class _Shapes:
    """Decides what a lesson could be in the code of one work tree."""

    def __init__(self, services: Services, location: Location) -> None:
        self._services = services
        self._location = location
        self._check = FreshnessCheck(services, location)
        self._passages: dict[str, list[frozenset[str]]] = {}

    def advise(self, lesson: Lesson, use: _Use) -> Suggestion | None:
        """Return what the lesson could be; None for nothing."""
        code = self._forbidden(lesson) if use.against >= AGAINST_LEAST else None
        if code is not None:
            token, files = code
            there = f"{len(files)} files have it now" if files else "no file has it now"
            return self._advice("lint_rule", lesson, use, f"Forbid `{token}` by a lint rule", f"{use.words}; {there}")
        place = self._place(lesson)
        if not place or self._is_said(lesson):
            return None
        name = place.partition("::")[2].rpartition(".")[2]
        if family_of(lesson.kind) == "cause" and not self._is_tested(name):
            why = f"{use.words}; no test names {name}"
            return self._advice("test", lesson, use, f"Write a test of {name}: {safe_title(lesson)}", why, place)
        why = f"{use.words}; the file does not say it"
        return self._advice("comment", lesson, use, f"Say it in a comment at {name}: {safe_title(lesson)}", why, place)

    def _advice(self, kind: str, lesson: Lesson, use: _Use, title: str, why: str, place: str = "") -> Suggestion:
        return Suggestion(
            kind=kind,  # type: ignore[arg-type]
            title=title,
            why=why,
            place=place,
            rule=lesson.insight,
            lessons=(lesson.id,),
            sessions=tuple(use.sessions),
            weight=3 * use.against + len(use.sessions),
        )

    def _forbidden(self, lesson: Lesson) -> tuple[str, Sequence[str]] | None:
        """Return the code that the lesson forbids and the files that have it; None where the code is full of it."""
        for literal in derive_triggers("convention", "agent", lesson.insight, lesson.how).literals:
            if _TOKEN.match(literal) and _is_denied(literal, (lesson.title, lesson.insight, lesson.how)):
                files = [path for path in self._mentioning(literal) if not _is_prose(path)]
                if len(files) <= CODE_USES:
                    return literal, files
        return None

    def _place(self, lesson: Lesson) -> str:
        """Return the one definition that the lesson is about, while it is as it was learnt; else an empty text."""
        if not profile_of(lesson.kind).fits_beside_code or len(lesson.symbols) != 1 or len(lesson.paths) != 1:
            return ""
        freshness, _ = self._check.judge(lesson)
        if freshness not in SOUND and not (freshness == "drifted" and self._check.share(lesson) <= DRIFT_SHARE):
            return ""  # the code has changed since: what was true of it may be no more
        names = _NAME.findall(f"{lesson.title} {lesson.insight}")
        if not all(self._mentioning(name.removesuffix("()")) for name in dict.fromkeys(names)):
            return ""
        return f"{lesson.paths[0]}::{lesson.symbols[0]}"

    def _is_said(self, lesson: Lesson) -> bool:
        """Return whether the lesson's file says it already."""
        path = lesson.paths[0]
        if path not in self._passages:
            content = self._services.workspace.read(self._location, path) or b""
            self._passages[path] = passages_of([content[:FILE_BYTES].decode("utf-8", "replace")])
        return is_written(lesson, self._passages[path], SAID_SHARE)

    def _is_tested(self, name: str) -> bool:
        return any(_TEST_FILE.search(path) for path in self._mentioning(name))

    def _mentioning(self, word: str) -> Sequence[str]:
        return self._services.workspace.mentioning(self._location, word)


def _is_denied(literal: str, texts: Iterable[str]) -> bool:
    """Return whether one of the texts denies the code itself, with at most two words between."""
    name = re.escape(literal.rstrip("()"))
    pattern = re.compile(rf"\b{_NOT}(?:\s+[\w']+){{0,2}}\s+`?(?:\w+\.)?{name}\b", re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def _is_linted(lesson: Lesson) -> bool:
    """Return whether a linter demands it already."""
    text = f"{lesson.title} {lesson.insight} {lesson.how}"
    return bool(linters_in(text)) or bool(_LINT.search(text))


def _is_prose(path: str) -> bool:
    return path.endswith((".md", ".txt", ".rst", ".jsonl", ".json"))
