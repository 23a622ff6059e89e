"""Matches by tokens, paths, symbols, links and triggers, and the newest and pinned lessons (see `ports.store`).

The functions answer as those of the SQLite store do, with fewer statements: what is looked up together is asked for
together. Every table of a statement is bound to the organisation, so that one partition is read.

A question about the past reads the rows of every version, and keeps those of the versions that were known and true then
(`derived`, `then`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.plain import clean
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
from holdfast.stores._shared.rows import clean_all, instant, micros
from holdfast.stores.postgresql.rows import SOURCE_CODES, key, keys, scope_number
from holdfast.stores.postgresql.tenant import Sql
from holdfast.text.globs import glob_matches
from holdfast.text.searchkeys import LINKED_LIMIT, asked_names, asked_tokens, folders_above, related_names
from holdfast.text.shell import command_lines
from holdfast.text.triggers import acts_in, begins, last_part, stands_in, words_of

Clause = tuple[str, list[Any]]
"""SQL with `%s`, and its arguments."""

LOOKED_UP = 500
"""Lessons looked up in one statement."""
MANY = 1_000
"""Lessons from which their number is not counted for each question."""
BESIDE = 500
"""Fewest lessons of a folder that are looked at: the newest."""
CODE_LIMIT, WORDS_LIMIT = 200_000, 4_000
"""Characters of code that are looked through, and different words of it that are looked up."""
SOURCES_BY_CODE: dict[int, TokenSource] = {code: source for source, code in SOURCE_CODES.items()}
CLOSED = ["superseded", "retired", "forgotten"]
"""States that end a lesson's validity; a query for them must find lessons whose validity is over."""


def owners_of(query: Query) -> list[str]:
    """Return the owners whose lessons a query sees: its project, and nobody (of the user, or of the organisation)."""
    return list(dict.fromkeys(("", key(query.project))))


def visible(query: Query) -> Clause:
    """Return SQL on `lessons l` for the lessons that may answer the query.

    They are current, or known and true then, within its scope, states, kinds and prefix, visible on its branch, and not
    excluded.
    """
    known, args = then(query, "l")
    clauses = [known, "l.state = ANY(%s)"]
    args.append(list(query.states))

    def also(clause: str, *values: Any) -> None:
        clauses.append(clause)
        args.extend(values)

    if not query.all_projects:
        also("l.owner = ANY(%s)", owners_of(query))
    if query.at is not None:
        # A lesson recorded by a clock ahead of ours holds from its recording on.
        at = micros(query.at)
        also("(l.valid_to IS NULL OR l.valid_to > %s OR l.state IN ('superseded', 'retired'))", at)
        also("(l.valid_from <= %s OR l.valid_from <= l.recorded_at)", at)
    if query.kinds:
        also("l.kind = ANY(%s)", list(query.kinds))
    if query.exclude:
        also("l.id <> ALL(%s)", keys(query.exclude))
    if query.staged is not None:
        also("(l.branch = '' OR l.owner <> %s OR l.id = ANY(%s))", key(query.project), keys(query.staged))
    if query.prefix:
        also(
            "(l.path_prefix = '' OR l.owner <> %s OR strpos(%s || '/', l.path_prefix || '/') = 1"
            " OR strpos(l.path_prefix || '/', %s || '/') = 1)",
            key(query.project), *[key(query.prefix)] * 2,
        )  # fmt: skip
    return " AND ".join(clauses), args


def then(query: Query, alias: str) -> Clause:
    """Return SQL on `lessons` for the versions that are current, or that were known and true at the query's instant."""
    if query.as_of is None:
        return f"{alias}.retracted_at IS NULL", []
    at = micros(query.as_of)
    return (
        f"{alias}.recorded_at <= %s AND ({alias}.retracted_at IS NULL OR {alias}.retracted_at > %s)"
        f" AND ({alias}.state = ANY(%s)"
        f" OR ({alias}.valid_from <= %s AND ({alias}.valid_to IS NULL OR {alias}.valid_to > %s)))",
        [at, at, CLOSED, at, at],
    )


def derived(sql: Sql, table: str, query: Query, in_scope: bool = True) -> Clause:
    """Return SQL from `FROM` on for the rows `d` of a derived table that stand for the versions of the query's time.

    `in_scope` limits them to the query's owners. Further conditions follow with AND.
    """
    scope, scopes = ("", []) if query.all_projects or not in_scope else (" AND d.scope = ANY(%s)", [scopes_of(query)])
    if query.as_of is None:
        return f" FROM {table} d WHERE d.org = %s AND d.live{scope}", [sql.org, *scopes]
    known, args = then(query, "v")
    if not query.all_projects:
        known, args = f"{known} AND v.owner = ANY(%s)", [*args, owners_of(query)]
    return (
        f" FROM {table} d JOIN lessons v ON v.org = %s AND v.row = d.lesson AND {known}"
        f" WHERE d.org = %s AND d.live = ANY('{{t,f}}'){scope}",
        [sql.org, *args, sql.org, *scopes],
    )


