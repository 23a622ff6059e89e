"""When values of states go, and when they are not written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.statefamilies import FAMILIES
from holdfast.stores.sqlite import erase as states
from holdfast.stores.sqlite.rows import micros
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import START

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def rows(store: SqliteStore, table: str, columns: str = "count(*)", where: str = "1") -> list[tuple[Any, ...]]:
    with store._connection.reading() as sql:
        return sql.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()


def test_a_value_goes_when_it_is_older_than_its_days_to_the_microsecond(store: SqliteStore) -> None:
    family = next(family for family in FAMILIES if family.kept_days)
    for owner in ("a", "b"):
        store.set_state(family, owner, "x")
    bound = micros(START) - family.kept_days * 86_400_000_000
    with store._connection.writing() as sql:
        sql.execute("UPDATE state SET updated_at = ? WHERE owner = 'a'", (bound,))
        sql.execute("UPDATE state SET updated_at = ? WHERE owner = 'b'", (bound - 1,))
    assert store.expire_states(START) == 1
    assert [store.get_state(family, owner) for owner in ("a", "b")] == ["x", ""]
    assert timedelta(days=1) / timedelta(microseconds=1) == states.DAY


def test_a_value_that_does_not_change_is_not_written(store: SqliteStore) -> None:
    family = FAMILIES[0]
    store.set_state(family, "a", "x")
    changes = store._connection.sql.total_changes
    store.set_state(family, "a", "x")
    assert store.edit_state(family, "a", lambda value: value) == "x"
    assert store._connection.sql.total_changes == changes
    store.set_state(family, "a", "")
    assert rows(store, "state") == [(0,)]
