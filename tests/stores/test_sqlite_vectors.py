from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from holdfast.domain.query import Query
from holdfast.stores.sqlite import vectorindex
from holdfast.stores.sqlite.schema import build
from holdfast.stores.sqlite.vectors import Vectors, pack

DIMENSION = 256
MANY = vectorindex.EXACT_BELOW + 2_000


@pytest.fixture
def sql() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        build(made)
        yield made


def unit_vectors(count: int, seed: int = 3, *, directions: int = DIMENSION) -> np.ndarray:
    """As of an embedder when there are fewer directions than components: texts differ in few respects."""
    made = np.random.default_rng(seed).standard_normal((count, directions))
    made = made @ np.random.default_rng(1).standard_normal((directions, DIMENSION))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def keep(sql: sqlite3.Connection, vectors: np.ndarray, owner: str, first_row: int = 1) -> None:
    """Lessons with nothing but their row, owner and vector."""
    rows = range(first_row, first_row + len(vectors))
    sql.executemany(
        "INSERT INTO lessons VALUES (?, ?, 1, NULL, ?, 'active', 'fix', '', '', 0, 0.5, 1, NULL, '', '', '{}')",
        [(row, f"id-{row}", owner) for row in rows],
    )
    write(sql, dict(zip(rows, vectors, strict=True)))


def write(sql: sqlite3.Connection, vectors: dict[int, np.ndarray]) -> None:
    sql.executemany("DELETE FROM vectors WHERE lesson = ?", [(row,) for row in vectors])
    sql.executemany(
        "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, 'toy', ?, ?)",
        [(row, *pack(vector.tolist())) for row, vector in vectors.items()],
    )


def ask(
    index: Vectors, sql: sqlite3.Connection, vector: np.ndarray, *, project: str = "p", **more: object
) -> list[str]:
    query = Query(project=project, vector=tuple(vector.tolist()), embedder_id="toy", **more)  # type: ignore[arg-type]
    return [match.id for match in index.match(sql, query, 10)]


def test_among_many_the_nearest_by_sign_hold_nearly_all_of_the_nearest(
    sql: sqlite3.Connection,
) -> None:
    vectors = unit_vectors(MANY, directions=30)
    keep(sql, vectors, "p")
    questions = unit_vectors(20, seed=4, directions=30)
    index = Vectors()
    wanted = [{f"id-{row + 1}" for row in np.argsort(-(vectors @ question))[:10]} for question in questions]
    nearest = [set(ask(index, sql, question)) for question in questions]
    assert sum(len(a & b) for a, b in zip(wanted, nearest, strict=True)) > 0.95 * 10 * len(questions)


def test_other_projects_vectors_are_neither_found_nor_read(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(60)
    keep(sql, vectors[:40], "other")
    keep(sql, vectors[40:50], "p", first_row=41)
    keep(sql, vectors[50:], "", first_row=51)
    index = Vectors()
    nearest = ask(index, sql, vectors[0])
    assert nearest
    assert {int(id_[3:]) > 40 for id_ in nearest} == {True}
    assert [part._count for part in index._indexes.values()] == [10, 10]
    assert ask(index, sql, vectors[0], all_projects=True)[0] == "id-1"


@pytest.mark.parametrize("before", [50, MANY])
def test_a_vector_written_anew_is_found_at_its_new_place_only(sql: sqlite3.Connection, before: int) -> None:
    vectors = unit_vectors(before + 1)
    keep(sql, vectors[:-1], "p")
    index = Vectors()
    assert ask(index, sql, vectors[6])[0] == "id-7"
    write(sql, {7: vectors[-1]})
    assert ask(index, sql, vectors[-1])[0] == "id-7"
    assert ask(index, sql, vectors[6])[0] != "id-7"


def test_what_is_written_later_is_found_by_every_index_it_belongs_to(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(400)
    keep(sql, vectors[:10], "p")
    index = Vectors()
    ask(index, sql, vectors[0])
    ask(index, sql, vectors[0], all_projects=True)
    keep(sql, vectors[10:300], "p", first_row=11)
    keep(sql, vectors[300:], "other", first_row=301)
    assert ask(index, sql, vectors[299])[0] == "id-300"
    assert ask(index, sql, vectors[399], project="other")[0] == "id-400"
    assert ask(index, sql, vectors[399], all_projects=True)[0] == "id-400"


def test_an_index_is_read_again_when_most_of_it_was_rewritten(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(1_500)
    keep(sql, vectors, "p")
    index = Vectors()
    for _ in range(4):
        write(sql, {row + 1: vector for row, vector in enumerate(vectors)})
        assert ask(index, sql, vectors[0])[0] == "id-1"
    (part,) = (part for part in index._indexes.values() if part._count)
    assert part._count == len(vectors)


def test_bits_are_counted_alike_without_numpys_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.array([[0, 1, 2**64 - 1], [3, 255, 2**63]], dtype=np.uint64)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert vectorindex._ones(words).tolist() == [[0, 1, 64], [2, 8, 1]]


def test_all_are_told_where_as_many_are_wanted_as_there_are(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(10)
    keep(sql, vectors, "p")
    assert len(ask(Vectors(), sql, vectors[0])) == 10
    keep(sql, unit_vectors(1, seed=5), "p", first_row=11)
    assert len(ask(Vectors(), sql, vectors[0])) == 10
