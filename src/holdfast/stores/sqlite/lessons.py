"""Reads and writes lesson versions, and the rows derived from current ones: anchors, tokens, triggers, full text.

A version is closed by its successor and never changed otherwise. Derived rows can be rebuilt from the documents.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LIVING, LessonId, ProjectId, State
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lean.texts import short_id
from holdfast.ports.store import VersionSpan
from holdfast.stores._shared.derived import FACET_ROWS, SEARCHABLE, anchors_of, tokens_of, trigger_keys
from holdfast.stores.sqlite.rows import (
    DAMAGED,
    SOURCE_CODES,
    LeftOut,
    clean,
    clean_all,
    document,
    instant,
    micros,
    record_of,
    scope_token,
    slots,
)
from holdfast.text.searchkeys import facet_values, text_columns
from holdfast.text.words import duplicate_key

CLOSED = "('superseded', 'retired', 'forgotten')"
"""States that end a lesson's validity. A query for these states must find them although their validity is over."""
ASKED_AT_ONCE = 500
"""Lessons read in one statement."""


def index_rows(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str, with_triggers: bool = True) -> None:
    """Write a current version's derived rows; `with_triggers` says whether the schema has a table for triggers."""
    if lesson.state not in SEARCHABLE:
        return
    if with_triggers:
        sql.executemany("INSERT OR IGNORE INTO triggers VALUES (?, ?, ?, ?, ?)", _trigger_rows(row, lesson, owner))
    sql.executemany("INSERT OR IGNORE INTO anchors VALUES (?, ?, ?, ?, ?)", _anchor_rows(row, lesson, owner))
    sql.executemany("INSERT INTO tokens VALUES (?, ?, ?, ?)", _token_rows(row, lesson, owner))
    sql.execute(
        "INSERT INTO lesson_text (rowid, title, insight, reason, expanded, error, scope) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (row, *text_columns(lesson), scope_token(owner)),
    )


def drop_rows(sql: sqlite3.Connection, row: int) -> None:
    """Delete a version's derived rows, and its vectors."""
    _drop_search_rows(sql, row)
    for table in ("facets", "vectors"):
        sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (row,))


def reindex_rows(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str) -> None:
    """Write a current version's derived rows anew; its vectors stay."""
    _drop_search_rows(sql, row)
    index_rows(sql, row, lesson, owner)


def rebuild_rows(sql: sqlite3.Connection) -> None:
    """Rebuild the derived rows of every current version from its document; vectors stay.

    A version whose document cannot be read keeps the rows that it has.
    """
    table = "SELECT 1 FROM sqlite_master WHERE name = 'triggers'"
    with_triggers = bool(sql.execute(table).fetchone())  # a migration to an older schema rebuilds rows, too
    rows = sql.execute("SELECT row, owner FROM lessons WHERE retracted_at IS NULL").fetchall()
    for row, owner in rows:
        (doc,) = sql.execute("SELECT doc FROM lessons WHERE row = ?", (row,)).fetchone()
        try:
            lesson = record_of(Lesson, doc)
        except DAMAGED:
            continue
        _drop_search_rows(sql, row, with_triggers)
        index_rows(sql, row, lesson, owner, with_triggers)


def _drop_search_rows(sql: sqlite3.Connection, row: int, with_triggers: bool = True) -> None:
    for table in ("anchors", "tokens", *(("triggers",) if with_triggers else ())):
        sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (row,))
    sql.execute("DELETE FROM lesson_text WHERE rowid = ?", (row,))


def add_facets(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str) -> None:
    """Write the facets of a current version that no column and no other table has: its areas and its tags."""
    if lesson.state in SEARCHABLE:
        sql.executemany(
            "INSERT OR IGNORE INTO facets (facet, value, owner, lesson) VALUES (?, ?, ?, ?)",
            [(facet, value, owner, row) for facet in FACET_ROWS for value in facet_values(lesson, facet)],
        )


def rebuild_facets(sql: sqlite3.Connection) -> None:
    """Make the facets of every current version anew from its document, where that can be read."""
    sql.execute("DELETE FROM facets")
    rows = sql.execute("SELECT row, owner FROM lessons WHERE retracted_at IS NULL").fetchall()
    for row, owner in rows:
        (doc,) = sql.execute("SELECT doc FROM lessons WHERE row = ?", (row,)).fetchone()
        try:
            lesson = record_of(Lesson, doc)
        except DAMAGED:
            continue
        sql.execute(
            "UPDATE lessons SET trust = ?, person = ? WHERE row = ?", (lesson.trust, lesson.provenance.person, row)
        )
        add_facets(sql, row, lesson, owner)


def _token_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, int, float]]:
    """Return (token, owner, lesson, code of the source) of each exact token, and of the session."""
    return [(token, owner, row, SOURCE_CODES[source] if source else 0.0) for token, source in tokens_of(lesson)]


def _anchor_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, int, str, int]]:
    return [(path, owner, row, folder, int(is_glob)) for path, folder, is_glob in anchors_of(lesson)]


def _trigger_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, str, int, str]]:
    return [(kind, key, owner, row, value) for kind, key, value in trigger_keys(lesson)]


