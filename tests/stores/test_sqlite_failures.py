"""Every way a file can fail, made for real, becomes one of our errors with a hint."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import (
    SchemaTooNewError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
)
from holdfast.ports.store import EventFilter, LessonFilter
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.connection import translate
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_event, make_lesson


def open_at(path: Path, timeout_s: float = 0.1) -> SqliteStore:
    return make({"url": f"sqlite://{path}", "timeout_s": str(timeout_s)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound store with one event, closed."""
    with open_at(tmp_path / "memory.db", 5) as store:
        store.append_events([make_event()])
    return tmp_path / "memory.db"


def assert_told(caught: pytest.ExceptionInfo[StoreError], path: Path) -> None:
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_lock_file_taken_by_another_is_locked_after_the_timeout(path: Path) -> None:
    with open_at(path) as store, open(f"{path}.lock", "rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        begun = time.monotonic()
        with pytest.raises(StoreLockedError) as caught:
            store.append_events([make_event()])
        assert 0.1 <= time.monotonic() - begun < 30
        assert_told(caught, path)
        assert len(store.find_events(EventFilter())) == 1, "reading needs no lock"
        fcntl.flock(lock_file, fcntl.LOCK_UN)
        assert store.append_events([make_event()]) == 1


def test_a_writer_that_knows_nothing_of_the_lock_file_is_locked_too(path: Path) -> None:
    with open_at(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError) as caught:
            store.put([make_lesson(trust="person")], {})
        assert_told(caught, path)
        other.execute("ROLLBACK")
        other.close()
        store.put([make_lesson()], {})


def test_a_lock_given_back_in_time_is_waited_for(path: Path) -> None:
    with open_at(path, 20) as store, open(f"{path}.lock", "rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        later = threading.Timer(0.1, fcntl.flock, (lock_file, fcntl.LOCK_UN))
        later.start()
        assert store.append_events([make_event()]) == 1
        later.join()


def test_a_file_that_is_no_database_is_corrupt_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"this is not a database, whatever it is " * 300)
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError) as caught:
        open_at(path).__enter__()
    assert_told(caught, path)
    assert path.read_bytes() == before


