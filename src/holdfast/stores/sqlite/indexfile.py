"""`SqliteIndex`: the IndexStore port on one SQLite file a project, separate from the memory.

Each call is one transaction. Everything here can be rebuilt from the work tree, so a damaged file is moved aside and
started anew instead of raising; `tell` receives a message about it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from holdfast.domain.symbol import Outline, Symbol
from holdfast.errors import InvalidValueError, StoreCorruptError
from holdfast.lean.plain import field_names
from holdfast.ports.codeindex import FileState
from holdfast.stores.sqlite.connection import Connection
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

_INSERT_SYMBOL = f"INSERT INTO symbols (outline, ordinal, last_name, {_COLUMNS}) VALUES ({slots(13)})"
T = TypeVar("T")
_FIND = "SELECT f.path, " + ", ".join(f"s.{name}" for name in field_names(Symbol) if name != "path")
_WHERE = {
    "path": "f.path = ?",
    "name": "s.last_name = ? AND s.name = ?",
    "last_name": "s.last_name = ?",
    "body_hash": "s.body_hash = ?",
    "signature_hash": "s.signature_hash = ?",
}


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


class IndexConnection(Connection):
    """A connection to an index file."""

    schema = 2
    migrations = "index_migrations"
    text_factory = str


def make_index(options: Mapping[str, str], tell: Callable[[str], None] | None = None) -> SqliteIndex:
    """Return an index, not opened yet, in the file `path`; `timeout_s` (default 30) limits waiting for other processes.

    `tell` is called when a damaged file was moved aside. Raises InvalidValueError for a path that is not absolute.
    """
    path = options.get("path", "")
    if not os.path.isabs(path):
        raise InvalidValueError(f"an index needs an absolute path, not {path!r}", hint="options: path, timeout_s")
    try:
        timeout_s = float(options.get("timeout_s", "30"))
    except ValueError as exc:
        raise InvalidValueError(f"timeout_s is not a number: {options['timeout_s']!r}") from exc
    return SqliteIndex(path, timeout_s, tell)


class SqliteIndex:
    """See `ports.codeindex.IndexStore` for the contract of each method. Safe to share between threads."""

    def __init__(self, path: str, timeout_s: float = 30.0, tell: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._connection = IndexConnection(path, timeout_s)
        self._tell = tell
        self._inode = 0

    def __enter__(self) -> Self:
        try:
            self._open()
        except StoreCorruptError as exc:
            self._rebuild(exc)
        return self

    def __exit__(self, *exc: object) -> None:
        self._connection.close()

    def files(self, root: str) -> dict[str, FileState]:
        query = (
            "SELECT f.path, o.blob, f.size, f.mtime_ns FROM files f JOIN outlines o ON o.id = f.outline WHERE f.root ="
            " (SELECT id FROM roots WHERE root = ?)"
        )
        rows = self._read(lambda sql: sql.execute(query, (clean(root),)).fetchall())
        return {path: FileState(blob=blob, size=size, mtime_ns=mtime) for path, blob, size, mtime in rows}

    def outlined(self, blobs: Sequence[str]) -> set[str]:
        return self._read(lambda sql: set(outline_ids(sql, blobs)))

    def put(self, root: str, outlines: Sequence[Outline], states: Mapping[str, FileState]) -> None:
        def write(sql: sqlite3.Connection) -> None:
            put_outlines(sql, outlines)
            put_files(sql, root_id(sql, root), states)

        self._write(write)

    def drop(self, root: str, paths: Sequence[str]) -> None:
        def write(sql: sqlite3.Connection) -> None:
            number = root_id(sql, root)
            gone = [clean(path) for path in paths]
            outline_ids: set[int] = set()
            for path in gone:
                outline_ids.update(outline_id for (outline_id,) in sql.execute(
                    "DELETE FROM files WHERE root = ? AND path = ? RETURNING outline", (number, path)
                ))  # fmt: skip
            sweep(sql, outline_ids)

        self._write(write)

    def rules(self) -> str:
        return self._value(RULES)

    def clear(self, rules: str) -> None:
        def write(sql: sqlite3.Connection) -> None:
            for table in ("symbols", "outlines", "files", "roots", "pairs", "marks"):
                sql.execute(f"DELETE FROM {table}")
            put_value(sql, RULES, clean(rules))

        self._write(write)

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        if by not in _WHERE:
            raise InvalidValueError(f"symbols cannot be found by {by!r}", hint=f"one of {', '.join(_WHERE)}")
        value = clean(value)
        values = (last_name(value), value) if by == "name" else (value,)
        start = "files f JOIN symbols s" if by == "path" else "symbols s CROSS JOIN files f"
        query = (
            f"{_FIND} FROM {start} ON s.outline = f.outline WHERE {_WHERE[by]}"
            " AND f.root = (SELECT id FROM roots WHERE root = ?) ORDER BY f.path, s.ordinal"
        )
        rows = self._read(lambda sql: sql.execute(query, (*values, clean(root))).fetchall())
        return [Symbol(**dict(zip(field_names(Symbol), row, strict=True))) for row in rows]

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        def write(sql: sqlite3.Connection) -> None:
            sql.execute("DELETE FROM pairs WHERE relation = ?", (relation,))
            add_pairs(sql, relation, pairs)
            put_value(sql, UPTO + relation, upto)

        self._write(write)

    def add_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str) -> bool:
        def write(sql: sqlite3.Connection) -> bool:
            if read_value(sql, UPTO + relation) != since:
                return False
            add_pairs(sql, relation, pairs)
            put_value(sql, UPTO + relation, upto)
            return True

        return self._write(write)

    def pairs_upto(self, relation: str) -> str:
        return self._value(UPTO + relation)

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        query = (
            "SELECT file, sum(weight) AS w FROM ("
            "SELECT other AS file, weight FROM pairs WHERE relation = ?1 AND path = ?2 UNION ALL "
            "SELECT path, weight FROM pairs WHERE relation = ?1 AND other = ?2 AND path <> ?2"
            ") GROUP BY file ORDER BY w DESC, file"
        )
        return self._read(lambda sql: sql.execute(query, (relation, clean(path))).fetchall())

    def verdict(self, key: str) -> str:
        return self._value(VERDICT + clean(key))

    def keep_verdict(self, key: str, verdict: str) -> None:
        if self.verdict(key) != clean(verdict):
            self._write(lambda sql: put_value(sql, VERDICT + clean(key), clean(verdict)))

    def _value(self, key: str) -> str:
        return self._read(lambda sql: read_value(sql, key))

    def _open(self) -> None:
        self._connection.open()
        self._inode = os.stat(self.path).st_ino

    def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        return self._again(ask, self._connection.reading)

    def _write(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        return self._again(ask, self._connection.writing)

    def _again(self, ask: Callable[[sqlite3.Connection], T], turn: Callable[[], Any]) -> T:
        """Return the answer of `ask`; if the file turns out to be damaged, ask a new, empty file."""
        try:
            with turn() as sql:
                return ask(sql)
        except StoreCorruptError as exc:
            self._rebuild(exc)
        with turn() as sql:
            return ask(sql)

    def _rebuild(self, why: StoreCorruptError) -> None:
        """Move the file aside, unless another process has done so, and start a new one."""
        self._connection.close()
        self._connection.lock()
        try:
            ours = not self._inode or _inode(self.path) == self._inode
            if ours:
                os.replace(self.path, self.path + ".corrupt")
                for rest in ("-wal", "-shm"):
                    if os.path.exists(self.path + rest):
                        os.unlink(self.path + rest)
        finally:
            self._connection.unlock()
        self._open()
        if ours and self._tell is not None:
            self._tell(f"code index moved aside to {self.path}.corrupt, and a new one started: {why}")


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
