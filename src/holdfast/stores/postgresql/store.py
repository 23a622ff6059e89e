"""`PostgresStore`: the Store port on PostgreSQL, for one organisation. `ports.store` documents every method.

Each call is one transaction of its `Tenant`, or part of the one that `changing` or `reading` has open in this thread.
A lesson's derived rows change in the transaction that changes the lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Self

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import RowFamily, StateFamily
from holdfast.domain.vocabulary import LessonId, ProjectId, State
from holdfast.ports.store import (
    ErrorMatches,
    EventFilter,
    Extent,
    Facet,
    L,
    LessonFilter,
    LinkedMatch,
    LogFilter,
    LogRecord,
    PathMatch,
    PinnedMatch,
    Problem,
    RecentMatch,
    SessionFilter,
    SessionRow,
    SymbolMatch,
    TextMatches,
    TokenMatch,
    TriggerMatch,
    TurnMatches,
    VectorMatch,
    VersionSpan,
)
from holdfast.stores._shared.rows import LeftOut
from holdfast.stores.postgresql import (
    choosing,
    copies,
    erase,
    eventlog,
    facets,
    matching,
    postings,
    sessions,
    soundness,
    states,
    turns,
    vectors,
)
from holdfast.stores.postgresql import lessons as versions
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.tenant import Sql, Tenant


class PostgresStore:
    """A store of one organisation. Safe to share between threads; cheap to make for a database that is open."""

    def __init__(self, database: Database, org: int, tenant: Tenant | None = None, *, owns: bool = False) -> None:
        """Make a view of the organisation. One that `owns` the database opens and closes it with itself."""
        self.tenant = tenant or Tenant(database, org)
        self._database = database
        self._owns = owns
        self._left_out = LeftOut()

    def __enter__(self) -> Self:
        if self._owns:
            self._database.open()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._owns:
            self._database.close()

    def reading(self) -> AbstractContextManager[object]:
        return self.tenant.reading()

    def changing(self) -> AbstractContextManager[object]:
        return self.tenant.changing()

    def content(self) -> Hashable:
        return self._database, self.tenant.org, self._database.copies_taken.get(self.tenant.org, 0)

    def append_events(self, events: Sequence[Event]) -> int:
        return self.tenant.write(lambda sql: eventlog.append(sql, events))

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        return self.tenant.read(lambda sql: eventlog.find_events(sql, where, self._left_out))

    def list_sessions(self, where: SessionFilter) -> list[SessionRow]:
        rows = self.tenant.read(lambda sql: sessions.list_sessions(sql, where))
        if rows is None:
            sessions.catch_up(self.tenant)
            rows = self.tenant.read(lambda sql: sessions.list_sessions(sql, where, as_it_is=True))
        return rows or []

    def list_projects(self) -> list[ProjectId]:
        return self.tenant.read(sessions.list_projects)

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        def work(sql: Sql) -> None:
            versions.put_versions(sql, lessons, expected)
            if change is not None:
                eventlog.put_change(sql, change)

        self.tenant.write(work)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        return self.tenant.read(lambda sql: versions.get_lessons(sql, ids, as_of, self._left_out))

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        return self.tenant.read(lambda sql: versions.current_versions(sql, ids))

    def find(self, where: LessonFilter) -> list[Lesson]:
        if facets.asks(where):
            facets.catch_up(self.tenant)
        return self.tenant.read(lambda sql: choosing.find_lessons(sql, where, self._left_out))

    def count_by(self, where: LessonFilter, facet: Facet, most: int) -> dict[str, int]:
        return self.count_facets(where, (facet,), most)[facet]

    def count_facets(self, where: LessonFilter, facets_: Sequence[Facet], most: int) -> dict[Facet, dict[str, int]]:
        if facets.asks(where, facets_):
            facets.catch_up(self.tenant)
        return self.tenant.read(lambda sql: choosing.count_facets(sql, where, facets_, most, self._left_out))

    def count_versions(self, project: ProjectId, since: datetime, step: timedelta, count: int) -> list[VersionSpan]:
        return self.tenant.read(lambda sql: versions.count_versions(sql, project, since, step, count))

    def record(self, entries: Sequence[LogRecord]) -> None:
        self.tenant.write(lambda sql: eventlog.record(sql, entries))

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        return self.tenant.read(lambda sql: eventlog.find_records(sql, kind, where, self._left_out))

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        return self.tenant.read(lambda sql: matching.match_tokens(sql, query))

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        if not query.error:
            return ErrorMatches()
        return self.tenant.read(lambda sql: postings.match_errors(sql, query, limit))

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        if not query.text:
            return TextMatches()
        return self.tenant.read(lambda sql: postings.match_text(sql, query, limit, neighbours))

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        return self.tenant.read(lambda sql: list(matching.match_paths(sql, query, limit)))

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        return self.tenant.read(lambda sql: list(matching.match_symbols(sql, query, limit)))

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        if not query.linked:
            return []
        return self.tenant.read(lambda sql: matching.match_linked(sql, query, limit))

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        if not (query.code or query.command or query.paths or query.symbols):
            return []
        return self.tenant.read(lambda sql: matching.match_triggers(sql, query, limit))

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        return self.tenant.read(lambda sql: matching.match_occasions(sql, query, limit))

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        if not query.vector:
            return []
        return self.tenant.read(lambda sql: vectors.match_vector(sql, query, limit))

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        return self.tenant.read(lambda sql: matching.list_recent(sql, query, limit))

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        return self.tenant.read(lambda sql: matching.list_pinned(sql, query, limit))

    def search_turns(self, query: Query, limit: int) -> TurnMatches:
        matches = self.tenant.read(lambda sql: turns.search_turns(sql, query, limit))
        if matches is None:
            turns.catch_up(self.tenant)
            matches = self.tenant.read(lambda sql: turns.search_turns(sql, query, limit, as_it_is=True))
        return matches or TurnMatches()

    def count_lessons(self, query: Query, most: int) -> int:
        return self.tenant.read(lambda sql: matching.count_matching(sql, query, most))

    def put_vectors(self, embedder_id: str, vectors_: Mapping[LessonId, Sequence[float]]) -> None:
        self.tenant.write(lambda sql: vectors.put_vectors(sql, embedder_id, vectors_))

    def count_without_vector(self, embedder_id: str) -> int:
        where = LessonFilter(all_projects=True, without_vector=embedder_id)
        return self.tenant.read(lambda sql: choosing.count_lessons(sql, where, self._left_out))

    def drop_other_vectors(self, embedder_id: str) -> None:
        while self.tenant.write(lambda sql: erase.erase_other_vectors(sql, embedder_id)):
            pass

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        return self.tenant.read(lambda sql: states.read(sql, family, owner))

    def get_states(self, cells: Sequence[tuple[StateFamily, str]]) -> list[str]:
        return self.tenant.read(lambda sql: states.read_all(sql, cells))

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        self.tenant.write(lambda sql: states.set_value(sql, family, owner, value))

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        return self.tenant.write(lambda sql: states.edit(sql, family, owner, edit))

    def expire_states(self, now: datetime) -> int:
        return self.tenant.write(lambda sql: states.expire(sql, now))

    def get_rows(self, family: RowFamily, owner: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        return self.tenant.read(lambda sql: states.read_rows(sql, family, owner, keys))

    def set_rows(self, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
        return self.tenant.write(lambda sql: states.write_rows(sql, family, owner, values))

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        def work(sql: Sql) -> dict[str, int]:
            erased = erase.purge(sql, ids)
            if change is not None:
                eventlog.put_change(sql, change)
            return erased

        return self.tenant.write(work)

    def erase_event_texts(self, before: datetime) -> int:
        return self.tenant.write(lambda sql: erase.drop_texts(sql, before))

    def check(self) -> list[Problem]:
        return self.tenant.read(soundness.check)

    def left_out(self) -> int:
        return len(self._left_out)

    def set_aside(self) -> dict[str, int]:
        moved = self.tenant.write(soundness.set_aside)
        self._left_out = LeftOut()
        return moved

    def extent(self) -> Extent:
        return self.tenant.read(versions.extent)

    def write_copy(self, path: str) -> None:
        copies.write_copy(self.tenant, path)

    def take_copy(self, path: str) -> None:
        copies.take_copy(self.tenant, path)
        self._database.note_copy(self.tenant.org)
        self._left_out = LeftOut()
