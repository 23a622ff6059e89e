"""What each method of the store hands on, what it flushes to the disk, and copies of the whole file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.query import Query
from holdfast.domain.records import Change, Delivery
from holdfast.domain.statefamilies import TIDIED
from holdfast.domain.vocabulary import TRUSTS
from holdfast.errors import LessonNotFoundError, StaleWriteError, StoreError, StoreLockedError
from holdfast.ports.store import EventFilter, Extent, LessonFilter, LogFilter
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import (
    PROJECT,
    START,
    make_change,
    make_delivery,
    make_event,
    make_lesson,
    next_version,
)

pytestmark = pytest.mark.needs_file("it is about the file")

PAST = Query(project=PROJECT, as_of=START)


def is_flushed(store: SqliteStore, work: Callable[[], object]) -> bool:
    """Whether the disk is asked to keep what the work writes."""
    traced: list[str] = []
    store._connection.sql.set_trace_callback(traced.append)
    work()
    store._connection.sql.set_trace_callback(None)
    assert traced.count("PRAGMA synchronous=FULL") == traced.count("PRAGMA synchronous=NORMAL")
    return "PRAGMA synchronous=FULL" in traced


@pytest.mark.parametrize("trust", TRUSTS)
def test_a_persons_lesson_is_flushed_and_no_other(store: SqliteStore, trust: Any) -> None:
    first, second = make_lesson(trust="agent"), make_lesson(trust=trust)
    assert is_flushed(store, lambda: store.put([first, second], {})) is (trust == "person")


def test_what_is_erased_or_set_aside_is_flushed_and_what_is_logged_is_not(store: SqliteStore) -> None:
    assert is_flushed(store, lambda: store.purge([]))
    assert is_flushed(store, lambda: store.erase_event_texts(START))
    assert is_flushed(store, store.set_aside)
    assert not is_flushed(store, lambda: store.append_events([make_event()]))
    assert not is_flushed(store, lambda: store.record([make_delivery()]))
    assert not is_flushed(store, lambda: store.set_state(TIDIED, "", "1"))


def test_a_lesson_is_written_with_its_change_or_without_one(store: SqliteStore) -> None:
    store.put([make_lesson()], {})
    assert store.find_records(Change, LogFilter()) == []
    change, other = make_change(), make_change(verb="purge")
    lesson = make_lesson()
    store.put([lesson], {}, change)
    store.purge([lesson.id])
    store.purge([], other)
    assert store.find_records(Change, LogFilter()) == [other, change]


def test_each_read_answers_with_what_is_there(store: SqliteStore) -> None:
    lesson, event, delivery = make_lesson(), make_event(), make_delivery()
    store.put([lesson], {})
    assert store.append_events([event]) == 1
    store.record([delivery])
    assert store.get([lesson.id]) == store.find(LessonFilter(project=PROJECT)) == [lesson]
    assert [event_kept for _, event_kept in store.find_events(EventFilter())] == [event]
    assert store.find_records(Delivery, LogFilter()) == [delivery]
    assert store.count_without_vector("toy") == 1
    assert store.extent() == Extent(lessons=1, versions=1, events=1)
    assert store.erase_event_texts(START + timedelta(seconds=1)) == 1
    assert store.purge([lesson.id])["lessons"] == 1
    assert store.edit_state(TIDIED, "", lambda value: value + "a") == store.get_state(TIDIED) == "a"
    assert (store.check(), store.left_out()) == ([], 0)


def test_a_lesson_whose_current_version_was_set_aside_is_not_written_over(store: SqliteStore) -> None:
    lesson = make_lesson()
    second = next_version(lesson)
    store.put([lesson, second], {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 2")
    store.find(LessonFilter(project=PROJECT))
    assert store.left_out() == 1
    assert store.set_aside() == {"lessons": 1}
    assert store.left_out() == 0
    with pytest.raises(StaleWriteError, match="has no current version"):
        store.put([next_version(second)], {})
    with pytest.raises(LessonNotFoundError):
        store.get([lesson.id])


def test_closing_lets_go_of_the_indexes_in_memory(store: SqliteStore) -> None:
    lesson = make_lesson()
    store.put([lesson], {})
    store.put_vectors("toy", {lesson.id: (1.0, 0.0)})
    query = Query(project=PROJECT, vector=(1.0, 0.0), embedder_id="toy")
    assert [match.id for match in store.match_vector(query, 5)] == [lesson.id]
    assert [match.id for match in store.list_recent(PAST, 5)] == [lesson.id]
    store.__exit__(None, None, None)
    assert (store._past._made, store._vectors) == (None, None)
    with store:
        assert [match.id for match in store.match_vector(query, 5)] == [lesson.id]
        assert [match.id for match in store.list_recent(PAST, 5)] == [lesson.id]


# Copies


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of another store, with one lesson and its vector."""
    with SqliteStore(str(tmp_path / "other.db")) as other:
        lesson = make_lesson(id="copied")
        other.put([lesson], {})
        other.put_vectors("toy", {lesson.id: (1.0, 0.0)})
        other.write_copy(str(tmp_path / "copy.db"))
    return tmp_path / "copy.db"


