"""Log records besides events and lessons: deliveries, outcomes, checkpoints and changes. They are append-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.domain.vocabulary import EventId, LessonId, Moment, ProjectId, SessionId, Verdict
from holdfast.errors import InvalidValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One lesson shown once: where, when, why."""

    id: str
    at: datetime
    project: ProjectId
    session: SessionId
    host: str
    moment: Moment
    lesson: LessonId
    rank: int
    score: float
    reason: str
    trigger: str = ""
    """The cause of the delivery: the file, the command, the first words of the prompt or of the error."""
    tokens: int = 0
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The effect of a lesson in a session, judged afterwards or stated by somebody.

    The id of a judged outcome derives from session, lesson and what was judged, so a session that is judged twice
    counts once.
    """

    id: str
    at: datetime
    project: ProjectId
    session: SessionId
    lesson: LessonId
    verdict: Verdict
    note: str = ""
    """A person's words, or the words of the evidence."""
    judge: str = ""
    """`name/version` of the judge; empty for a statement."""
    evidence: tuple[EventId, ...] = ()
    """Events that the verdict rests on."""
    moment: Moment = "on_demand"
    """When the lesson was delivered, withheld or missed."""
    work: str = ""
    """The kind of work at that time (`ranking.aim.TASKS`); empty where it is not known."""
    trigger: str = ""
    """The cause for which it was delivered, withheld or missed."""
    withheld: bool = False
    """The lesson was withheld from the session, so the verdict says what happens without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Working state of a long task; the newest checkpoint of a (project, task) is the current one."""

    id: str
    at: datetime
    project: ProjectId
    session: SessionId
    task: str
    goal: str
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    branch: str = ""
    closed: bool = False
    """The task is finished, so there is nothing to restore."""
    asked: str = ""
    """What the user asked last."""
    failure: str = ""
    """The last command that failed and has not passed since, with its error."""
    uncommitted: tuple[str, ...] = ()
    """Files that were changed and not committed when the checkpoint was written."""
    is_automatic: bool = False
    """It was written from a session's events, not by an agent or a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of memory by a person, an agent or a detector, and how to undo it."""

    id: str
    at: datetime
    project: ProjectId
    verb: str
    """remember, revise, forget, accept, reject, learn, import, confirm, reanchor, undo, feedback, purge, sync,
    stage, merge, rescue, promote, retire, wake, ..."""
    lessons: tuple[LessonId, ...]
    actor: str = ""
    undone: str = ""
    """For an undo: the id of the change that it undid."""
    summary: str = ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFailure:
    """A failure that no run has shown as mended, in the few words by which a session's start names it."""

    session: SessionId
    """The session that saw it last, and its event there: the words come from it."""
    event: EventId
    text: str
    """The test's name, or the command."""
    error: str = ""
    """What it complained of; empty where it has no words that may be repeated."""
    branch: str = ""
    """The branch on which it was seen last."""
    first_at: datetime
    last_at: datetime
    runs: int = 1
    """How often it failed."""
    more: int = 0
    """How many other tests failed with it in the last run."""
