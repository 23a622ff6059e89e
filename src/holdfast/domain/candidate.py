"""Candidate: a lesson that a detector proposes. `learning/learn` decides whether and how it becomes a lesson."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.domain.lesson import Evidence, Link, Triggers
from holdfast.domain.vocabulary import LessonKind, ScopeLevel, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRuns:
    """How often a command of the project passed and failed in one session."""

    purpose: str
    line: str
    """The command as a person would type it on another day."""
    passed: int = 0
    failed: int = 0
    aimed: int = 0
    """Passing runs that covered only a part: one test, one package."""
    before: str = ""
    """A command that must run first, as a failure without it showed."""
    named: bool = False
    """A person or the project's rules name it literally."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed lesson with its evidence. Paths are relative to the project's root."""

    kind: LessonKind
    insight: str
    detector: str
    """`name/version`, e.g. `fail_fix/1`."""
    evidence: tuple[Evidence, ...]
    title: str = ""
    """Empty: derived from the insight."""
    why: str = ""
    how: str = ""
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The subject's files, most relevant first; not every file that the turn touched."""
    symbols: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topic_key: str = ""
    trust: Trust = "agent"
    confidence: float = 0.5
    """Estimated share of such finds that an engineer of the project would keep."""
    salience: float = 0.5
    scope_level: ScopeLevel = "project"
    error_signature: str = ""
    command: str = ""
    when: Triggers = field(default_factory=Triggers)
    """When to deliver it, where that is known at capture."""
    origin: str = ""
    """`file#section` that holds the words now, as an importer of that file would name it."""
    links: tuple[Link, ...] = ()
    """Existing lessons that it refines or contradicts."""
    is_worded: bool = False
    """A model worded it, and the quote it rests on was found in the session."""
    quotes_person: bool = False
    """A model wrote the words, and its quote occurs verbatim in what a person typed."""
    explicit: bool = False
    """A person explicitly asked for it: it becomes active at once."""
    written: bool = False
    """The agent saved its words for later sessions, in its host's own memory."""
    structured: bool = False
    """It rests on what happened (exit statuses, a rejection of recent work), not on words alone."""
    runs: CommandRuns | None = None
    """For a command of the project: its counts, which `learning/commandcard` adds up over sessions."""
