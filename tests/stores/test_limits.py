"""The edges of the SQLite store: what is just inside, and what is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
from holdfast.stores.sqlite import matching as triggers
from holdfast.stores.sqlite import vectors as vectorindex
from holdfast.stores.sqlite.connection import Connection, translate
from holdfast.stores.sqlite.erase import expire_states
from holdfast.stores.sqlite.indexfile import make_index
from holdfast.stores.sqlite.matching import match_triggers
from holdfast.stores.sqlite.rows import instant, micros, scope_token
from holdfast.stores.sqlite.schema import build
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.stores.sqlite.vectors import VectorIndexes
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


def test_a_lock_is_requested_every_four_milliseconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_times_are_stored_as_microseconds_since_1970(at: datetime, number: int) -> None:
    """`rows.EPOCH`."""
    assert micros(at) == number
    assert instant(number) == at


@pytest.mark.parametrize(("age", "erased"), [(timedelta(days=7), 0), (timedelta(days=7, microseconds=1), 1)])
def test_a_state_is_erased_when_its_days_are_over(sql: sqlite3.Connection, age: timedelta, erased: int) -> None:
    """`states.DAY`."""
    sql.execute("INSERT INTO state (family, owner, value, updated_at) VALUES (?, 'toy', 'now', ?)",
                (EMBEDDER_RESTING.name, micros(START)))  # fmt: skip
    assert expire_states(sql, START + age) == erased
