"""Event: something that happened in a session, as a host reported it. Events are appended and never rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.vocabulary import EVENT_KINDS, EventId, EventKind, ProjectId, SessionId, Trust
from holdfast.errors import InvalidValueError

TEXT_LIMIT = 16_000
"""Characters of an event's text that are kept; `text_length` tells how many there were."""

NOTHING_FOUND = "(nothing found)"
"""The line below a search's pattern in its event's text when the search is known to have had no result."""

MEMORY_TOOL = "memory"
"""The tool of an event that records what an agent stored in its host's own memory. The first line of the text is the
memory's name; its words follow."""


def spoken_prefix(kind: EventKind) -> str:
    """Return the prefix of the keys of prompts or replies, by which a store finds them among a session's events."""
    return f"{kind}:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened, where, when, and its redacted text.

    `key` makes capture idempotent: two events of one session with the same key are one event (a host that fires a hook
    twice, a transcript read twice). Hooks and transcripts of one host must use the same key for the same occurrence.
    """

    id: EventId
    session: SessionId
    host: str
    kind: EventKind
    at: datetime
    key: str
    project: ProjectId = ""  # type: ignore[assignment]
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    """Files it concerns, as the host named them until `observe` makes them relative to the project's root."""
    tool: str = ""
    """The host's name for the tool (Bash, Edit, ...); empty for prompts and replies."""
    command: str = ""
    exit_code: int | None = None
    old: str = ""
    """For a file_edit: the text that was replaced (empty for a new file), truncated like `text`."""
    new: str = ""
    """For a file_edit: the text that replaced it."""
    text: str = ""
    text_length: int = 0
    trust: Trust = "agent"
    agent: str = ""
    """The sub-agent's id; empty for the session's own agent."""
    model: str = ""

    def __post_init__(self) -> None:
        """Require a known kind, an aware time and a key; raise InvalidValueError otherwise."""
        if self.kind not in EVENT_KINDS:
            raise InvalidValueError(f"unknown event kind {self.kind!r}")
        if self.at.tzinfo is None:
            raise InvalidValueError("an event's time must be aware UTC")
        if not self.key:
            raise InvalidValueError("an event needs a key")
