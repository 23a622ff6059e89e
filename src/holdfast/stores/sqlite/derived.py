"""The derived rows by which a current version is found: anchors, exact tokens, triggers, full text.

All of them can be rebuilt from the documents. A version that is no longer current has none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from holdfast.domain.lesson import Lesson
from holdfast.stores.sqlite.rows import DAMAGED, SESSION_PREFIX, SOURCE_CODES, clean, record_of, scope_token
from holdfast.text.occasions import occasions
from holdfast.text.searchkeys import TOKEN_LIMIT, anchored_files, lesson_tokens, text_columns
from holdfast.text.triggermatch import key_of, last_part
from holdfast.text.triggers import triggers_of

SEARCHABLE = ("candidate", "active", "superseded", "retired", "quarantined")
"""States whose lessons are in the indexes: all except tombstones."""


def index(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str, with_triggers: bool = True) -> None:
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


def drop(sql: sqlite3.Connection, row: int) -> None:
    """Delete a version's derived rows, and its vectors."""
    _drop_search_rows(sql, row)
    sql.execute("DELETE FROM vectors WHERE lesson = ?", (row,))


def reindex(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str) -> None:
    """Write a current version's derived rows anew; its vectors stay."""
    _drop_search_rows(sql, row)
    index(sql, row, lesson, owner)


def rebuild(sql: sqlite3.Connection) -> None:
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
        index(sql, row, lesson, owner, with_triggers)


def _drop_search_rows(sql: sqlite3.Connection, row: int, with_triggers: bool = True) -> None:
    for table in ("anchors", "tokens", *(("triggers",) if with_triggers else ())):
        sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (row,))
    sql.execute("DELETE FROM lesson_text WHERE rowid = ?", (row,))


def _token_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, int, float]]:
    """Return (token, owner, lesson, code of the source) of each exact token, and of the session."""
    codes = {token: SOURCE_CODES[source] for token, source in lesson_tokens(lesson).items()}
    session = lesson.provenance.session and SESSION_PREFIX + lesson.provenance.session
    if session:
        codes = {session: 0.0, **codes}
    return [(token, owner, row, code) for token, code in list(codes.items())[:TOKEN_LIMIT]]


def _anchor_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, int, str, int]]:
    for path in anchored_files(lesson):
        yield path, owner, row, path.rpartition("/")[0], 0
    for glob in lesson.globs:
        yield glob, owner, row, "", 1


def _trigger_rows(row: int, lesson: Lesson, owner: str) -> Iterator[tuple[str, str, str, int, str]]:
    """Yield (kind, key, owner, lesson, value) of each trigger, and of each occasion, which the whole lesson implies."""
    when = triggers_of(lesson)
    for literal in map(clean, when.literals):
        yield "literal", key_of(literal), owner, row, literal
    for command in map(clean, when.commands):
        yield "command", command.partition(" ")[0], owner, row, command
    for glob in map(clean, (*when.paths, *lesson.globs)):
        yield "path", "", owner, row, glob
    for symbol in map(clean, when.symbols):
        yield "symbol", last_part(symbol), owner, row, symbol
    for work in when.work:
        yield "work", clean(work), owner, row, ""
    for occasion in occasions(lesson):
        yield "occasion", clean(occasion), owner, row, ""
