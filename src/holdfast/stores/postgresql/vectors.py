"""Vectors: half-precision numbers in a column of pgvector's, compared exactly in a small scope, else through HNSW.

They are the components that the SQLite store keeps, so that both stores find the same to be near. Vectors have unit
length, so the inner product is the cosine.

The index is walked on until enough rows pass the conditions (`iterative_scan`), so that other projects' and other
organisations' vectors in it cost time. Where they are too many, and it finds too few, every vector is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import VectorMatch
from holdfast.stores._shared.vectors import pack, unpack
from holdfast.stores.postgresql.matching import owners_of, visible
from holdfast.stores.postgresql.rows import key, keys
from holdfast.stores.postgresql.tenant import Sql

EXACT_BELOW = 3_000
"""With fewer vectors in the scope every one is compared: a millisecond a thousand."""
INDEXED = (256, 384, 512, 768, 1_024, 1_536)
"""Dimensions for which the schema has an index."""
WANTED, WIDER = 60, 8
"""Fewest nearest vectors that are looked up, and how many times as many where hardly any of them are visible."""
_INSERT = (
    "INSERT INTO vectors (org, lesson, embedder, owner, dimension, embedding) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (org, lesson, embedder) DO UPDATE SET"
    " dimension = excluded.dimension, embedding = excluded.embedding"
)


def put_vectors(sql: Sql, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
    """Store the vectors of current, searchable lessons; skip lessons that were changed meanwhile."""
    by_id = {key(id_): vector for id_, vector in vectors.items()}
    rows = sql.execute(  # locked against a writer who replaces the version, and deletes its vectors, at this moment
        "SELECT l.id, l.row, l.owner FROM lessons l WHERE l.org = %s AND l.id = ANY(%s) AND l.retracted_at IS NULL"
        " AND l.state <> 'forgotten' ORDER BY l.id FOR SHARE",
        (sql.org, keys(vectors)),
    ).fetchall()
    sql.executemany(_INSERT, [_row(sql, row, embedder_id, owner, by_id[id_]) for id_, row, owner in rows])


def insert_vector(sql: Sql, row: int, embedder_id: str, owner: str, vector: Sequence[float]) -> None:
    """Store the vector of a version, in the place of an older one."""
    sql.execute(_INSERT, _row(sql, row, embedder_id, owner, vector))


def _row(sql: Sql, row: int, embedder_id: str, owner: str, vector: Sequence[float]) -> tuple[Any, ...]:
    return sql.org, row, key(embedder_id), key(owner), len(vector), _written(unpack(*pack(vector)))


def match_vector(sql: Sql, query: Query, limit: int) -> list[VectorMatch]:
    """Return the nearest visible lessons of the query's embedder, nearest first, newer first among equals."""
    if not query.vector or not query.embedder_id:
        return []
    rows: list[tuple[str, float, int]] = []
    nearest = max(WANTED, 2 * limit)
    number = _count(sql, query)
    if number == 0:
        return []
    if number >= EXACT_BELOW and len(query.vector) in INDEXED:
        rows = _nearest(sql, query, limit, nearest, is_exact=False)
    for wanted in (nearest, WIDER * nearest, None):
        if len(rows) >= limit:
            break
        rows = _nearest(sql, query, limit, wanted, is_exact=True)
        if rows and wanted is not None and rows[0][2] < wanted:
            break
    return [VectorMatch(id=LessonId(id_), cosine=-distance) for id_, distance, _ in rows]


def _nearest(sql: Sql, query: Query, limit: int, wanted: int | None, is_exact: bool) -> list[tuple[str, float, int]]:
    """Return id and negative cosine of the best visible lessons among the `wanted` nearest, and their number."""
    dimension = len(query.vector)
    scope, scope_args = ("", []) if query.all_projects else (" AND v.owner = ANY(%s)", [owners_of(query)])
    seen, seen_args = visible(query)
    # The dimension is written out: an index of one dimension serves only a statement that says which.
    place = f"v.embedding::halfvec({dimension}) <#> %s::halfvec({dimension})"
    vectors = (
        f"SELECT v.lesson, {place} AS distance FROM vectors v WHERE v.org = %s AND v.embedder = %s"
        f" AND v.dimension = {dimension}{scope}"
    )
    if is_exact:
        vectors = f"SELECT e.lesson, e.distance FROM ({vectors} OFFSET 0) e"
    return sql.execute(
        f"WITH nearest AS MATERIALIZED ({vectors} ORDER BY 2 LIMIT %s) SELECT l.id, n.distance,"
        " (SELECT count(*) FROM nearest) FROM nearest n"
        f" JOIN lessons l ON l.org = %s AND l.row = n.lesson AND {seen} ORDER BY n.distance, l.row DESC LIMIT %s",
        (
            _written(query.vector), sql.org, key(query.embedder_id), *scope_args, wanted, sql.org, *seen_args,
            max(0, limit),
        ),
    ).fetchall()  # fmt: skip


def _count(sql: Sql, query: Query) -> int:
    """Return how many vectors the query's scope has, up to EXACT_BELOW; so many are remembered for some minutes."""
    scope = () if query.all_projects else tuple(owners_of(query))
    remembered = (sql.org, "vectors", query.embedder_id, *scope)
    number: int | None = sql.cache.get(remembered)
    if number is not None:
        return number
    owner, args = ("", []) if query.all_projects else (" AND v.owner = ANY(%s)", [list(scope)])
    (number,) = sql.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM vectors v WHERE v.org = %s AND v.embedder = %s{owner} LIMIT %s) c",
        (sql.org, key(query.embedder_id), *args, EXACT_BELOW),
    ).fetchone() or (0,)
    if number >= EXACT_BELOW:
        sql.cache.put(remembered, number)
    return int(number)


def _written(vector: Sequence[float]) -> str:
    return "[" + ",".join(map(repr, map(float, vector))) + "]"
