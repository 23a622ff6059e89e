"""Events and the log: append-only records, each stored once.

The positions of an organisation's events come from a row of `counters`, which the writer locks until it commits. So
they have no gaps, and none becomes readable before a lower one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.errors import InvalidValueError
from holdfast.ports.store import EventFilter, L, LogFilter, LogRecord
from holdfast.stores._shared.purging import RAW
from holdfast.stores._shared.rows import LeftOut, document, micros, read_rows, record_of
from holdfast.stores.postgresql import sessions
from holdfast.stores.postgresql.rows import but, key
from holdfast.stores.postgresql.tenant import Sql

TABLES: dict[type, tuple[str, tuple[str, ...]]] = {
    Delivery: ("deliveries", ("project", "session", "lesson")),
    Outcome: ("outcomes", ("project", "session", "lesson")),
    Checkpoint: ("checkpoints", ("project", "session")),
    Change: ("changes", ("project",)),
}
"""The table of each type of record, and the columns by which it can be filtered."""
_NEWEST: dict[type, str] = {Change: "position DESC", Checkpoint: "position DESC"}
"""Types whose newest record is the one received last: the clock may have been set back between two."""


def add_to_counter(sql: Sql, name: str, count: int, owner: str = "") -> int:
    """Add to the counter, which begins at 0, and return its value; others that add to it wait for this transaction.

    A count of 0 reads the value and makes others wait.
    """
    row = sql.execute(
        "INSERT INTO counters AS c (org, name, owner, last) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (org, name, owner) DO UPDATE SET last = c.last + excluded.last RETURNING last",
        (sql.org, name, key(owner), count),
    ).fetchone()
    return int(row[0]) if row else count


def read_counters(sql: Sql, name: str) -> int:
    """Return the sum of the counters of that name."""
    row = sql.execute("SELECT sum(last)::bigint FROM counters WHERE org = %s AND name = %s", (sql.org, name)).fetchone()
    return int(row[0] or 0) if row else 0


def row_numbers(sql: Sql, count: int) -> list[int]:
    """Return new numbers for rows, growing."""
    return [row for (row,) in sql.execute("SELECT nextval('row_numbers') FROM generate_series(1, %s)", (count,))]


def append(sql: Sql, events: Sequence[Event]) -> int:
    """Store the events that are new; return how many there were."""
    rows = {(key(event.session), key(event.key)): (event, doc) for event, doc in reversed([*map(document, events)])}
    if not rows:
        return 0
    last = add_to_counter(sql, "events", 0)
    known = sql.execute(
        "SELECT e.session, e.key FROM unnest(%s::text[], %s::text[]) q(session, key)"
        " JOIN events e ON e.org = %s AND e.session = q.session AND e.key = q.key",
        ([session for session, _ in rows], [name for _, name in rows], sql.org),
    )
    for names in known.fetchall():
        del rows[names]
    new = [
        (position, *names, key(event.project), micros(event.at), has_text(event), doc)
        for position, (names, (event, doc)) in enumerate(reversed(rows.items()), start=last + 1)
    ]
    insert_rows(sql, new)
    if new:
        add_to_counter(sql, "events", len(new))
        stored = (event for event, _ in reversed(rows.values()))
        sessions.add_new(sql, last, list(enumerate(stored, start=last + 1)))
    return len(new)


def insert_rows(sql: Sql, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert events: position, session, key, project, at, has_text, doc."""
    sql.executemany(
        "INSERT INTO events (org, position, session, key, project, at, has_text, doc)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        [(sql.org, *row) for row in rows],
    )


def has_text(event: Event) -> bool:
    """Return whether the event has any of the raw texts."""
    return any(getattr(event, name) for name in RAW)


