"""Chooses lessons by a `LessonFilter`: finds them newest first, and counts them by a facet.

Most lists begin with the newest lessons of a project, so they walk the index `lessons_newest`, which has every column
that filters, once for the project and once for the user's own. It passes a hundred thousand lessons in some 10 ms. What
few lessons have (a file, a rare tag, a small folder) is looked up first instead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import STATES
from holdfast.ports.store import EVERY, ROOT_AREA, Facet, LessonFilter
from holdfast.stores._shared.facets import by_facet, count_values
from holdfast.stores.sqlite.lessons import known_then, lesson_of, true_then
from holdfast.stores.sqlite.rows import SESSION_PREFIX, LeftOut, clean, micros, read_rows, slots

Clause = tuple[str, list[Any]]
"""SQL and its arguments."""
Way = Literal["walk", "look up", "plain"]
"""How to come to lessons: newest first in `lessons_newest`, by what few lessons have, or as SQLite likes."""
_INDEX: dict[Way, str] = {"walk": "INDEXED BY lessons_newest", "look up": "NOT INDEXED", "plain": ""}
"""SQLite would rather walk an index of all lessons than look up the few of a path."""

FEW, MOST_FEW = 2_000, 10_000
"""Lessons of one folder or tag up to which they are looked up first; with more, the newest lessons are walked. Where
many lessons are wanted, a walk is longer, and so more are few: FEW_TIMES as many as are wanted, up to MOST_FEW."""
FEW_TIMES = 4
_COUNTED = "l.row, l.recorded_at, l.id, l.state, l.kind, l.trust, l.person"
_NEWEST = "ORDER BY l.recorded_at DESC, l.id"
_DOC = "iif(json_valid(l.doc), l.doc, '{}')"
_MONTH = "strftime('%Y-%m', l.recorded_at / 1000000, 'unixepoch')"
_COLUMNS: dict[Facet, str] = {
    "kind": "l.kind", "month": _MONTH, "person": "l.person", "state": "l.state", "trust": "l.trust",
}  # fmt: skip
"""Facets with one value a lesson, and the column that has it."""


def find_lessons(sql: sqlite3.Connection, where: LessonFilter, left_out: LeftOut) -> list[Lesson]:
    """Return the lessons that match, newest first, ties by id, without damaged ones."""

    def ask() -> Iterable[tuple[int, str, int | None, str]]:
        chosen, args = _chosen(sql, where, left_out)
        return sql.execute(  # the inner query sorts without documents, which are read only for the chosen page
            f"SELECT l.row, l.id, l.retracted_at, l.doc FROM ({chosen}) c JOIN lessons l ON l.row = c.row {_NEWEST}",
            args,
        )

    return [lesson for _, lesson in read_rows("lessons", ask, lesson_of, left_out)]


def count_lessons(sql: sqlite3.Connection, where: LessonFilter, left_out: LeftOut) -> int:
    """Count the lessons that match, whatever the limit, without those known to be damaged."""
    condition, args = _condition(where, "plain", left_out)
    (number,) = sql.execute(f"SELECT count(*) FROM lessons l WHERE {condition}", args).fetchone()
    return int(number)


def count_facets(
    sql: sqlite3.Connection, where: LessonFilter, facets: Sequence[Facet], most: int, left_out: LeftOut
) -> dict[Facet, dict[str, int]]:
    """Count the lessons that `find_lessons` would return by each of the facets; see the port."""
    if not _is_current(where) and (where.as_of is not None or not _COLUMNS.keys() >= {*facets}):
        # what was known then has none of the columns, and tombstones have no derived rows
        lessons = find_lessons(sql, where, left_out)
        return {facet: count_values(lessons, facet, most) for facet in facets}
    if not facets:
        return {}
    if where.limit >= EVERY and not where.offset:  # nothing has to be put in order
        way = _way(sql, where)
        condition, args = _condition(where, "plain", left_out)
        chosen = f"SELECT {_COUNTED} FROM lessons l {_INDEX[way]} WHERE {condition}"
    else:
        chosen, args = _chosen(sql, where, left_out)
    parts = [_count_of(facet) for facet in dict.fromkeys(facets)]
    if len(parts) == 1:
        return by_facet(sql.execute(parts[0].format(f"({chosen})"), args), facets, most)
    counting = " UNION ALL ".join(parts).format(*["chosen"] * len(parts))
    return by_facet(sql.execute(f"WITH chosen AS MATERIALIZED ({chosen}) {counting}", args), facets, most)


def _count_of(facet: Facet) -> str:
    """Return the query that counts by that facet; `{}` stands for the lessons."""
    if facet in _COLUMNS:
        return f"SELECT '{facet}', {_COLUMNS[facet]}, count(*) FROM {{}} l GROUP BY 2"
    if facet == "file":
        anchors = "anchors a INDEXED BY anchors_by_lesson ON a.lesson = l.row AND a.is_glob = 0"
        return f"SELECT 'file', a.path, count(*) FROM {{}} l CROSS JOIN {anchors} GROUP BY 2"
    facets = f"facets f INDEXED BY facets_by_lesson ON f.lesson = l.row AND f.facet = '{facet}'"
    return f"SELECT '{facet}', f.value, count(*) FROM {{}} l CROSS JOIN {facets} GROUP BY 2"


def _chosen(sql: sqlite3.Connection, where: LessonFilter, left_out: LeftOut) -> Clause:
    """Return a query of the rows of the lessons that match, in order and within the limit, with what they count by."""
    way = _way(sql, where)
    condition, args = _condition(where, way, left_out)
    limit, offset = max(0, where.limit), max(0, where.offset)
    if way != "walk":
        chosen = f"SELECT {_COUNTED} FROM lessons l {_INDEX[way]} WHERE {condition}"
        return f"{chosen} {_NEWEST} LIMIT ? OFFSET ?", [*args, limit, offset]
    walk = f"SELECT {_COUNTED} FROM lessons l {_INDEX[way]} WHERE l.owner = ? AND {condition} {_NEWEST}"
    owners = list(dict.fromkeys(("", clean(where.project))))
    walks = " UNION ALL ".join([f"SELECT * FROM ({walk} LIMIT ?)"] * len(owners))
    every = [value for owner in owners for value in (owner, *args, limit + offset)]
    return f"SELECT * FROM ({walks}) l {_NEWEST} LIMIT ? OFFSET ?", [*every, limit, offset]


def _way(sql: sqlite3.Connection, where: LessonFilter) -> Way:
    """Return how to come to the lessons."""
    if _is_current(where) and (where.path or where.session or _is_of_few(sql, where)):
        return "look up"
    indexed = (
        where.id_suffix, where.id_short, where.topic_key, where.duplicate_key, where.path, where.session,
        where.without_vector,
    )  # fmt: skip
    return "plain" if where.as_of is not None or where.all_projects or any(indexed) else "walk"


def _is_current(where: LessonFilter) -> bool:
    """Return whether derived rows have the lessons in question: those known now, without forgotten ones."""
    return where.as_of is None and "forgotten" not in where.states


def _is_of_few(sql: sqlite3.Connection, where: LessonFilter) -> bool:
    """Return whether few lessons are in a folder, or have a tag, that is asked for."""
    few = min(MOST_FEW, max(FEW, FEW_TIMES * where.limit))
    lists = filter(None, (_in_area(where), _tagged(where)))
    counting = "SELECT count(*) FROM ({} LIMIT ?)"
    return any(sql.execute(counting.format(query), (*args, few + 1)).fetchone()[0] <= few for query, args in lists)


def _condition(where: LessonFilter, way: Way, left_out: LeftOut) -> Clause:
    """Return SQL on `lessons l` for what matches; who walks adds the owner."""
    clauses = [left_out.but("lessons", "l.row")]
    args: list[Any] = []
    for clause, values in (*_versions(where), *_columns(where), *_subjects(where, way)):
        clauses.append(clause)
        args.extend(clean(value) if isinstance(value, str) else value for value in values)
    if not where.all_projects and way != "walk":
        clauses.append("l.owner IN ('', ?)")
        args.append(clean(where.project))
    return " AND ".join(clauses), args


def _versions(where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for the version: known and true then, in one of the states, recorded in the time."""
    states = where.states or tuple(state for state in STATES if state != "forgotten")
    yield known_then(where.as_of)[0], [*known_then(where.as_of)[1]]
    yield true_then(where.as_of)[0], [*true_then(where.as_of)[1]]
    yield f"l.state IN ({slots(len(states))})", [*states]
    if where.since is not None:
        yield "l.recorded_at >= ?", [micros(where.since)]
    if where.until is not None:
        yield "l.recorded_at < ?", [micros(where.until)]
    if where.beyond is not None:
        at = micros(where.beyond[0])
        yield "l.recorded_at <= ? AND (l.recorded_at < ? OR l.id > ?)", [at, at, where.beyond[1]]