def scopes_of(query: Query) -> list[int]:
    """Return the numbers of the query's owners in derived rows."""
    return list(map(scope_number, owners_of(query)))


def first_visible(sql: Sql, rows: Sequence[int], seen: Clause, limit: int) -> list[Numbered]:
    """Return rows and ids of the first `limit` of these versions that satisfy `seen`, in order."""
    clause, args = seen
    numbered: list[Numbered] = []
    start, size = 0, min(limit + 20, LOOKED_UP)  # most lessons are visible, so a second query is rarely needed
    while start < len(rows) and len(numbered) < limit:
        some = list(rows[start : start + size])
        start, size = start + size, LOOKED_UP
        looked_up = sql.execute(
            f"SELECT l.row, l.id FROM lessons l WHERE l.org = %s AND l.row = ANY(%s) AND {clause}",
            (sql.org, some, *args),
        )
        ids = {row: LessonId(id_) for row, id_ in looked_up}
        numbered += [(row, ids[row]) for row in some if row in ids]
    return numbered[:limit]


def match_tokens(sql: Sql, query: Query) -> list[TokenMatch]:
    """Return the lessons that have an exact token of the query, by token."""
    tokens = keys(asked_tokens(query))
    if not tokens:
        return []
    source, source_args = derived(sql, "tokens", query)
    seen, seen_args = visible(query)
    rows = sql.execute(
        "SELECT t.token, t.sharing, t.source, t.lesson, l.id FROM ("
        " SELECT d.token, d.source, d.lesson, count(*) OVER (PARTITION BY d.token) AS sharing,"
        f" row_number() OVER (PARTITION BY d.token ORDER BY d.lesson DESC) AS place{source} AND d.token = ANY(%s)"
        f") t JOIN lessons l ON l.org = %s AND l.row = t.lesson AND {seen}"
        " WHERE t.place <= %s AND t.source > 0 ORDER BY t.lesson DESC",
        (*source_args, tokens, sql.org, *seen_args, MOST_ALIKE),
    ).fetchall()
    sharing = {token: count for token, count, *_ in rows}
    by_match: dict[tuple[str, int], list[Numbered]] = {}
    for token, _, code, row, id_ in rows:
        by_match.setdefault((token, code), []).append((row, id_))
    order = {token: place for place, token in enumerate(tokens)}
    return [
        TokenMatch(token=token, source=SOURCES_BY_CODE[code], sharing=sharing[token], lessons=tuple(lessons))
        for (token, code), lessons in sorted(by_match.items(), key=lambda item: order[item[0][0]])
    ]


def match_paths(sql: Sql, query: Query, limit: int) -> Iterator[PathMatch]:
    """Yield the lessons anchored to the query's paths, to matching globs, to folders above them, and beside them."""
    paths = clean_all(query.paths)
    if not paths:
        return
    source, args = derived(sql, "anchors", query)
    globs = [glob for (glob,) in sql.execute(f"SELECT DISTINCT d.glob{source} AND d.glob <> ''", args)]
    rungs: list[tuple[str, PathRelation, int, str]] = []
    for path in paths:
        folders = folders_above(path)
        rungs += [
            (path, "file", 0, path),
            *((path, "glob", 0, glob) for glob in globs if glob_matches(glob, path)),
            *((path, "folder", level, folder) for level, folder in enumerate(folders)),
            *((path, "beside", level, folder) for level, folder in enumerate(folders or [""])),
        ]
    anchored = [place for place, (_, relation, _, _) in enumerate(rungs) if relation != "beside"]
    beside = [place for place, (_, relation, _, _) in enumerate(rungs) if relation == "beside"]
    lessons = _at_places(sql, query, "d.path", [rungs[place][3] for place in anchored], limit)
    in_folders = _at_places(
        sql, query, "d.glob = '' AND d.folder", [rungs[place][3] for place in beside], limit, max(BESIDE, 2 * limit)
    )
    by_place = dict(zip(anchored, lessons, strict=True)) | dict(zip(beside, in_folders, strict=True))
    for place, (path, relation, levels, _) in enumerate(rungs):
        if by_place[place]:
            yield PathMatch(path=path, relation=relation, levels=levels, lessons=tuple(by_place[place]))