def find_events(sql: Sql, where: EventFilter, left_out: LeftOut) -> list[tuple[int, Event]]:
    """Return (position, event) in order of position, without damaged events."""
    clauses: list[str] = ["org = %s", "position > %s"]
    args: list[Any] = [sql.org, where.after]
    if where.session:
        clauses.append("session = %s")
        args.append(key(where.session))
    if where.project:
        clauses.append("project = %s")
        args.append(key(where.project))
    if where.kind:
        clauses.append("key >= %s AND key < %s")  # the key of a prompt or reply begins with its kind
        prefix = spoken_prefix(where.kind)
        args += [prefix, prefix + "\U0010ffff"]

    def ask() -> Iterable[tuple[int, str]]:
        chosen = f"SELECT position, doc FROM events WHERE {' AND '.join(clauses)} AND {but(left_out, 'events')}"
        if where.last:
            newest = f"SELECT * FROM ({chosen} ORDER BY position DESC LIMIT %s) q ORDER BY position LIMIT %s"
            return sql.execute(newest, (*args, where.last, max(0, where.limit))).fetchall()
        return sql.execute(f"{chosen} ORDER BY position LIMIT %s", (*args, max(0, where.limit))).fetchall()

    return read_rows("events", ask, lambda doc: record_of(Event, doc), left_out)


def record(sql: Sql, entries: Sequence[LogRecord]) -> None:
    """Append the records whose ids are not there yet."""
    for position, raw_entry in zip(row_numbers(sql, len(entries)), entries, strict=True):
        entry, doc = document(raw_entry)
        table, columns = _table(type(entry))
        names = ("org", "position", "id", "at", *columns, "doc")
        texts = (key(getattr(entry, name)) for name in columns)
        values = (sql.org, position, key(entry.id), micros(entry.at), *texts, doc)
        new = sql.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"
            " ON CONFLICT DO NOTHING",
            values,
        ).rowcount
        if new and isinstance(entry, Change):
            _note_lessons(sql, entry)


def put_change(sql: Sql, raw_change: Change) -> None:
    """Write the change; it replaces a record of the same id."""
    change, doc = document(raw_change)
    (position,) = row_numbers(sql, 1)
    sql.execute(
        "INSERT INTO changes (org, position, id, at, project, doc) VALUES (%s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (org, id) DO UPDATE SET at = excluded.at, doc = excluded.doc",
        (sql.org, position, key(change.id), micros(change.at), key(change.project), doc),
    )
    _note_lessons(sql, change)


def _note_lessons(sql: Sql, change: Change) -> None:
    sql.executemany(
        "INSERT INTO change_lessons (org, lesson, change) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [(sql.org, key(lesson), key(change.id)) for lesson in change.lessons],
    )


def find_records(sql: Sql, kind: type[L], where: LogFilter, left_out: LeftOut) -> list[L]:
    """Return records of that type, newest first, without damaged ones.

    A filter by session or lesson selects nothing of a type without that column.
    """
    table, columns = _table(kind)
    clauses: list[str] = ["org = %s"]
    args: list[Any] = [sql.org]
    for column, value in (("project", where.project), ("session", where.session), ("lesson", where.lesson)):
        if not value:
            continue
        if column in columns:
            clauses.append(f"{column} = %s")
            args.append(key(value))
        elif kind is Change and column == "lesson":
            clauses.append("id IN (SELECT change FROM change_lessons WHERE org = %s AND lesson = %s)")
            args += [sql.org, key(value)]
        else:
            clauses.append("false")
    for clause, at in (("at >= %s", where.since), ("at < %s", where.until)):
        if at is not None:
            clauses.append(clause)
            args.append(micros(at))

    def ask() -> Iterable[tuple[int, str]]:
        return sql.execute(
            f"SELECT position, doc FROM {table} WHERE {' AND '.join(clauses)} AND {but(left_out, table)}"
            f" ORDER BY {_NEWEST.get(kind, 'at DESC, position DESC')} LIMIT %s",
            (*args, max(0, where.limit)),
        ).fetchall()

    return [entry for _, entry in read_rows(table, ask, lambda doc: record_of(kind, doc), left_out)]


def _table(kind: type) -> tuple[str, tuple[str, ...]]:
    if kind not in TABLES:
        raise InvalidValueError(f"the log has no records of type {kind.__name__}")
    return TABLES[kind]
