"""What the log keeps besides events and lessons: deliveries, outcomes, checkpoints and changes. Append-only."""

from __future__ import annotations

from datetime import datetime

from holdfast.domain.vocabulary import EventId, LessonId, Moment, ProjectId, SessionId, Verdict
from holdfast.lean.records import Frozen


class Delivery(Frozen):
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
    """What it was shown for: the file, the command, the first words of the prompt or of the error."""
    tokens: int = 0
    agent: str = ""


class Outcome(Frozen):
    """What became of a lesson in a session: judged after it, or stated by somebody.

    The id of a judged one follows from session, lesson and what was judged, so that a session judged twice counts once.
    """

    id: str
    at: datetime
    project: ProjectId
    session: SessionId
    lesson: LessonId
    verdict: Verdict
    note: str = ""
    """Somebody's words, or the words of the evidence."""
    judge: str = ""
    """`name/version` of what judged; empty for a statement."""
    evidence: tuple[EventId, ...] = ()
    """Events that the verdict rests on."""
    moment: Moment = "on_demand"
    """When it was told, withheld or missed."""
    work: str = ""
    """The kind of work at that time (`ranking.aim.TASKS`); empty where it cannot be told."""
    trigger: str = ""
    """What it was told, withheld or missed for."""
    withheld: bool = False
    """The verdict is about a session from which the lesson was withheld: what happens without it."""


class Checkpoint(Frozen):
    """Working state of a long task; the newest of a (project, task) is the current one."""

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
    """The task is finished: nothing to restore."""


class Change(Frozen):
    """One change of memory by a person, an agent or a detector, and how to take it back."""

    id: str
    at: datetime
    project: ProjectId
    verb: str
    """remember, revise, forget, accept, reject, learn, import, confirm, reanchor, undo, feedback, purge, sync,
    stage, merge, rescue, promote, retire, wake, ..."""
    lessons: tuple[LessonId, ...]
    actor: str = ""
    undone: str = ""
    """For an undo: the id of the change it took back."""
    summary: str = ""
