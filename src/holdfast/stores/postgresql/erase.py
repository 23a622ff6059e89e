"""Purging: erases a lesson and everything derived from it from the rows and the indexes.

PostgreSQL keeps the bytes of erased rows until autovacuum reuses their space, and in its log and backups for as long as
these are kept: docs/howto/postgresql.md says how to set that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads
from holdfast.stores._shared.purging import RAW, Plain, Purging
from holdfast.stores._shared.rows import DAMAGED, document, micros, record_of
from holdfast.stores.postgresql import derived, sessions, states, team, turns
from holdfast.stores.postgresql.eventlog import TABLES
from holdfast.stores.postgresql.rows import key, keys
from holdfast.stores.postgresql.tenant import Sql

ERASED_AT_ONCE = 2_000
"""Vectors erased in one transaction."""
_BY_ID = ("deliveries", "outcomes", "change_lessons")


def purge(sql: Sql, ids: Sequence[str]) -> dict[str, int]:
    """Erase the lessons; return the number of rows erased by table, without tables that lost none.

    The events themselves stay, but lose their words: see `_drop_words`. A change that names other lessons too keeps
    those and loses its summary. Links of other lessons to an erased id stay, because an id reveals nothing.
    """
    wanted = list(dict.fromkeys(keys(ids)))
    rows = _lock_versions(sql, wanted)
    purging = Purging(_readable(rows.values()))
    erased = _drop_words(sql, purging)
    if purging.sessions:
        turns.index_again(sql, purging.sessions)
        sessions.sum_up_again(sql, purging.sessions)
    erased["state"] = states.forget_words(sql, purging)
    for row in rows:
        derived.drop_rows(sql, row)
        erased["derived"] = erased.get("derived", 0) + 1
    for table, column in (("lessons", "id"), *((table, "lesson") for table in _BY_ID)):
        if table == "change_lessons":
            erased["changes"] = _purge_changes(sql, wanted)
        deleting = f"DELETE FROM {table} WHERE org = %s AND {column} = ANY(%s::text[])"
        erased[table] = sql.execute(deleting, (sql.org, wanted)).rowcount
    aside = "DELETE FROM set_aside WHERE org = %s AND source = 'lessons' AND columns::json ->> 'id' = ANY(%s::text[])"
    erased["set_aside"] = sql.execute(aside, (sql.org, wanted)).rowcount
    erased["state"] += sum(states.forget_lesson(sql, id_) for id_ in wanted)
    erased |= team.purge(sql, wanted)
    return {table: count for table, count in erased.items() if count}


def _lock_versions(sql: Sql, wanted: Sequence[str]) -> dict[int, str]:
    """Lock every version of the lessons; return their documents by row.

    A statement that waited for a writer does not see the version that this writer added. So the versions are read again
    until there is no new one: whoever has locked the current version has all.
    """
    locked: dict[int, str] = {}
    while True:
        rows = sql.execute(
            "SELECT row, doc FROM lessons WHERE org = %s AND id = ANY(%s::text[]) ORDER BY id, row FOR UPDATE",
            (sql.org, list(wanted)),
        )
        versions: dict[int, str] = dict(rows.fetchall())
        if versions.keys() == locked.keys():
            return versions
        locked = versions


def _readable(docs: Iterable[str]) -> list[Lesson]:
    """Return every readable version."""
    lessons: list[Lesson] = []
    for doc in docs:
        try:
            lessons.append(record_of(Lesson, doc))
        except DAMAGED:
            continue
    return lessons


def _drop_words(sql: Sql, purging: Purging) -> dict[str, int]:
    """Remove the lessons' words from the records of their sessions; return the number of rows changed by content."""
    changed: dict[str, int] = {}
    for session in purging.sessions:
        for name, kind, without in purging.steps():
            table = "events" if kind is Event else TABLES[kind][0]
            rows = [
                _rewrite(sql, table, position, doc, without(doc)) for position, doc in _documents(sql, table, session)
            ]
            changed[name] = changed.get(name, 0) + sum(rows)
    return changed


def _documents(sql: Sql, table: str, session: str) -> list[tuple[int, Plain]]:
    documents: list[tuple[int, Plain]] = []
    reading = f"SELECT position, doc FROM {table} WHERE org = %s AND session = %s ORDER BY position FOR UPDATE"
    for position, doc in sql.execute(reading, (sql.org, key(session))).fetchall():
        if plain := _plain(doc):
            documents.append((position, plain))
    return documents


def _plain(doc: str) -> Plain:
    """Return the fields of a document; none if it is damaged."""
    try:
        plain = loads(doc)
    except InvalidValueError:
        return {}
    return plain if isinstance(plain, dict) else {}


def _rewrite(sql: Sql, table: str, position: int, before: Plain, after: Plain) -> int:
    if after == before:
        return 0
    texts = ", has_text = %s" if table == "events" else ""
    args: list[Any] = [dumps(after), *((any(map(after.get, RAW)),) if texts else ()), sql.org, position]
    return sql.execute(f"UPDATE {table} SET doc = %s{texts} WHERE org = %s AND position = %s", args).rowcount


def erase_other_vectors(sql: Sql, embedder_id: str) -> int:
    """Erase some vectors of other embedders, few enough that nobody waits long; return how many, 0 at the end."""
    rows = sql.execute(
        "SELECT lesson, embedder FROM vectors WHERE org = %s AND (embedder < %s OR embedder > %s) LIMIT %s",
        (sql.org, key(embedder_id), key(embedder_id), ERASED_AT_ONCE),
    ).fetchall()
    sql.executemany(
        "DELETE FROM vectors WHERE org = %s AND lesson = %s AND embedder = %s", [(sql.org, *row) for row in rows]
    )
    return len(rows)


def drop_texts(sql: Sql, before: datetime) -> int:
    """Remove the raw texts from events that happened before that instant; return how many events had any."""
    rows = sql.execute(
        "SELECT position, session, doc FROM events WHERE org = %s AND has_text AND at < %s"
        " ORDER BY position FOR UPDATE",
        (sql.org, micros(before)),
    ).fetchall()
    sessions: dict[str, None] = {}
    dropped = 0
    for position, session, doc in rows:
        plain = _plain(doc)
        without = {name: value for name, value in plain.items() if name not in RAW}
        dropped += _rewrite(sql, "events", position, plain, without)
        sessions[session] = None
    if dropped:
        turns.index_again(sql, list(sessions))
    return dropped


def _purge_changes(sql: Sql, wanted: Sequence[str]) -> int:
    rows: list[tuple[str, str]] = sql.execute(
        "SELECT id, doc FROM changes WHERE org = %s AND id IN"
        " (SELECT change FROM change_lessons WHERE org = %s AND lesson = ANY(%s::text[])) ORDER BY id FOR UPDATE",
        (sql.org, sql.org, list(wanted)),
    ).fetchall()
    for change_id, doc in rows:
        try:
            change = record_of(Change, doc)
        except DAMAGED:  # its other content is unknown, and a purge must rather erase too much than too little
            change = None
        rest = tuple(lesson for lesson in change.lessons if key(lesson) not in wanted) if change else ()
        if rest:
            shortened: Any = record_of(Change, doc, lessons=rest, summary="")
            updating = "UPDATE changes SET doc = %s WHERE org = %s AND id = %s"
            sql.execute(updating, (document(shortened)[1], sql.org, change_id))
        else:
            sql.execute("DELETE FROM changes WHERE org = %s AND id = %s", (sql.org, change_id))
    return len(rows)
