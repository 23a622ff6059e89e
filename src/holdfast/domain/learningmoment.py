"""LearningMoment: what went on when a lesson was learnt, so that a check can play it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import InvalidValueError

MomentKind = Literal["prompt", "file", "command", "search"]

MOMENT_KINDS: tuple[MomentKind, ...] = ("prompt", "file", "command", "search")
"""A person's request, a file that was edited or read, a command that ran or failed, a search of the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningMoment:
    """A request, a file, a command or a search beside which a lesson was learnt, redacted and short."""

    event: EventId
    """The event that it was; it distinguishes the moments of a lesson."""
    session: SessionId
    kind: MomentKind
    text: str
    """The first characters of the prompt, the file's path, the command, or the pattern."""
    error: str = ""
    """For a command that failed: the line that names the error."""
    is_edit: bool = False
    """The file was edited, not only read."""

    def __post_init__(self) -> None:
        """Require a known kind and a text; raise InvalidValueError otherwise."""
        if self.kind not in MOMENT_KINDS:
            raise InvalidValueError(f"unknown kind of moment {self.kind!r}")
        if not self.text:
            raise InvalidValueError("a moment needs a text")
