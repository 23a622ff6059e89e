"""Chooses lessons by a `LessonFilter`: finds them newest first, and counts them by a facet.

Most lists begin with the newest lessons of a project, so they walk the index `lessons_newest`, which has every column
that filters, once for the project and once for the user's own.

Who stated a lesson, its trust, its areas and tags are derived (`facets`) since migration 4. Lessons that have none of
this yet are those of before, and those that a server of the previous version stores; who asks by one of these adds it
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import STATES
from holdfast.lean.plain import clean
from holdfast.ports.store import EVERY, ROOT_AREA, Facet, LessonFilter
from holdfast.stores._shared.facets import by_facet, count_values
from holdfast.stores._shared.rows import SESSION_PREFIX, LeftOut, micros, read_rows
from holdfast.stores.postgresql.lessons import known_then, lesson_of, true_then
from holdfast.stores.postgresql.rows import SESSION_CODE, but, key, scope_number
from holdfast.stores.postgresql.tenant import Sql

Clause = tuple[str, list[Any]]
"""SQL and its arguments."""

_NEWEST = "ORDER BY l.recorded_at DESC, l.id"
_COUNTED = "l.row, l.recorded_at, l.id, l.owner, l.state, l.kind, l.trust, l.person"
_DOC = "(CASE WHEN pg_input_is_valid(l.doc, 'jsonb') THEN l.doc::jsonb ELSE '{}' END)"
_COLUMNS: dict[Facet, str] = {
    "kind": "l.kind", "month": "to_char(to_timestamp(l.recorded_at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM')",
    "person": "l.person", "state": "l.state", "trust": "l.trust",
}  # fmt: skip
"""Facets with one value a lesson, and the column that has it."""


def find_lessons(sql: Sql, where: LessonFilter, left_out: LeftOut) -> list[Lesson]:
    """Return the lessons that match, newest first, ties by id, without damaged ones."""

    def ask() -> Iterable[tuple[int, str, int | None, str]]:
        chosen, args = _chosen(sql, where, left_out)
        return sql.execute(  # the inner query chooses without documents, which are read only for the chosen page
            f"SELECT l.row, l.id, l.retracted_at, l.doc FROM ({chosen}) c"
            f" JOIN lessons l ON l.org = %s AND l.row = c.row {_NEWEST}",
            (*args, sql.org),
        ).fetchall()

    return [lesson for _, lesson in read_rows("lessons", ask, lesson_of, left_out)]


def count_lessons(sql: Sql, where: LessonFilter, left_out: LeftOut) -> int:
    """Count the lessons that match, whatever the limit, without those known to be damaged."""
    condition, args = _condition(sql, where, left_out)
    row = sql.execute(f"SELECT count(*) FROM lessons l WHERE {condition}", (*args, *_owners_of(where))).fetchone()
    return int(row[0]) if row else 0


def count_facets(
    sql: Sql, where: LessonFilter, facets: Sequence[Facet], most: int, left_out: LeftOut
) -> dict[Facet, dict[str, int]]:
    """Count the lessons that `find_lessons` would return by each of the facets; see the port."""
    if not _is_current(where) and (where.as_of is not None or not _COLUMNS.keys() >= {*facets}):
        # what was known then has none of the columns, and tombstones have no derived rows
        lessons = find_lessons(sql, where, left_out)
        return {facet: count_values(lessons, facet, most) for facet in facets}
    if not facets:
        return {}
    chosen, args = _chosen(sql, where, left_out)
    parts: list[str] = []
    for facet in dict.fromkeys(facets):
        part, more = _count_of(sql, facet)
        parts.append(part)
        args += more
    counting = f"WITH chosen AS MATERIALIZED ({chosen}) {' UNION ALL '.join(parts)}"
    return by_facet(sql.execute(counting, args).fetchall(), facets, most)


def _count_of(sql: Sql, facet: Facet) -> Clause:
    """Return the query that counts by that facet."""
    if facet in _COLUMNS:
        return f"SELECT '{facet}', {_COLUMNS[facet]}, count(*) FROM chosen l GROUP BY 2", []
    if facet == "file":
        anchors = "anchors a ON a.org = %s AND a.live AND a.lesson = l.row AND a.glob = ''"
        return f"SELECT 'file', a.path, count(*) FROM chosen l JOIN {anchors} GROUP BY 2", [sql.org]
    facets = f"facets f ON f.org = %s AND f.lesson = l.row AND f.facet = '{facet}'"
    return f"SELECT '{facet}', f.value, count(*) FROM chosen l JOIN {facets} GROUP BY 2", [sql.org]


def _chosen(sql: Sql, where: LessonFilter, left_out: LeftOut) -> Clause:
    """Return a query of the rows of the lessons that match, in order and within the limit, with what they count by."""
    condition, args = _condition(sql, where, left_out)
    limit, offset = max(0, where.limit), max(0, where.offset)
    chosen = f"SELECT {_COUNTED} FROM lessons l WHERE {condition}"
    if where.limit >= EVERY and not where.offset:  # nothing has to be put in order
        return chosen, [*args, *_owners_of(where)]
    owners = list(dict.fromkeys(("", key(where.project))))
    if where.all_projects or where.as_of is not None or len(owners) == 1:
        return f"{chosen} {_NEWEST} LIMIT %s OFFSET %s", [*args, *_owners_of(where), limit, offset]
    walks = " UNION ALL ".join([f"({chosen} {_NEWEST} LIMIT %s)"] * len(owners))
    every = [value for owner in owners for value in (*args, [owner], limit + offset)]
    return f"SELECT * FROM ({walks}) l {_NEWEST} LIMIT %s OFFSET %s", [*every, limit, offset]


def _owners_of(where: LessonFilter) -> list[Any]:
    """Return the last argument of a condition: whose lessons."""
    return [] if where.all_projects else [["", key(where.project)]]


def _is_current(where: LessonFilter) -> bool:
    """Return whether derived rows have the lessons in question: those known now, without forgotten ones."""
    return where.as_of is None and "forgotten" not in where.states


def _condition(sql: Sql, where: LessonFilter, left_out: LeftOut) -> Clause:
    """Return SQL on `lessons l` for what matches; the last argument, the owners, is left to the caller."""
    clauses = ["l.org = %s", but(left_out, "lessons", "l.row")]
    args: list[Any] = [sql.org]
    for clause, values in (*_versions(where), *_columns(sql, where), *_subjects(sql, where)):
        clauses.append(clause)
        args += values
    if not where.all_projects:
        clauses.append("l.owner = ANY(%s::text[])")
    return " AND ".join(clauses), args


def _versions(where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for the version: known and true then, in one of the states, recorded in the time."""
    states = where.states or tuple(state for state in STATES if state != "forgotten")
    yield known_then(where.as_of)[0], [*known_then(where.as_of)[1]]
    yield true_then(where.as_of)[0], [*true_then(where.as_of)[1]]
    yield "l.state = ANY(%s::text[])", [list(states)]
    if where.since is not None:
        yield "l.recorded_at >= %s", [micros(where.since)]
    if where.until is not None:
        yield "l.recorded_at < %s", [micros(where.until)]
    if where.beyond is not None:
        at = micros(where.beyond[0])
        yield "l.recorded_at <= %s AND (l.recorded_at < %s OR l.id > %s)", [at, at, key(where.beyond[1])]


