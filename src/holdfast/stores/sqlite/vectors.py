"""Vectors: rows in the file, and an index of them in memory that follows the rows.

The rows are canonical: a signed byte a component and a scale, written and deleted with their lesson. A
`VectorIndex` has the same bytes for one project that was queried. The first search builds it; later searches read only
new rows. Deleted rows are noticed when the answers are looked up. With many rows, the nearest are chosen by the signs
of their components and then scored by the bytes: .96 to .99 of the recall of an exact search, at an eighth of the scan.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import VectorMatch
from holdfast.stores._shared.vectors import pack as pack
from holdfast.stores.sqlite.matching import first_visible, visible
from holdfast.stores.sqlite.rows import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESCORED = 500
"""Fewest rows scored by their bytes after the choice by signs."""
RESCORED_FOR_EACH, WIDER = 8, 4
"""Rows scored for each one wanted, and so many times as many where hardly any of them may be seen."""

EXACT_BELOW = 5_000
"""With fewer rows, every one is scored."""
SCANNED_AT_ONCE = 16_384
"""Rows whose signs are compared in one step: what is in between stays in the processor's cache."""
READ_AT_ONCE = 5_000
"""Rows that are read into the arrays in one step."""
REPLACED = 0
"""Stands in place of a row of `lessons` whose vector was written anew."""
_COLUMNS = "SELECT v.lesson, v.scale, v.codes"
_FITS = "v.embedder = ? AND length(v.codes) = ?"
_OF_OWNER = "l.retracted_at IS NULL AND l.owner = ?"
FIRST = (
    # By owner first, so that other projects' vectors cost nothing; otherwise SQLite reads them all.
    f"{_COLUMNS} FROM lessons l INDEXED BY lessons_recent CROSS JOIN vectors v ON v.lesson = l.row"
    f" WHERE {_FITS} AND {_OF_OWNER}"
)
NEW = (
    f"{_COLUMNS} FROM vectors v CROSS JOIN lessons l ON l.row = v.lesson"
    f" WHERE {_FITS} AND {_OF_OWNER} AND v.position > ? ORDER BY v.position"
)
ALL = f"{_COLUMNS} FROM vectors v WHERE {_FITS} AND v.position > ? ORDER BY v.position"


def put_vectors(sql: sqlite3.Connection, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
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


class VectorIndex:
    """Vectors of one embedder, dimension and owner (None: of all owners) in arrays that grow by doubling."""

    _position: int
    """Position of the newest vector read, of any owner."""
    _count: int
    _built: int
    """Number of vectors after the first read."""
    _added: int

    def __init__(self, embedder_id: str, dimension: int, owner: str | None) -> None:
        self._embedder_id = embedder_id
        self._dimension = dimension
        self._owner = owner
        self._clear()

    def follow(self, sql: sqlite3.Connection) -> None:
        """Read the rows written since the last call; read all again when half of the index may be outdated."""
        (newest,) = sql.execute("SELECT max(position) FROM vectors WHERE embedder = ?", (self._embedder_id,)).fetchone()
        if newest is None or newest <= self._position:
            return
        if self._added > 1_000 + self._built // 2:
            self._clear()
        first = self._position == 0
        cursor = self._rows(sql)
        while rows := cursor.fetchmany(READ_AT_ONCE):
            self._add(rows, first)
        self._position = newest
        self._built, self._added = (self._count, 0) if first else (self._built, self._added)

    def nearest(self, vector: Sequence[float], wanted: int) -> dict[int, float]:
        """Return rows of lessons with their cosines: the best `wanted`, or all when there are fewer."""
        question = np.asarray(vector, dtype=np.float32)
        chosen = np.arange(self._count)
        if self._count > max(EXACT_BELOW, wanted):
            chosen = self._by_signs(question, wanted)
        scores = (self._codes[chosen].astype(np.float32) @ question) * self._scales[chosen]
        lessons = self._lessons[chosen]
        if len(chosen) > wanted:
            best = np.argpartition(-scores, wanted)[:wanted]
            lessons, scores = lessons[best], scores[best]
        scored = dict(zip(lessons.tolist(), scores.tolist(), strict=True))
        scored.pop(REPLACED, None)
        return scored

    def _clear(self) -> None:
        self._position = self._count = self._built = self._added = 0
        self._lessons: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._scales: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        self._codes: NDArray[np.int8] = np.zeros((0, self._dimension), dtype=np.int8)
        self._signs: NDArray[np.uint64] = np.zeros((-(-self._dimension // 64), 0), dtype=np.uint64)

    def _rows(self, sql: sqlite3.Connection) -> sqlite3.Cursor:
        fits = (self._embedder_id, self._dimension)
        if self._owner is None:
            return sql.execute(ALL, (*fits, self._position))
        if self._position == 0:
            return sql.execute(FIRST, (*fits, self._owner))
        return sql.execute(NEW, (*fits, self._owner, self._position))

    def _add(self, rows: list[Any], first: bool) -> None:
        lessons, scales, codes = zip(*rows, strict=True)
        if not first:
            self._replace(lessons)
            self._added += len(rows)
        start, self._count = self._count, self._count + len(rows)
        self._make_room()
        new = slice(start, self._count)
        matrix = np.frombuffer(b"".join(codes), dtype=np.int8).reshape(len(rows), self._dimension)
        self._lessons[new] = lessons
        self._scales[new] = scales
        self._codes[new] = matrix
        self._signs[:, new] = _signs(matrix).T

    def _replace(self, lessons: Sequence[int]) -> None:
        rows = self._lessons[: self._count]
        rows[np.isin(rows, lessons)] = REPLACED

    def _make_room(self) -> None:
        if self._count <= len(self._lessons):
            return
        more = max(self._count, 2 * len(self._lessons)) - len(self._lessons)
        self._lessons = np.pad(self._lessons, (0, more))
        self._scales = np.pad(self._scales, (0, more))
        self._codes = np.pad(self._codes, ((0, more), (0, 0)))
        self._signs = np.pad(self._signs, ((0, 0), (0, more)))

    def _by_signs(self, question: NDArray[np.float32], wanted: int) -> NDArray[np.intp]:
        """Return the `wanted` rows with the signs nearest to the question's, and all as near as the last of them."""
        signs = _signs(question[None, :]).T
        distance = np.empty(self._count, dtype=np.uint16)
        for start in range(0, self._count, SCANNED_AT_ONCE):
            some = slice(start, min(start + SCANNED_AT_ONCE, self._count))
            distance[some] = _ones(self._signs[:, some] ^ signs).sum(axis=0, dtype=np.uint16)
        within = np.cumsum(np.bincount(distance))
        return np.flatnonzero(distance <= np.searchsorted(within, wanted))


def _signs(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Return which components are positive, one bit each, in whole words: rows x words."""
    rows, dimension = vectors.shape
    words = -(-dimension // 64)
    packed = np.zeros((rows, words * 8), dtype=np.uint8)
    bits = np.packbits(vectors > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)


def _ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return how many bits of each word are set."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words)
    table = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)  # before numpy 2
    ones: NDArray[np.uint8] = table[words.view(np.uint8)].reshape(*words.shape, 8).sum(axis=-1, dtype=np.uint8)
    return ones
