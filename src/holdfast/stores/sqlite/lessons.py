"""Reads lesson versions: by id, and by filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import STATES, LessonId, State
from holdfast.errors import LessonNotFoundError
from holdfast.lean.texts import short_id
from holdfast.ports.filters import LessonFilter
from holdfast.stores.sqlite.rows import (
    DAMAGED,
    LeftOut,
    clean,
    clean_all,
    instant,
    micros,
    read_rows,
    record_of,
    slots,
)

if TYPE_CHECKING:
    import sqlite3

CLOSED = "('superseded', 'retired', 'forgotten')"
"""States that end a lesson's validity. A query for these states must find them although their validity is over."""
ASKED_AT_ONCE = 500
"""Lessons read in one statement."""


def get(sql: sqlite3.Connection, ids: Sequence[str], as_of: datetime | None, left_out: LeftOut) -> list[Lesson]:
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


def find(sql: sqlite3.Connection, where: LessonFilter, left_out: LeftOut) -> list[Lesson]:
    """Return the lessons that match, newest first, ties by id, without damaged ones."""
    clauses, args = _conditions(where)
    newest = "ORDER BY l.recorded_at DESC, l.id"
    # NOT INDEXED: otherwise SQLite walks an index of all lessons instead of looking up those of the path.
    lessons = "lessons l NOT INDEXED" if where.path and _is_by_anchors(where) else "lessons l"

    def ask() -> Iterable[tuple[int, str, int | None, str]]:
        readable = left_out.but("lessons", "l.row")
        chosen = f"SELECT l.row FROM {lessons} WHERE {' AND '.join(clauses)} AND {readable} {newest} LIMIT ? OFFSET ?"
        return sql.execute(  # the inner query sorts without documents, which are read only for the chosen page
            f"SELECT l.row, l.id, l.retracted_at, l.doc FROM ({chosen}) c JOIN lessons l ON l.row = c.row {newest}",
            (*args, max(0, where.limit), where.offset),
        )

    return [lesson for _, lesson in read_rows("lessons", ask, lesson_of, left_out)]


def count(sql: sqlite3.Connection, where: LessonFilter, left_out: LeftOut) -> int:
    """Count the lessons that match, whatever the limit, without those known to be damaged."""
    clauses, args = _conditions(where)
    clauses.append(left_out.but("lessons", "l.row"))
    (number,) = sql.execute(f"SELECT count(*) FROM lessons l WHERE {' AND '.join(clauses)}", args).fetchone()
    return int(number)


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


def _conditions(where: LessonFilter) -> tuple[list[str], list[Any]]:
    states = where.states or tuple(state for state in STATES if state != "forgotten")
    known, known_args = known_then(where.as_of)
    true, true_args = true_then(where.as_of)
    clauses = [known, true, f"l.state IN ({slots(len(states))})"]
    args: list[Any] = [*known_args, *true_args, *states]

    def also(clause: str, *values: Any) -> None:
        clauses.append(clause)
        args.extend(clean(value) if isinstance(value, str) else value for value in values)

    if not where.all_projects:
        also("l.owner IN ('', ?)", where.project)
    if where.kinds:
        also(f"l.kind IN ({slots(len(where.kinds))})", *where.kinds)
    if where.id_suffix:
        also("substr(l.id, -length(?)) = ?", where.id_suffix, where.id_suffix)
    if where.topic_key:
        also("l.topic_key = ? AND l.topic_key <> ''", where.topic_key)
    if where.duplicate_key:
        also("l.duplicate_key = ?", where.duplicate_key)
    if where.path:
        also(*_anchored(where))
    if where.staged:
        also("l.branch <> ''")
    if where.without_vector:
        also("NOT EXISTS (SELECT 1 FROM vectors v WHERE v.lesson = l.row AND v.embedder = ?)", where.without_vector)
    return clauses, args


def _is_by_anchors(where: LessonFilter) -> bool:
    """Return whether the table of anchors has the lessons in question: those known now, without forgotten ones."""
    return where.as_of is None and "forgotten" not in where.states


def _anchored(where: LessonFilter) -> tuple[str, ...]:
    if _is_by_anchors(where):
        return "l.row IN (SELECT lesson FROM anchors WHERE path = ? AND is_glob = 0)", where.path
    return (
        "EXISTS (SELECT 1 FROM json_each(iif(json_valid(l.doc), l.doc, '{}'), '$.anchors') a"
        " WHERE json_extract(a.value, '$.path') = ? OR EXISTS (SELECT 1 FROM json_each(a.value, '$.also') place"
        " WHERE substr(place.value, 1, instr(place.value || '::', '::') - 1) = ?))",
        where.path, where.path,
    )  # fmt: skip
