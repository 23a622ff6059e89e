"""What the finders of recommendations return: something to do, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holdfast.domain.vocabulary import LessonId, SessionId

AdviceKind = Literal["rules_file", "lint_rule", "test", "comment", "lesson"]
ADVICE: dict[AdviceKind, str] = {
    "rules_file": "Rules that no rules file says",
    "lint_rule": "Lessons that a lint rule could check",
    "test": "Lessons that a test could hold",
    "comment": "Lessons that a comment could say",
    "lesson": "Trouble that no lesson explains",
}
"""Every sort of advice with its heading, in the order in which they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Something to do, and why."""

    kind: AdviceKind
    title: str
    why: str
    place: str = ""
    rule: str = ""
    lessons: tuple[LessonId, ...] = ()
    sessions: tuple[SessionId, ...] = ()
    """Every session that is evidence, newest first."""
    weight: float = 0.0
    """How much evidence there is, among others of its sort."""
