"""What a check of the file names, each problem by itself, and rows that are not what their document says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.records import Change
from holdfast.errors import LessonNotFoundError, StoreLockedError, StoreReadOnlyError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_change, make_event, make_lesson, next_version

pytestmark = pytest.mark.needs_file("it damages rows of the file")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A sound store: a lesson of two versions, a tombstone, a candidate."""
    with SqliteStore(str(tmp_path / "memory.db"), 0.2) as opened:
        lesson = make_lesson(id="lesson-1", path="a.py")
        opened.put([lesson, make_lesson(state="forgotten"), make_lesson(state="candidate", path="b.py")], {})
        opened.put([next_version(lesson, why="measured")], {lesson.id: lesson.recorded_at})
        opened.put_vectors("toy", {lesson.id: (1.0, 0.0)})
        opened.append_events([make_event()])
        assert opened.check() == []
        yield opened


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM lesson_text WHERE rowid = 4", "a searchable lesson has no full text (1 times)"),
        ("DELETE FROM lesson_text", "a searchable lesson has no full text (2 times)"),
        ("INSERT INTO lesson_text (rowid, title) VALUES (1, 'old')",
         "full text of a lesson that is not current (1 times)"),
        ("INSERT INTO lesson_text (rowid, title) VALUES (2, 'gone')",
         "full text of a lesson that is not current (1 times)"),
        ("INSERT INTO anchors VALUES ('c.py', '', 1, '', 0)", "an anchor of a lesson that is not current (1 times)"),
        ("INSERT INTO tokens VALUES ('c', '', 1, 1.0)", "a token of a lesson that is not current (1 times)"),
        ("INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (1, 'toy', 1.0, x'00')",
         "a vector of a lesson that is not current (1 times)"),
        ("UPDATE lessons SET retracted_at = recorded_at WHERE row = 1",
         "a version recorded after it was retracted (1 times)"),
        ("UPDATE lessons SET doc = '{' WHERE row = 4",
         "damaged rows, left out of every answer: 1 in lessons"),
        ("UPDATE events SET doc = '[]'", "damaged rows, left out of every answer: 1 in events"),
    ],
)  # fmt: skip
def test_each_problem_is_named_with_how_often_and_what_mends_it(
    store: SqliteStore, statement: str, problem: str
) -> None:
    with store._connection.writing() as sql:
        sql.execute(statement)
    [problem_found] = store.check()
    assert problem_found.what == problem
    assert problem_found.mend == ("holdfast doctor --mend" if "damaged" in problem else problem_found.mend)
    assert problem_found.mend.startswith("restore a backup") is ("damaged" not in problem)


def test_what_sqlite_itself_finds_is_reported_line_by_line(store: SqliteStore) -> None:
    path = store.path
    store.__exit__(None, None, None)
    sql = sqlite3.connect(path, isolation_level=None)
    sql.execute("PRAGMA writable_schema = 1")
    sql.execute(
        "UPDATE sqlite_master SET sql = replace(sql, 'retracted_at INTEGER', 'retracted_at INTEGER NOT NULL')"
        " WHERE name = 'lessons'"
    )
    sql.close()
    with store:
        problems = store.check()
        lines = [problem.what for problem in problems]
        assert lines.count("integrity check: NULL value in lessons.retracted_at") == 3
        assert all(line.startswith("integrity check: ") for line in lines)
        assert {problem.mend[:16] for problem in problems} == {"restore a backup"}


def test_a_check_that_cannot_be_made_now_is_no_problem_of_the_file(store: SqliteStore) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLockedError):
        store.check()
    other.close()
    assert store.check() == []


def test_a_full_text_that_cannot_be_checked_is_no_problem_of_the_full_text(store: SqliteStore) -> None:
    store._connection.sql.execute("PRAGMA query_only=1")
    with pytest.raises(StoreReadOnlyError):
        store.check()


def test_a_row_that_holds_another_lesson_is_damaged(store: SqliteStore) -> None:
    other = make_lesson(id="lesson-2")
    store.put([other], {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = replace(doc, 'lesson-2', 'lesson-3') WHERE id = 'lesson-2'")
    with pytest.raises(LessonNotFoundError, match="damaged"):
        store.get([other.id])
    assert store.left_out() == 1
    assert [problem.what for problem in store.check()] == ["damaged rows, left out of every answer: 1 in lessons"]
    assert store.set_aside() == {"lessons": 1}
    assert store.check() == []
    with pytest.raises(LessonNotFoundError, match="no lesson"):
        store.get([other.id])


def test_a_change_that_holds_another_is_damaged_and_an_event_is_known_by_its_key(store: SqliteStore) -> None:
    change = make_change(id="change-1")
    store.put([make_lesson()], {}, change)
    with store._connection.writing() as sql:
        sql.execute("UPDATE changes SET doc = replace(doc, 'change-1', 'change-2')")
        sql.execute("UPDATE events SET doc = replace(doc, json_extract(doc, '$.id'), 'event-2')")
    assert store.set_aside() == {"changes": 1}
    assert [event.id for _, event in store.find_events(EventFilter())] == ["event-2"]


def test_damaged_lessons_are_not_counted_once_they_are_known(store: SqliteStore) -> None:
    assert store.count_without_vector("other") == 2
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 4")
    store.find(LessonFilter(project=PROJECT))
    assert store.count_without_vector("other") == 1


def test_a_limit_or_an_offset_below_nothing_is_nothing(store: SqliteStore) -> None:
    store.put([make_lesson()], {}, make_change())
    everything = store.find(LessonFilter(project=PROJECT))
    assert len(everything) == 3
    assert store.find(LessonFilter(project=PROJECT, limit=-1)) == []
    assert store.find(LessonFilter(project=PROJECT, offset=-1)) == everything
    assert store.find_events(EventFilter(limit=-1)) == store.find_events(EventFilter(last=1, limit=-1)) == []
    assert store.find_records(Change, LogFilter(limit=-1)) == []
