"""Vectors: rows in the file, and an index of them in memory that follows the rows.

The rows are canonical: a signed byte a component and a scale, written and deleted with their lesson. The index
(`vectorindex`) has the same bytes for the projects that were queried. The first search builds it; later searches read
only new rows. Deleted rows are noticed when the answers are looked up.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.filters import LessonFilter
from holdfast.ports.search import VectorMatch
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.lessons import count
from holdfast.stores.sqlite.rows import LeftOut, clean
from holdfast.stores.sqlite.vectorindex import VectorIndex
from holdfast.stores.sqlite.visible import first_visible, visible

RESCORED = 500
"""Fewest rows scored by their bytes after the choice by signs."""
RESCORED_FOR_EACH, WIDER = 8, 4
"""Rows scored for each one wanted, and so many times as many where hardly any of them may be seen."""
ERASED_AT_ONCE = 2_000
"""Vectors erased in one transaction."""


def write(sql: sqlite3.Connection, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
    """Store the vectors of current, searchable lessons; skip lessons that were changed meanwhile."""
    embedder_id = clean(embedder_id)
    for id_, vector in vectors.items():
        current = "SELECT row FROM lessons WHERE id = ? AND retracted_at IS NULL AND state <> 'forgotten'"
        for (row,) in sql.execute(current, (clean(id_),)).fetchall():
            sql.execute("DELETE FROM vectors WHERE lesson = ? AND embedder = ?", (row, embedder_id))
            sql.execute(
                "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
                (row, embedder_id, *pack(vector)),
            )


def count_waiting(sql: sqlite3.Connection, embedder_id: str, left_out: LeftOut) -> int:
    """Count the lessons without a vector of that embedder."""
    return count(sql, LessonFilter(all_projects=True, without_vector=embedder_id), left_out)


def erase_others(connection: Connection, embedder_id: str) -> int:
    """Erase some vectors of other embedders, few enough that nobody waits long; return how many, 0 at the end."""
    with connection.reading() as sql:
        positions = sql.execute(
            "SELECT position FROM vectors WHERE embedder < ? OR embedder > ? LIMIT ?",
            (clean(embedder_id), clean(embedder_id), ERASED_AT_ONCE),
        ).fetchall()
    if positions:
        with connection.writing() as sql:
            sql.executemany("DELETE FROM vectors WHERE position = ?", positions)
    return len(positions)


def pack(vector: Sequence[float]) -> tuple[float, bytes]:
    """Return the scale and one signed byte a component: a cosine changes by less than .005."""
    scale = max(map(abs, vector), default=0.0) / 127 or 1.0
    return scale, array("b", [round(component / scale) for component in vector]).tobytes()


class VectorIndexes:
    """The indexes of one database, one for each embedder, dimension and project that was queried."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, int, str | None], VectorIndex] = {}

    def match(self, sql: sqlite3.Connection, query: Query, limit: int) -> list[VectorMatch]:
        """Return the nearest visible lessons of the query's embedder, nearest first, newer first among equals."""
        if not query.vector:
            return []
        indexes = self._indexes_for(sql, query)
        wanted = max(RESCORED, limit * RESCORED_FOR_EACH)
        while True:
            parts = [index.nearest(query.vector, wanted) for index in indexes]
            cosines = {row: cosine for part in parts for row, cosine in part.items()}
            rows = sorted(cosines, key=lambda row: (-cosines[row], -row))
            nearest = first_visible(sql, rows, visible(query), limit)
            if len(nearest) >= limit or all(len(part) < wanted for part in parts):
                return [VectorMatch(id=id_, cosine=cosines[row]) for row, id_ in nearest]
            wanted *= WIDER  # most of the nearest are deleted or not visible to the query

    def _indexes_for(self, sql: sqlite3.Connection, query: Query) -> list[VectorIndex]:
        """Return the indexes of the query's projects, up to date."""
        embedder_id, dimension = clean(query.embedder_id), len(query.vector)
        indexes = []
        for owner in (None,) if query.all_projects else dict.fromkeys(("", clean(query.project))):
            key = embedder_id, dimension, owner
            if key not in self._indexes:
                self._indexes[key] = VectorIndex(*key)
            self._indexes[key].follow(sql)
            indexes.append(self._indexes[key])
        return indexes
