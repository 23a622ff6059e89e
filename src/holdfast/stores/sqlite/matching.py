"""Matches by tokens, paths, symbols, links and triggers, and the newest and pinned lessons (see `ports.store`).

Each function applies the query's scope, states, kinds and exclusions in its SQL. It checks whether a lesson is visible
only as far as needed, because in a large store that costs more than finding it. Full text and vectors have
modules of their own. Triggers are stored under look-up keys, so that a hook reads only those that can match: a literal
under its longest word, a command under its program, a symbol under its last part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import (
    MOST_ALIKE,
    LinkedMatch,
    NameRelation,
    Numbered,
    PathMatch,
    PathRelation,
    PinnedMatch,
    RecentMatch,
    SymbolMatch,
    TokenMatch,
    TokenSource,
    TriggerKind,
    TriggerMatch,
)
from holdfast.stores.sqlite.rows import SOURCE_CODES, clean, clean_all, instant, micros, slots
from holdfast.text.globs import glob_matches
from holdfast.text.searchkeys import LINKED_LIMIT, asked_names, asked_tokens, folders_above, related_names
from holdfast.text.shell import command_lines
from holdfast.text.triggers import acts_in, begins, last_part, stands_in, words_of

Clause = tuple[str, list[Any]]

LOOKED_UP = 500
"""Lessons looked up in one statement."""

BESIDE = 500
"""Fewest lessons of a folder that are looked at: the newest."""
SOURCES_BY_CODE: dict[float, TokenSource] = {code: source for source, code in SOURCE_CODES.items()}
"""Where several sources have one code, the last of them; see `_source_of`."""
CODE_LIMIT, WORDS_LIMIT = 200_000, 4_000
"""Characters of code that are looked through, and different words of it that are looked up."""
SLICE = 500
"""Words that are looked up with one question."""


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


def match_tokens(sql: sqlite3.Connection, query: Query) -> list[TokenMatch]:
    """Return the lessons that have an exact token of the query, by token."""
    owner, args = owners(query)
    sharing: dict[str, int] = {}
    rows_by_match: dict[tuple[str, TokenSource], list[int]] = {}
    for token in clean_all(asked_tokens(query)):
        rows = sql.execute(f"SELECT lesson, weight FROM tokens WHERE token = ?{owner}", (token, *args)).fetchall()
        sharing[token] = len(rows)
        for row, code in sorted(rows, reverse=True)[:MOST_ALIKE]:
            if code:
                rows_by_match.setdefault((token, _source_of(token, code)), []).append(row)
    ids = _visible_ids(sql, query, rows_by_match.values())
    matches = (
        TokenMatch(token=token, source=source, sharing=sharing[token], lessons=_numbered(rows, ids))
        for (token, source), rows in rows_by_match.items()
    )
    return [match for match in matches if match.lessons]


def _source_of(token: str, code: float) -> TokenSource:
    if code == SOURCE_CODES["error"]:
        return "error" if token.startswith("error ") else "command" if token.startswith("run ") else "topic"
    return SOURCES_BY_CODE[code]


def match_paths(sql: sqlite3.Connection, query: Query, limit: int) -> Iterator[PathMatch]:
    """Yield the lessons anchored to the query's paths, to matching globs, to folders above them, and beside them."""
    owner, args = owners(query)
    anchored = f"SELECT lesson FROM anchors WHERE path = ?{owner} ORDER BY lesson DESC"
    beside = f"SELECT lesson FROM anchors WHERE folder = ? AND is_glob = 0{owner} ORDER BY lesson DESC LIMIT ?"
    globs = [glob for (glob,) in sql.execute(f"SELECT DISTINCT path FROM anchors WHERE is_glob = 1{owner}", args)]
    seen = visible(query)
    for path in clean_all(query.paths):
        folders = folders_above(path)
        rungs: list[tuple[PathRelation, int, str, tuple[str | int, ...]]] = [
            ("file", 0, anchored, (path, *args)),
            *(("glob", 0, anchored, (glob, *args)) for glob in globs if glob_matches(glob, path)),
            *(("folder", level, anchored, (folder, *args)) for level, folder in enumerate(folders)),
            *(
                ("beside", level, beside, (folder, *args, max(BESIDE, 2 * limit)))
                for level, folder in enumerate(folders or [""])
            ),
        ]
        for relation, levels, statement, values in rungs:
            rows = list(dict.fromkeys(row for (row,) in sql.execute(statement, values)))
            lessons = tuple(first_visible(sql, rows, seen, limit))
            if lessons:
                yield PathMatch(path=path, relation=relation, levels=levels, lessons=lessons)


