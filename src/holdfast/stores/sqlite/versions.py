"""Writes lesson versions: a version is closed by its successor and never changed otherwise."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LIVING, LessonId
from holdfast.errors import InvalidValueError, StaleWriteError
from holdfast.lean.texts import short_id
from holdfast.stores.sqlite import derived
from holdfast.stores.sqlite.lessons import lesson_or_none
from holdfast.stores.sqlite.rows import document, micros, slots
from holdfast.text.searchkeys import text_columns
from holdfast.text.words import duplicate_key


def put(sql: sqlite3.Connection, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None]) -> None:
    """Write a version of each lesson; see the port. A second version of one id in a call replaces the first."""
    written: dict[str, Lesson] = {}
    new: set[str] = set()
    for raw_lesson in lessons:
        lesson, doc = document(raw_lesson)
        expects = written[lesson.id].recorded_at if lesson.id in written else expected.get(raw_lesson.id)
        if _put_one(sql, lesson, doc, expects):
            new.add(lesson.id)
        written[lesson.id] = lesson
    for id_ in new:  # checked last, because the same call may close the lesson that stated the rule before
        _require_only_one(sql, written[id_])


def insert(sql: sqlite3.Connection, lesson: Lesson, doc: str, row: int | None = None) -> int:
    """Insert a new current version with its derived rows; return its row."""
    owner = lesson.scope.owner
    valid = lesson.validity
    values = (
        row, lesson.id, micros(lesson.recorded_at), None, owner, lesson.state, lesson.kind, lesson.scope.branch,
        lesson.scope.path_prefix, int(lesson.pinned), lesson.salience, micros(valid.valid_from),
        None if valid.valid_to is None else micros(valid.valid_to), lesson.topic_key,
        duplicate_key(lesson.insight), doc,
    )  # fmt: skip
    made = sql.execute(f"INSERT INTO lessons VALUES ({slots(len(values))})", values).lastrowid or 0
    derived.index(sql, made, lesson, owner)
    return made


def _put_one(sql: sqlite3.Connection, lesson: Lesson, doc: str, expects: datetime | None) -> bool:
    """Write the version; return whether it is the first one of its lesson."""
    current = sql.execute(
        "SELECT row, recorded_at, doc FROM lessons WHERE id = ? AND retracted_at IS NULL", (lesson.id,)
    ).fetchone()
    if (current and current[1]) != (expects and micros(expects)):
        raise StaleWriteError(
            f"lesson {lesson.id} was changed by somebody else", hint="read it again and repeat the change"
        )
    at = micros(lesson.recorded_at)
    if current is None:
        _require_new(sql, lesson)
        insert(sql, lesson, doc)
        return True
    if at <= current[1]:
        raise InvalidValueError(f"lesson {lesson.id}: a version must be recorded later than the one it replaces")
    sql.execute("UPDATE lessons SET retracted_at = ? WHERE row = ?", (at, current[0]))
    vectors = _kept_vectors(sql, current[0], current[2], lesson)
    derived.drop(sql, current[0])
    row = insert(sql, lesson, doc)
    sql.executemany(
        "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
        [(row, *vector) for vector in vectors],
    )
    return False


def _require_only_one(sql: sqlite3.Connection, lesson: Lesson) -> None:
    """Raise StaleWriteError for a new lesson that states the rule of a living one.

    Writers take turns (`Connection.writing`), so a query inside the write transaction is as safe as a unique index.
    Older databases, which may hold a rule twice, stay valid.
    """
    key = duplicate_key(lesson.insight)
    if lesson.state not in LIVING or not key:
        return
    others = sql.execute(
        "SELECT id, doc FROM lessons WHERE duplicate_key = ? AND owner = ? AND retracted_at IS NULL AND kind = ?"
        f" AND state IN ({slots(len(LIVING))}) AND id <> ?",
        (key, lesson.scope.owner, lesson.kind, *LIVING, lesson.id),
    ).fetchall()
    for id_, doc in others:
        other = lesson_or_none(id_, None, doc)
        if other is not None and other.scope.level == lesson.scope.level:
            raise StaleWriteError(
                f"lesson {short_id(id_)} states the same rule already", hint=f"holdfast show {short_id(id_)}"
            )


def _require_new(sql: sqlite3.Connection, lesson: Lesson) -> None:
    if sql.execute("SELECT 1 FROM lessons WHERE id = ?", (lesson.id,)).fetchone():
        raise StaleWriteError(f"lesson {lesson.id} has no current version", hint="read it again")


def _kept_vectors(sql: sqlite3.Connection, row: int, doc: str, lesson: Lesson) -> list[tuple[Any, ...]]:
    """Return the old version's vectors if they still match the new one: same texts, only the state changed."""
    rows = sql.execute("SELECT embedder, scale, codes FROM vectors WHERE lesson = ?", (row,)).fetchall()
    if not rows or lesson.state not in derived.SEARCHABLE:
        return []
    before = lesson_or_none(lesson.id, None, doc)
    same = before is not None and text_columns(before) == text_columns(lesson)
    return rows if same else []