def get_lessons(sql: sqlite3.Connection, ids: Sequence[str], as_of: datetime | None, left_out: LeftOut) -> list[Lesson]:
    """Return the lessons in the order of the ids, as known then. Raises LessonNotFoundError, also for a damaged one."""
    known, args = known_then(as_of)
    by_id: dict[str, Lesson] = {}
    damaged: set[str] = set()
    wanted = clean_all(ids)
    for start in range(0, len(wanted), ASKED_AT_ONCE):
        some = wanted[start : start + ASKED_AT_ONCE]
        rows = sql.execute(
            f"SELECT l.row, l.id, l.retracted_at, l.doc FROM lessons l WHERE l.id IN ({slots(len(some))}) AND {known}",
            (*some, *args),
        )
        for row, id_, retracted, doc in rows:
            lesson = lesson_or_none(id_, retracted, doc)
            if lesson is None:
                left_out.add("lessons", row)
                damaged.add(id_)
            else:
                by_id[id_] = lesson
    for id_ in wanted:
        if id_ in damaged:
            raise LessonNotFoundError(f"lesson {short_id(id_)} is damaged in the file", hint="holdfast doctor --mend")
        if id_ not in by_id:
            when = f" as of {as_of:%Y-%m-%d %H:%M:%S} UTC" if as_of else ""
            raise LessonNotFoundError(f"no lesson {id_}{when}", hint="holdfast list --all-projects")
    return [by_id[id_] for id_ in wanted]


def current_versions(sql: sqlite3.Connection, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
    """Return the state and the time of recording of each lesson's current version; leave out unknown ids."""
    versions: dict[LessonId, tuple[State, datetime]] = {}
    for start in range(0, len(ids), ASKED_AT_ONCE):
        some = clean_all(ids[start : start + ASKED_AT_ONCE])
        rows = sql.execute(
            f"SELECT id, state, recorded_at FROM lessons WHERE id IN ({slots(len(some))}) AND retracted_at IS NULL",
            tuple(some),
        )
        versions.update((id_, (state, instant(at))) for id_, state, at in rows)
    return versions


def count_versions(
    sql: sqlite3.Connection, project: ProjectId, since: datetime, step: timedelta, count: int
) -> list[VersionSpan]:
    """Count versions by state and by the instants before they were recorded and replaced."""
    begin, width = micros(since), step // timedelta(microseconds=1)

    def before(column: str) -> str:
        return f"CASE WHEN {column} <= {begin} THEN 0 ELSE min({count}, ({column} - {begin} - 1) / {width} + 1) END"

    rows = sql.execute(
        f"SELECT state, {before('recorded_at')} AS b,"
        f" CASE WHEN retracted_at IS NULL THEN NULL ELSE {before('retracted_at')} END AS e, count(*)"
        " FROM lessons WHERE owner IN ('', ?) GROUP BY state, b, e",
        (clean(project),),
    )
    return [VersionSpan(state=state, begin=first, end=last, count=number) for state, first, last, number in rows]


def lesson_or_none(id_: str, retracted_at: int | None, doc: str) -> Lesson | None:
    """Return the version of a row, or None when its document is damaged."""
    try:
        return lesson_of(id_, retracted_at, doc)
    except DAMAGED:
        return None


def lesson_of(id_: str, retracted_at: int | None, doc: str) -> Lesson:
    """Return the version of a row. Raises one of `rows.DAMAGED` for a document that is damaged or of another lesson."""
    lesson = record_of(Lesson, doc, retracted_at=None if retracted_at is None else instant(retracted_at))
    if lesson.id != id_:
        raise ValueError(f"the row of {id_} holds {lesson.id}")
    return lesson


def known_then(as_of: datetime | None) -> tuple[str, list[int]]:
    """Return SQL for: this version was what we knew at that instant (None: is what we know)."""
    if as_of is None:
        return "l.retracted_at IS NULL", []
    at = micros(as_of)
    return "l.recorded_at <= ? AND (l.retracted_at IS NULL OR l.retracted_at > ?)", [at, at]


def true_then(as_of: datetime | None) -> tuple[str, list[int]]:
    """Return SQL for: it held at that instant, or its state says that it no longer does. None selects everything.

    A store has no clock, so a caller that asks about now must check the validity of the answers.
    """
    if as_of is None:
        return "1", []
    at = micros(as_of)
    return (
        f"(l.state IN {CLOSED} OR (l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)))",
        [at, at],
    )


def put_versions(
    sql: sqlite3.Connection, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None]
) -> None:
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


def insert_version(sql: sqlite3.Connection, lesson: Lesson, doc: str, row: int | None = None) -> int:
    """Insert a new current version with its derived rows; return its row."""
    owner = lesson.scope.owner
    valid = lesson.validity
    values = (
        row, lesson.id, micros(lesson.recorded_at), None, owner, lesson.state, lesson.kind, lesson.scope.branch,
        lesson.scope.path_prefix, int(lesson.pinned), lesson.salience, micros(valid.valid_from),
        None if valid.valid_to is None else micros(valid.valid_to), lesson.topic_key,
        duplicate_key(lesson.insight), doc, lesson.trust, lesson.provenance.person,
    )  # fmt: skip
    made = sql.execute(f"INSERT INTO lessons VALUES ({slots(len(values))})", values).lastrowid or 0
    index_rows(sql, made, lesson, owner)
    add_facets(sql, made, lesson, owner)
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
        insert_version(sql, lesson, doc)
        return True
    if at <= current[1]:
        raise InvalidValueError(f"lesson {lesson.id}: a version must be recorded later than the one it replaces")
    sql.execute("UPDATE lessons SET retracted_at = ? WHERE row = ?", (at, current[0]))
    vectors = _kept_vectors(sql, current[0], current[2], lesson)
    drop_rows(sql, current[0])
    row = insert_version(sql, lesson, doc)
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
    if not rows or lesson.state not in SEARCHABLE:
        return []
    before = lesson_or_none(lesson.id, None, doc)
    same = before is not None and text_columns(before) == text_columns(lesson)
    return rows if same else []
