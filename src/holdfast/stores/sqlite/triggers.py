"""Triggers of current lessons, stored under look-up keys, so that a hook reads only those that can match.

A literal is stored under its longest word and found by the words of the code; a command is stored under its program; a
symbol under its last part. `derived` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.search import TriggerKind, TriggerMatch
from holdfast.stores.sqlite.rows import clean, clean_all, slots
from holdfast.stores.sqlite.visible import first_visible, owners, visible
from holdfast.text.globs import glob_matches
from holdfast.text.shell import command_lines
from holdfast.text.triggermatch import acts_in, begins, last_part, stands_in, words_of

if TYPE_CHECKING:
    import sqlite3

CODE_LIMIT, WORDS_LIMIT = 200_000, 4_000
"""Characters of code that are looked through, and different words of it that are looked up."""
SLICE = 500
"""Words that are looked up with one question."""


def match_triggers(sql: sqlite3.Connection, query: Query, limit: int) -> list[TriggerMatch]:
    """Return the lessons with a trigger that matches the code, the command, the files or the symbols in play."""
    code = clean(query.code)[:CODE_LIMIT]
    commands = command_lines(clean(query.command))
    acts = [act for command in commands for act in acts_in(command)]
    programs = list(dict.fromkeys((*(command.partition(" ")[0] for command in commands), *acts)))
    paths = clean_all(query.paths)
    symbols = list(dict.fromkeys(map(last_part, clean_all(query.symbols))))
    keys = ["", *words_of(code)[:WORDS_LIMIT]] if code else []
    rows: dict[TriggerKind, set[int]] = {
        "literal": {row for row, literal in _under(sql, query, "literal", keys) if stands_in(literal, code)},
        "command": {
            row
            for row, beginning in _under(sql, query, "command", programs)
            if any(begins(command, beginning) for command in commands)
        },
        "path": {
            row
            for row, glob in _under(sql, query, "path", [""] if paths else [])
            if any(glob_matches(glob, path) for path in paths)
        },
        "symbol": {row for row, _ in _under(sql, query, "symbol", symbols)},
    }
    seen = visible(query)
    matches = (
        TriggerMatch(kind=kind, lessons=tuple(first_visible(sql, sorted(fitting, reverse=True), seen, limit)))
        for kind, fitting in rows.items()
    )
    return [match for match in matches if match.lessons]


def match_occasions(sql: sqlite3.Connection, query: Query, limit: int) -> list[LessonId]:
    """Return the lessons of one of the occasions, oldest first."""
    rows = sorted({row for row, _ in _under(sql, query, "occasion", clean_all(query.occasions))})
    return [id_ for _, id_ in first_visible(sql, rows, visible(query), limit)]


def _under(sql: sqlite3.Connection, query: Query, kind: str, keys: Sequence[str]) -> Iterable[tuple[int, str]]:
    """Yield row and value of the triggers of that kind under one of the keys."""
    owner, args = owners(query)
    for start in range(0, len(keys), SLICE):
        some = keys[start : start + SLICE]
        where = f"kind = ? AND key IN ({slots(len(some))}){owner}"
        yield from sql.execute(f"SELECT lesson, value FROM triggers WHERE {where}", (kind, *some, *args)).fetchall()
