"""Checks that documents can be read and that derived rows agree with them; sets damaged rows aside.

A row set aside is copied unchanged to the table `set_aside` before it leaves its own table. Pages and indexes of the
server are its administrator's: `pg_amcheck` reads them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.ports.store import Problem
from holdfast.stores._shared.derived import SEARCHABLE
from holdfast.stores._shared.rows import DAMAGED, record_of
from holdfast.stores.postgresql import derived, eventlog, sessions
from holdfast.stores.postgresql.rows import key
from holdfast.stores.postgresql.tenant import Sql

SET_ASIDE = "holdfast doctor --mend: it sets them aside, unchanged, where they can still be read"
MEND = "restore a backup, or `holdfast export` what can be read and import it into a new store"
READ_AT_ONCE = 5_000
"""Rows that are read in one statement."""
DOCUMENTS: dict[str, tuple[str, type[Any]]] = {
    "lessons": ("row", Lesson),
    "events": ("position", Event),
    **{table: ("position", kind) for kind, (table, _) in eventlog.TABLES.items()},
}
"""Tables that hold documents: the column that numbers the rows, and the type of the record."""
_CURRENT = "(SELECT row FROM lessons WHERE org = %s AND retracted_at IS NULL AND state = ANY(%s::text[]))"
_COUNTS = {
    "a lesson without its words in the index": (
        f"SELECT count(*) FROM {_CURRENT} l WHERE NOT EXISTS"
        " (SELECT 1 FROM words w WHERE w.org = %s AND w.lesson = l.row AND w.live)"
    ),
    "words of a lesson that is not current": (
        f"SELECT count(*) FROM words w WHERE w.live AND w.lesson NOT IN {_CURRENT} AND w.org = %s"
    ),
    "an anchor of a lesson that is not current": (
        f"SELECT count(*) FROM anchors a WHERE a.live AND a.lesson NOT IN {_CURRENT} AND a.org = %s"
    ),
    "a token of a lesson that is not current": (
        f"SELECT count(*) FROM tokens t WHERE t.live AND t.lesson NOT IN {_CURRENT} AND t.org = %s"
    ),
    "a facet of a lesson that is not current": (
        f"SELECT count(*) FROM facets f WHERE f.lesson NOT IN {_CURRENT} AND f.org = %s"
    ),
    "a vector of a lesson that is not current": (
        f"SELECT count(*) FROM vectors v WHERE v.lesson NOT IN {_CURRENT} AND v.org = %s"
    ),
}
_TIMES = "SELECT count(*) FROM lessons WHERE org = %s AND retracted_at <= recorded_at"


def check(sql: Sql) -> list[Problem]:
    """Return the problems found by reading every document and by comparing derived rows with lessons."""
    words = [f"{len(rows)} in {table}" for table, rows in find_damaged(sql).items()]
    damaged = f"damaged rows, left out of every answer: {', '.join(words)}"
    problems = [Problem(what=damaged, mend=SET_ASIDE)] if words else []
    counts = {what: _count(sql, query, sql.org, list(SEARCHABLE), sql.org) for what, query in _COUNTS.items()}
    counts["a version recorded after it was retracted"] = _count(sql, _TIMES, sql.org)
    return [*problems, *(Problem(what=f"{what} ({count} times)", mend=MEND) for what, count in counts.items() if count)]


def _count(sql: Sql, query: str, *args: Any) -> int:
    row = sql.execute(query, args).fetchone()
    return int(row[0]) if row else 0


def find_damaged(sql: Sql) -> dict[str, list[int]]:
    """Return the numbers of the rows that cannot be read, by table; tables without any are left out."""
    damaged = {table: list(_damaged_rows(sql, table)) for table in DOCUMENTS}
    return {table: rows for table, rows in damaged.items() if rows}


def set_aside(sql: Sql) -> dict[str, int]:
    """Move the damaged rows to the table `set_aside`; return the number of rows moved, by table."""
    damaged = find_damaged(sql)
    for table, rows in damaged.items():
        column, _ = DOCUMENTS[table]
        sql.execute(
            "INSERT INTO set_aside (org, source, position, columns, doc)"
            f" SELECT %s, %s, t.{column}, (row_to_json(t)::jsonb - 'doc')::text, t.doc FROM {table} t"
            f" WHERE t.org = %s AND t.{column} = ANY(%s::bigint[])",
            (sql.org, table, sql.org, rows),
        )
        if table == "lessons":
            for row in rows:
                derived.drop_rows(sql, row)
        sql.execute(f"DELETE FROM {table} WHERE org = %s AND {column} = ANY(%s::bigint[])", (sql.org, rows))
    if "events" in damaged:
        sessions.drop_rows(sql)
    return {table: len(rows) for table, rows in damaged.items()}


def _damaged_rows(sql: Sql, table: str) -> Iterator[int]:
    column, kind = DOCUMENTS[table]
    identity = "NULL" if table == "events" else "id"
    reading = (
        f"SELECT {column}, {identity}, doc FROM {table} WHERE org = %s AND {column} > %s ORDER BY {column} LIMIT %s"
    )
    last = -1
    while rows := sql.execute(reading, (sql.org, last, READ_AT_ONCE)).fetchall():
        for row, id_, doc in rows:
            try:
                record: Any = record_of(kind, doc)
            except DAMAGED:
                yield row
                continue
            if id_ is not None and key(record.id) != id_:
                yield row
        last = rows[-1][0]
