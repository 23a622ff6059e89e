"""Store: everything a backend stores, as the sum of nine smaller ports, with their filters and answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol, Self, TypeVar, cast

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import RowFamily, StateFamily
from holdfast.domain.vocabulary import EventKind, LessonId, LessonKind, ProjectId, SessionId, State, Trust
from holdfast.errors import LessonNotFoundError, StoreError


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
    id_short: str = ""
    """The beginning of an id's last eight characters, as people type it."""
    topic_key: str = ""
    duplicate_key: str = ""
    """`text.words.duplicate_key` of the insight: normalised words; equal keys may be duplicates."""
    path: str = ""
    """Anchored to this file, now or before a move or on a branch (`text.searchkeys.anchored_files`)."""
    area: str = ""
    """Anchored to a file in this folder or below it; ROOT_AREA: to a file in the project's own folder."""
    session: SessionId = ""  # type: ignore[assignment]
    """Learnt or stated in this session (`Provenance.session`)."""
    person: str = ""
    """Stated by this person (`Provenance.person`)."""
    tag: str = ""
    trust: Trust | None = None
    since: datetime | None = None
    """Only versions recorded at this instant or later."""
    until: datetime | None = None
    """Only versions recorded before this instant."""
    staged: bool = False
    """Only those staged on a branch."""
    without_vector: str = ""
    """Lessons that have no vector of this embedder yet."""
    as_of: datetime | None = None
    beyond: tuple[datetime, LessonId] | None = None
    """Only lessons that follow, in the order of the answer, one recorded then with that id, which need not exist."""
    limit: int = 1_000
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Selects log records, newest first; all conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Empty: every project."""
    session: SessionId = ""  # type: ignore[assignment]
    lesson: LessonId = ""  # type: ignore[assignment]
    since: datetime | None = None
    """Only records of this instant or later."""
    until: datetime | None = None
    """Only records before this instant."""
    limit: int = 1_000


Facet = Literal["area", "file", "kind", "month", "person", "state", "tag", "trust"]
"""What lessons are counted by: `text.searchkeys.facet_values` says which values a lesson has."""
ROOT_AREA = "."
"""The area of files that are in no folder."""
EVERY = 1_000_000_000
"""A limit that no store reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Selects sessions, the one with the newest event first, ties by session; all conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Empty: every project. A session with events of two projects is one session in each."""
    session: SessionId = ""  # type: ignore[assignment]
    branch: str = ""
    """Only sessions with an event on that branch."""
    host: str = ""
    since: datetime | None = None
    """Only sessions with an event at this instant or later."""
    until: datetime | None = None
    """Only sessions that began before this instant."""
    beyond: tuple[datetime, SessionId] | None = None
    """Only sessions that follow, in the order of the answer, one with that last event and that id."""
    limit: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """What the events of a session in one project add up to."""

    project: ProjectId
    session: SessionId
    host: str
    """That of the event received first."""
    branch: str
    """The last one that an event names; empty where none does."""
    first: datetime
    last: datetime
    events: int
    prompts: int
    opening: str = ""
    """The text of the first prompt received; empty where there is none or it was erased."""


class EventLog(Protocol):
    """The events of every session, in the order they were received."""

    def append_events(self, events: Sequence[Event]) -> int:
        """Store events and return how many were new. An event whose (session, key) is already stored is skipped."""

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """Return (position, event) pairs in order of position; positions grow and are never used again.

        A reader can continue after the last position it has read: a new event never appears below a position that was
        readable before, even if several processes write at once.
        """

    def list_sessions(self, where: SessionFilter) -> list[SessionRow]:
        """Return the sessions that match, the one with the newest event first, without reading their events."""

    def list_projects(self) -> list[ProjectId]:
        """Return the projects that have an event or a current lesson, in order, at a cost that grows only with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSpan:
    """How many versions in one state were recorded and replaced between the same two of a series of instants."""

    state: State
    begin: int
    """How many of the instants were before the versions were recorded."""
    end: int | None
    """How many were before they were replaced; None for versions that are current."""
    count: int

    def is_current_at(self, number: int) -> bool:
        """Return whether the versions were current at the instant with that number, counted from 0."""
        return self.begin <= number and (self.end is None or number < self.end)