def _at_places(
    sql: Sql, query: Query, column: str, places: Sequence[str], limit: int, most: int | None = None
) -> list[list[Numbered]]:
    """Return, for each place, the newest `limit` visible lessons whose anchors have it in the column.

    Only the newest `most` anchors of a place are looked at.
    """
    lessons: list[list[Numbered]] = [[] for _ in places]
    if not places:
        return lessons
    source, source_args = derived(sql, "anchors", query)
    seen, seen_args = visible(query)
    rows = sql.execute(
        "SELECT q.number, a.row, a.id FROM unnest(%s::text[]) WITH ORDINALITY q (place, number) CROSS JOIN LATERAL ("
        f"SELECT l.row, l.id FROM (SELECT DISTINCT d.lesson FROM (SELECT d.lesson{source} AND {column} = q.place"
        " ORDER BY d.lesson DESC LIMIT %s) d) c"
        f" JOIN lessons l ON l.org = %s AND l.row = c.lesson AND {seen} ORDER BY l.row DESC LIMIT %s) a"
        " ORDER BY q.number, a.row DESC",
        (keys(places), *source_args, most, sql.org, *seen_args, limit),
    )
    for number, row, id_ in rows:
        lessons[number - 1].append((row, id_))
    return lessons


def match_symbols(sql: Sql, query: Query, limit: int) -> Iterator[SymbolMatch]:
    """Yield the lessons of the query's paths that have names related to its symbols."""
    paths = keys(query.paths)
    names = keys(asked_names(query.symbols))
    if not names:
        return
    related: dict[str, set[tuple[NameRelation, int]]] = {name: {("same", 0)} for name in names}
    if paths:
        related = related_names(names)
    by_match: dict[tuple[str, NameRelation, int, bool], list[Numbered]] = {}
    for token, code, numbered in _named(sql, query, ("d.token = ANY(%s)", [list(related)]), paths):
        for relation, levels in related[token]:
            is_anchor = code <= SOURCE_CODES["symbol"]
            by_match.setdefault((token, relation, levels, is_anchor), []).append(numbered)
    for name in names if paths else ():
        inside: Clause = ("d.token > %s AND d.token < %s", [name + ".", name + "/"])
        for token, code, numbered in _named(sql, query, inside, paths):
            if code <= SOURCE_CODES["symbol"]:
                by_match.setdefault((token, "inside", 0, True), []).append(numbered)
    for (token, relation, levels, is_anchor), lessons in by_match.items():
        yield SymbolMatch(
            name=token, relation=relation, levels=levels, is_anchor=is_anchor, lessons=tuple(lessons[:limit])
        )


def _named(sql: Sql, query: Query, which: Clause, paths: Sequence[str]) -> list[tuple[str, int, Numbered]]:
    """Return token, code of the source and lesson of visible lessons with such names, newest first.

    If the query has paths, only lessons of these.
    """
    source, source_args = derived(sql, "tokens", query)
    seen, seen_args = visible(query)
    codes = [code for code in SOURCES_BY_CODE if code <= SOURCE_CODES["part" if paths else "symbol"]]
    at_paths, path_args = "", []
    if paths:
        at_paths = (
            " AND EXISTS (SELECT 1 FROM anchors a WHERE a.org = %s AND a.live = d.live AND a.scope = d.scope"
            " AND a.lesson = d.lesson AND a.path = ANY(%s))"
        )
        path_args = [sql.org, list(paths)]
    rows = sql.execute(
        f"SELECT t.token, t.source, l.row, l.id FROM (SELECT d.token, d.source, d.lesson{source} AND {which[0]}"
        f" AND d.source = ANY(%s){at_paths}) t JOIN lessons l ON l.org = %s AND l.row = t.lesson AND {seen}"
        " ORDER BY l.row DESC",
        (*source_args, *which[1], codes, *path_args, sql.org, *seen_args),
    )
    return [(token, code, (row, id_)) for token, code, row, id_ in rows]


def match_linked(sql: Sql, query: Query, limit: int) -> list[LinkedMatch]:
    """Return the lessons anchored to the query's linked files, and to its own files."""
    linked = (*(neighbour.path for neighbour in query.linked[:LINKED_LIMIT]), *query.paths)
    paths = list({clean(path): path for path in linked}.values())
    lessons = _at_places(sql, query, "d.glob = '' AND d.path", paths, limit)
    return [
        LinkedMatch(path=path, lessons=tuple(numbered))
        for path, numbered in zip(paths, lessons, strict=True)
        if numbered
    ]


