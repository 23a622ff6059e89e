from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast.domain.query import Query
from holdfast.domain.records import Delivery
from holdfast.domain.statefamilies import TIDIED
from holdfast.domain.vocabulary import Trust
from holdfast.errors import InvalidValueError, SchemaTooOldError, StoreError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.connection import LOG_LIMIT, Connection
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_delivery, make_event, make_lesson, next_version

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(holdfast.__file__)))


def open_at(path: Path) -> SqliteStore:
    return make({"url": f"sqlite://{path}"})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    "url", ["", "sqlite:", "sqlite://", "sqlite:///", "sqlite:///dir/", "sqlite://relative.db", "x"]
)
def test_a_url_that_names_no_absolute_file_is_refused(url: str) -> None:
    with pytest.raises(InvalidValueError):
        make({"url": url})


def test_a_timeout_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(InvalidValueError):
        make({"url": "sqlite:///x.db", "timeout_s": "soon"})


def test_only_the_user_can_read_any_of_the_files(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with open_at(tmp_path / "new" / "folder" / "memory.db") as store:
            store.append_events([make_event()])
            files = list((tmp_path / "new" / "folder").iterdir())
            assert {file.name for file in files} >= {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db.lock"}
            assert {mode(file) for file in files} == {0o600}
            assert mode(tmp_path / "new" / "folder") == 0o700
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    with open_at(tmp_path / "memory.db"):
        pass
    (tmp_path / "memory.db").chmod(0o644)
    with open_at(tmp_path / "memory.db"):
        assert mode(tmp_path / "memory.db") == 0o600


def test_what_was_stored_is_there_after_reopening(tmp_path: Path) -> None:
    lesson, event, delivery = make_lesson(), make_event(), make_delivery()
    with open_at(tmp_path / "memory.db") as store:
        store.put([lesson], {})
        store.append_events([event])
        store.record([delivery])
        store.set_state(TIDIED, "", "b")
    with open_at(tmp_path / "memory.db") as store:
        assert store.get([lesson.id]) == [lesson]
        assert [stored for _, stored in store.find_events(EventFilter())] == [event]
        assert store.find_records(Delivery, LogFilter()) == [delivery]
        assert store.get_state(TIDIED) == "b"


def test_closing_leaves_one_file_and_the_lock(tmp_path: Path) -> None:
    with open_at(tmp_path / "memory.db") as store:
        store.append_events([make_event()])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db", "memory.db.lock"]


def test_a_store_may_be_closed_twice_and_opened_again(store: SqliteStore) -> None:
    store.append_events([make_event()])
    store.__exit__(None, None, None)
    store.__exit__(None, None, None)
    with pytest.raises(StoreError) as caught:
        store.find_events(EventFilter())
    assert caught.value.hint
    with store:
        assert len(store.find_events(EventFilter())) == 1


def test_a_process_that_leaves_without_closing_loses_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from holdfast.stores.sqlite import make\n"
        "from holdfast.testing.builders import make_event\n"
        "make({'url': 'sqlite://' + sys.argv[1]}).__enter__().append_events([make_event()])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "memory.db")], check=True)
    assert (tmp_path / "memory.db-wal").stat().st_size > 0
    with open_at(tmp_path / "memory.db") as store:
        assert len(store.find_events(EventFilter())) == 1


def test_positions_of_events_are_never_used_again(store: SqliteStore) -> None:
    store.append_events([make_event(), make_event()])
    last = store.find_events(EventFilter())[-1][0]
    with store._connection.writing() as sql:
        sql.execute("DELETE FROM events")
    store.append_events([make_event()])
    assert store.find_events(EventFilter())[0][0] > last


def test_not_a_byte_of_a_purged_lesson_is_left_in_the_folder(tmp_path: Path) -> None:
    lesson = make_lesson(
        insight="the xylophonecode opens the vault", why="xylophonecode why", snippets=("xylophonecode()",),
        path="src/xylophonecode.py", symbol="Xylophonecode.open", error_signature="xylophonecode error",
    )  # fmt: skip
    fill = [make_lesson(insight=f"filler number {i} " * 20) for i in range(200)]
    with open_at(tmp_path / "memory.db") as store:
        store.put([*fill[:100], lesson, *fill[100:]], {})
        store.put([next_version(lesson, why="xylophonecode again")], {lesson.id: lesson.recorded_at})
        store.record([make_delivery(lesson=lesson.id, reason="xylophonecode")])
        store.purge([lesson.id])
        assert store.check() == []
        for file in tmp_path.iterdir():
            assert b"xylophonecode" not in file.read_bytes().lower(), file
    for file in tmp_path.iterdir():
        assert b"xylophonecode" not in file.read_bytes().lower(), file


def test_threads_may_share_a_store(store: SqliteStore) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(15):
                lesson = make_lesson(id=f"{number}-{i}", insight=f"thread {number} says {i}")
                store.put([lesson], {})
                store.put([next_version(lesson)], {lesson.id: lesson.recorded_at})
                store.append_events([make_event(id=f"{number}-{i}")])
                assert store.get([lesson.id])
                store.match_text(Query(project=PROJECT, text=f"thread {i}"), 5, 0)
        except BaseException as exc:
            failed.append(exc)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(store.find(LessonFilter(project=PROJECT))) == 90
    assert len(store.find_events(EventFilter())) == 90
    assert store.check() == []


def test_two_stores_see_each_others_writes_at_once(tmp_path: Path) -> None:
    with open_at(tmp_path / "memory.db") as first, open_at(tmp_path / "memory.db") as second:
        lesson = make_lesson()
        first.put([lesson], {})
        assert second.get([lesson.id]) == [lesson]
        second.put([replace(next_version(lesson), pinned=True)], {lesson.id: lesson.recorded_at})
        assert [match.id for match in first.list_pinned(Query(project=PROJECT), 5)] == [lesson.id]


def test_a_copy_taken_in_the_middle_of_work_opens_with_what_was_committed(tmp_path: Path) -> None:
    lesson = make_lesson()
    with open_at(tmp_path / "memory.db") as store:
        store.put([lesson], {})
        (tmp_path / "copy").mkdir()
        for name in ("memory.db", "memory.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / "copy" / name)
        with open_at(tmp_path / "copy" / "memory.db") as copy:
            assert copy.get([lesson.id]) == [lesson]
            assert copy.check() == []


def test_check_names_an_index_that_lost_a_lesson(store: SqliteStore) -> None:
    store.put([make_lesson(path="a.py")], {})
    with store._connection.writing() as sql:
        sql.execute("DELETE FROM lesson_text WHERE rowid > 0")
        sql.execute("INSERT INTO anchors VALUES ('b.py', '', 999, '', 0)")
    problems = store.check()
    assert len(problems) == 2
    assert all(problem.mend for problem in problems)


def test_check_names_a_full_text_that_does_not_fit(store: SqliteStore) -> None:
    store.put([make_lesson(insight=f"words of number {i}") for i in range(3)], {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lesson_text_content SET c1 = 'something else' WHERE id = 1")
    assert any("full-text index does not match" in problem.what for problem in store.check())
    assert store.append_events([make_event()]) == 1


# Processes that soon end


def _opened(path: Path, **options: str) -> SqliteStore:
    return make({"url": f"sqlite://{path}", **options})


def test_a_long_write_ahead_log_is_emptied_by_who_closes_although_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with _opened(path) as other:
        with _opened(path) as store:
            store._connection.sql.execute("PRAGMA wal_autocheckpoint=0")
            text = "output " * 2_000
            store.append_events([make_event(key=f"k{n}", text=text) for n in range(2 * LOG_LIMIT // len(text))])
            assert os.path.getsize(f"{path}-wal") > LOG_LIMIT
        assert os.path.getsize(f"{path}-wal") == 0
        assert other.check() == []


def test_an_older_schema_is_refused_where_it_may_not_be_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with _opened(path) as store:
        store._connection.sql.execute("PRAGMA user_version = 1")
    with pytest.raises(SchemaTooOldError, match="has schema 1"), _opened(path, upgrade="no"):
        pass
    sql = sqlite3.connect(path)
    assert sql.execute("PRAGMA user_version").fetchone() == (1,)
    sql.close()


def test_a_new_file_is_made_also_where_none_may_be_upgraded(tmp_path: Path) -> None:
    with _opened(tmp_path / "memory.db", upgrade="no") as store:
        assert store.append_events([make_event()]) == 1


NO_ROOM = """
import resource, sys
from holdfast.errors import StoreFullError
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite import make
from holdfast.testing.builders import make_event
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with make({"url": "sqlite://" + sys.argv[1], "frozen": "yes"}) as store:
    print(len(store.find_events(EventFilter())), end=" ")
    try:
        store.append_events([make_event(key="another")])
    except StoreFullError:
        print("full")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_file_without_room_for_its_log_is_read_and_reported_full_by_a_write(tmp_path: Path) -> None:
    with open_at(tmp_path / "memory.db") as store:
        store.append_events([make_event()])
    command = [sys.executable, "-c", NO_ROOM, str(tmp_path / "memory.db")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1 full\n"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    path = str(tmp_path / "memory.db")
    made = Connection(path, 1.0)
    made.open()  # a write
    made.close()
    opened = Connection(path, 1.0)
    opened.open()
    yield opened
    opened.close()


def test_a_durable_turn_is_flushed_to_the_disk_and_others_are_not(connection: Connection) -> None:
    def synchronous() -> int:
        level: int = connection.sql.execute("PRAGMA synchronous").fetchone()[0]
        return level

    assert synchronous() == 1
    with connection.writing():
        assert synchronous() == 1
    with connection.writing(durable=True):
        assert synchronous() == 2
    assert synchronous() == 1


@pytest.mark.parametrize(("trust", "flushed"), [("person", True), ("agent", False)])
def test_only_a_persons_lesson_is_flushed_at_once(store: SqliteStore, trust: Trust, flushed: bool) -> None:
    statements: list[str] = []
    store._connection.sql.set_trace_callback(statements.append)
    lesson = make_lesson(trust=trust)
    store.put([lesson], {lesson.id: None})
    assert ("PRAGMA synchronous=FULL" in statements) is flushed


def test_pages_take_sixteen_megabytes_and_are_given_back_after_two_hundred_writes(connection: Connection) -> None:
    statements: list[str] = []
    assert connection.sql.execute("PRAGMA cache_size").fetchone()[0] == -16_000
    connection.sql.set_trace_callback(statements.append)
    for _ in range(199):
        with connection.writing():
            pass
        with connection.reading():
            pass
    assert "PRAGMA shrink_memory" not in statements
    with connection.writing():
        pass
    assert statements[-1] == "PRAGMA shrink_memory"
