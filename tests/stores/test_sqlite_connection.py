"""How the file is opened, how turns are taken and given back, and what is read where nothing can be written."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from holdfast.errors import (
    HoldfastError,
    InvalidValueError,
    SchemaTooOldError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreReadOnlyError,
)
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite import make, schema
from holdfast.stores.sqlite.connection import SCHEMA, Connection
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_event

pytestmark = pytest.mark.needs_file("it is about the file")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store with one event."""
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        store.append_events([make_event()])
    return tmp_path / "memory.db"


def opened(path: Path, timeout_s: float = 1.0, **options: bool) -> Connection:
    connection = Connection(str(path), timeout_s, **options)
    connection.open()
    return connection


def _fail(exc: BaseException) -> None:
    raise exc


# Opening and closing


def test_opening_twice_keeps_the_connection_and_closing_twice_is_fine(path: Path) -> None:
    connection = opened(path)
    before = connection.sql
    connection.open()
    assert connection.sql is before
    connection.close()
    connection.close()
    with pytest.raises(StoreError, match="is not open"):
        connection.sql.execute("SELECT 1")


def test_a_store_made_without_options_upgrades_an_older_file_and_one_made_so_refuses_it(tmp_path: Path) -> None:
    for name, options, is_refused in (
        ("a", {}, False),
        ("b", {"upgrade": True}, False),
        ("c", {"upgrade": False}, True),
    ):
        path = tmp_path / f"{name}.db"
        older = sqlite3.connect(path, isolation_level=None)
        schema._apply(older, sorted(os.listdir(schema.FOLDER))[0], str(path))
        older.close()
        store = SqliteStore(str(path), **options)  # type: ignore[arg-type]
        if is_refused:
            with pytest.raises(SchemaTooOldError):
                store.__enter__()
            continue
        with store:
            assert store.append_events([make_event()]) == 1


def test_a_new_file_is_made_by_a_store_that_upgrades_none(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "new" / "memory.db"), upgrade=False) as store:
        assert store.append_events([make_event()]) == 1
    with SqliteStore(str(tmp_path / "new" / "memory.db"), upgrade=False) as store:
        assert len(store.find_events(EventFilter())) == 1


@pytest.mark.parametrize(
    ("options", "is_refused"), [({}, False), ({"upgrade": "yes"}, False), ({"upgrade": "no"}, True)]
)
def test_an_older_file_is_upgraded_by_default(tmp_path: Path, options: dict[str, str], is_refused: bool) -> None:
    path = tmp_path / "memory.db"
    older = sqlite3.connect(path, isolation_level=None)
    schema._apply(older, sorted(os.listdir(schema.FOLDER))[0], str(path))
    older.close()
    store = make({"url": f"sqlite://{path}", **options})
    if is_refused:
        with pytest.raises(SchemaTooOldError):
            store.__enter__()
    else:
        with store:
            assert store.append_events([make_event()]) == 1


@pytest.mark.parametrize(("frozen", "is_read"), [("yes", True), ("no", False), ("", False)])
def test_a_file_is_read_as_it_lies_there_only_on_request(blocked: Path, frozen: str, is_read: bool) -> None:
    store = make({"url": f"sqlite://{blocked}", "timeout_s": "0.1", "frozen": frozen})
    if not is_read:
        with pytest.raises(StoreReadOnlyError):
            store.__enter__()
    else:
        with store:
            assert len(store.find_events(EventFilter())) == 1


def test_a_file_that_another_process_upgraded_meanwhile_needs_nothing(path: Path) -> None:
    connection = opened(path)
    schema.upgrade(connection)
    with connection.reading() as sql:
        assert sql.execute("SELECT count(*) FROM migrations").fetchone() == (SCHEMA,)
    connection.close()


def test_a_private_file_stays_as_it_is_and_any_right_of_others_is_taken_away(path: Path) -> None:
    for mode in (0o600, 0o400, 0o700, 0o640, 0o604, 0o610, 0o601, 0o666):
        path.chmod(mode)
        opened(path).close()
        assert path.stat().st_mode & 0o777 == (mode if mode & 0o077 == 0 else 0o600)


# Reading a file as it lies there


@pytest.fixture
def blocked(path: Path) -> Path:
    """The store, beside which SQLite cannot make the index of the write-ahead log: a link has its name."""
    Path(f"{path}-shm").symlink_to("/nowhere/at/all")
    return path


