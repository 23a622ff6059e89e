from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from holdfast.domain.query import Query
from holdfast.stores.sqlite import vectors as vectorindex
from holdfast.stores.sqlite.schema import build
from holdfast.stores.sqlite.vectors import VectorIndexes, pack

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
        "INSERT INTO lessons VALUES (?, ?, 1, NULL, ?, 'active', 'fix', '', '', 0, 0.5, 1, NULL, '', '', '{}', '', '')",
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
    index: VectorIndexes, sql: sqlite3.Connection, vector: np.ndarray, *, project: str = "p", **more: object
) -> list[str]:
    query = Query(project=project, vector=tuple(vector.tolist()), embedder_id="toy", **more)  # type: ignore[arg-type]
    return [match.id for match in index.match(sql, query, 10)]


def test_among_many_the_nearest_by_sign_hold_nearly_all_of_the_nearest(
    sql: sqlite3.Connection,
) -> None:
    vectors = unit_vectors(MANY, directions=30)
    keep(sql, vectors, "p")
    questions = unit_vectors(20, seed=4, directions=30)
    index = VectorIndexes()
    wanted = [{f"id-{row + 1}" for row in np.argsort(-(vectors @ question))[:10]} for question in questions]
    nearest = [set(ask(index, sql, question)) for question in questions]
    assert sum(len(a & b) for a, b in zip(wanted, nearest, strict=True)) > 0.95 * 10 * len(questions)