def _columns(where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for what has a column of its own."""
    if where.kinds:
        yield f"l.kind IN ({slots(len(where.kinds))})", [*where.kinds]
    for clause, *values in (
        ("substr(l.id, -length(?)) = ?", where.id_suffix, where.id_suffix),
        ("substr(l.id, -8, length(?)) = ?", where.id_short, where.id_short),
        ("l.topic_key = ? AND l.topic_key <> ''", where.topic_key),
        ("l.duplicate_key = ?", where.duplicate_key),
    ):
        if values[0]:
            yield clause, values
    if where.staged:
        yield "l.branch <> ''", []
    if where.without_vector:
        without = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.lesson = l.row AND v.embedder = ?)"
        yield without, [where.without_vector]


def _subjects(where: LessonFilter, way: Way) -> Iterator[Clause]:
    """Yield SQL for what the lessons are about and who stated them."""
    if where.as_of is None:
        named: tuple[tuple[str, str | None], ...] = (("l.person = ?", where.person), ("l.trust = ?", where.trust))
    else:  # versions of before had no such columns
        named = (
            (f"json_extract({_DOC}, '$.provenance.person') = ?", where.person),
            (f"coalesce(json_extract({_DOC}, '$.trust'), 'agent') = ?", where.trust),
        )
    yield from ((clause, [value]) for clause, value in named if value)
    if not _is_current(where):
        yield from _in_documents(where)
        return
    if where.path:
        yield "l.row IN (SELECT lesson FROM anchors WHERE path = ? AND is_glob = 0)", [where.path]
    if where.session:
        yield "l.row IN (SELECT lesson FROM tokens WHERE token = ? AND weight = 0)", [SESSION_PREFIX + where.session]
    for query, args in filter(None, (_in_area(where), _tagged(where))):
        # who walks looks each lesson up, because most of them match
        yield (f"EXISTS ({query} AND lesson = l.row)" if way == "walk" else f"l.row IN ({query})"), args


def _in_area(where: LessonFilter) -> Clause | None:
    """Return a query of the lessons that are anchored in the folder."""
    if not where.area:
        return None
    if where.area == ROOT_AREA:
        return "SELECT lesson FROM anchors WHERE is_glob = 0 AND folder = ''", []
    # `0` follows `/`, so the range has what begins with the folder and a slash
    inside = "(folder = ? OR (folder > ? AND folder < ?))"
    area = clean(where.area)
    return f"SELECT lesson FROM anchors WHERE is_glob = 0 AND {inside}", [area, f"{area}/", f"{area}0"]


def _tagged(where: LessonFilter) -> Clause | None:
    """Return a query of the lessons that have the tag."""
    if not where.tag:
        return None
    tagged = "SELECT lesson FROM facets WHERE facet = 'tag' AND value = ?"
    if where.all_projects:
        return tagged, [clean(where.tag)]
    return f"{tagged} AND owner IN ('', ?)", [clean(where.tag), clean(where.project)]


def _in_documents(where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for what derived rows have of current lessons only, by documents."""
    if where.path:
        yield _anchored("{} = ?", [where.path])
    if where.area:
        is_root = where.area == ROOT_AREA
        area = f"{where.area}/"
        yield (
            _anchored("instr({}, '/') = 0", []) if is_root else _anchored("substr({}, 1, length(?)) = ?", [area, area])
        )
    if where.session:
        yield f"json_extract({_DOC}, '$.provenance.session') = ?", [where.session]
    if where.tag:
        yield f"EXISTS (SELECT 1 FROM json_each({_DOC}, '$.tags') t WHERE t.value = ?)", [where.tag]


def _anchored(test: str, args: list[Any]) -> Clause:
    """Return SQL for: a file of an anchor, now or elsewhere, passes the test."""
    path = test.format("json_extract(a.value, '$.path')")
    other_path = test.format("substr(place.value, 1, instr(place.value || '::', '::') - 1)")
    return (
        f"EXISTS (SELECT 1 FROM json_each({_DOC}, '$.anchors') a WHERE {path}"
        f" OR EXISTS (SELECT 1 FROM json_each(a.value, '$.also') place WHERE {other_path}))",
        [*args, *args],
    )
