"""The schema's history: numbered SQL files, each applied once, with its record, in one transaction.

A file whose name ends in `reindex` also rebuilds the derived rows of every lesson (0.3 ms each), because their form
changed. The file that ends in `titles` makes weak titles anew, the one that ends in `sessions` the rows of sessions,
the one that ends in `facets` the rows of facets.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace

from holdfast.domain.lesson import Lesson
from holdfast.errors import SchemaTooNewError
from holdfast.stores.sqlite import sessions
from holdfast.stores.sqlite.connection import SCHEMA, Connection
from holdfast.stores.sqlite.lessons import rebuild_facets, rebuild_rows, reindex_rows
from holdfast.stores.sqlite.rows import DAMAGED, document, record_of

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def upgrade(connection: Connection) -> None:
    """Apply the migrations that the file lacks. Raises SchemaTooNewError for a file of a newer Holdfast."""
    sql = connection.sql
    _check_known(sql, connection.path, connection.schema)  # first, because the journal mode is written into the file
    (mode,) = sql.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        connection.lock()
        try:
            sql.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.unlock()
    folder = os.path.join(os.path.dirname(FOLDER), connection.migrations)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql"):
            with connection.writing() as writer:
                _apply(writer, os.path.join(folder, name), connection.path, connection.schema)


def build(sql: sqlite3.Connection) -> None:
    """Create the whole current schema in an empty database."""
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".sql"):
            _apply(sql, name, ":memory:")


def _apply(sql: sqlite3.Connection, script: str, path: str, known: int = SCHEMA) -> None:
    has = _check_known(sql, path, known)
    name = os.path.basename(script)
    number = int(name[:4])
    if number <= has:
        return
    with open(os.path.join(FOLDER, script), encoding="utf-8") as file:
        for statement in statements(file.read()):
            sql.execute(statement)
    if name.endswith("reindex.sql"):
        rebuild_rows(sql)
    if name.endswith("titles.sql"):
        retitle(sql)
    if name.endswith("sessions.sql"):
        sessions.rebuild(sql)
    if name.endswith("facets.sql"):
        rebuild_facets(sql)
    sql.execute("INSERT INTO migrations VALUES (?, ?)", (number, name.removesuffix(".sql")))
    sql.execute(f"PRAGMA user_version={number}")


def _check_known(sql: sqlite3.Connection, path: str, known: int) -> int:
    """Return the file's schema. Raises SchemaTooNewError for an unknown one."""
    (has,) = sql.execute("PRAGMA user_version").fetchone()
    if has > known:
        raise SchemaTooNewError(
            f"{path} has schema {has}, this Holdfast knows {known}", hint="upgrade: pip install -U holdfast-memory"
        )
    return int(has)


def statements(script: str) -> list[str]:
    """Split a script into statements: the driver's own `executescript` would commit before the first one."""
    complete: list[str] = []
    rest = ""
    for line in script.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            complete.append(rest.strip())
            rest = ""
    return complete


def retitle(sql: sqlite3.Connection) -> None:
    """Give each current lesson with a weak title one that states its verdict; calling it again changes nothing."""
    from holdfast.text.titles import is_weak, kept_title  # for this step alone: its patterns take a hook 10 ms

    living = "SELECT row, owner FROM lessons WHERE retracted_at IS NULL AND state <> 'forgotten'"
    for row, owner in sql.execute(living).fetchall():
        (doc,) = sql.execute("SELECT doc FROM lessons WHERE row = ?", (row,)).fetchone()
        try:
            lesson = record_of(Lesson, doc)
        except DAMAGED:
            continue
        if not is_weak(lesson.title):
            continue
        quote = next((span.quote for span in lesson.provenance.evidence), "")
        title = kept_title(lesson.title, lesson.insight, quote)
        if title and title != lesson.title:
            named, text = document(replace(lesson, title=title))
            sql.execute("UPDATE lessons SET doc = ? WHERE row = ?", (text, row))
            reindex_rows(sql, row, named, owner)
