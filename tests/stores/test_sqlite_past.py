"""The index of a past instant: how long it is good for, and what is left out of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.query import Query
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, make_lesson

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def test_the_index_of_an_instant_is_made_once_until_something_is_written_or_another_is_queried(
    store: SqliteStore,
) -> None:
    lesson = make_lesson()
    store.put([lesson], {})

    def index_of(**conditions: Any) -> Any:
        query = Query(**{"project": PROJECT, "as_of": START, **conditions})
        store.list_recent(query, 5)
        assert store._past is not None
        return store._past._made

    first = index_of()
    assert index_of(states=("candidate",)) is first
    others = [index_of(project="elsewhere"), index_of(all_projects=True), index_of(as_of=START + timedelta(minutes=1))]
    assert len({id(made) for made in (first, *others)}) == 4
    before = index_of()
    store.put([make_lesson()], {})
    assert index_of() is not before
    with SqliteStore(store.path) as other:
        before = index_of()
        other.put([make_lesson()], {})
    assert index_of() is not before


def test_a_damaged_version_is_left_out_of_the_past(store: SqliteStore) -> None:
    lessons = [make_lesson() for _ in range(2)]
    store.put(lessons, {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 1")
    past = Query(project=PROJECT, as_of=START)
    assert [match.id for match in store.list_recent(past, 5)] == [lessons[1].id]
    assert store.count_lessons(past, 5) == 1