def test_a_copy_taken_over_replaces_everything_that_was_known(store: SqliteStore, copy: Path) -> None:
    lessons = [make_lesson(id=f"lesson-{n}") for n in range(2)]
    store.put(lessons, {})
    store.put_vectors("toy", {lesson.id: (0.0, 1.0) for lesson in lessons})
    query = Query(project=PROJECT, vector=(1.0, 0.0), embedder_id="toy")
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 1")
    assert len(store.find(LessonFilter(project=PROJECT))) == 1
    assert len(store.match_vector(query, 5)) == 2
    assert len(store.list_recent(PAST, 5)) == 1
    store.take_copy(str(copy))
    assert store.left_out() == 0
    assert [lesson.id for lesson in store.find(LessonFilter(project=PROJECT))] == ["copied"]
    assert [match.id for match in store.match_vector(query, 5)] == ["copied"]
    assert [match.id for match in store.list_recent(PAST, 5)] == ["copied"]
    assert store.check() == []


def test_a_copy_is_taken_over_by_who_need_not_wait(tmp_path: Path, copy: Path) -> None:
    with SqliteStore(str(tmp_path / "memory.db"), 0.0) as store:
        store.append_events([make_event() for _ in range(3)])
        store.take_copy(str(copy))
        assert [lesson.id for lesson in store.find(LessonFilter(project=PROJECT))] == ["copied"]


def test_a_copy_is_not_taken_over_while_another_program_writes(tmp_path: Path, copy: Path) -> None:
    with SqliteStore(str(tmp_path / "memory.db"), 0.1) as store:
        store.append_events([make_event()])
        other = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError, match="is locked by another process"):
            store.take_copy(str(copy))
        other.close()
        assert len(store.find_events(EventFilter())) == 1
        store.take_copy(str(copy))
        assert store.find_events(EventFilter()) == []


def test_a_copy_that_is_no_database_or_a_place_that_cannot_be_written_is_reported(
    store: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "odd.db").write_bytes(b"not a database " * 500)
    with pytest.raises(StoreError):
        store.take_copy(str(tmp_path / "odd.db"))
    with pytest.raises(StoreError):
        store.write_copy(str(tmp_path / "nowhere" / "copy.db"))
    assert store.append_events([make_event()]) == 1, "the lock was given back"


def test_all_reads_of_one_answer_are_one_transaction(store: SqliteStore, tmp_path: Path) -> None:
    lesson, later = make_lesson(), make_lesson()
    store.put([lesson], {})
    statements: list[str] = []
    with SqliteStore(store.path) as other, store.reading():
        store._connection.sql.set_trace_callback(statements.append)
        assert store.find(LessonFilter(project=PROJECT)) == [lesson]
        other.put([later], {})
        assert store.find(LessonFilter(project=PROJECT)) == [lesson], "the answer sees one instant"
        store.set_state(TIDIED, "", "now")
        assert len(store.find(LessonFilter(project=PROJECT))) == 2
    assert [line for line in statements if line.startswith("BEGIN")] == ["BEGIN", "BEGIN IMMEDIATE", "BEGIN"]
    assert not store._connection.sql.in_transaction
