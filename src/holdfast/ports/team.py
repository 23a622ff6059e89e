"""What a team server stores beside lessons: records of the organisation, the audit log, shared documents.

A server has one `TeamBackend`. For each request it opens `TeamStores` for the organisation of the caller: cheap views
of one organisation, which can neither read nor write another one's rows. Everything inside `with stores.changing():`
is one transaction over lessons, records, audit log and documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, Self, TypeVar

from holdfast.domain.team import AuditEntry, OrganisationId, StoredDocument, TeamRecord
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.ports.services import Clock
from holdfast.ports.store import Store

T = TypeVar("T", bound=TeamRecord)

PAGE = 1_000
"""Most records that one call returns."""


class Records(Protocol):
    """The organisation's records, by kind and id, and its counters."""

    def add(self, record: TeamRecord) -> None:
        """Add a record. Raises TakenError if its id or a value of a unique field is taken, writing nothing."""

    def add_missing(self, records: Sequence[TeamRecord]) -> list[str]:
        """Add those of the records, all of one kind without unique fields, whose ids are free; return their ids."""

    def put(self, record: TeamRecord) -> None:
        """Add a record, or replace the one with its kind and id. Raises TakenError for a unique field's value."""

    def get(self, kind: type[T], id_: str) -> T | None:
        """Return the record, or None."""

    def find(
        self, kind: type[T], where: Mapping[str, str] | None = None, *, after: str = "", limit: int = PAGE
    ) -> list[T]:
        """Return the records of a kind in the order of their ids, from the first id beyond `after`.

        `where` maps at most one field of the kind's FIND_BY to a value; a field that is a tuple has to contain it.
        """

    def count(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        """Return how many records `find` would return without a limit."""

    def remove(self, kind: type[TeamRecord], id_: str) -> bool:
        """Erase the record; return whether there was one."""

    def remove_all(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        """Erase the records that `find` would return without a limit; return how many."""

    def add_up(self, counter: str, amount: int, keep_until: datetime | None = None) -> int:
        """Add to a counter, which begins at 0, and return its value; an amount of 0 reads it.

        Until the transaction ends, others that add to this counter wait.
        """

    def expire(self, now: datetime) -> int:
        """Erase the records and counters whose `keep_until` has passed; return how many."""

    def hold(self, name: str) -> None:
        """Make other transactions that hold this name wait until this one ends, and see what this one writes.

        For a check that a write depends on, such as "the last admin". Call it inside `changing`, before reading.
        """


class AuditLog(Protocol):
    """The organisation's log: append-only and chained (`team.audit`)."""

    def hold_last(self) -> AuditEntry | None:
        """Return the newest entry, as it was when it was appended; nobody else appends until the transaction ends.

        Call it inside `changing`. The answer comes from a row of its own, so that a lost last entry is noticed.
        """

    def last(self) -> AuditEntry | None:
        """Return what `hold_last` returns, and make nobody wait."""

    def append(self, entries: Sequence[AuditEntry]) -> None:
        """Add the entries that follow the last one, in order. Raises StaleWriteError for another `seq`."""

    def read(self, *, after: int = 0, limit: int = PAGE, newest_first: bool = False) -> list[AuditEntry]:
        """Return entries in order, from the first `seq` beyond `after`.

        With `newest_first`, return them from the end, or from the first below `after` where that is not 0. A row that
        cannot be read is an entry with the action `damaged.row` and no hash.
        """


class Documents(Protocol):
    """Documents of shared lessons, with a feed of changes for each project (`publishing.remote`).

    Purging a lesson (`ports.store.Erasure`) empties its documents' bodies, each at a new position, whoever purges it.
    """

    def hold(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Return those of the documents that exist, by id; nobody else writes the project's until the transaction ends.

        Call it inside `changing`.
        """

    def get(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        """Return those of the documents that exist, by id."""

    def of_lessons(self, project: ProjectId, lessons: Sequence[LessonId]) -> dict[LessonId, StoredDocument]:
        """Return the documents from which these lessons are derived, by lesson."""

    def write(self, project: ProjectId, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        """Add or replace documents, in order; return each with its new `seq`, whatever it had before.

        Positions have no gaps, and none is readable before a lower one.
        """

    def after(self, project: ProjectId, seq: int, limit: int = PAGE) -> list[StoredDocument]:
        """Return the documents whose last change is beyond that position, in order of position."""

    def last_seqs(self, projects: Sequence[ProjectId]) -> dict[ProjectId, int]:
        """Return each project's last position, 0 for a project without documents."""

    def remove_project(self, project: ProjectId) -> int:
        """Erase the documents of a project; return how many. Its positions are never used again."""


class TeamStores(Protocol):
    """All that a request works with, of one organisation. Threads may share it, and requests make their own."""

    @property
    def organisation(self) -> OrganisationId:
        """Whose rows these are."""

    @property
    def store(self) -> Store:
        """Lessons, events and search."""

    @property
    def records(self) -> Records:
        """Members, tokens, projects and the like."""

    @property
    def audit(self) -> AuditLog:
        """Who did what."""

    @property
    def documents(self) -> Documents:
        """Shared lessons as sync exchanges them."""

    def reading(self) -> AbstractContextManager[object]:
        """Return a context in which all reads of this thread see one instant. It may contain no `changing`."""

    def changing(self) -> AbstractContextManager[object]:
        """Return a context whose reads and writes, of this thread and of all four, are one transaction.

        An error in it undoes everything. A context inside another one belongs to the outer transaction.
        """


class TeamBackend(Protocol):
    """The organisations of one server. Use it in a `with` statement; threads share it."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

    def open(self, organisation: OrganisationId) -> TeamStores:
        """Return the stores of an organisation, which are empty if nobody has made it.

        Raises NotFoundError where the backend holds no organisation of that number.
        """

    def check(self) -> None:
        """Return if the database answers and has the schema of this program. Raises StoreError."""

    def open_to_read(self, organisation: OrganisationId, project: ProjectId, after: int) -> TeamStores:
        """Return the stores of an organisation for a reader who has seen the project's documents up to that position.

        A replica may answer what it reads, if it has as much. What it writes is written where `open` writes.
        """

    def organisations(self) -> list[OrganisationId]:
        """Return the numbers of all organisations that were created, in order."""

    def move(self, organisation: OrganisationId, place: str) -> int:
        """Move an organisation to another database of the backend, by its name; return how many rows it has there.

        Clients go on meanwhile; writers wait for its end, or get StoreLockedError and try again. Raises
        InvalidValueError for a place that the backend does not have.
        """

    def create(self) -> OrganisationId:
        """Return the number of a new organisation. Raises StoreError where the backend holds only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamServices:
    """What the use cases of `team` work with, for one organisation."""

    stores: TeamStores
    clock: Clock
    random_bytes: Callable[[int], bytes]
    """Returns that many bytes of a random source that is good enough for secrets."""
