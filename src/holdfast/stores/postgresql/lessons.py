"""Reads and writes lesson versions. A version is closed by its successor and never changed otherwise.

A writer first locks the rows of the versions that it replaces, then the rules that its new lessons state, each in one
order, so that two writers never wait for each other. The derived rows change in the same transaction (`derived`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from psycopg.errors import UniqueViolation

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LIVING, LessonId, ProjectId, State
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lean.texts import short_id
from holdfast.ports.store import Extent, VersionSpan
from holdfast.stores._shared.derived import SEARCHABLE
from holdfast.stores._shared.rows import DAMAGED, LeftOut, document, instant, micros, record_of
from holdfast.stores.postgresql import derived
from holdfast.stores.postgresql.eventlog import add_to_counter, read_counters, row_numbers
from holdfast.stores.postgresql.rows import key, keys
from holdfast.stores.postgresql.states import lock
from holdfast.stores.postgresql.tenant import Sql
from holdfast.text.searchkeys import anchored_files, text_columns
from holdfast.text.words import duplicate_key

CLOSED = "('superseded', 'retired', 'forgotten')"
"""States that end a lesson's validity. A query for these states must find them although their validity is over."""
VERSIONS = "versions"
"""The counter of the versions that were ever written, one for each owner."""


def get_lessons(sql: Sql, ids: Sequence[str], as_of: datetime | None, left_out: LeftOut) -> list[Lesson]:
    """Return the lessons in the order of the ids, as known then. Raises LessonNotFoundError, also for a damaged one."""
    known, args = known_then(as_of)
    by_id: dict[str, Lesson] = {}
    damaged: set[str] = set()
    wanted = keys(ids)
    rows = sql.execute(
        "SELECT l.row, l.id, l.retracted_at, l.doc FROM lessons l"
        f" WHERE l.org = %s AND l.id = ANY(%s::text[]) AND {known}",
        (sql.org, wanted, *args),
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
            raise LessonNotFoundError(f"lesson {short_id(id_)} is damaged", hint="holdfast doctor --mend")
        if id_ not in by_id:
            when = f" as of {as_of:%Y-%m-%d %H:%M:%S} UTC" if as_of else ""
            raise LessonNotFoundError(f"no lesson {id_}{when}", hint="holdfast list --all-projects")
    return [by_id[id_] for id_ in wanted]


def current_versions(sql: Sql, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
    """Return the state and the time of recording of each lesson's current version; leave out unknown ids."""
    rows = sql.execute(
        "SELECT id, state, recorded_at FROM lessons WHERE org = %s AND id = ANY(%s::text[]) AND retracted_at IS NULL",
        (sql.org, keys(ids)),
    )
    return {id_: (state, instant(at)) for id_, state, at in rows}


def count_versions(sql: Sql, project: ProjectId, since: datetime, step: timedelta, count: int) -> list[VersionSpan]:
    """Count versions by state and by the instants before they were recorded and replaced."""
    begin, width = micros(since), step // timedelta(microseconds=1)

    def before(column: str) -> str:
        return f"CASE WHEN {column} <= {begin} THEN 0 ELSE least({count}, ({column} - {begin} - 1) / {width} + 1) END"

    rows = sql.execute(
        f"SELECT state, {before('recorded_at')} AS b,"
        f" CASE WHEN retracted_at IS NULL THEN NULL ELSE {before('retracted_at')} END AS e, count(*)"
        " FROM lessons WHERE org = %s AND owner = ANY(%s::text[]) GROUP BY state, b, e",
        (sql.org, ["", key(project)]),
    )
    return [VersionSpan(state=state, begin=first, end=last, count=number) for state, first, last, number in rows]


def extent(sql: Sql) -> Extent:
    """Return how many lessons there are, and how many versions and events there ever were."""
    row = sql.execute(
        "SELECT count(*) FROM lessons WHERE org = %s AND retracted_at IS NULL AND state <> 'forgotten'", (sql.org,)
    ).fetchone()
    return Extent(
        lessons=int(row[0]) if row else 0, versions=read_counters(sql, VERSIONS), events=read_counters(sql, "events")
    )


def lesson_or_none(id_: str, retracted_at: int | None, doc: str) -> Lesson | None:
    """Return the version of a row, or None when its document is damaged."""
    try:
        return lesson_of(id_, retracted_at, doc)
    except DAMAGED:
        return None


def lesson_of(id_: str, retracted_at: int | None, doc: str) -> Lesson:
    """Return the version of a row. Raises one of `DAMAGED` for a document that is damaged or of another lesson."""
    lesson = record_of(Lesson, doc, retracted_at=None if retracted_at is None else instant(retracted_at))
    if key(lesson.id) != id_:
        raise ValueError(f"the row of {id_} holds another lesson")
    return lesson


def known_then(as_of: datetime | None) -> tuple[str, list[int]]:
    """Return SQL for: this version was what we knew at that instant (None: is what we know)."""
    if as_of is None:
        return "l.retracted_at IS NULL", []
    at = micros(as_of)
    return "l.recorded_at <= %s AND (l.retracted_at IS NULL OR l.retracted_at > %s)", [at, at]


def true_then(as_of: datetime | None) -> tuple[str, list[int]]:
    """Return SQL for: it held at that instant, or its state says that it no longer does. None selects everything."""
    if as_of is None:
        return "true", []
    at = micros(as_of)
    return (
        f"(l.state IN {CLOSED} OR (l.valid_from <= %s AND (l.valid_to IS NULL OR l.valid_to > %s)))",
        [at, at],
    )


class Current(NamedTuple):
    """A lesson's current version, as the writer locked it or wrote it."""

    row: int
    recorded_at: int
    doc: str


def put_versions(sql: Sql, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None]) -> None:
    """Write a version of each lesson; see the port. A second version of one id in a call replaces the first."""
    documents = [(raw.id, *document(raw)) for raw in lessons]
    current = _lock_current(sql, keys(lesson.id for _, lesson, _ in documents))
    known = _known(sql, [id_ for _, lesson, _ in documents if (id_ := key(lesson.id)) not in current])
    new = {key(lesson.id): lesson for _, lesson, _ in documents if key(lesson.id) not in current}
    for names in sorted(filter(None, map(_rule, new.values()))):
        lock(sql, "rule", *names)
    written: dict[str, Lesson] = {}
    rows = row_numbers(sql, len(documents))
    try:
        for row, (raw_id, lesson, doc) in zip(rows, documents, strict=True):
            id_ = key(lesson.id)
            expects = written[id_].recorded_at if id_ in written else expected.get(raw_id)
            before = current.get(id_)
            _require_expected(lesson, before, expects)
            if before is None and id_ in known:
                raise StaleWriteError(f"lesson {lesson.id} has no current version", hint="read it again")
            _put_one(sql, row, lesson, doc, before)
            current[id_], written[id_] = Current(row, micros(lesson.recorded_at), doc), lesson
    except UniqueViolation:
        raise StaleWriteError("a lesson was added by somebody else", hint="read it again and repeat") from None
    for id_ in new:  # checked last, because the same call may close the lesson that stated the rule before
        _require_only_one(sql, written[id_])
    _count_versions(sql, [lesson for _, lesson, _ in documents])


def _lock_current(sql: Sql, ids: Sequence[str]) -> dict[str, Current]:
    rows = sql.execute(
        "SELECT id, row, recorded_at, doc FROM lessons"
        " WHERE org = %s AND id = ANY(%s::text[]) AND retracted_at IS NULL ORDER BY id FOR UPDATE",
        (sql.org, list(ids)),
    )
    return {id_: Current(row, at, doc) for id_, row, at, doc in rows}


def _known(sql: Sql, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that have any version."""
    if not ids:
        return set()
    rows = sql.execute("SELECT id FROM lessons WHERE org = %s AND id = ANY(%s::text[])", (sql.org, list(ids)))
    return {id_ for (id_,) in rows}


def _require_expected(lesson: Lesson, before: Current | None, expects: datetime | None) -> None:
    if (before and before.recorded_at) != (expects and micros(expects)):
        raise StaleWriteError(
            f"lesson {lesson.id} was changed by somebody else", hint="read it again and repeat the change"
        )
    if before is not None and micros(lesson.recorded_at) <= before.recorded_at:
        raise InvalidValueError(f"lesson {lesson.id}: a version must be recorded later than the one it replaces")


def _put_one(sql: Sql, row: int, lesson: Lesson, doc: str, before: Current | None) -> None:
    owner = key(lesson.scope.owner)
    if before is not None:
        at = micros(lesson.recorded_at)
        sql.execute("UPDATE lessons SET retracted_at = %s WHERE org = %s AND row = %s", (at, sql.org, before.row))
        if _keeps_vectors(before.doc, lesson):
            sql.execute(
                "UPDATE vectors SET lesson = %s, owner = %s WHERE org = %s AND lesson = %s",
                (row, owner, sql.org, before.row),
            )
        derived.close_rows(sql, before.row)
    insert_row(sql, row, version_columns(lesson, doc))
    derived.index_rows(sql, row, lesson, owner)


def insert_row(sql: Sql, row: int, columns: Mapping[str, Any]) -> None:
    """Insert a row of `lessons` with these columns."""
    names = ", ".join(columns)
    slots = ", ".join(["%s"] * len(columns))
    sql.execute(f"INSERT INTO lessons (org, row, {names}) VALUES (%s, %s, {slots})", (sql.org, row, *columns.values()))


def version_columns(lesson: Lesson, doc: str) -> dict[str, Any]:
    """Return the columns of a version, without organisation, row, and the time at which it was retracted."""
    valid = lesson.validity
    return {
        "id": key(lesson.id), "recorded_at": micros(lesson.recorded_at), "owner": key(lesson.scope.owner),
        "level": lesson.scope.level, "state": lesson.state, "kind": lesson.kind, "branch": key(lesson.scope.branch),
        "path_prefix": key(lesson.scope.path_prefix), "pinned": lesson.pinned, "salience": lesson.salience,
        "valid_from": micros(valid.valid_from),
        "valid_to": None if valid.valid_to is None else micros(valid.valid_to),
        "topic_key": key(lesson.topic_key), "duplicate_key": key(duplicate_key(lesson.insight)),
        "files": keys(anchored_files(lesson)), "trust": lesson.trust, "person": key(lesson.provenance.person),
        "doc": doc,
    }  # fmt: skip


def _keeps_vectors(doc: str, lesson: Lesson) -> bool:
    """Return whether the vectors of the version before match the new one: same texts, only the state changed."""
    if lesson.state not in SEARCHABLE:
        return False
    before = lesson_or_none(key(lesson.id), None, doc)
    return before is not None and text_columns(before) == text_columns(lesson)


def _rule(lesson: Lesson) -> tuple[str, ...]:
    """Return what no two living lessons may have in common; empty for a lesson without a rule."""
    rule = duplicate_key(lesson.insight) if lesson.state in LIVING else ""
    return (lesson.scope.owner, lesson.scope.level, lesson.kind, rule) if rule else ()


def _require_only_one(sql: Sql, lesson: Lesson) -> None:
    """Raise StaleWriteError for a new lesson that states the rule of a living one. The rule is locked."""
    names = _rule(lesson)
    if not names:
        return
    other = sql.execute(
        "SELECT id FROM lessons WHERE org = %s AND duplicate_key = %s AND owner = %s AND level = %s AND kind = %s"
        " AND retracted_at IS NULL AND state = ANY(%s::text[]) AND id <> %s LIMIT 1",
        (sql.org, key(names[3]), key(names[0]), names[1], names[2], list(LIVING), key(lesson.id)),
    ).fetchone()
    if other is not None:
        id_ = short_id(other[0])
        raise StaleWriteError(f"lesson {id_} states the same rule already", hint=f"holdfast show {id_}")


def _count_versions(sql: Sql, lessons: Sequence[Lesson]) -> None:
    """Add the versions to their owners' counters; last, because others wait for these rows."""
    owners = [key(lesson.scope.owner) for lesson in lessons]
    for owner in sorted(set(owners)):
        add_to_counter(sql, VERSIONS, owners.count(owner), owner)
