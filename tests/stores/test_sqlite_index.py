from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.index_contract import ROOT, IndexContract, keep, make_outline, make_symbol

from holdfast.errors import InvalidValueError, SchemaTooNewError
from holdfast.stores.sqlite import indexfile as indexrows
from holdfast.stores.sqlite.indexfile import SqliteIndex, make_index


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "index" / "project.db")


@pytest.fixture
def index(path: str) -> Iterator[SqliteIndex]:
    with make_index({"path": path}) as opened:
        yield opened


class TestSqliteIndex(IndexContract):
    """The fixture `index` is above."""


def test_the_file_is_private(index: SqliteIndex, path: str) -> None:
    keep(index, make_outline())
    for file in (path, path + "-wal", path + ".lock"):
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600, file


@pytest.mark.parametrize("options", [{}, {"path": "here.db"}, {"path": "/x.db", "timeout_s": "soon"}])
def test_options_that_cannot_be_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidValueError):
        make_index(options)


def test_an_index_waits_for_thirty_seconds_by_default(path: str) -> None:
    assert SqliteIndex(path)._connection.timeout_s == make_index({"path": path})._connection.timeout_s == 30
    assert make_index({"path": path, "timeout_s": "0.5"})._connection.timeout_s == 0.5


def test_it_is_there_when_opened_again(path: str) -> None:
    with make_index({"path": path}) as index:
        keep(index, make_outline())
    with make_index({"path": path}) as index:
        assert len(index.symbols(ROOT, "name", "f")) == 1


def test_a_file_that_is_no_database_is_moved_aside_and_begun_anew(path: str) -> None:
    Path(path).parent.mkdir()
    Path(path).write_bytes(b"not a database, but long enough to look like a file with a header" * 40)
    messages: list[str] = []
    with make_index({"path": path}, messages.append) as index:
        keep(index, make_outline())
    assert len(messages) == 1
    assert Path(path + ".corrupt").read_bytes().startswith(b"not a database")


def test_a_file_damaged_while_it_is_open_is_begun_anew(path: str) -> None:
    with make_index({"path": path}) as index:
        keep(index, *(make_outline(f"src/{n}.py", f"git1:{n}") for n in range(400)))
    size = os.path.getsize(path)
    messages: list[str] = []
    with make_index({"path": path}, messages.append) as index:
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        assert index.files(ROOT) == {}
        keep(index, make_outline())
        assert len(index.symbols(ROOT, "name", "f")) == 1
    assert len(messages) == 1


def test_two_that_find_the_damage_begin_anew_once(path: str) -> None:
    with make_index({"path": path}) as index:
        keep(index, *(make_outline(f"src/{n}.py", f"git1:{n}") for n in range(400)))
    messages: list[str] = []
    first, second = make_index({"path": path}, messages.append), make_index({"path": path}, messages.append)
    with first, second:
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        assert first.files(ROOT) == {}
        keep(first, make_outline())
        assert list(second.files(ROOT)) == ["src/a.py"]
    assert len(messages) == 1


def test_a_damaged_file_that_is_gone_by_now_is_begun_anew_without_a_word(path: str) -> None:
    with make_index({"path": path}) as index:
        keep(index, *(make_outline(f"src/{n}.py", f"git1:{n}") for n in range(400)))
    messages: list[str] = []
    with make_index({"path": path}, messages.append) as index:
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        os.unlink(path)
        assert index.files(ROOT) == {}
        keep(index, make_outline())
        assert len(index.files(ROOT)) == 1
    assert messages == []
    assert not os.path.exists(path + ".corrupt")


def test_a_file_of_a_newer_version_is_left_alone(path: str) -> None:
    with make_index({"path": path}):
        pass
    sql = sqlite3.connect(path)
    sql.execute("PRAGMA user_version=99")
    sql.close()
    with pytest.raises(SchemaTooNewError):
        make_index({"path": path}).__enter__()
    assert not os.path.exists(path + ".corrupt")


def test_of_many_verdicts_the_oldest_go_and_nothing_else(index: SqliteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexrows, "PRUNE_EVERY", 16)
    monkeypatch.setattr(indexrows, "VERDICTS_KEPT", 20)
    index.put_pairs("edited_together", {}, "stays")
    for n in range(100):
        index.keep_verdict(str(n), "fresh")
    remaining = [n for n in range(100) if index.verdict(str(n))]
    assert 20 <= len(remaining) <= 36
    assert remaining == list(range(100 - len(remaining), 100))
    assert index.pairs_upto("edited_together") == "stays"


def test_outlines_of_former_contents_are_stored_up_to_a_number(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexrows, "SPARE_OUTLINES", 10)
    blobs = [f"git1:{n}" for n in range(100)]
    for blob in blobs:
        keep(index, make_outline(blob=blob))
    outlined = index.outlined(blobs)
    assert 5 <= len(outlined) <= 11
    assert blobs[-1] in outlined


def test_of_spare_outlines_the_oldest_half_go_when_there_are_more_than_so_many(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexrows, "SPARE_OUTLINES", 4)
    blobs = [f"git1:{n}" for n in range(7)]
    for blob in blobs[:5]:
        keep(index, make_outline(blob=blob))
    assert index.outlined(blobs) == set(blobs[:5]), "four are spare"
    keep(index, make_outline(blob=blobs[5]))
    assert index.outlined(blobs) == set(blobs[2:6]), "five were spare, two went"
    keep(index, make_outline(blob=blobs[5]))
    assert index.outlined(blobs) == set(blobs[2:6])


def test_the_newest_verdicts_are_stored_when_the_others_go(index: SqliteIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexrows, "PRUNE_EVERY", 8)
    monkeypatch.setattr(indexrows, "VERDICTS_KEPT", 3)
    for n in range(1, 8):
        index.keep_verdict(str(n), "fresh")
    assert [n for n in range(1, 9) if index.verdict(str(n))] == list(range(1, 8))
    index.keep_verdict("8", "fresh")
    assert [n for n in range(1, 9) if index.verdict(str(n))] == [6, 7, 8]


def test_questions_write_nothing_also_about_a_work_tree_that_is_not_known(index: SqliteIndex) -> None:
    keep(index, make_outline())
    index.keep_verdict("k", "fresh")
    index._connection.sql.execute("PRAGMA query_only=1")
    assert index.symbols("/nowhere", "name", "f") == []
    assert index.files("/nowhere") == {}
    index.keep_verdict("k", "fresh")


def test_threads_may_share_it(index: SqliteIndex) -> None:
    def write(n: int) -> None:
        for m in range(20):
            keep(index, make_outline(f"src/{n}_{m}.py", f"git1:{n}_{m}", symbols=(make_symbol(f"f{n}"),)))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(index.files(ROOT)) == 80


def test_a_big_tree_is_stored_in_one_call(index: SqliteIndex) -> None:
    outlines = [make_outline(f"src/{n % 7}/m{n}.py", f"git1:{n}") for n in range(1_500)]
    keep(index, *outlines)
    assert len(index.outlined([outline.blob for outline in outlines])) == 1_500
    index.drop(ROOT, [outline.path for outline in outlines])
    assert index.outlined([outline.blob for outline in outlines]) == set()
