from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from holdfast.errors import HostConfigError
from holdfast.outside.sqlitefile import open_database

ROWS = 500


def refuse(reason: str) -> HostConfigError:
    return HostConfigError(f"the file {reason}")


def copy_during_a_transaction(folder: Path, mode: str, endings: tuple[str, ...]) -> Path:
    """A database that a program left in the middle of a transaction, after one that it committed."""
    source, copy = folder / "source.db", folder / "left" / "copy.db"
    copy.parent.mkdir()
    sql = sqlite3.connect(source, isolation_level=None)
    sql.execute(f"PRAGMA journal_mode={mode}")
    sql.execute("PRAGMA cache_size=5")
    sql.execute("CREATE TABLE notes (text TEXT)")
    sql.executemany("INSERT INTO notes VALUES (?)", [("committed " + "x" * 500,)] * ROWS)
    sql.execute("BEGIN")
    sql.execute("UPDATE notes SET text = 'open ' || text")
    for ending in ("", *endings):
        shutil.copyfile(f"{source}{ending}", f"{copy}{ending}")
    sql.close()
    return copy


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


@pytest.mark.parametrize(
    ("mode", "endings"), [("delete", ("-journal",)), ("wal", ("-wal",)), ("wal", ("-wal", "-shm"))], ids=str
)
def test_what_a_program_committed_is_read_and_its_files_stay_as_they_are(
    tmp_path: Path, mode: str, endings: tuple[str, ...]
) -> None:
    path = copy_during_a_transaction(tmp_path, mode, endings)
    before = bytes_in(path.parent)
    with open_database(str(path), refuse) as database:
        assert database.columns("notes") == {"text"}
        assert list(database.rows("SELECT DISTINCT substr(text, 1, 9), count(*) FROM notes")) == [("committed", ROWS)]
    assert bytes_in(path.parent) == before


def test_what_is_no_database_is_refused_in_the_openers_words(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_text("plain text, longer than the header of a database" * 10)
    with (
        open_database(str(path), refuse) as database,
        pytest.raises(HostConfigError, match="the file cannot be read: file is not a database"),
    ):
        database.columns("notes")
    with pytest.raises(FileNotFoundError), open_database(str(tmp_path / "none.db"), refuse):
        pass
