"""The condition for lessons that may answer a query; every index applies it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.query import Query
from holdfast.ports.search import Numbered
from holdfast.stores.sqlite.rows import clean, clean_all, micros, slots

if TYPE_CHECKING:
    import sqlite3

Clause = tuple[str, list[Any]]

LOOKED_UP = 500
"""Lessons looked up in one statement."""


def visible(query: Query) -> Clause:
    """Return SQL on `lessons l` for the lessons that may answer the query.

    They are current, true at its time, within its scope, states, kinds and prefix, visible on its branch, and not
    excluded.
    """
    clauses = ["l.retracted_at IS NULL", f"l.state IN ({slots(len(query.states))})"]
    args: list[Any] = list(query.states)
    if not query.all_projects:
        clauses.append("l.owner IN ('', ?)")
        args.append(clean(query.project))
    if query.at is not None:
        # A lesson recorded by a clock ahead of ours holds from its recording on.
        clauses.append("(l.valid_to IS NULL OR l.valid_to > ? OR l.state IN ('superseded', 'retired'))")
        clauses.append("(l.valid_from <= ? OR l.valid_from <= l.recorded_at)")
        args += [micros(query.at)] * 2
    if query.kinds:
        clauses.append(f"l.kind IN ({slots(len(query.kinds))})")
        args += query.kinds
    if query.exclude:
        clauses.append(f"l.id NOT IN ({slots(len(query.exclude))})")
        args += clean_all(query.exclude)
    if query.staged is not None:
        clauses.append(f"(l.branch = '' OR l.owner <> ? OR l.id IN ({slots(len(query.staged))}))")
        args += [clean(query.project), *clean_all(query.staged)]
    if query.prefix:
        clauses.append(
            "(l.path_prefix = '' OR l.owner <> ? OR instr(? || '/', l.path_prefix || '/') = 1"
            " OR instr(l.path_prefix || '/', ? || '/') = 1)"
        )
        args += [clean(query.project), clean(query.prefix), clean(query.prefix)]
    return " AND ".join(clauses), args


def owners(query: Query) -> Clause:
    """Return SQL on a derived table for: of the query's project or of the user."""
    return ("", []) if query.all_projects else (" AND owner IN ('', ?)", [clean(query.project)])


def first_visible(sql: sqlite3.Connection, rows: Sequence[int], seen: Clause, limit: int) -> list[Numbered]:
    """Return rows and ids of the first `limit` of these lessons that satisfy `seen`, in order."""
    clause, args = seen
    numbered: list[Numbered] = []
    start, size = 0, min(limit + 20, LOOKED_UP)  # most lessons are visible, so a second query is rarely needed
    while start < len(rows) and len(numbered) < limit:
        some = rows[start : start + size]
        start, size = start + size, LOOKED_UP
        # NOT INDEXED: otherwise SQLite walks a whole index of owners and states instead of looking up the rows.
        looked_up = sql.execute(
            f"SELECT l.row, l.id FROM lessons l NOT INDEXED WHERE l.row IN ({slots(len(some))}) AND {clause}",
            (*some, *args),
        )
        ids = dict(looked_up.fetchall())
        numbered += [(row, ids[row]) for row in some if row in ids]
    return numbered[:limit]
