"""Filters for events, lessons and log records: all conditions of a filter hold together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.vocabulary import EventKind, LessonId, LessonKind, ProjectId, SessionId, State


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Selects events; all conditions hold together. Answers are in the order in which the store received them."""

    project: ProjectId = ""  # type: ignore[assignment]
    session: SessionId = ""  # type: ignore[assignment]
    kind: EventKind | None = None
    """Only prompts, or only replies, by `domain.event.spoken_prefix` of their keys. Use it with one session."""
    last: int = 0
    """Only this many of the last events; 0 means all."""
    after: int = 0
    """Only events the store received after this position; `EventLog.find_events` returns positions with events."""
    limit: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonFilter:
    """Selects lessons, newest first; all conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Lessons of this project and of the user. Empty, and `all_projects` false: the user's own lessons only."""
    all_projects: bool = False
    states: tuple[State, ...] = ()
    """Empty: every state but forgotten."""
    kinds: tuple[LessonKind, ...] = ()
    id_suffix: str = ""
    """The end of an id, as people type it."""
    topic_key: str = ""
    duplicate_key: str = ""
    """`text.words.duplicate_key` of the insight: normalised words; equal keys may be duplicates."""
    path: str = ""
    """Anchored to this file, now or before a move or on a branch (`text.searchkeys.anchored_files`)."""
    staged: bool = False
    """Only those staged on a branch."""
    without_vector: str = ""
    """Lessons that have no vector of this embedder yet."""
    as_of: datetime | None = None
    limit: int = 1_000
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Selects log records, newest first; all conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Empty: every project."""
    session: SessionId = ""  # type: ignore[assignment]
    lesson: LessonId = ""  # type: ignore[assignment]
    limit: int = 1_000