def test_other_projects_vectors_are_neither_found_nor_read(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(60)
    keep(sql, vectors[:40], "other")
    keep(sql, vectors[40:50], "p", first_row=41)
    keep(sql, vectors[50:], "", first_row=51)
    index = VectorIndexes()
    nearest = ask(index, sql, vectors[0])
    assert nearest
    assert {int(id_[3:]) > 40 for id_ in nearest} == {True}
    assert [part._count for part in index._indexes.values()] == [10, 10]
    assert ask(index, sql, vectors[0], all_projects=True)[0] == "id-1"


@pytest.mark.parametrize("before", [50, MANY])
def test_a_vector_written_anew_is_found_at_its_new_place_only(sql: sqlite3.Connection, before: int) -> None:
    vectors = unit_vectors(before + 1)
    keep(sql, vectors[:-1], "p")
    index = VectorIndexes()
    assert ask(index, sql, vectors[6])[0] == "id-7"
    write(sql, {7: vectors[-1]})
    assert ask(index, sql, vectors[-1])[0] == "id-7"
    assert ask(index, sql, vectors[6])[0] != "id-7"


def test_what_is_written_later_is_found_by_every_index_it_belongs_to(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(400)
    keep(sql, vectors[:10], "p")
    index = VectorIndexes()
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
    index = VectorIndexes()
    for _ in range(4):
        write(sql, {row + 1: vector for row, vector in enumerate(vectors)})
        assert ask(index, sql, vectors[0])[0] == "id-1"
    (part,) = (part for part in index._indexes.values() if part._count)
    assert part._count == len(vectors)


def index_of(sql: sqlite3.Connection, vectors: list[list[float]]) -> vectorindex.VectorIndex:
    """An index of vectors of any dimension, whose rows count from 1."""
    dimension = len(vectors[0])
    sql.executemany(
        "INSERT INTO lessons VALUES (?, ?, 1, NULL, 'p', 'active', 'fix', '', '', 0, 0.5, 1, NULL, '', '', '{}',"
        " '', '')",
        [(row, f"id-{row}") for row in range(1, len(vectors) + 1)],
    )
    sql.executemany(
        "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, 'toy', ?, ?)",
        [(row, *pack(vector)) for row, vector in enumerate(vectors, start=1)],
    )
    index = vectorindex.VectorIndex("toy", dimension, "p")
    index.follow(sql)
    return index


NEAR, ALIKE_BY_SIGN = [0.9, *[-0.05] * 9], [0.2, *[0.3] * 9]
"""The first is nearer to a question of one large component, the second has all of its signs."""
ASKED = [0.9, *[0.05] * 9]


@pytest.mark.parametrize(("rows", "nearest"), [(3, 1), (4, 1), (5, 2)])
def test_every_row_is_scored_until_there_are_more_than_so_many(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, rows: int, nearest: int
) -> None:
    monkeypatch.setattr(vectorindex, "EXACT_BELOW", 4)
    far = [[-0.9, *[-0.05] * 9]] * (rows - 2)
    index = index_of(sql, [NEAR, ALIKE_BY_SIGN, *far])
    assert list(index.nearest(ASKED, 1)) == [nearest]


def test_as_many_as_wanted_are_scored_also_where_signs_choose(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectorindex, "EXACT_BELOW", 1)
    index = index_of(sql, [NEAR, ALIKE_BY_SIGN, [-0.9, *[-0.05] * 9]])
    assert sorted(index.nearest(ASKED, 1)) == [2]
    assert sorted(index.nearest(ASKED, 2)) == [1, 2]
    assert sorted(index.nearest(ASKED, 3)) == [1, 2, 3]
    assert sorted(index.nearest(ASKED, 4)) == [1, 2, 3]


def test_signs_are_compared_part_by_part_to_the_last(sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorindex, "EXACT_BELOW", 1)
    monkeypatch.setattr(vectorindex, "SCANNED_AT_ONCE", 2)
    for rows in (4, 5):
        vectors = [[1.0 if bit == row else -1.0 for bit in range(70)] for row in range(rows)]
        sql.execute("DELETE FROM vectors")
        sql.execute("DELETE FROM lessons")
        index = index_of(sql, vectors)
        for row in range(rows):
            assert list(index.nearest(vectors[row], 1)) == [row + 1]


def test_an_index_reads_all_again_when_more_than_half_and_a_thousand_were_added(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(400)
    keep(sql, vectors, "p")
    index = vectorindex.VectorIndex("toy", DIMENSION, "p")
    index.follow(sql)

    def rewrite(count: int) -> int:
        write(sql, {row + 1: vectors[row] for row in range(count)})
        index.follow(sql)
        return index._count

    assert rewrite(1) == 401
    for _ in range(3):
        rewrite(399)
    assert rewrite(2) == 400 + 1 + 3 * 399 + 2, "1,200 were added"
    assert rewrite(1) == 400 + 1_200 + 1, "with 1,200 it is not more than 1,000 and half of 400"
    assert rewrite(1) == 400, "with 1,201 it is"
    assert rewrite(1) == 401
    similarities = index.nearest(vectors[0].tolist(), 500)
    assert sorted(similarities) == list(range(1, 401))
    assert max(similarities, key=similarities.__getitem__) == 1


def test_vectors_are_found_that_are_written_after_none_were(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(2)
    index = VectorIndexes()
    for project in ("p", ""):
        assert ask(index, sql, vectors[0], project=project) == []
    assert ask(index, sql, vectors[0], all_projects=True) == []
    keep(sql, vectors, "p")
    assert ask(index, sql, vectors[0]) == ask(index, sql, vectors[0], all_projects=True) == ["id-1", "id-2"]
    assert ask(index, sql, vectors[0], project="") == []


def test_what_was_read_stays_right_while_the_index_grows(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(23)
    index = vectorindex.VectorIndex("toy", DIMENSION, "p")
    known = 0
    for more in (1, 1, 3, 8, 10):
        keep(sql, vectors[known : known + more], "p", first_row=known + 1)
        known += more
        index.follow(sql)
        for row in range(known):
            similarities = index.nearest(vectors[row].tolist(), known)
            assert len(similarities) == known
            assert max(similarities, key=similarities.__getitem__) == row + 1
            assert similarities[row + 1] == pytest.approx(1.0, abs=0.01)


def test_lessons_that_may_be_seen_are_found_behind_hundreds_nearer_ones_that_may_not(sql: sqlite3.Connection) -> None:
    vector = unit_vectors(1)[0]
    keep(sql, np.array([vector] * 520), "p")
    sql.execute("UPDATE lessons SET state = 'candidate'")
    keep(sql, -unit_vectors(3), "p", first_row=521)
    assert set(ask(VectorIndexes(), sql, vector)) == {"id-521", "id-522", "id-523"}
    keep(sql, -unit_vectors(1), "p", first_row=524)
    sql.execute("UPDATE lessons SET state = 'candidate' WHERE row > 520 AND row < 524")
    assert ask(VectorIndexes(), sql, vector) == ["id-524"]


def test_exactly_as_many_rows_as_are_scored_at_first_do_not_end_the_search(sql: sqlite3.Connection) -> None:
    vector = unit_vectors(1)[0]
    keep(sql, np.array([vector] * 500), "p")
    sql.execute("UPDATE lessons SET state = 'candidate'")
    assert ask(VectorIndexes(), sql, vector) == []
    keep(sql, np.array([-vector]), "p", first_row=501)
    assert ask(VectorIndexes(), sql, vector) == ["id-501"]


def test_nothing_is_read_for_a_question_without_a_vector(sql: sqlite3.Connection) -> None:
    keep(sql, unit_vectors(2), "p")
    index = VectorIndexes()
    assert index.match(sql, Query(project="p", embedder_id="toy"), 5) == []  # type: ignore[arg-type]
    assert index._indexes == {}


def test_a_component_is_a_signed_byte_of_the_largest_one() -> None:
    assert pack([1.0, -0.5, 0.0]) == (1.0 / 127, bytes([127, 256 - 64, 0]))
    assert pack([-2.0, 2.0]) == (2.0 / 127, bytes([256 - 127, 127]))
    assert pack([0.0, 0.0]) == (1.0, bytes(2))
    assert pack([]) == (1.0, b"")


def test_a_component_is_positive_above_zero_and_words_are_filled_up() -> None:
    signs = vectorindex._signs(np.array([[1.0, 0.0, -1.0, 0.5], [0.0, 1.0, 1.0, -0.5]]))
    assert signs.shape == (2, 1)
    assert [row.tobytes()[:2] for row in signs] == [bytes([0b1001_0000, 0]), bytes([0b0110_0000, 0])]
    assert vectorindex._signs(np.ones((1, 65))).shape == (1, 2)
    assert vectorindex._ones(vectorindex._signs(np.ones((1, 65)))).tolist() == [[64, 1]]


def test_bits_are_counted_alike_without_numpys_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.array([[0, 1, 2**64 - 1], [3, 255, 2**63]], dtype=np.uint64)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert vectorindex._ones(words).tolist() == [[0, 1, 64], [2, 8, 1]]


def test_all_are_reported_where_as_many_are_wanted_as_there_are(sql: sqlite3.Connection) -> None:
    vectors = unit_vectors(10)
    keep(sql, vectors, "p")
    assert len(ask(VectorIndexes(), sql, vectors[0])) == 10
    keep(sql, unit_vectors(1, seed=5), "p", first_row=11)
    assert len(ask(VectorIndexes(), sql, vectors[0])) == 10
