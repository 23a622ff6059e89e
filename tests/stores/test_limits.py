"""Each limit of the SQLite store at its boundary; a number that decides something is written out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.contract.index_contract import ROOT, make_outline
from tests.contract.index_contract import keep as keep_outlines
from tests.stores import test_sqlite_vectors as toys
from tests.stores.test_sqlite_fulltext import found, keep, scores

from holdfast.domain.lesson import Triggers
from holdfast.domain.query import Query
from holdfast.domain.statefamilies import EMBEDDER_RESTING
from holdfast.domain.symbol import Symbol
from holdfast.errors import StoreCorruptError, StoreError, StoreFullError, StoreLockedError, StoreReadOnlyError
from holdfast.lean.files import FileLock
from holdfast.stores.sqlite import fulltext, triggers, vectorindex
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.failures import translate
from holdfast.stores.sqlite.fulltext import count_terms
from holdfast.stores.sqlite.indexfile import make_index
from holdfast.stores.sqlite.rows import instant, micros, scope_token
from holdfast.stores.sqlite.schema import build
from holdfast.stores.sqlite.states import expire
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.stores.sqlite.triggers import match_triggers
from holdfast.stores.sqlite.vectors import VectorIndexes, erase_others
from holdfast.testing.builders import PROJECT, START, make_lesson


@pytest.fixture
def sql() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        build(made)
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


# Full text


@pytest.mark.parametrize(("newer", "is_scored"), [(2_999, True), (3_000, False)])
def test_the_newest_three_thousand_lessons_are_scored(sql: sqlite3.Connection, newer: int, is_scored: bool) -> None:
    """`fulltext.CHOSEN`: the oldest lesson is the shortest, so its score is the best."""
    keep(sql, ["tide", *["tide and a longer text"] * newer])
    assert (found(sql, "tide")[0] == 1) is is_scored


@pytest.mark.parametrize(("newer", "is_scored"), [(499, True), (500, False)])
def test_beside_a_rare_word_a_common_one_chooses_the_newest_five_hundred(
    sql: sqlite3.Connection, newer: int, is_scored: bool
) -> None:
    """`fulltext.CHOSEN_BY_COMMON`."""
    keep(sql, ["heron", *["tide and a longer text"] * (1_500 - newer), "tide", *["tide and a longer text"] * newer])
    assert (1_502 - newer in found(sql, "heron", "tide")[:2]) is is_scored


@pytest.mark.parametrize(("hidden", "is_found"), [(3_999, True), (4_000, False)])
def test_where_the_newest_cannot_be_seen_eight_times_as_many_are_scored(
    sql: sqlite3.Connection, hidden: int, is_found: bool
) -> None:
    """`fulltext.WIDER`."""
    keep(sql, ["heron", "tide", *["tide"] * hidden])
    sql.execute("UPDATE lessons SET state = 'retired' WHERE row > 2")
    assert found(sql, "heron", "tide") == ([1, 2] if is_found else [1])


def test_sixty_four_words_are_asked_for(sql: sqlite3.Connection) -> None:
    """`fulltext.TERM_LIMIT`."""
    words = [f"w{number:02}" for number in range(65)]
    keep(sql, words)
    assert found(sql, *words, limit=100) == list(range(64, 0, -1))


def test_twenty_of_them_may_be_common(sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """`fulltext.COMMON_LIMIT`."""
    monkeypatch.setattr(fulltext, "COMMON", 1)
    words = [f"w{number:02}" for number in range(21)]
    keep(sql, words * 2)
    assert sorted(found(sql, *words, limit=100)) == [row for row in range(1, 43) if row % 21]


@pytest.mark.parametrize(("ours", "is_asked"), [(149, True), (150, False)])
def test_a_project_with_fifteen_times_as_many_lessons_is_left_out_afterwards(
    sql: sqlite3.Connection, ours: int, is_asked: bool
) -> None:
    """`fulltext.LEFT_OUT_AFTERWARDS`: ten lessons have the word."""
    keep(sql, ["reed"] * 501, owner="other")
    keep(sql, ["tide"] * 10 + ["reed"] * (ours - 10))
    statements: list[str] = []
    sql.set_trace_callback(statements.append)
    assert len(found(sql, "tide")) == 10
    queries = [text for text in statements if "bm25" in text]
    assert queries
    assert any("scope : " in text for text in queries) is is_asked


@pytest.mark.parametrize(("lessons", "is_rare"), [(75_000, True), (74_999, False)])
def test_a_word_in_a_fiftieth_of_a_large_store_is_rare(sql: sqlite3.Connection, lessons: int, is_rare: bool) -> None:
    """`fulltext.COMMON_SHARE`: 1,500 lessons have the word."""
    keep(sql, ["tide"] * 1_500)
    sql.execute(
        "INSERT INTO lessons VALUES (?, 'last', 1, NULL, 'p', 'active', 'fix', '', '', 0, 0.5, 1, NULL, '', '', '{}')",
        (lessons,),
    )
    assert (count_terms(sql, ["tide"]).rare == ("tide",)) is is_rare


def test_the_scope_of_a_lesson_adds_nothing_to_its_score(sql: sqlite3.Connection) -> None:
    """`fulltext.COLUMN_WEIGHTS`."""
    keep(sql, ["tide", "reed"], owner="p")
    assert set(scores(sql, scope_token("p")).values()) == {0.0}
    assert set(scores(sql, "tide")) == {1}
    assert scores(sql, "tide")[1] > 0


# Triggers


def triggered(sql: sqlite3.Connection, code: str) -> bool:
    return bool(match_triggers(sql, Query(project=PROJECT, code=code), 9))


@pytest.fixture
def literal(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """A store with one lesson that waits for `open_gate`."""
    store.put([make_lesson(when=Triggers(literals=("open_gate",)))], {})
    with store._connection.reading() as sql:
        yield sql


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_two_hundred_thousand_characters_of_code_are_looked_through(
    literal: sqlite3.Connection, more: int, fits: bool
) -> None:
    """`triggers.CODE_LIMIT`."""
    assert triggered(literal, " " * (200_000 - len("open_gate") + more) + "open_gate") is fits


@pytest.mark.parametrize(("before", "fits"), [(3_999, True), (4_000, False)])
def test_four_thousand_words_of_code_are_looked_up(literal: sqlite3.Connection, before: int, fits: bool) -> None:
    """`triggers.WORDS_LIMIT`."""
    assert triggered(literal, " ".join(f"w{number}" for number in range(before)) + " open_gate") is fits


@pytest.mark.parametrize("words", [1, 2, 500])
def test_words_are_looked_up_a_slice_at_a_time(
    literal: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, words: int
) -> None:
    """`triggers.SLICE`."""
    monkeypatch.setattr(triggers, "SLICE", words)
    statements: list[str] = []
    literal.set_trace_callback(statements.append)
    assert triggered(literal, "the open_gate of the quay")
    literal.set_trace_callback(None)
    assert sum("'literal'" in text for text in statements) == -(-5 // words)


# Vectors


def test_five_hundred_rows_or_eight_for_each_wanted_are_scored_by_their_bytes(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`vectors.RESCORED`."""
    toys.keep(sql, toys.unit_vectors(20), "p")
    wanted: list[int] = []
    nearest = vectorindex.VectorIndex.nearest

    def record(index: vectorindex.VectorIndex, vector: Sequence[float], most: int) -> dict[int, float]:
        wanted.append(most)
        return nearest(index, vector, most)

    monkeypatch.setattr(vectorindex.VectorIndex, "nearest", record)
    query = Query(project="p", vector=(1.0,) * toys.DIMENSION, embedder_id="toy")
    wanted_by_limit = {}
    for limit in (10, 62, 63):
        wanted.clear()
        VectorIndexes().match(sql, query, limit)
        wanted_by_limit[limit] = set(wanted)
    assert wanted_by_limit == {10: {500}, 62: {500}, 63: {504}}


