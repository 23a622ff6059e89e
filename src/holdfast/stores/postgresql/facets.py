"""The facets of current lessons: trust and person in columns of their rows, areas and tags in rows of their own.

A lesson without facets is one of before migration 4, or one that a server of the previous version has stored since.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.ports.store import Facet, LessonFilter
from holdfast.stores.postgresql import derived
from holdfast.stores.postgresql.lessons import lesson_or_none
from holdfast.stores.postgresql.rows import key, scope_number
from holdfast.stores.postgresql.tenant import Sql, Tenant

LESSONS_AT_ONCE = 1_000
"""Lessons to which facets are added in one transaction: others write in between."""


def asks(where: LessonFilter, facets: Sequence[Facet] = ()) -> bool:
    """Return whether the answer depends on facets."""
    is_counted = not {"area", "person", "tag", "trust"}.isdisjoint(facets)
    return where.as_of is None and bool(is_counted or where.person or where.tag or where.trust)


def is_behind(sql: Sql) -> bool:
    """Return whether a current lesson has no facets."""
    row = sql.execute(
        "SELECT EXISTS (SELECT 1 FROM lessons WHERE org = %s AND trust IS NULL AND retracted_at IS NULL)", (sql.org,)
    ).fetchone()
    return bool(row and row[0])


def catch_up(tenant: Tenant) -> None:
    """Add the facets of the lessons that have none. A store that cannot be written stays as it is."""
    if not tenant.read(is_behind):
        return
    tenant.catch_up(_add_some)


def _add_some(sql: Sql) -> bool:
    """Add the facets of some lessons; return whether there may be more. One that cannot be read gets empty ones."""
    rows = sql.execute(
        "SELECT row, id, owner, doc FROM lessons WHERE org = %s AND trust IS NULL AND retracted_at IS NULL"
        " ORDER BY row LIMIT %s FOR UPDATE",
        (sql.org, LESSONS_AT_ONCE),
    ).fetchall()
    for row, id_, owner, doc in rows:
        lesson = lesson_or_none(id_, None, doc)
        values = ("", "") if lesson is None else (lesson.trust, key(lesson.provenance.person))
        sql.execute("UPDATE lessons SET trust = %s, person = %s WHERE org = %s AND row = %s", (*values, sql.org, row))
        if lesson is not None:
            derived.insert_facets(sql, (sql.org, scope_number(owner), row), lesson)
    return len(rows) == LESSONS_AT_ONCE
