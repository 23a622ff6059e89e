"""`SqliteSearch`: the matches of a query in the indexes of current lessons, as facts (see `ports.search`).

Each method is one transaction. It imports its code when it is called, because most hooks need few of the methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.search import (
    ErrorMatches,
    LinkedMatch,
    PathMatch,
    PinnedMatch,
    RecentMatch,
    SymbolMatch,
    TextMatches,
    TokenMatch,
    TriggerMatch,
    TurnMatches,
    VectorMatch,
)
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.fulltext import match_errors, match_text
from holdfast.stores.sqlite.matching import (
    count,
    list_pinned,
    list_recent,
    match_linked,
    match_paths,
    match_symbols,
    match_tokens,
)
from holdfast.stores.sqlite.triggers import match_occasions, match_triggers

if TYPE_CHECKING:
    import sqlite3

    from holdfast.stores.sqlite.past import Past
    from holdfast.stores.sqlite.vectors import VectorIndexes


class SqliteSearch:
    """The methods of the store that implement `Search`."""

    _connection: Connection
    _vectors: VectorIndexes | None = None
    _past: Past | None = None

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        """Return the lessons that have an exact token of the query, by token."""
        with self._connection.reading() as sql:
            return match_tokens(self._index(sql, query), query)

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        """Return the lessons whose error signatures have most of the rare words of the query's error."""
        if not query.error:
            return ErrorMatches()
        with self._connection.reading() as sql:
            return match_errors(self._index(sql, query), query, limit)

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        """Return the lessons that have most of the words of the query's text."""
        if not query.text:
            return TextMatches()
        with self._connection.reading() as sql:
            return match_text(self._index(sql, query), query, limit, neighbours)

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        """Return the lessons anchored to the query's paths, to matching globs, to their folders, and beside them."""
        with self._connection.reading() as sql:
            return list(match_paths(self._index(sql, query), query, limit))

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        """Return lessons of the query's paths with names related to its symbols; without paths, equal names only."""
        with self._connection.reading() as sql:
            return list(match_symbols(self._index(sql, query), query, limit))

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        """Return the lessons anchored to the query's linked files, and to its own files."""
        if not query.linked:
            return []
        with self._connection.reading() as sql:
            return match_linked(self._index(sql, query), query, limit)

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        """Return the lessons with a trigger that matches the query's code, command, paths or symbols."""
        if not (query.code or query.command or query.paths or query.symbols):
            return []
        with self._connection.reading() as sql:
            return match_triggers(self._index(sql, query), query, limit)

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        """Return the first lessons of one of the query's occasions, oldest first."""
        with self._connection.reading() as sql:
            return match_occasions(self._index(sql, query), query, limit)

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        """Return the nearest lessons by the query's vector, nearest first."""
        with self._connection.reading() as live:
            sql = self._index(live, query)
            vectors = self._vector_index() if query.as_of is None else self._past_index().vectors
            return vectors.match(sql, query, limit)

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        """Return the newest lessons; if the query names a time, only lessons of that time."""
        with self._connection.reading() as sql:
            return list_recent(self._index(sql, query), query, limit)

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        """Return the most salient pinned lessons, newer first among equals."""
        with self._connection.reading() as sql:
            return list_pinned(self._index(sql, query), query, limit)

    def search_turns(self, query: Query, limit: int) -> TurnMatches:
        """Return the turns of the query's project that have most words of its text; index the new ones first."""
        from holdfast.stores.sqlite import turns

        turns.catch_up(self._connection)
        with self._connection.reading() as sql:
            return turns.search_turns(sql, query, limit)

    def count_lessons(self, query: Query, most: int) -> int:
        """Count the current lessons of the query's project and states; stop at `most`."""
        with self._connection.reading() as sql:
            return count(self._index(sql, query), query, most)

    def _index(self, sql: sqlite3.Connection, query: Query) -> sqlite3.Connection:
        """Return the database whose current lessons are those that the query is about."""
        return sql if query.as_of is None else self._past_index().sql(sql, query)

    def _vector_index(self) -> VectorIndexes:
        if self._vectors is None:
            from holdfast.stores.sqlite.vectors import VectorIndexes

            self._vectors = VectorIndexes()
        return self._vectors

    def _past_index(self) -> Past:
        if self._past is None:
            from holdfast.stores.sqlite.past import Past

            self._past = Past()
        return self._past