def test_two_thousand_vectors_of_other_embedders_are_erased_at_once(tmp_path: Path) -> None:
    """`vectors.ERASED_AT_ONCE`."""
    with closing(Connection(str(tmp_path / "memory.sqlite"), 5.0)) as connection:
        connection.open()
        with connection.writing() as sql:
            sql.executemany(
                "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, 'old', 1.0, x'00')",
                [(row,) for row in range(2_001)],
            )
        assert [erase_others(connection, "new") for _ in range(3)] == [2_000, 1, 0]


@pytest.mark.parametrize("rows", [1, 7, 5_000])
def test_an_index_is_whole_however_many_rows_are_read_at_once(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """`vectorindex.READ_AT_ONCE`."""
    monkeypatch.setattr(vectorindex, "READ_AT_ONCE", rows)
    vectors = toys.unit_vectors(30)
    toys.keep(sql, vectors, "p")
    index = VectorIndexes()
    assert [toys.ask(index, sql, vectors[row])[0] for row in (0, 6, 7, 29)] == ["id-1", "id-7", "id-8", "id-30"]


@pytest.mark.parametrize("rows", [64, 1_000, 16_384])
def test_the_nearest_are_found_however_many_rows_are_scanned_at_once(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """`vectorindex.SCANNED_AT_ONCE`."""
    monkeypatch.setattr(vectorindex, "EXACT_BELOW", 1_000)
    monkeypatch.setattr(vectorindex, "SCANNED_AT_ONCE", rows)
    vectors = toys.unit_vectors(1_200)
    toys.keep(sql, vectors, "p")
    index = VectorIndexes()
    rows_asked = (0, 63, 64, 999, 1_000, 1_199)
    assert [toys.ask(index, sql, vectors[row])[0] for row in rows_asked] == [f"id-{row + 1}" for row in rows_asked]


def test_a_row_that_was_replaced_is_no_lesson(sql: sqlite3.Connection) -> None:
    """`vectorindex.REPLACED`: no row of `lessons` has that number."""
    vectors = toys.unit_vectors(3)
    toys.keep(sql, vectors, "p")
    index = VectorIndexes()
    assert toys.ask(index, sql, vectors[0])[0] == "id-1"
    toys.write(sql, {1: vectors[2], 2: np.negative(vectors[1])})
    assert sorted(toys.ask(index, sql, vectors[0])) == ["id-1", "id-2", "id-3"]
    assert sql.execute("SELECT count(*) FROM lessons WHERE row = 0").fetchone() == (0,)
    [part] = [part for part in index._indexes.values() if part._count]
    assert 0 not in part.nearest(vectors[0].tolist(), 99)


# The index of code


def test_a_symbol_comes_back_whole(tmp_path: Path) -> None:
    """`indexrows._INSERT_SYMBOL` has a place for each of its fields."""
    symbol = Symbol(
        path="src/a.py", name="Store.put", kind="method", start_line=2, end_line=3, start_byte=5, end_byte=8,
        signature="def put(self)", signature_hash="s1:1.2", body_hash="b1:3.4", tokens=13,
    )  # fmt: skip
    with make_index({"path": str(tmp_path / "index.db")}) as index:
        keep_outlines(index, make_outline(symbols=(symbol,)))
        assert list(index.symbols(ROOT, "name", "Store.put")) == [symbol]


# The file, its errors and its times


def test_a_store_keeps_sixteen_megabytes_of_pages(store: SqliteStore) -> None:
    """`connection.CACHE`."""
    with store._connection.reading() as sql:
        assert sql.execute("PRAGMA cache_size").fetchone() == (-16_000,)


def test_a_lock_is_asked_for_every_four_milliseconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`connection.LONGEST_NAP_S`."""
    now, naps = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    path = str(tmp_path / "memory.sqlite")
    with closing(Connection(path, 1.0)) as connection, closing(FileLock(path + ".lock")) as other:
        connection.open()
        assert other.take(0.0, 0.0)
        with monkeypatch.context() as patched:
            patched.setattr("time.monotonic", lambda: now[0])
            patched.setattr("time.sleep", sleep)
            with pytest.raises(StoreLockedError):
                connection.lock()
    assert max(naps) == 0.004


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_PERM, StoreReadOnlyError),
        (sqlite3.SQLITE_BUSY, StoreLockedError),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreLockedError),
        (sqlite3.SQLITE_LOCKED, StoreLockedError),
        (sqlite3.SQLITE_READONLY, StoreReadOnlyError),
        (sqlite3.SQLITE_CORRUPT, StoreCorruptError),
        (sqlite3.SQLITE_FULL, StoreFullError),
        (sqlite3.SQLITE_CANTOPEN, StoreReadOnlyError),
        (sqlite3.SQLITE_NOTADB, StoreCorruptError),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFullError),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFullError),
        (sqlite3.SQLITE_IOERR_READ, StoreError),
        (sqlite3.SQLITE_IOERR, StoreError),
        (sqlite3.SQLITE_CONSTRAINT, StoreError),
    ],
)
def test_sqlites_result_codes_are_errors_of_ours(code: int, kind: type[StoreError]) -> None:
    """`failures._BY_CODE`, `failures.IOERR_WRITE` and `failures.IOERR_SHMSIZE`, by the names that Python gives them."""
    error = sqlite3.OperationalError("failed")
    error.sqlite_errorcode = code
    assert type(translate(error, "/x/memory.db")) is kind


@pytest.mark.parametrize(
    ("at", "number"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 3, 1, tzinfo=UTC), 1_772_323_200_000_000),
    ],
)
def test_times_are_kept_as_microseconds_since_1970(at: datetime, number: int) -> None:
    """`rows.EPOCH`."""
    assert micros(at) == number
    assert instant(number) == at


@pytest.mark.parametrize(("age", "erased"), [(timedelta(days=7), 0), (timedelta(days=7, microseconds=1), 1)])
def test_a_state_is_erased_when_its_days_are_over(sql: sqlite3.Connection, age: timedelta, erased: int) -> None:
    """`states.DAY`."""
    sql.execute("INSERT INTO state (family, owner, value, updated_at) VALUES (?, 'toy', 'now', ?)",
                (EMBEDDER_RESTING.name, micros(START)))  # fmt: skip
    assert expire(sql, START + age) == erased