def _columns(sql: Sql, where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for what has a column of its own."""
    suffix, short = key(where.id_suffix), key(where.id_short)
    for is_asked, clause, *values in (
        (where.kinds, "l.kind = ANY(%s::text[])", list(where.kinds)),
        (suffix, "right(l.id, %s) = %s", len(suffix), suffix),
        (short, "left(right(l.id, 8), %s) = %s", len(short), short),
        (where.topic_key, "l.topic_key = %s AND l.topic_key <> ''", key(where.topic_key)),
        (where.duplicate_key, "l.duplicate_key = %s", key(where.duplicate_key)),
        (where.staged, "l.branch <> ''"),
        (
            where.without_vector,
            "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.org = %s AND v.lesson = l.row AND v.embedder = %s)",
            sql.org, key(where.without_vector),
        ),
    ):  # fmt: skip
        if is_asked:
            yield str(clause), values


def _subjects(sql: Sql, where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for what the lessons are about and who stated them."""
    if where.as_of is None:
        named = (("l.person = %s", key(where.person)), ("l.trust = %s", where.trust))
    else:  # versions of before had no such columns
        named = (
            (f"{_DOC} #>> '{{provenance,person}}' = %s", clean(where.person)),
            (f"coalesce({_DOC} ->> 'trust', 'agent') = %s", where.trust),
        )
    yield from ((clause, [value]) for clause, value in named if value)
    if not _is_current(where):
        yield from _in_documents(where)
        return
    anchored = "SELECT lesson FROM anchors WHERE org = %s AND live AND glob = ''"
    if where.path:
        yield f"l.row IN ({anchored} AND path = %s)", [sql.org, key(where.path)]
    if where.area == ROOT_AREA:
        yield f"l.row IN ({anchored} AND folder = '')", [sql.org]
    elif where.area:  # `0` follows `/`, so the range has what begins with the folder and a slash
        inside = "(folder = %s OR (folder > %s AND folder < %s))"
        area = [key(where.area), key(f"{where.area}/"), key(f"{where.area}0")]
        yield f"l.row IN ({anchored} AND {inside})", [sql.org, *area]
    if where.session:
        learnt = "SELECT lesson FROM tokens WHERE org = %s AND live AND token = %s AND source = %s"
        yield f"l.row IN ({learnt})", [sql.org, key(SESSION_PREFIX + where.session), SESSION_CODE]
    if where.tag:
        tagged = "SELECT lesson FROM facets WHERE org = %s AND facet = 'tag' AND value = %s"
        scopes = "" if where.all_projects else " AND scope = ANY(%s::int[])"
        owners = [] if where.all_projects else [[scope_number(""), scope_number(key(where.project))]]
        yield f"l.row IN ({tagged}{scopes})", [sql.org, key(where.tag), *owners]


def _in_documents(where: LessonFilter) -> Iterator[Clause]:
    """Yield SQL for what derived rows have of current lessons only, by documents."""
    if where.path:
        yield "%s = ANY(l.files)", [key(where.path)]
    if where.area == ROOT_AREA:
        yield "EXISTS (SELECT 1 FROM unnest(l.files) f WHERE strpos(f, '/') = 0)", []
    elif where.area:
        yield "EXISTS (SELECT 1 FROM unnest(l.files) f WHERE starts_with(f, %s))", [key(f"{where.area}/")]
    if where.session:
        yield f"{_DOC} #>> '{{provenance,session}}' = %s", [clean(where.session)]
    if where.tag:
        yield f"coalesce({_DOC} -> 'tags', '[]') ? %s", [clean(where.tag)]
