"""Purging: erases a lesson and everything derived from it from the rows, the indexes and the file's bytes.

States expire here, too, and lose purged lessons and their words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import FAMILIES, ROW_FAMILIES, without_lesson
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import dumps, loads
from holdfast.stores._shared.purging import RAW, Purging
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.eventlog import TABLES
from holdfast.stores.sqlite.fulltext import index_again
from holdfast.stores.sqlite.rows import DAMAGED, clean, document, micros, record_of
from holdfast.stores.sqlite.sessions import sum_up_again

_BY_ROW = {
    "anchors": "lesson",
    "tokens": "lesson",
    "triggers": "lesson",
    "vectors": "lesson",
    "lesson_text": "rowid",
    "facets": "lesson",
}
ERASED_AT_ONCE = 2_000
"""Vectors erased in one transaction."""
_BY_ID = ("deliveries", "outcomes", "change_lessons")
DAY = 86_400_000_000
"""Microseconds of a day."""

DAY = 86_400_000_000
"""Microseconds of a day."""


def purge(sql: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Erase the lessons; return the number of rows erased by table, without tables that lost none.

    The events themselves stay, but lose their words: see `_drop_words`. A change that names other lessons too keeps
    those and loses its summary. Links of other lessons to an erased id stay, because an id reveals nothing.
    """
    purging = Purging(_versions(sql, ids))
    erased = _drop_words(sql, purging)
    index_again(sql, purging.sessions)
    sum_up_again(sql, purging.sessions)
    erased["state"] = forget_words(sql, purging)

    def count(table: str, cursor: sqlite3.Cursor) -> None:
        erased[table] = erased.get(table, 0) + max(0, cursor.rowcount)

    for id_ in dict.fromkeys(clean(id_) for id_ in ids):
        for (row,) in sql.execute("SELECT row FROM lessons WHERE id = ?", (id_,)).fetchall():
            for table, column in _BY_ROW.items():
                count(table, sql.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,)))
        count("lessons", sql.execute("DELETE FROM lessons WHERE id = ?", (id_,)))
        aside = "DELETE FROM set_aside WHERE source = 'lessons' AND json_extract(columns, '$.id') = hex(?)"
        count("set_aside", sql.execute(aside, (id_,)))
        erased["changes"] = erased.get("changes", 0) + _purge_changes(sql, id_)
        for table in _BY_ID:
            count(table, sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (id_,)))
        erased["state"] = erased.get("state", 0) + forget_lesson(sql, id_)
    erased |= _purge_served(sql, ids)
    if erased.get("lessons"):
        # Deleted text, even of versions closed long ago, stays in the index's segments until they are merged.
        sql.execute("INSERT INTO lesson_text (lesson_text) VALUES ('optimize')")
    return {table: rows for table, rows in erased.items() if rows}


