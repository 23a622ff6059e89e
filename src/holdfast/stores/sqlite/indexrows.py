"""The rows of an index file: what each call writes within its transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.symbol import Outline, Symbol
from holdfast.lean.plain import field_names
from holdfast.ports.indexstore import FileState
from holdfast.stores.sqlite.rows import clean, slots

RULES, UPTO, VERDICT = "rules", "pairs:", "verdict:"
"""Keys of the table `marks`; a relation or a verdict's own key follows the last two."""
VERDICTS_KEPT = 20_000
PRUNE_EVERY = 1_024
SPARE_OUTLINES = 4_000
"""Outlines kept though no path has their blob now: for the branch that is checked out next, for an undone edit."""

ASKED_AT_ONCE = 500
"""Blobs looked up in one statement."""

_COLUMNS = ", ".join(name for name in field_names(Symbol) if name != "path")


def last_name(name: str) -> str:
    """Return the unqualified name of a definition: `put` for `Store.put#2`."""
    return name.partition("#")[0].rpartition(".")[2]


def root_id(sql: sqlite3.Connection, root: str, make: bool = True) -> int:
    """Return the number of a work tree's root; 0 for an unknown root if `make` is false."""
    row = sql.execute("SELECT id FROM roots WHERE root = ?", (clean(root),)).fetchone()
    if row is None and make:
        return sql.execute("INSERT INTO roots (root) VALUES (?)", (clean(root),)).lastrowid or 0
    return int(row[0]) if row else 0


def outline_ids(sql: sqlite3.Connection, blobs: Sequence[str]) -> dict[str, int]:
    """Return the outline's id for each of the blobs that has one."""
    ids: dict[str, int] = {}
    for start in range(0, len(blobs), ASKED_AT_ONCE):
        some = blobs[start : start + ASKED_AT_ONCE]
        ids.update(sql.execute(f"SELECT blob, id FROM outlines WHERE blob IN ({slots(len(some))})", some))
    return ids


def put_outlines(sql: sqlite3.Connection, outlines: Sequence[Outline]) -> None:
    """Write the outlines of blobs that have none yet."""
    known = outline_ids(sql, [outline.blob for outline in outlines])
    for outline in outlines:
        if outline.blob in known:
            continue
        number = sql.execute(
            "INSERT INTO outlines (blob, language, note) VALUES (?, ?, ?)",
            (outline.blob, outline.language, clean(outline.note)),
        ).lastrowid
        known[outline.blob] = number or 0
        sql.executemany(_INSERT_SYMBOL, _symbol_rows(known[outline.blob], outline))


_INSERT_SYMBOL = f"INSERT INTO symbols (outline, ordinal, last_name, {_COLUMNS}) VALUES ({slots(13)})"


def _symbol_rows(number: int, outline: Outline) -> Iterator[tuple[Any, ...]]:
    for ordinal, symbol in enumerate(outline.symbols):
        name = clean(symbol.name)
        yield (
            number, ordinal, last_name(name), name, symbol.kind, symbol.start_line, symbol.end_line, symbol.start_byte,
            symbol.end_byte, clean(symbol.signature), symbol.signature_hash, symbol.body_hash, symbol.tokens,
        )  # fmt: skip


def put_files(sql: sqlite3.Connection, root: int, states: Mapping[str, FileState]) -> None:
    """Write the current blob of each path; a path whose blob has no outline is left out."""
    ids = outline_ids(sql, list({state.blob for state in states.values()}))
    had = _outlines_of(sql, root, list(states))
    changed = {path: state for path, state in states.items() if state.blob in ids}
    sql.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
        [(root, clean(path), ids[state.blob], state.size, state.mtime_ns) for path, state in changed.items()],
    )
    if any(had.get(path, ids[state.blob]) != ids[state.blob] for path, state in changed.items()):
        _sweep_spare(sql)


def _outlines_of(sql: sqlite3.Connection, root: int, paths: Sequence[str]) -> dict[str, int]:
    outlines: dict[str, int] = {}
    for path in paths:
        row = sql.execute("SELECT outline FROM files WHERE root = ? AND path = ?", (root, clean(path))).fetchone()
        if row:
            (outlines[path],) = row
    return outlines


def sweep(sql: sqlite3.Connection, outlines: set[int]) -> None:
    """Delete those of the outlines that no path uses."""
    for number in outlines:
        if sql.execute("SELECT 1 FROM files WHERE outline = ? LIMIT 1", (number,)).fetchone() is None:
            for table, key in (("symbols", "outline"), ("outlines", "id")):
                sql.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))


def _sweep_spare(sql: sqlite3.Connection) -> None:
    """Delete the oldest outlines that no path uses, when there are many."""
    outlines, used = sql.execute("SELECT (SELECT count(*) FROM outlines), (SELECT count(*) FROM files)").fetchone()
    if outlines > used + SPARE_OUTLINES:
        spare = (
            "SELECT id FROM outlines o WHERE NOT EXISTS (SELECT 1 FROM files WHERE outline = o.id) ORDER BY id LIMIT ?"
        )
        sweep(sql, {number for (number,) in sql.execute(spare, (SPARE_OUTLINES // 2,))})


def add_pairs(sql: sqlite3.Connection, relation: str, pairs: Mapping[tuple[str, str], float]) -> None:
    """Add the weights to the stored ones."""
    sql.executemany(
        "INSERT INTO pairs VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET weight = weight + excluded.weight",
        ((relation, clean(path), clean(other), weight) for (path, other), weight in pairs.items()),
    )


def read_value(sql: sqlite3.Connection, key: str) -> str:
    """Return the value stored under that key; empty if there is none."""
    row = sql.execute("SELECT value FROM marks WHERE key = ?", (key,)).fetchone()
    return row[0] if row else ""


def put_value(sql: sqlite3.Connection, key: str, value: str) -> None:
    """Store a value; every PRUNE_EVERY values delete the oldest verdicts."""
    number = sql.execute("INSERT OR REPLACE INTO marks (key, value) VALUES (?, ?)", (key, value)).lastrowid or 0
    if number % PRUNE_EVERY == 0:
        sql.execute(
            "DELETE FROM marks WHERE key >= ?1 AND key < ?2 AND id <="
            " (SELECT id FROM marks WHERE key >= ?1 AND key < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)",
            (VERDICT, VERDICT[:-1] + ";", VERDICTS_KEPT),
        )