class LessonStore(Protocol):
    """Lessons as versions: a version is closed by its successor and never edited."""

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        """Write a version of each lesson and the record of the change, all in one transaction.

        `expected` maps an id to the `recorded_at` of the version it replaces (None: the lesson is new). That version
        is closed at the new one's `recorded_at`. A change whose id is already stored replaces that record, so that a
        long import can extend its one record batch by batch.

        Raises StaleWriteError, writing nothing, when the expected version is not the current one, and when a lesson
        with a new id states the rule of another living lesson: candidate, active or quarantined, of the same
        with a new id states the rule of another living lesson: candidate, active or quarantined, of the same
        scope level, project and kind, with an equal `text.words.duplicate_key`. Later versions of a known lesson are
        not compared, because a restored lesson may state what another lesson states by now.
        """

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """Return the lessons in the order of the ids, as known at that instant.

        Raises LessonNotFoundError for an unknown id, and for a lesson whose row is damaged.
        """

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        """Return the state and the time of recording of each lesson's current version; leave out unknown ids."""

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Return the lessons that match, newest first, ties by id."""

    def count_by(self, where: LessonFilter, facet: Facet, most: int) -> dict[str, int]:
        """Count the lessons that `find` would return by a facet; return the `most` frequent values, ties by value.

        The limit holds: with a limit of 2,000 the newest 2,000 lessons that match are counted. A lesson counts once for
        each value that it has, and not at all where it has none.
        """

    def count_facets(self, where: LessonFilter, facets: Sequence[Facet], most: int) -> dict[Facet, dict[str, int]]:
        """Count the same lessons by several facets, for little more than by one; see `count_by`."""

    def count_versions(self, project: ProjectId, since: datetime, step: timedelta, count: int) -> list[VersionSpan]:
        """Count the versions of the project's and the user's lessons between the instants `since + number * step`.

        There are `count` instants, numbered from 0. Versions of purged lessons are gone.
        """


def get_readable(lessons: LessonStore, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
    """Return those of the lessons that can be read, in order; skip damaged and erased ones instead of raising."""
    try:
        return lessons.get(ids, as_of)
    except LessonNotFoundError:
        readable: list[Lesson] = []
        for id_ in ids:
            try:
                readable += lessons.get([id_], as_of)
            except LessonNotFoundError:
                continue
        return readable


def damage_words(care: StoreCare) -> str:
    """Return a notice for readers on rows that were left out; empty if there are none."""
    count = care.left_out()
    return f"{count} damaged {'row' if count == 1 else 'rows'} left out: holdfast doctor" if count else ""


Numbered = tuple[int, LessonId]
"""A position and a lesson's id: positions grow with every version written, so the larger is the newer."""
TokenSource = Literal["error", "command", "topic", "symbol", "path", "file", "mention", "part"]
"""Where a lesson's token comes from: see `text.searchkeys.lesson_tokens`."""
PathRelation = Literal["file", "glob", "folder", "beside"]
"""How an anchor relates to the path in question: it is that file, a glob that matches it, a folder that contains
it, or another file of such a folder."""
NameRelation = Literal["same", "unqualified", "around", "inside"]
"""How a name relates to the symbol in question: equal, equal to its last part, enclosing it, enclosed by it."""
TriggerKind = Literal["literal", "command", "path", "symbol"]
TextKind = Literal["bm25", "share"]
"""Scale of a text score: in `bm25` a term gives at most (k1 + 1) x idf with k1 = 1.2; `share`, 0 to 1, is relative
to the most that a lesson with every term could have."""

