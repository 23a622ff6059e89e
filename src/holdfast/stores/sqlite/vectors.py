"""Vectors: rows in the file, and an index of them in memory that follows the rows."""

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

    from holdfast.domain.query import Query


def write(sql: sqlite3.Connection, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
    """Keep the vectors of current, searchable lessons; others are skipped: they were changed meanwhile."""
    for id_, vector in vectors.items():
        found = sql.execute(
            "SELECT row FROM lessons WHERE id = ? AND retracted_at IS NULL AND state <> 'forgotten'", (clean(id_),)
        ).fetchone()
        if found:
            scale, codes = pack(vector)
            sql.execute("DELETE FROM vectors WHERE lesson = ? AND embedder = ?", (found[0], clean(embedder_id)))
            sql.execute(
                "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
                (found[0], clean(embedder_id), scale, codes),
            )


def pack(vector: Sequence[float]) -> tuple[float, bytes]:
    """Scale and one signed byte a component: a cosine changes by less than .005."""
    scale = max(map(abs, vector), default=0.0) / 127 or 1.0
    return scale, array("b", [round(component / scale) for component in vector]).tobytes()


class Vectors:
    """Searches by cosine."""

    def search(self, sql: sqlite3.Connection, query: Query, limit: int) -> list[Hit]:
        """The nearest visible lessons; score is the cosine, -1 to 1."""
        if not query.vector or not query.embedder_id or limit <= 0:
            return []
        asked = [float(c) for c in query.vector]
        scores: dict[int, float] = {}
        for row, scale, codes in sql.execute(
            "SELECT lesson, scale, codes FROM vectors WHERE embedder = ?", (clean(query.embedder_id),)
        ):
            held = array("b", codes)
            if len(held) == len(asked):
                scores[row] = scale * sum(a * b for a, b in zip(asked, held, strict=True))
        return lanes.best(sql, query, scores, limit)
