"""Vectors: rows in the file, and an index of them in memory that follows the rows.

The rows are the truth: a signed byte a component and a scale, written and removed with their lesson. The index holds
the same bytes and, from EXACT_BELOW rows on, their signs as bits: the nearest by sign are scored again by the bytes
(recall .96 to .99 of an exact search, 1 ms at 100,000 x 384). It is built by the first search and then only reads
rows that are new; rows gone meanwhile are told by looking the answers up.
"""

from __future__ import annotations

from array import array

from holdfast.domain.query import Hit
from holdfast.domain.vocabulary import LessonId
from holdfast.stores.sqlite import lanes
from holdfast.stores.sqlite.rows import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from holdfast.domain.query import Query
    from holdfast.stores.sqlite.connection import Connection

EXACT_BELOW = 5_000
"""With fewer rows in question, every one is scored."""
RESCORED = 500
"""Fewest rows scored by their bytes after the choice by signs."""
ERASED_AT_ONCE = 2_000
"""Vectors erased in one transaction."""


def write(sql: sqlite3.Connection, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
    """Keep the vectors of current, searchable lessons; others are skipped: they were changed meanwhile."""
    embedder_id = clean(embedder_id)
    for id_, vector in vectors.items():
        found = sql.execute(
            "SELECT row FROM lessons WHERE id = ? AND retracted_at IS NULL AND state <> 'forgotten'", (clean(id_),)
        ).fetchone()
        if found:
            sql.execute("DELETE FROM vectors WHERE lesson = ? AND embedder = ?", (found[0], embedder_id))
            sql.execute(
                "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
                (found[0], embedder_id, *pack(vector)),
            )


def count_waiting(sql: sqlite3.Connection, embedder_id: str) -> int:
    """How many lessons have no vector of that embedder."""
    from holdfast.ports.store import LessonFilter
    from holdfast.stores.sqlite.lessons import count

    return count(sql, LessonFilter(all_projects=True, without_vector=embedder_id))


def erase_others(connection: Connection, embedder_id: str) -> int:
    """Erase some vectors of other embedders, few enough that nobody waits for long; how many, 0 when none are left."""
    with connection.reading() as sql:
        found = sql.execute(
            "SELECT position FROM vectors WHERE embedder < ? OR embedder > ? LIMIT ?",
            (clean(embedder_id), clean(embedder_id), ERASED_AT_ONCE),
        ).fetchall()
    if found:
        with connection.writing() as sql:
            sql.executemany("DELETE FROM vectors WHERE position = ?", found)
    return len(found)


def pack(vector: Sequence[float]) -> tuple[float, bytes]:
    """Scale and one signed byte a component: a cosine changes by less than .005."""
    scale = max(map(abs, vector), default=0.0) / 127 or 1.0
    return scale, array("b", [round(component / scale) for component in vector]).tobytes()


class Vectors:
    """The indexes of one database, one for each embedder and dimension."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, int], _Index] = {}

    def search(self, sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
        """The nearest visible lessons of the query's embedder; score is the cosine, -1 to 1."""
        if not query.vector or not query.embedder_id or limit <= 0 or not query.states:
            return []
        key = clean(query.embedder_id), len(query.vector)
        index = self._indexes.setdefault(key, _Index(*key))
        index.follow(sql)
        owners = None if query.all_projects else ("", clean(query.project))
        wanted = max(RESCORED, limit * 8)
        while True:
            scores = index.nearest(query.vector, owners, wanted)
            hits = lanes.best(sql, query, scores, limit)
            if len(hits) >= limit or len(scores) < wanted:
                return hits
            wanted *= 4  # most of the nearest are out of the question's states or gone


class _Index:
    """Vectors of one embedder and dimension: `count` rows in arrays that grow by doubling."""

    def __init__(self, embedder_id: str, dimension: int) -> None:
        self._embedder_id = embedder_id
        self._dimension = dimension
        self._clear()

    def follow(self, sql: sqlite3.Connection) -> None:
        """Read the rows written since the last look; all of them again when half of ours may be gone."""
        if self._added > 1_000 + self._built // 2:
            self._clear()
        rows = sql.execute(
            "SELECT v.position, v.lesson, l.owner, v.scale, v.codes FROM vectors v JOIN lessons l ON l.row = v.lesson"
            " WHERE v.embedder = ? AND v.position > ? AND length(v.codes) = ? ORDER BY v.position",
            (self._embedder_id, self._position, self._dimension),
        ).fetchall()
        if rows:
            self._add(rows)

    def nearest(self, vector: Sequence[float], owners: tuple[str, str] | None, wanted: int) -> dict[int, float]:
        """Rows of lessons of these owners with their cosines: the best `wanted`, or all when there are fewer."""
        import numpy as np

        if not self._count:
            return {}
        asked = np.asarray(vector, dtype=np.float32)
        chosen = self._of(owners)
        if len(chosen) > max(EXACT_BELOW, wanted):
            chosen = self._by_signs(asked, chosen, wanted)
        scores = (self._codes[chosen].astype(np.float32) @ asked) * self._scales[chosen]
        if len(chosen) > wanted:
            top = np.argpartition(-scores, wanted)[:wanted]
            chosen, scores = chosen[top], scores[top]
        return dict(zip(self._lessons[chosen].tolist(), scores.tolist(), strict=True))

    def _clear(self) -> None:
        self._position = self._count = self._built = self._added = 0
        self._owner_codes: dict[str, int] = {}

    def _add(self, rows: list[Any]) -> None:
        import numpy as np

        positions, lessons, owners, scales, codes = zip(*rows, strict=True)
        start, self._count = self._count, self._count + len(rows)
        if start == 0:
            self._make(len(rows))
        while self._count > len(self._lessons):
            self._grow()
        new = slice(start, self._count)
        held = np.frombuffer(b"".join(codes), dtype=np.int8).reshape(len(rows), self._dimension)
        self._lessons[new] = lessons
        self._owners[new] = [self._owner_codes.setdefault(owner, len(self._owner_codes)) for owner in owners]
        self._scales[new] = scales
        self._codes[new] = held
        self._signs[new] = _signs(held)
        self._position = positions[-1]
        self._built, self._added = (self._count, 0) if start == 0 else (self._built, self._added + len(rows))

    def _make(self, rows: int) -> None:
        import numpy as np

        self._lessons: NDArray[np.int64] = np.zeros(rows, dtype=np.int64)
        self._owners: NDArray[np.int32] = np.zeros(rows, dtype=np.int32)
        self._scales: NDArray[np.float32] = np.zeros(rows, dtype=np.float32)
        self._codes: NDArray[np.int8] = np.zeros((rows, self._dimension), dtype=np.int8)
        self._signs: NDArray[np.uint64] = np.zeros((rows, -(-self._dimension // 64)), dtype=np.uint64)

    def _grow(self) -> None:
        import numpy as np

        for name in ("_lessons", "_owners", "_scales", "_codes", "_signs"):
            held = getattr(self, name)
            setattr(self, name, np.concatenate([held, np.zeros_like(held)]))

    def _of(self, owners: tuple[str, str] | None) -> NDArray[np.intp]:
        """The places of these owners' rows."""
        import numpy as np

        if owners is None:
            return np.arange(self._count)
        codes = [self._owner_codes[owner] for owner in set(owners) if owner in self._owner_codes]
        return np.flatnonzero(np.isin(self._owners[: self._count], codes))

    def _by_signs(self, asked: NDArray[np.float32], chosen: NDArray[np.intp], wanted: int) -> NDArray[np.intp]:
        """Those of the chosen whose signs differ least from the question's."""
        import numpy as np

        differing = self._signs[chosen] ^ _signs(asked[None, :])
        distance = _ones(differing).sum(axis=1, dtype=np.int32)
        return chosen[np.argpartition(distance, wanted)[:wanted]]


def _signs(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Which components are positive, one bit each, in whole words."""
    import numpy as np

    rows, dimension = vectors.shape
    words = -(-dimension // 64)
    packed = np.zeros((rows, words * 8), dtype=np.uint8)
    bits = np.packbits(vectors > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)


def _ones(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """How many bits of each word are set."""
    import numpy as np

    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words)
    table = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)  # before numpy 2
    return table[words.view(np.uint8)]