def _purge_served(sql: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Erase what a server of this file stores about the lessons: see `ports.team.Documents`."""
    records = sql.execute("DELETE FROM team_records WHERE kind = 'idempotent_answer'").rowcount
    documents = 0
    for id_ in dict.fromkeys(map(clean, ids)):
        judged = "SELECT id FROM team_keys WHERE kind = ? AND field = 'lesson' AND value = ?"
        for kind in ("confirmation", "flag"):
            for (record,) in sql.execute(judged, (kind, id_)).fetchall():
                sql.execute("DELETE FROM team_keys WHERE kind = ? AND id = ?", (kind, record))
                records += sql.execute("DELETE FROM team_records WHERE kind = ? AND id = ?", (kind, record)).rowcount
        rows = sql.execute("SELECT project, id FROM documents WHERE lesson = ? AND body <> ''", (id_,)).fetchall()
        for project, document_id in rows:
            feed = "UPDATE team_counters SET value = value + 1 WHERE name = ? RETURNING value"
            (seq,) = sql.execute(feed, (f"feed {project}",)).fetchone()
            emptied = "UPDATE documents SET body = '', seq = ? WHERE project = ? AND id = ?"
            documents += sql.execute(emptied, (seq, project, document_id)).rowcount
    return {"team_records": records, "documents": documents}


def _versions(sql: sqlite3.Connection, ids: Sequence[str]) -> Iterator[Lesson]:
    """Yield every readable version of the lessons."""
    for id_ in dict.fromkeys(map(clean, ids)):
        for (doc,) in sql.execute("SELECT doc FROM lessons WHERE id = ?", (id_,)):
            try:
                yield record_of(Lesson, doc)
            except DAMAGED:
                continue


def _drop_words(sql: sqlite3.Connection, purging: Purging) -> dict[str, int]:
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


def _documents(sql: sqlite3.Connection, table: str, session: str) -> list[tuple[int, dict[str, Any]]]:
    documents: list[tuple[int, dict[str, Any]]] = []
    for position, doc in sql.execute(f"SELECT position, doc FROM {table} WHERE session = ?", (session,)).fetchall():
        try:
            plain = loads(doc)
        except InvalidValueError:
            continue
        if isinstance(plain, dict):
            documents.append((position, plain))
    return documents


def _rewrite(sql: sqlite3.Connection, table: str, position: int, before: dict[str, Any], after: dict[str, Any]) -> int:
    if after == before:
        return 0
    return sql.execute(f"UPDATE {table} SET doc = ? WHERE position = ?", (dumps(after), position)).rowcount


def erase_other_vectors(connection: Connection, embedder_id: str) -> int:
    """Erase some vectors of other embedders, few enough that nobody waits long; return how many, 0 at the end."""
    with connection.reading() as sql:
        positions = sql.execute(
            "SELECT position FROM vectors WHERE embedder < ? OR embedder > ? LIMIT ?",
            (clean(embedder_id), clean(embedder_id), ERASED_AT_ONCE),
        ).fetchall()
    if positions:
        with connection.writing() as sql:
            sql.executemany("DELETE FROM vectors WHERE position = ?", positions)
    return len(positions)


def drop_texts(sql: sqlite3.Connection, before: str) -> int:
    """Remove the raw texts from events that happened before that instant; return how many events had any."""
    raw = [f"'$.{name}'" for name in RAW]
    has_text = " OR ".join(f"json_extract(doc, {name}) IS NOT NULL" for name in raw)
    dropped = sql.execute(
        f"UPDATE events SET doc = json_remove(doc, {', '.join(raw)})"
        f" WHERE CASE WHEN json_valid(doc) THEN json_extract(doc, '$.at') < ? AND ({has_text}) END",
        (before,),
    ).rowcount
    if dropped:
        old = "SELECT DISTINCT session FROM turns WHERE at < ?"
        index_again(sql, [session for (session,) in sql.execute(old, (micros(parse_instant(before)),)).fetchall()])
    return dropped


def _purge_changes(sql: sqlite3.Connection, id_: str) -> int:
    rows: list[tuple[str, str]] = sql.execute(
        "SELECT id, doc FROM changes WHERE id IN (SELECT change FROM change_lessons WHERE lesson = ?)", (id_,)
    ).fetchall()
    for change_id, doc in rows:
        try:
            change = record_of(Change, doc)
        except DAMAGED:  # its other content is unknown, and a purge must rather erase too much than too little
            sql.execute("DELETE FROM changes WHERE id = ?", (change_id,))
            continue
        rest = tuple(lesson for lesson in change.lessons if lesson != id_)
        if rest:
            shortened: Any = record_of(Change, doc, lessons=rest, summary="")
            sql.execute("UPDATE changes SET doc = ? WHERE id = ?", (document(shortened)[1], change_id))
        else:
            sql.execute("DELETE FROM changes WHERE id = ?", (change_id,))
    return len(rows)


def expire_states(sql: sqlite3.Connection, now: datetime) -> int:
    """Erase the values older than their family's days; return how many."""
    return sum(
        sql.execute(
            "DELETE FROM state WHERE family = ? AND updated_at < ?",
            (family.name, micros(now) - family.kept_days * DAY),
        ).rowcount
        for family in FAMILIES
        if family.kept_days
    )


def forget_lesson(sql: sqlite3.Connection, lesson: str) -> int:
    """Remove a purged lesson from the values that name lessons, and its own values; return how many changed."""
    count = 0
    for family in FAMILIES:
        if family.owner == "lesson":
            owned = "DELETE FROM state WHERE family = ? AND owner = ?"
            count += sql.execute(owned, (family.name, lesson)).rowcount
        if family.names_lessons:
            count += _edit_values(sql, family.name, lesson, lambda value: without_lesson(value, lesson))
    _drop_empty(sql, count)
    return count


def forget_words(sql: sqlite3.Connection, purging: Purging) -> int:
    """Remove purged lessons' words from the values that hold words of sessions; return how many values changed."""
    count = sum(_edit_values(sql, family.name, "", purging.moments) for family in FAMILIES if family.holds_words)
    _drop_empty(sql, count)
    holding = "substr(owner, 1, length(?)) = ? AND substr(value, -length(?)) = ?"
    for family in ROW_FAMILIES:
        for begin, end in purging.files if family.holds_words else ():
            texts = (family.name, *(clean(text) for text in (begin, begin, end, end)))
            count += sql.execute(f"DELETE FROM state_rows WHERE family = ? AND {holding}", texts).rowcount
    return count


def _edit_values(sql: sqlite3.Connection, family: str, holding: str, edit: Callable[[str], str]) -> int:
    """Edit the family's values that hold the text, all of them if it is ""; return how many changed."""
    rows = sql.execute(
        "SELECT owner, value FROM state WHERE family = ? AND instr(value, ?)", (family, holding)
    ).fetchall()
    edited = [(rest, family, owner) for owner, value in rows if (rest := edit(value)) != value]
    sql.executemany("UPDATE state SET value = ? WHERE family = ? AND owner = ?", edited)
    return len(edited)


def _drop_empty(sql: sqlite3.Connection, changed: int) -> None:
    if changed:
        sql.execute("DELETE FROM state WHERE value = ''")
