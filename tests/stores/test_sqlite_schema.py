"""Scripts of migrations, and files of other schemas."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from tests.stores.test_sqlite_migrations import drop_tables

from holdfast.errors import SchemaTooNewError
from holdfast.stores.sqlite.connection import SCHEMA
from holdfast.stores.sqlite.schema import statements
from holdfast.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def rows(store: SqliteStore, table: str, columns: str = "count(*)", where: str = "1") -> list[tuple[Any, ...]]:
    with store._connection.reading() as sql:
        return sql.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()


def test_a_statement_that_does_not_end_is_left_out() -> None:
    assert statements("SELECT 1;\nSELECT\n 2;\nSELECT 3\n") == ["SELECT 1;", "SELECT\n 2;"]
    assert statements("") == []


@pytest.mark.parametrize("version", [SCHEMA + 1, 999])
def test_a_file_of_a_newer_schema_is_refused_and_left_as_it_is(store: SqliteStore, version: int) -> None:
    store._connection.sql.execute(f"PRAGMA user_version={version}")
    store.__exit__(None, None, None)
    with pytest.raises(SchemaTooNewError, match=f"has schema {version}, this Holdfast knows {SCHEMA}"):
        store.__enter__()
    sql = sqlite3.connect(store.path)
    assert sql.execute("PRAGMA user_version").fetchone() == (version,)
    sql.execute(f"PRAGMA user_version={SCHEMA}")
    sql.close()
    with store:
        assert rows(store, "migrations", "max(number)") == [(SCHEMA,)]
        assert store._connection.sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_another_program_took_out_of_the_journals_mode_is_put_back_with_an_upgrade(
    store: SqliteStore,
) -> None:
    store.__exit__(None, None, None)
    sql = sqlite3.connect(store.path, isolation_level=None)
    sql.execute("PRAGMA journal_mode=DELETE")
    sql.execute("PRAGMA user_version=4")
    sql.execute("DELETE FROM migrations WHERE number > 4")
    drop_tables(sql)
    sql.executescript("DROP TABLE state; CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    sql.close()
    with store:
        assert store._connection.sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert rows(store, "migrations", "number") == [(number,) for number in range(1, SCHEMA + 1)]