def test_a_file_with_broken_pages_is_corrupt_and_check_says_so(path: Path) -> None:
    with open_at(path):
        pass
    empty = path.stat().st_size // 4096
    with open_at(path) as store:
        store.put([make_lesson(insight=f"number {i} " * 50) for i in range(60)], {})
    content = bytearray(path.read_bytes())
    for page in range(empty, len(content) // 4096):  # those of the lessons: one of the schema cannot even be opened
        content[page * 4096 : page * 4096 + 2048] = os.urandom(2048)
    path.write_bytes(content)
    with open_at(path) as store:
        assert store.check()
        with pytest.raises(StoreCorruptError) as caught:
            store.find(LessonFilter(all_projects=True))
        assert_told(caught, path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    with open_at(tmp_path / "memory.db", 5) as store:
        assert store.append_events([make_event()]) == 1


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version=999")
    other.close()
    with pytest.raises(SchemaTooNewError) as caught:
        open_at(path).__enter__()
    assert_told(caught, path)


def test_a_connection_that_may_not_write_is_read_only(path: Path) -> None:
    with open_at(path) as store:
        store._connection.sql.execute("PRAGMA query_only=1")
        for write in (lambda: store.append_events([make_event()]), lambda: store.put([make_lesson()], {})):
            with pytest.raises(StoreReadOnlyError) as caught:
                write()
            assert_told(caught, path)
        assert len(store.find_events(EventFilter())) == 1


def as_nobody(work: Callable[[], str]) -> str:
    """What `work` returns in a process without the rights of root (or of this user's files)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # the child must not come back into pytest
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writing, work().encode())
        except BaseException as exc:
            os.write(writing, f"child: {exc!r}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        output = answer.read().decode()
    os.waitpid(child, 0)
    return output


def said_by_opening(path: Path) -> Callable[[], str]:
    def work() -> str:
        try:
            with open_at(path) as store:
                store.append_events([make_event()])
        except StoreError as exc:
            return f"{type(exc).__name__} {bool(exc.hint)}"
        return "no error"

    return work


@pytest.fixture
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that other users can reach."""
    import tempfile

    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    return folder


def test_a_folder_that_cannot_be_written_is_read_only(open_folder: Path) -> None:
    with open_at(open_folder / "memory.db"):
        pass
    (open_folder / "memory.db").chmod(0o666)
    (open_folder / "memory.db.lock").chmod(0o666)
    open_folder.chmod(0o555)
    assert as_nobody(said_by_opening(open_folder / "new" / "memory.db")) == "StoreReadOnlyError True"
    assert as_nobody(said_by_opening(open_folder / "memory.db")) == "StoreReadOnlyError True"
    open_folder.chmod(0o777)


def test_a_file_that_cannot_be_read_is_read_only(open_folder: Path) -> None:
    with open_at(open_folder / "memory.db"):
        pass
    if os.geteuid() != 0:
        (open_folder / "memory.db").chmod(0o000)
    assert as_nobody(said_by_opening(open_folder / "memory.db")) == "StoreReadOnlyError True"


def test_a_full_database_keeps_nothing_of_the_call(path: Path) -> None:
    with open_at(path) as store:
        pages = store._connection.sql.execute("PRAGMA page_count").fetchone()[0]
        store._connection.sql.execute(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(StoreFullError) as caught:
            store.append_events([make_event(text="x" * 4000) for _ in range(50)])
        assert_told(caught, path)
        assert len(store.find_events(EventFilter())) == 1
        store._connection.sql.execute("PRAGMA max_page_count=1000000")
        assert store.append_events([make_event()]) == 1
        assert store.check() == []


def test_a_file_that_may_not_grow_is_full_and_sound_afterwards(path: Path) -> None:
    size = path.stat().st_size

    def work() -> str:
        with open_at(path) as store:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            try:
                store.append_events([make_event(text="x" * 4000) for _ in range(300)])
            except StoreError as exc:
                return f"{type(exc).__name__} {bool(exc.hint)}"
        return "no error"

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, work().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert answer.read() == "StoreFullError True"
    os.waitpid(child, 0)
    with open_at(path, 5) as store:
        assert len(store.find_events(EventFilter())) == 1
        assert store.check() == []


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, StoreReadOnlyError),
        (errno.EPERM, StoreReadOnlyError),
        (errno.EFBIG, StoreFullError),
        (errno.ENOENT, StoreError),
        (None, StoreError),
        (errno.EROFS, StoreReadOnlyError),
        (errno.ENOSPC, StoreFullError),
        (errno.EDQUOT, StoreFullError),
        (errno.EIO, StoreError),
    ],
)
def test_errors_of_the_file_system_are_ours_too(number: int | None, kind: type[StoreError]) -> None:
    error = translate(OSError("odd") if number is None else OSError(number, os.strerror(number)), "/x/memory.db")
    assert type(error) is kind
    assert error.hint
    assert "/x/memory.db" in str(error)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("PERM", StoreReadOnlyError), ("BUSY", StoreLockedError), ("LOCKED", StoreLockedError),
        ("READONLY", StoreReadOnlyError), ("CORRUPT", StoreCorruptError), ("FULL", StoreFullError),
        ("CANTOPEN", StoreReadOnlyError), ("NOTADB", StoreCorruptError), ("ERROR", StoreError),
        ("INTERNAL", StoreError), ("PROTOCOL", StoreError), ("BUSY_SNAPSHOT", StoreLockedError),
        ("CANTOPEN_ISDIR", StoreReadOnlyError), ("CORRUPT_INDEX", StoreCorruptError),
        ("READONLY_DBMOVED", StoreReadOnlyError), ("IOERR_WRITE", StoreFullError), ("IOERR_SHMSIZE", StoreFullError),
        ("IOERR_READ", StoreError), ("IOERR", StoreError),
    ],
)  # fmt: skip
def test_the_drivers_errors_are_ours_by_their_code(name: str, kind: type[StoreError]) -> None:
    error = sqlite3.OperationalError("odd")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{name}")
    ours = translate(error, "/x/memory.db")
    assert type(ours) is kind
    assert ours.hint
    assert str(ours) == "/x/memory.db: odd"


def test_an_error_the_driver_does_not_number_is_a_store_error() -> None:
    ours = translate(sqlite3.ProgrammingError("odd"), "/x")
    assert (type(ours), ours.hint) == (StoreError, "holdfast doctor")


def test_what_reading_a_row_raises_is_damage_of_the_file() -> None:
    ours = translate(ValueError("month must be in 1..12"), "/x")
    assert type(ours) is StoreCorruptError
    assert str(ours) == "/x: a damaged row: ValueError: month must be in 1..12"


def _fail_in_the_middle() -> None:
    raise LookupError("in the middle")


def test_an_error_in_the_middle_leaves_no_trace(path: Path) -> None:
    with open_at(path) as store:
        with pytest.raises(LookupError), store._connection.writing() as sql:  # noqa: PT012 - the middle is the point
            sql.execute("DELETE FROM events")
            _fail_in_the_middle()
        assert len(store.find_events(EventFilter())) == 1
        assert store.append_events([make_event()]) == 1, "the lock was given back"


def test_a_process_that_waits_for_a_dead_writers_lock_goes_on(path: Path) -> None:
    code = (
        "import fcntl, os, signal, sys\n"
        "held = open(sys.argv[1] + '.lock', 'rb'); fcntl.flock(held, fcntl.LOCK_EX)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    with open_at(path, 5) as store:
        assert store.append_events([make_event()]) == 1
