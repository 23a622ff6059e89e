"""What a purge erases and tells."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.lesson import Provenance
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import SESSION, START, make_change, make_event, make_lesson, next_version

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


def test_records_of_its_session_that_lose_a_lessons_words_are_counted_and_the_others_stay(store: SqliteStore) -> None:
    lesson = make_lesson(insight="Pier 9 is closed.", provenance=Provenance(session=SESSION))
    store.put([lesson], {})
    store.append_events([make_event(text=text) for text in ("Pier 9 is closed, noted", "Paint it", "Pier 9 is closed")])
    before = [event for _, event in store.find_events(EventFilter())]
    with store._connection.writing() as sql:
        sql.execute("INSERT INTO events (session, key, project, doc) VALUES (?, 'odd', '', '{')", (SESSION,))
        sql.execute("INSERT INTO events (session, key, project, doc) VALUES (?, 'list', '', '[1]')", (SESSION,))
    erased = store.purge([lesson.id])
    assert {table: count for table, count in erased.items() if "event" in table} == {"event_texts": 2}
    after = [event for _, event in store.find_events(EventFilter())]
    assert [event.text for event in after] == ["[purged], noted", "Paint it", "[purged]"]
    assert after[1] == before[1]


def test_texts_before_an_instant_are_erased_and_others_and_damaged_rows_are_not(store: SqliteStore) -> None:
    events = [make_event(at=START + timedelta(minutes=n), text=f"{n}", kind="prompt") for n in range(3)]
    store.append_events([*events, make_event(at=START, text="", kind="session_end")])
    with store._connection.writing() as sql:
        sql.execute("INSERT INTO events (session, key, project, doc) VALUES ('s', 'odd', '', '{')")
    assert store.erase_event_texts(START + timedelta(minutes=1)) == 1
    assert [event.text for _, event in store.find_events(EventFilter())] == ["", "1", "2", ""]
    assert store.erase_event_texts(START + timedelta(minutes=9)) == 2


def test_a_change_that_cannot_be_read_goes_with_a_lesson_it_names(store: SqliteStore) -> None:
    lesson = make_lesson()
    store.put([lesson], {}, make_change(lessons=(lesson.id, LessonId("other"))))
    with store._connection.writing() as sql:
        sql.execute("UPDATE changes SET doc = '{'")
    assert store.purge([lesson.id])["changes"] == 1
    assert rows(store, "changes") == [(0,)]
