"""Checks that the file is sound and that its indexes agree with the rows."""

from __future__ import annotations

import sqlite3

from holdfast.errors import StoreCorruptError
from holdfast.ports.storecare import Problem
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.damage import find_damaged
from holdfast.stores.sqlite.derived import SEARCHABLE

MEND = "restore a backup, or `holdfast export` what can be read and import it into a new store"

SET_ASIDE = "holdfast doctor --mend"

_COUNTS = {
    "a searchable lesson has no full text": (
        "SELECT count(*) FROM lessons l WHERE l.retracted_at IS NULL AND l.state IN {states}"
        " AND l.row NOT IN (SELECT rowid FROM lesson_text)"
    ),
    "full text of a lesson that is not current": (
        "SELECT count(*) FROM lesson_text t WHERE t.rowid NOT IN"
        " (SELECT row FROM lessons WHERE retracted_at IS NULL AND state IN {states})"
    ),
    "an anchor of a lesson that is not current": (
        "SELECT count(*) FROM anchors WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a token of a lesson that is not current": (
        "SELECT count(*) FROM tokens WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a vector of a lesson that is not current": (
        "SELECT count(*) FROM vectors WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a version recorded after it was retracted": (
        "SELECT count(*) FROM lessons WHERE retracted_at IS NOT NULL AND retracted_at <= recorded_at"
    ),
}


def check(connection: Connection) -> list[Problem]:
    """Return the problems found by SQLite's own check, by the full text's check, and by comparing indexes with rows."""
    try:
        with connection.reading() as sql:
            broken = _integrity(sql)
            if broken:
                return broken
            problems = _damaged(sql) + _counts(sql)
        with connection.writing() as sql:  # the full text's check has the form of an insert but writes nothing
            return _full_text(sql) + problems
    except StoreCorruptError as exc:
        return [Problem(what=str(exc), mend=MEND)]


def _integrity(sql: sqlite3.Connection) -> list[Problem]:
    lines = [line for (line,) in sql.execute("PRAGMA integrity_check(20)")]
    return [] if lines == ["ok"] else [Problem(what=f"integrity check: {line}", mend=MEND) for line in lines]


def _damaged(sql: sqlite3.Connection) -> list[Problem]:
    words = [f"{len(rows)} in {table}" for table, rows in find_damaged(sql).items()]
    return (
        [Problem(what=f"damaged rows, left out of every answer: {', '.join(words)}", mend=SET_ASIDE)] if words else []
    )


def _full_text(sql: sqlite3.Connection) -> list[Problem]:
    try:
        sql.execute("INSERT INTO lesson_text (lesson_text) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as exc:
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return [Problem(what=f"the full-text index does not match the lessons: {exc}", mend=MEND)]
    return []


def _counts(sql: sqlite3.Connection) -> list[Problem]:
    states = "('" + "', '".join(SEARCHABLE) + "')"
    counted = [(what, *sql.execute(query.format(states=states)).fetchone()) for what, query in _COUNTS.items()]
    return [Problem(what=f"{what} ({count} times)", mend=MEND) for what, count in counted if count]
