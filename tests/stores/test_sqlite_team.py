from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.team_contract import AT, HARBOUR, TeamContract, document, entry, member

from holdfast.domain.team import FIRST_ORGANISATION, Member
from holdfast.errors import StoreError, StoreLockedError
from holdfast.stores.sqlite.backend import SqliteBackend, SqliteTeamStores
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_lesson


class TestSqliteTeam(TeamContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[SqliteBackend]:
        with SqliteBackend(SqliteStore(str(tmp_path / "memory.db"))) as opened:
            yield opened

    @pytest.fixture
    def stores(self, backend: SqliteBackend) -> SqliteTeamStores:
        return backend.open(FIRST_ORGANISATION)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def test_there_is_one_organisation(path: str) -> None:
    with SqliteBackend(SqliteStore(path)) as backend:
        assert backend.organisations() == [1]
        with pytest.raises(StoreError, match="one organisation"):
            backend.create()


def test_another_process_sees_a_whole_change_and_waits_for_it(path: str) -> None:
    with SqliteBackend(SqliteStore(path)) as backend, SqliteBackend(SqliteStore(path, 0.05)) as other:
        with backend.open(FIRST_ORGANISATION).changing():
            backend.open(FIRST_ORGANISATION).records.add(member("ada"))
            assert other.open(FIRST_ORGANISATION).records.count(Member) == 0
            with pytest.raises(StoreLockedError):
                other.open(FIRST_ORGANISATION).records.add(member("bob"))
        assert other.open(FIRST_ORGANISATION).records.count(Member) == 1
        other.open(FIRST_ORGANISATION).records.add(member("bob"))


def test_the_log_refuses_to_be_changed(path: str) -> None:
    with SqliteBackend(SqliteStore(path)) as backend:
        backend.open(FIRST_ORGANISATION).audit.append([entry(1)])
    with sqlite3.connect(path) as sql:
        for statement in ("DELETE FROM audit_log", "UPDATE audit_log SET doc = '{}'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                sql.execute(statement)
    sql.close()


def test_a_change_whose_transaction_was_lost_does_not_pass_for_stored(path: str) -> None:
    """On a full disk SQLite may roll back by itself; whoever catches that error must not believe in the rest."""
    with SqliteBackend(SqliteStore(path)) as backend:
        stores = backend.open(FIRST_ORGANISATION)

        def change() -> None:
            with stores.changing():
                stores.records.add(member("ada"))
                stores.store.connection.sql.execute("ROLLBACK")

        with pytest.raises(StoreError):
            change()
        assert stores.records.count(Member) == 0
        stores.records.add(member("bob"))


def test_unreadable_rows_are_left_out(path: str) -> None:
    with SqliteBackend(SqliteStore(path)) as backend:
        stores = backend.open(FIRST_ORGANISATION)
        for name in ("ada", "bob", "cleo"):
            stores.records.add(member(name))
        stores.audit.append([entry(1)])
        with stores.store.connection.writing() as sql:
            sql.execute("UPDATE team_records SET doc = '{' WHERE id = 'bob'")
            sql.execute("DROP TRIGGER audit_log_unchanged")
            sql.execute("UPDATE audit_log SET doc = 'x'")
        assert [each.id for each in stores.records.find(Member)] == ["ada", "cleo"]
        assert stores.records.get(Member, "bob") is None
        assert [each.action for each in stores.audit.read()] == ["damaged.row"]


def test_a_persons_memory_in_the_same_file_is_the_servers(path: str) -> None:
    lesson = make_lesson()
    with SqliteBackend(SqliteStore(path)) as backend:
        stores = backend.open(FIRST_ORGANISATION)
        stores.store.put([lesson], {lesson.id: None})
        stores.documents.write(HARBOUR, [document("a", at=AT)])
    with SqliteBackend(SqliteStore(path)) as backend:
        assert backend.open(FIRST_ORGANISATION).store.get([lesson.id]) == [lesson]
        assert backend.open(FIRST_ORGANISATION).documents.get(HARBOUR, ["a"])["a"].body == '{"a":1}'
