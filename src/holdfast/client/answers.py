"""What a server answers, beside the records of `domain`: pages of lists, and small records for clients alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, overload

from holdfast.domain.lesson import Lesson
from holdfast.domain.team import Confirmation, Flag, Invitation, Role, Token, Verb

T = TypeVar("T")


class ListPage(Sequence[T], Generic[T]):
    """One page of a list; `next` is the cursor of the page after it, empty on the last one."""

    def __init__(self, items: Sequence[T], next: str = "") -> None:
        self._items = tuple(items)
        self.next = next

    def __repr__(self) -> str:
        return f"ListPage({len(self)} items{', more follow' if self.next else ''})"

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._items[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who calls, and what the token may do."""

    organisation: str
    name: str
    member: str
    """Empty for a program's token."""
    role: Role
    token: str
    verbs: tuple[Verb, ...] = ()
    projects: tuple[str, ...] = ()
    """Only these; empty: all that the member sees."""
    teams: tuple[str, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A new token, and its text, which nobody can read again."""

    token: Token
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An invitation, and what belongs into its link, which nobody can read again."""

    invitation: Invitation
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonJudgements:
    """What members say of a lesson."""

    lesson: Lesson
    confirmations: tuple[Confirmation, ...] = ()
    flags: tuple[Flag, ...] = ()
    accepted_by: str = ""
    """What made the lesson active just now: `reviewer`, `owner` or `confirmations`; empty: nothing did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A lesson that somebody should look at again."""

    lesson: Lesson
    reason: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """What waits for a reviewer."""

    waiting: tuple[Lesson, ...] = ()
    flags: tuple[Flag, ...] = ()
    in_doubt: tuple[Doubt, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictPair:
    """Two lessons that cannot hold together, the better one first."""

    better: Lesson
    worse: Lesson
    slot: str = ""
    values: tuple[str, ...] = ()
    reason: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonVersion:
    """A version of a lesson, and the change that made it."""

    lesson: Lesson
    verb: str = ""
    actor: str = ""
    why: str = ""
    differences: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic, and how many of the newest lessons have it."""

    name: str
    kind: str
    """Where it was found: `tag`, `topic`, `area` or `term`."""
    lessons: int
    newest: str
    """When its newest lesson was recorded, as ISO 8601."""
    also: tuple[str, ...] = ()
    """Names of topics that were merged into it, or its own before it was renamed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A session, as far as its events are on the page."""

    session: str
    host: str
    branch: str
    first: str
    last: str
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvents:
    """How many events were new."""

    received: int
    stored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """What a check of the audit log found."""

    entries: int
    head: str
    """The log's end, to be noted elsewhere and compared later."""
    faults: tuple[str, ...] = ()