def test_a_file_whose_companions_cannot_be_made_is_read_as_it_lies_there_where_that_is_wanted(blocked: Path) -> None:
    with pytest.raises(StoreReadOnlyError):
        SqliteStore(str(blocked), 0.1).__enter__()
    with SqliteStore(str(blocked), 0.1, frozen=True) as store:
        assert len(store.find_events(EventFilter())) == 1
        with pytest.raises(StoreReadOnlyError) as caught:
            store.append_events([make_event()])
        assert caught.value is store._connection.frozen_by, "what SQLite said first"
        assert len(store.find_events(EventFilter())) == 1, "the turn was given back"


def test_a_file_with_an_empty_log_is_whole_and_one_with_a_log_is_not(blocked: Path) -> None:
    log = Path(f"{blocked}-wal")
    log.touch()
    with SqliteStore(str(blocked), 0.1, frozen=True) as store:
        assert len(store.find_events(EventFilter())) == 1
    log.write_bytes(b"x")
    with pytest.raises(StoreReadOnlyError):
        SqliteStore(str(blocked), 0.1, frozen=True).__enter__()


def test_an_empty_file_is_not_read_as_it_lies_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    Path(f"{path}-wal").mkdir()
    with pytest.raises(StoreError):
        SqliteStore(str(path), 0.1, frozen=True).__enter__()


def test_a_file_that_is_not_there_is_not_read_as_it_lies_there(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreError):
        SqliteStore(str(tmp_path / "memory.db"), 0.1, frozen=True).__enter__()


def test_a_path_through_a_file_is_reported_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="Not a directory"):
        SqliteStore(str(tmp_path / "file" / "memory.db"), 0.1, frozen=True).__enter__()


def test_a_damaged_file_is_not_read_as_it_lies_there(path: Path) -> None:
    path.write_bytes(b"this is not a database, whatever it is " * 300)
    with pytest.raises(StoreCorruptError):
        SqliteStore(str(path), 0.1, frozen=True).__enter__()


@pytest.mark.parametrize("name", ["a b.db", "50%.db", "what?.db", "c#.db"])
def test_a_file_of_any_name_is_read_as_it_lies_there(tmp_path: Path, name: str) -> None:
    with SqliteStore(str(tmp_path / name)) as store:
        store.append_events([make_event()])
    Path(f"{tmp_path / name}-shm").symlink_to("/nowhere/at/all")
    with SqliteStore(str(tmp_path / name), 0.1, frozen=True) as store:
        assert len(store.find_events(EventFilter())) == 1


# Turns


@pytest.mark.parametrize(
    ("exc", "reading", "writing"),
    [
        (ValueError("month"), StoreCorruptError, ValueError),
        (TypeError("text"), StoreCorruptError, TypeError),
        (OverflowError("large"), StoreCorruptError, OverflowError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"), StoreCorruptError, StoreCorruptError),
        (LookupError("none"), LookupError, LookupError),
        (InvalidValueError("no kind"), InvalidValueError, InvalidValueError),
        (sqlite3.OperationalError("odd"), StoreError, StoreError),
        (OSError("odd"), StoreError, StoreError),
    ],
)
def test_a_value_that_no_row_of_ours_has_is_damage_where_something_was_read(
    path: Path, exc: Exception, reading: type[Exception], writing: type[Exception]
) -> None:
    connection = opened(path)
    for turn, kind in ((connection.reading, reading), (connection.writing, writing)):
        with pytest.raises(kind) as caught, turn():
            _fail(exc)
        assert type(caught.value) is kind
        assert isinstance(caught.value, HoldfastError) or caught.value is exc
    connection.close()


def test_a_writers_lock_is_given_back_after_a_write_a_failure_and_a_turn_that_could_not_begin(path: Path) -> None:
    first, second = opened(path, 0.2), opened(path, 0.2)
    with first.writing():
        pass
    with second.writing(), pytest.raises(StoreLockedError), first.writing():
        pass
    with pytest.raises(LookupError), second.writing():
        _fail(LookupError("in the middle"))
    with first.writing(durable=True) as sql:
        sql.execute("DELETE FROM events")
    with second.reading() as sql:
        assert sql.execute("SELECT count(*) FROM events").fetchone() == (0,)
    for connection in (first, second):
        connection.close()


def test_readers_take_no_lock(path: Path) -> None:
    first, second = opened(path, 0.2), opened(path, 0.2)
    with first.writing() as writer:
        writer.execute("DELETE FROM events")
        with second.reading() as reader:
            assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
    for connection in (first, second):
        connection.close()


def test_a_turn_that_is_flushed_leaves_the_next_one_as_it_was_also_after_a_failure(path: Path) -> None:
    connection = opened(path)
    with pytest.raises(LookupError), connection.writing(durable=True):
        _fail(LookupError("in the middle"))
    assert connection.sql.execute("PRAGMA synchronous").fetchone() == (1,)
    connection.close()