def match_symbols(sql: sqlite3.Connection, query: Query, limit: int) -> Iterator[SymbolMatch]:
    """Yield the lessons of the query's paths that have names related to its symbols."""
    paths = clean_all(query.paths)
    names = clean_all(asked_names(query.symbols))
    related: dict[str, set[tuple[NameRelation, int]]] = {name: {("same", 0)} for name in names}
    if paths:
        related = related_names(names)
    rows_by_match: dict[tuple[str, NameRelation, int, bool], list[int]] = {}
    for token, row, code in _named(sql, query, f"token IN ({slots(len(related))})", list(related), paths):
        for relation, levels in related[token]:
            is_anchor = code >= SOURCE_CODES["symbol"]
            rows_by_match.setdefault((token, relation, levels, is_anchor), []).append(row)
    for name in names if paths else ():
        for token, row, code in _named(sql, query, "token > ? AND token < ?", [name + ".", name + "/"], paths):
            if code >= SOURCE_CODES["symbol"]:
                rows_by_match.setdefault((token, "inside", 0, True), []).append(row)
    newest = {match: sorted(rows, reverse=True)[:MOST_ALIKE] for match, rows in rows_by_match.items()}
    ids = _visible_ids(sql, query, newest.values())
    for (token, relation, levels, is_anchor), rows in newest.items():
        lessons = _numbered(rows, ids)[:limit]
        if lessons:
            yield SymbolMatch(name=token, relation=relation, levels=levels, is_anchor=is_anchor, lessons=lessons)


def _named(
    sql: sqlite3.Connection, query: Query, which: str, names: Sequence[str], paths: Sequence[str]
) -> list[tuple[str, int, float]]:
    """Return token, row and code of lessons with such names, limited to the query's paths if it has any."""
    owner, args = owners(query)
    where, least = f"{which}{owner} AND weight >= ?", SOURCE_CODES["part" if paths else "symbol"]
    if paths:
        where += (
            " AND EXISTS (SELECT 1 FROM anchors a WHERE a.lesson = tokens.lesson AND a.owner = tokens.owner"
            f" AND a.path IN ({slots(len(paths))}))"
        )
    rows = sql.execute(f"SELECT token, lesson, weight FROM tokens WHERE {where}", (*names, *args, least, *paths))
    return rows.fetchall()


def match_linked(sql: sqlite3.Connection, query: Query, limit: int) -> list[LinkedMatch]:
    """Return the lessons anchored to the query's linked files, and to its own files."""
    owner, args = owners(query)
    asked_paths = {
        clean(path): path for path in (*(neighbour.path for neighbour in query.linked[:LINKED_LIMIT]), *query.paths)
    }
    where = f"path IN ({slots(len(asked_paths))}) AND is_glob = 0{owner}"
    rows_by_path: dict[str, list[int]] = {}
    rows = sql.execute(f"SELECT path, lesson FROM anchors WHERE {where} ORDER BY lesson DESC", (*asked_paths, *args))
    for path, row in rows:
        rows_by_path.setdefault(path, []).append(row)
    ids = _visible_ids(sql, query, rows_by_path.values())
    matches = (
        LinkedMatch(path=asked_paths[path], lessons=_numbered(rows, ids)[:limit]) for path, rows in rows_by_path.items()
    )
    return [match for match in matches if match.lessons]


def list_recent(sql: sqlite3.Connection, query: Query, limit: int) -> list[RecentMatch]:
    """Return the newest lessons, within the time that the query names."""
    seen, args = visible(query)
    if query.since is not None:
        seen, args = f"{seen} AND l.valid_from >= ?", [*args, micros(query.since)]
    if query.until is not None:
        seen, args = f"{seen} AND l.valid_from < ?", [*args, micros(query.until)]
    rows = sql.execute(
        f"SELECT l.id, l.recorded_at FROM lessons l WHERE {seen} ORDER BY l.recorded_at DESC, l.row DESC LIMIT ?",
        (*args, limit),
    )
    return [RecentMatch(id=id_, recorded_at=instant(at)) for id_, at in rows]


def list_pinned(sql: sqlite3.Connection, query: Query, limit: int) -> list[PinnedMatch]:
    """Return the most salient pinned lessons."""
    if not query.states:
        return []  # without a state SQLite cannot use the index and raises
    seen, args = visible(query)
    rows = sql.execute(
        f"SELECT l.id, l.salience FROM lessons l INDEXED BY lessons_pinned WHERE l.pinned = 1 AND {seen}"
        " ORDER BY l.salience DESC, l.recorded_at DESC, l.row DESC LIMIT ?",
        (*args, limit),
    )
    return [PinnedMatch(id=id_, salience=salience) for id_, salience in rows]


def count_matching(sql: sqlite3.Connection, query: Query, most: int) -> int:
    """Count the current lessons of the query's scope and states; stop at `most`."""
    where, args = f"retracted_at IS NULL AND state IN ({slots(len(query.states))})", [*map(str, query.states)]
    if not query.all_projects:
        where, args = f"owner IN ('', ?) AND {where}", [clean(query.project), *args]
    counting = f"SELECT count(*) FROM (SELECT 1 FROM lessons WHERE {where} LIMIT ?)"
    (number,) = sql.execute(counting, (*args, most)).fetchone()
    return int(number)


def _visible_ids(sql: sqlite3.Connection, query: Query, groups: Iterable[Sequence[int]]) -> dict[int, LessonId]:
    """Return the ids of those rows that are visible to the query."""
    rows = list(dict.fromkeys(row for group in groups for row in group))
    return dict(first_visible(sql, rows, visible(query), len(rows))) if rows else {}


def _numbered(rows: Sequence[int], ids: dict[int, LessonId]) -> tuple[Numbered, ...]:
    return tuple((row, ids[row]) for row in rows if row in ids)


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