MOST_ALIKE = 1_000
"""Lessons of one token, the newest, that a store has to answer with: one that more have points at none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMatch:
    """Lessons that have one of the query's exact tokens, from one source."""

    token: str
    source: TokenSource
    sharing: int
    """How many lessons of the scope have the token, in any state and from any source."""
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMatches:
    """The signature of the error asked about, and lessons whose signatures have words of it."""

    signature: str = ""
    lessons: tuple[tuple[str, Numbered], ...] = ()
    """(signature, lesson) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatch:
    """A lesson that has words of the query's text, and the lesson learnt next to it."""

    lesson: Numbered
    score: float
    """The backend's own score, larger is better; `TextMatches.kind` names its scale."""
    session: str = ""
    """The session in which it was learnt."""
    after: Numbered | None = None
    """The lesson learnt next in that session, if the query may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatches:
    """The lessons that match a text, and how many lessons have each of its terms."""

    kind: TextKind = "bm25"
    matches: tuple[TextMatch, ...] = ()
    """Best first."""
    terms: tuple[tuple[str, int], ...] = ()
    """Each term of the query and how many lessons of the store have it, estimated where it is common."""
    lessons: int = 0
    """How many lessons the store has, tombstones and other versions included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathMatch:
    """Lessons with an anchor in one relation to a path of the query."""

    path: str
    relation: PathRelation
    levels: int = 0
    """Folders between: 0 for the folder that contains the file, 1 for the one above it."""
    lessons: tuple[Numbered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolMatch:
    """Lessons that have a name in one relation to a symbol of the query."""

    name: str
    relation: NameRelation
    levels: int = 0
    """Scopes between: 0 for the one directly around the symbol."""
    is_anchor: bool = True
    """False where only the lesson's words contain the name, or it is an anchor's last part."""
    lessons: tuple[Numbered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedMatch:
    """Lessons anchored to a linked file, or to a file of the query."""

    path: str
    """The path as the query has it, even if a store cannot hold that text, because scores are looked up by it."""
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerMatch:
    """Lessons with a trigger of that kind that matches the query."""

    kind: TriggerKind
    lessons: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMatch:
    """A lesson and the cosine of its vector with the query's, -1 to 1."""

    id: LessonId
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentMatch:
    """A lesson and the time at which its version was recorded."""

    id: LessonId
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedMatch:
    """A pinned lesson and its salience."""

    id: LessonId
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """A prompt, which is empty where its text was erased, and the replies to it, separated by empty lines."""

    project: ProjectId
    session: SessionId
    host: str
    branch: str
    at: datetime
    prompt: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMatch:
    """A turn that has words of the query's text, with its number and the backend's own score, larger is better."""

    row: int
    turn: SpokenTurn
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMatches:
    """The turns that match a text, best first, and how many turns of the store have each of its terms."""

    matches: tuple[TurnMatch, ...] = ()
    terms: tuple[tuple[str, int], ...] = ()
    turns: int = 0
    """How many turns the store has."""


class Search(Protocol):
    """One method for each retriever. No method weighs its matches.

    Each method returns only lessons that the query admits, by project, states, kinds, time, branch, prefix and
    exclusions; with `as_of`, only lessons known and true then. A query that lacks the field a method uses gets an
    empty answer. With a `limit`, the answer has at least that many of the newest lessons that match equally well,
    newest first.
    """

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        """Return the lessons that have an exact token of the query, in the order of `text.searchkeys.asked_tokens`.

        Of a token that more than MOST_ALIKE lessons have, return at least that many of the newest.
        """

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        """Return the `limit` lessons whose error signatures have most of the rare words of the query's error."""

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        """Return the lessons that have most words of the query's text; a word that few lessons have counts more.

        The answer has at least the best `neighbours` and the best `limit`. Once there are `limit` matches, words that
        many lessons have may be ignored. Session and successor are set for the best `neighbours`.
        """

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        """Return the lessons anchored to the query's paths, to matching globs, to folders above them, and beside them.

        The files beside a file are those of its folder and of the folders above it, except the root.
        """

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        """Return lessons of the query's paths with names related to its symbols; without paths, equal names only."""

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        """Return the lessons anchored to the query's linked files, and to its own files."""

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        """Return the lessons with a trigger that matches the query's code, command, paths or symbols."""

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        """Return the first `limit` lessons of one of the query's occasions, oldest first."""

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        """Return the `limit` nearest lessons by the query's vector, among vectors of its embedder, nearest first."""

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        """Return the newest `limit` lessons; if the query names a time, only lessons that hold since then."""

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        """Return the `limit` most salient pinned lessons, newer first among equals."""

    def search_turns(self, query: Query, limit: int) -> TurnMatches:
        """Return the `limit` turns of the query's project that have most words of its text, of the time that it names.

        Turns are what `text.turns` makes of the recorded prompts and replies. A store indexes those received since the
        last search first; where it cannot write, it answers from what is indexed.
        """

    def count_lessons(self, query: Query, most: int) -> int:
        """Count the current lessons of the query's project and states; stop at `most`."""


LogRecord = Delivery | Outcome | Checkpoint | Change
L = TypeVar("L", Delivery, Outcome, Checkpoint, Change)


class Activity(Protocol):
    """Log records of four types, each with an id of its own."""

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append records to the log; skip a record whose id is already there."""

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Return log records of that type, newest first; changes and checkpoints are ordered by when they arrived."""


class Vectors(Protocol):
    """Unit vectors of current versions, one for each lesson and embedder."""

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        """Store unit vectors of lessons' current versions; revising a lesson drops its old vector."""

    def count_without_vector(self, embedder_id: str) -> int:
        """Count the lessons that `LessonFilter.without_vector` selects in all projects."""

    def drop_other_vectors(self, embedder_id: str) -> None:
        """Erase the vectors of every other embedder; if it is interrupted, the next call erases the rest."""


class StateCells(Protocol):
    """Values that are read and written one at a time."""

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """Return the owner's value; empty if there is none."""

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Replace the owner's value; an empty one removes it."""


class StateStore(StateCells, Protocol):
    """Values with an expiry.

    Purging a lesson erases its own values, and removes it from values of families that name lessons, and its words from
    values of families that hold words.
    """

    def get_states(self, cells: Sequence[tuple[StateFamily, str]]) -> list[str]:
        """Return the value of each pair of family and owner, in order, as of one instant; see `get_state`."""

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        """Replace a value by what `edit` makes of it, and return that.

        Nobody else writes in between, so no edit is lost. `edit` must not call the store.
        """

    def expire_states(self, now: datetime) -> int:
        """Erase the values older than their family's days; return how many. Values age by the machine's clock."""


class StateRows(Protocol):
    """Values of which one owner has many, so that changing one of them writes one row."""

    def get_rows(self, family: RowFamily, owner: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        """Return the owner's values by key, in the order of the keys' code points; only of `keys`, if they are given.

        Keys without a value are left out.
        """

    def set_rows(self, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
        """Replace the values of these keys, and of no other; an empty one removes its row. Return how many changed.

        A value that is there already is not written again.
        """


class Erasure(Protocol):
    """Erasing follows every derivation: rows, indexes, logs and the bytes of the file."""

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        """Erase the lessons with every version, text, vector and log record; return the number of rows by table.

        The events that a version quotes lose their raw texts. Its rule and quotes are removed from the other events,
        checkpoints and deliveries of the sessions in which the lesson was seen.
        What a server stores about it goes, too: members' words, answers that it keeps, and the words of documents.
        The record of the change, if there is one, is stored in the same transaction.
        """

    def erase_event_texts(self, before: datetime) -> int:
        """Erase the raw texts of events that happened before that instant; return how many events had any.

        The events themselves stay.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A fault of the store and the command that repairs it."""

    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The size of a store."""

    lessons: int = 0
    """Current lessons, tombstones not counted."""
    versions: int = 0
    """Lesson versions ever written; erasing does not lower it."""
    events: int = 0
    """Events ever received; erasing does not lower it."""


class StoreCare(Protocol):
    """Care of a whole store: damage, size, copies.

    A backend without files, or whose rows cannot be damaged one by one, inherits the default methods.
    """

    def reading(self) -> AbstractContextManager[object]:
        """Return a context in which all reads of this thread see one instant, and what it wrote meanwhile.

        Other threads may wait until it ends, so it is for one short answer.
        """
        return nullcontext()

    def content(self) -> Hashable:
        """Return what stands for the lessons in it: equal only for stores of one process that hold the same ones.

        What a process keeps of lessons is kept under it. A backend whose stores are views of one database, made for
        each request, answers with the database and the organisation.
        """
        return cast("Hashable", self)

    def changing(self) -> AbstractContextManager[object]:
        """Return a context in which all reads and writes of this thread are one transaction.

        An error that leaves it takes back all that was written in it. A call in it that fails takes back its own
        writes, and so does a context inside another one; both belong to the outer transaction. Others wait.
        """
        ...

    def check(self) -> list[Problem]:
        """Return the faults of the store, its rows and its indexes; empty when it is sound. Changes nothing."""
        return []

    def left_out(self) -> int:
        """Return how many damaged rows were left out of answers since the store was opened."""
        return 0

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row unchanged to where no query finds it; return the number of rows moved, by table.

        Nothing is deleted: a later version of Holdfast, or a person, may still read the row.
        """
        return {}

    def extent(self) -> Extent:
        """Return the store's size now and ever. A witness compares it to notice a lost or emptied store."""

    def write_copy(self, path: str) -> None:
        """Write a snapshot of the whole store into a new file that a store of this backend can open.

        Raises StoreError for a backend without such files.
        """
        raise StoreError("this store has no copies")

    def take_copy(self, path: str) -> None:
        """Replace the whole store by the content of a file from `write_copy`: all of it or nothing.

        The copy must have the current schema: open it once to migrate an older one. Raises StoreError for a backend
        without such files.
        """
        raise StoreError("this store has no copies")


class Store(EventLog, LessonStore, Search, Activity, Vectors, StateStore, StateRows, Erasure, StoreCare, Protocol):
    """A backend. Each call is one transaction, or part of the one of `changing`: it writes all or nothing, and all its
    reads see one instant.

    Use it in a `with` statement. The threads of a server share one store and call it at the same time.

    Every method may raise StoreLockedError, StoreCorruptError, StoreReadOnlyError or StoreFullError, and a store on a
    server StoreUnavailableError.
    A row that cannot be read is left out of every answer, counted by `left_out`, and reported by `check`.
    Callers redact text before they store it. A text may have any length, and so may keys and paths. NUL characters and
    lone surrogates are replaced and raise no error, in records and in queries.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
