"""Search as of an instant: indexes the lessons known and true then in memory.

Indexes on disk contain current versions only, so that every other search is quick. A question about the past pays for
its index (some 0.2 ms a lesson known then); the other retrievers of the same question reuse it.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from holdfast.domain.query import Query
from holdfast.stores.sqlite import lessons, versions
from holdfast.stores.sqlite.rows import clean, micros
from holdfast.stores.sqlite.schema import build
from holdfast.stores.sqlite.vectors import VectorIndexes


class Past:
    """The index of one instant, built on first use and kept until another instant is queried or a write happens."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._made: sqlite3.Connection | None = None
        self._vectors: VectorIndexes | None = None

    def sql(self, live: sqlite3.Connection, query: Query) -> sqlite3.Connection:
        """Return a database whose current lessons are those known and true at the query's instant, in its scope."""
        assert query.as_of is not None
        (version,) = live.execute("PRAGMA data_version").fetchone()
        key = (micros(query.as_of), query.all_projects, query.project, version, live.total_changes)
        if self._made is None or key != self._key:
            self.close()
            self._made, self._key = _snapshot(live, query), key
        return self._made

    @property
    def vectors(self) -> VectorIndexes:
        """The vector index of that instant."""
        if self._vectors is None:
            self._vectors = VectorIndexes()
        return self._vectors

    def close(self) -> None:
        """Release the memory."""
        if self._made is not None:
            self._made.close()
        self._made = self._vectors = None


def _snapshot(live: sqlite3.Connection, query: Query) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    build(made)
    known, known_args = lessons.known_then(query.as_of)
    true, true_args = lessons.true_then(query.as_of)
    scope, scope_args = ("1", []) if query.all_projects else ("l.owner IN ('', ?)", [clean(query.project)])
    rows = live.execute(
        f"SELECT l.row, l.id, l.doc FROM lessons l WHERE {known} AND {true} AND {scope} ORDER BY l.row",
        (*known_args, *true_args, *scope_args),
    )
    made.execute("BEGIN")
    for row, id_, doc in rows:
        lesson = lessons.lesson_or_none(id_, None, doc)
        if lesson is None:
            continue
        versions.insert(made, lesson, doc, row)
        made.executemany(
            "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
            live.execute("SELECT lesson, embedder, scale, codes FROM vectors WHERE lesson = ?", (row,)),
        )
    made.execute("COMMIT")
    return made
