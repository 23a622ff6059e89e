"""Events and the log: append-only records, each stored once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.errors import InvalidValueError
from holdfast.ports.store import EventFilter, L, LogFilter, LogRecord
from holdfast.stores.sqlite.rows import LeftOut, clean, document, micros, read_rows, record_of
from holdfast.stores.sqlite.sessions import add_events

TABLES: dict[type, tuple[str, tuple[str, ...]]] = {
    Delivery: ("deliveries", ("project", "session", "lesson")),
    Outcome: ("outcomes", ("project", "session", "lesson")),
    Checkpoint: ("checkpoints", ("project", "session")),
    Change: ("changes", ("project",)),
}
"""The table of each type of record, and the columns by which it can be filtered."""
_NEWEST: dict[type, str] = {Change: "position DESC", Checkpoint: "position DESC"}
"""Types whose newest record is the one received last. If the clock was set back, `undo` must not take back an earlier
change that has a later time, and a task's state must not be an older one."""


def append(sql: sqlite3.Connection, events: Sequence[Event]) -> int:
    """Store the events that are new; return how many there were."""
    new: list[tuple[int, Event]] = []
    for event, doc in map(document, events):
        made = sql.execute(
            "INSERT INTO events (session, key, project, doc) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (event.session, event.key, event.project, doc),
        )
        if made.rowcount and made.lastrowid:
            new.append((made.lastrowid, event))
    add_events(sql, new)
    return len(new)


def find_events(sql: sqlite3.Connection, where: EventFilter, left_out: LeftOut) -> list[tuple[int, Event]]:
    """Return (position, event) in order of position, without damaged events."""
    clauses: list[str] = ["position > ?"]
    args: list[Any] = [where.after]
    if where.session:
        clauses.append("session = ?")
        args.append(clean(where.session))
    if where.project:
        # The plus keeps SQLite on the session's index when there is a session: a project has far more events.
        clauses.append("+project = ?" if where.session else "project = ?")
        args.append(clean(where.project))

    if where.kind:
        # The key of a prompt or reply begins with its kind, and keys are in the index of sessions.
        clauses.append("key >= ? AND key < ?")
        prefix = spoken_prefix(where.kind)
        args += [prefix, prefix + "\U0010ffff"]

    def ask() -> Iterable[tuple[int, str]]:
        chosen = (
            f"SELECT position, doc FROM events WHERE {' AND '.join(clauses)} AND {left_out.but('events', 'position')}"
        )
        if where.last:
            newest = f"SELECT * FROM ({chosen} ORDER BY position DESC LIMIT ?) ORDER BY position LIMIT ?"
            return sql.execute(newest, (*args, where.last, max(0, where.limit)))
        return sql.execute(f"{chosen} ORDER BY position LIMIT ?", (*args, max(0, where.limit)))

    return read_rows("events", ask, lambda doc: record_of(Event, doc), left_out)


def record(sql: sqlite3.Connection, entries: Sequence[LogRecord]) -> None:
    """Append the records whose ids are not there yet."""
    for raw_entry in entries:
        entry, doc = document(raw_entry)
        table, columns = _table(type(entry))
        names = ("id", "at", *columns, "doc")
        values = (entry.id, micros(entry.at), *(getattr(entry, name) for name in columns), doc)
        new = sql.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) ON CONFLICT DO NOTHING",
            values,
        ).rowcount
        if new and isinstance(entry, Change):
            _note_lessons(sql, entry)


def put_change(sql: sqlite3.Connection, change: Change) -> None:
    """Write the change; it replaces a record of the same id."""
    record, doc = document(change)
    sql.execute(
        "INSERT INTO changes (id, at, project, doc) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET at = excluded.at, doc = excluded.doc",
        (record.id, micros(record.at), record.project, doc),
    )
    _note_lessons(sql, record)


def _note_lessons(sql: sqlite3.Connection, change: Change) -> None:
    sql.executemany(
        "INSERT OR IGNORE INTO change_lessons VALUES (?, ?)", [(lesson, change.id) for lesson in change.lessons]
    )


def find_records(sql: sqlite3.Connection, kind: type[L], where: LogFilter, left_out: LeftOut) -> list[L]:
    """Return records of that type, newest first, without damaged ones.

    A filter by session or lesson selects nothing of a type without that column.
    """
    table, columns = _table(kind)
    clauses: list[str] = ["1"]
    args: list[Any] = []
    for column, value in (("project", where.project), ("session", where.session), ("lesson", where.lesson)):
        if not value:
            continue
        wide = column == "project" and (where.session or where.lesson)  # the project's index would be slower then
        clauses.append(f"{'+' if wide else ''}{column} = ?" if column in columns else _indirect_clause(kind, column))
        args.append(clean(value))
    for clause, at in (("at >= ?", where.since), ("at < ?", where.until)):
        if at is not None:
            clauses.append(clause)
            args.append(micros(at))

    def ask() -> Iterable[tuple[int, str]]:
        readable = left_out.but(table, "position")
        return sql.execute(
            f"SELECT position, doc FROM {table} WHERE {' AND '.join(clauses)} AND {readable}"
            f" ORDER BY {_NEWEST.get(kind, 'at DESC, position DESC')} LIMIT ?",
            (*args, max(0, where.limit)),
        )

    return [entry for _, entry in read_rows(table, ask, lambda doc: record_of(kind, doc), left_out)]


def _indirect_clause(kind: type, column: str) -> str:
    if kind is Change and column == "lesson":
        return "id IN (SELECT change FROM change_lessons WHERE lesson = ?)"
    return "? IS NULL"


def _table(kind: type) -> tuple[str, tuple[str, ...]]:
    if kind not in TABLES:
        raise InvalidValueError(f"the log has no records of type {kind.__name__}")
    return TABLES[kind]
