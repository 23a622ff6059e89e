"""What a purge erases and tells."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.vocabulary import LessonId
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_change, make_lesson, next_version

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def rows(store: SqliteStore, table: str, columns: str = "count(*)", where: str = "1") -> list[tuple[Any, ...]]:
    with store._connection.reading() as sql:
        return sql.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()


def test_a_purge_tells_how_many_rows_of_each_table_it_erased(store: SqliteStore) -> None:
    lesson, other = make_lesson(path="a.py"), make_lesson(path="b.py")
    store.put([lesson, other], {}, make_change(lessons=(lesson.id, other.id)))
    store.put([next_version(lesson, why="measured")], {lesson.id: lesson.recorded_at})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 1")
    assert store.set_aside() == {"lessons": 1}
    erased = store.purge([lesson.id, lesson.id])
    assert {table: erased[table] for table in ("lessons", "set_aside", "changes", "change_lessons")} == {
        "lessons": 1, "set_aside": 1, "changes": 1, "change_lessons": 1,
    }  # fmt: skip
    assert "deliveries" not in erased
    assert rows(store, "set_aside") == [(0,)]


def test_a_change_that_cannot_be_read_goes_with_a_lesson_it_names(store: SqliteStore) -> None:
    lesson = make_lesson()
    store.put([lesson], {}, make_change(lessons=(lesson.id, LessonId("other"))))
    with store._connection.writing() as sql:
        sql.execute("UPDATE changes SET doc = '{'")
    assert store.purge([lesson.id])["changes"] == 1
    assert rows(store, "changes") == [(0,)]
