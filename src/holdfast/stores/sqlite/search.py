"""`SqliteSearch`: what a question meets in the indexes of current lessons, as facts (see `ports.search`).

Each method is one transaction. What it runs is loaded when called: most hooks ask few of these questions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

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
        VectorMatch,
    )
    from holdfast.stores.sqlite.connection import Connection
    from holdfast.stores.sqlite.past import Past
    from holdfast.stores.sqlite.vectors import Vectors


class SqliteSearch:
    """The `Search` half of the store."""

    _connection: Connection
    _vectors: Vectors | None = None
    _past: Past | None = None

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        """The lessons that have an exact token of the query, by token."""
        from holdfast.stores.sqlite.matching import match_tokens

        with self._connection.reading() as sql:
            return match_tokens(self._index(sql, query), query)

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        """The lessons whose error signatures have most of the rare words of the query's error."""
        if not query.error:
            from holdfast.ports.search import ErrorMatches

            return ErrorMatches()
        from holdfast.stores.sqlite.fulltext import match_errors

        with self._connection.reading() as sql:
            return match_errors(self._index(sql, query), query, limit)

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        """The lessons that have most of the words of the query's text."""
        if not query.text:
            from holdfast.ports.search import TextMatches

            return TextMatches()
        from holdfast.stores.sqlite.fulltext import match_text

        with self._connection.reading() as sql:
            return match_text(self._index(sql, query), query, limit, neighbours)

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        """The lessons anchored to the query's paths, to globs they fit, to folders they are in, and beside them."""
        from holdfast.stores.sqlite.matching import match_paths

        with self._connection.reading() as sql:
            return list(match_paths(self._index(sql, query), query, limit))

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        """The lessons of the query's paths that have names related to its symbols; without paths, only the same."""
        from holdfast.stores.sqlite.matching import match_symbols

        with self._connection.reading() as sql:
            return list(match_symbols(self._index(sql, query), query, limit))

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        """The lessons anchored to the files linked to those in play, and to those in play themselves."""
        if not query.linked:
            return []
        from holdfast.stores.sqlite.matching import match_linked

        with self._connection.reading() as sql:
            return match_linked(self._index(sql, query), query, limit)

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        """The lessons of which a trigger fits the query's code, command, paths or symbols."""
        if not (query.code or query.command or query.paths or query.symbols):
            return []
        from holdfast.stores.sqlite.triggers import match_triggers

        with self._connection.reading() as sql:
            return match_triggers(self._index(sql, query), query, limit)

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        """The first lessons of one of the query's occasions, oldest first."""
        from holdfast.stores.sqlite.triggers import match_occasions

        with self._connection.reading() as sql:
            return match_occasions(self._index(sql, query), query, limit)

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        """The nearest lessons by the query's vector, nearest first."""
        with self._connection.reading() as live:
            sql = self._index(live, query)
            vectors = self._vector_index() if query.as_of is None else self._past_index().vectors
            return vectors.match(sql, query, limit)

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        """The newest lessons, of the time asked about if there is one."""
        from holdfast.stores.sqlite.matching import list_recent

        with self._connection.reading() as sql:
            return list_recent(self._index(sql, query), query, limit)

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        """The most salient pinned lessons, newer first among equals."""
        from holdfast.stores.sqlite.matching import list_pinned

        with self._connection.reading() as sql:
            return list_pinned(self._index(sql, query), query, limit)

    def count_lessons(self, query: Query, most: int) -> int:
        """How many current lessons the query's project and states have, counted no further than `most`."""
        from holdfast.stores.sqlite.matching import count

        with self._connection.reading() as sql:
            return count(self._index(sql, query), query, most)

    def _index(self, sql: sqlite3.Connection, query: Query) -> sqlite3.Connection:
        """The database whose current lessons are those the query asks about."""
        return sql if query.as_of is None else self._past_index().sql(sql, query)

    def _vector_index(self) -> Vectors:
        if self._vectors is None:
            from holdfast.stores.sqlite.vectors import Vectors

            self._vectors = Vectors()
        return self._vectors

    def _past_index(self) -> Past:
        if self._past is None:
            from holdfast.stores.sqlite.past import Past

            self._past = Past()
        return self._past
