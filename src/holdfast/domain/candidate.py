"""Candidate: what a detector proposes. `learning/learn` decides whether and how it becomes a lesson."""

from __future__ import annotations

from holdfast.domain.lesson import Evidence, Link, Triggers
from holdfast.domain.vocabulary import LessonKind, ScopeLevel, Trust
from holdfast.lean.records import Frozen


class CommandRuns(Frozen):
    """How a command of the project fared in one session."""

    purpose: str
    line: str
    """The command as it would be typed another day."""
    passed: int = 0
    failed: int = 0
    aimed: int = 0
    """Runs that passed, aimed at a part: one test, one package."""
    before: str = ""
    """What had to run before it, as a failure without it showed."""
    named: bool = False
    """A person or the project's rules name it in so many words."""


class Candidate(Frozen, nested={"evidence": Evidence, "when": Triggers, "links": Link, "runs": CommandRuns}):
    """A proposed lesson with its evidence. Paths are relative to the project's root."""

    kind: LessonKind
    insight: str
    detector: str
    """`name/version`, e.g. `fail_fix/1`."""
    evidence: tuple[Evidence, ...]
    title: str = ""
    """Empty: made from the insight."""
    why: str = ""
    how: str = ""
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The subject's files, most relevant first; not every file the turn touched."""
    symbols: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topic_key: str = ""
    trust: Trust = "agent"
    confidence: float = 0.5
    salience: float = 0.5
    scope_level: ScopeLevel = "project"
    error_signature: str = ""
    command: str = ""
    when: Triggers = Triggers()
    """When it is to be told, where that is known at capture."""
    origin: str = ""
    """`file#section` where the words stand now, as an importer of that file would name it."""
    links: tuple[Link, ...] = ()
    """Known lessons it refines or contradicts."""
    quotes_person: bool = False
    """A model worded it, and its quote was found verbatim in what a person typed."""
    explicit: bool = False
    """A person asked for it in so many words: active at once."""
    calibrated: bool = False
    """The confidence is a calibrated probability that an engineer would keep it, and admission goes by it."""
    written: bool = False
    """Its words were written to be kept: a commit message, a comment, a rules file, a host's memory, a summary."""
    to_judge: bool = False
    """The confidence tells what its form is worth; a judge of words (`ports.detector.Judge`) is to calibrate it."""
    structured: bool = False
    """It rests on what happened (exit statuses, a rejection of work just done), not on words alone."""
    runs: CommandRuns | None = None
    """Of a command of the project: its counts, which `learning/commandcard` adds up over sessions."""