def list_recent(sql: Sql, query: Query, limit: int) -> list[RecentMatch]:
    """Return the newest lessons, within the time that the query names."""
    seen, args = visible(query)
    if query.since is not None:
        seen, args = f"{seen} AND l.valid_from >= %s", [*args, micros(query.since)]
    if query.until is not None:
        seen, args = f"{seen} AND l.valid_from < %s", [*args, micros(query.until)]
    newest = "ORDER BY l.recorded_at DESC, l.row DESC LIMIT %s"
    columns = "l.id, l.recorded_at, l.row"
    if query.all_projects:
        statement = f"SELECT {columns} FROM lessons l WHERE l.org = %s AND {seen} {newest}"
        rows = sql.execute(statement, (sql.org, *args, limit)).fetchall()
    else:  # by owner: an index has each owner's lessons in this order
        rows = sql.execute(
            f"SELECT l.* FROM unnest(%s::text[]) q (owner) CROSS JOIN LATERAL (SELECT {columns} FROM lessons l"
            f" WHERE l.org = %s AND l.owner = q.owner AND {seen} {newest}) l {newest}",
            (owners_of(query), sql.org, *args, limit, limit),
        ).fetchall()
    return [RecentMatch(id=id_, recorded_at=instant(at)) for id_, at, _ in rows]


def list_pinned(sql: Sql, query: Query, limit: int) -> list[PinnedMatch]:
    """Return the most salient pinned lessons."""
    seen, args = visible(query)
    rows = sql.execute(
        f"SELECT l.id, l.salience FROM lessons l WHERE l.org = %s AND l.pinned AND {seen}"
        " ORDER BY l.salience DESC, l.recorded_at DESC, l.row DESC LIMIT %s",
        (sql.org, *args, limit),
    )
    return [PinnedMatch(id=id_, salience=salience) for id_, salience in rows]


def count_matching(sql: Sql, query: Query, most: int) -> int:
    """Count the lessons of the query's scope, time and states; stop at `most`.

    That there are so many is remembered for some minutes, where they are many.
    """
    remembered = (sql.org, "lessons", query.all_projects, *owners_of(query), query.states, most)
    if query.as_of is None and sql.cache.get(remembered):
        return most
    where, args = then(query, "l")
    if not query.all_projects:
        where, args = f"{where} AND l.owner = ANY(%s)", [*args, owners_of(query)]
    statement = (
        f"SELECT count(*) FROM (SELECT 1 FROM lessons l WHERE l.org = %s AND l.state = ANY(%s) AND {where} LIMIT %s) c"
    )
    (number,) = sql.execute(statement, (sql.org, list(query.states), *args, most)).fetchone() or (0,)
    if query.as_of is None and number >= max(most, MANY):
        sql.cache.put(remembered, True)
    return int(number)


def match_triggers(sql: Sql, query: Query, limit: int) -> list[TriggerMatch]:
    """Return the lessons with a trigger that matches the code, the command, the files or the symbols in play."""
    code = clean(query.code)[:CODE_LIMIT]
    commands = command_lines(clean(query.command))
    acts = [act for command in commands for act in acts_in(command)]
    paths = clean_all(query.paths)
    wanted: dict[TriggerKind, list[str]] = {
        "literal": ["", *words_of(code)[:WORDS_LIMIT]] if code else [],
        "command": [*(command.partition(" ")[0] for command in commands), *acts],
        "path": [""] if paths else [],
        "symbol": list(map(last_part, clean_all(query.symbols))),
    }
    rows: dict[TriggerKind, set[int]] = {kind: set() for kind in wanted}
    for kind, row, value in _under(sql, query, wanted):
        if (
            kind == "symbol"
            or (kind == "literal" and stands_in(value, code))
            or (kind == "command" and any(begins(command, value) for command in commands))
            or (kind == "path" and any(glob_matches(value, path) for path in paths))
        ):
            rows[kind].add(row)
    seen = visible(query)
    matches = (
        TriggerMatch(kind=kind, lessons=tuple(first_visible(sql, sorted(fitting, reverse=True), seen, limit)))
        for kind, fitting in rows.items()
    )
    return [match for match in matches if match.lessons]


def match_occasions(sql: Sql, query: Query, limit: int) -> list[LessonId]:
    """Return the lessons of one of the occasions, oldest first."""
    rows = sorted({row for _, row, _ in _under(sql, query, {"occasion": clean_all(query.occasions)})})
    return [id_ for _, id_ in first_visible(sql, rows, visible(query), limit)]


def _under(sql: Sql, query: Query, wanted: dict[Any, list[str]]) -> Iterable[tuple[Any, int, str]]:
    """Return kind, row and value of the triggers under one of the keys of their kind."""
    pairs = dict.fromkeys((kind, key(word)) for kind, words in wanted.items() for word in words)
    if not pairs:
        return []
    source, args = derived(sql, "triggers", query)
    kinds, words = [kind for kind, _ in pairs], [word for _, word in pairs]
    return sql.execute(
        "SELECT t.kind, t.lesson, t.value FROM unnest(%s::text[], %s::text[]) q (kind, key)"
        f" CROSS JOIN LATERAL (SELECT d.kind, d.lesson, d.value{source} AND d.kind = q.kind AND d.key = q.key) t",
        (kinds, words, *args),
    ).fetchall()
