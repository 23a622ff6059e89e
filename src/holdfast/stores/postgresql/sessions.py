"""The rows of sessions, derived from the events, so that sessions are listed without reading their events.

Whoever stores events adds them to the rows in the same transaction. Events that no row has yet (those of before this
table, of a server of the previous version, of a copy that was taken) are added by the next who lists sessions.
The rows hold no words of events: the first prompt is read from its event, so erasing the event's text erases it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.store import SessionFilter, SessionRow
from holdfast.stores._shared.rows import DAMAGED, instant, micros, record_of
from holdfast.stores._shared.sessions import SessionPart, opening_of, sum_up
from holdfast.stores.postgresql.rows import key
from holdfast.stores.postgresql.tenant import Sql, Tenant

EVENTS_AT_ONCE = 5_000
"""Events that are added in one transaction: others write in between."""


def add_new(sql: Sql, before: int, events: Sequence[tuple[int, Event]]) -> None:
    """Add events that were stored now, as (position, event), if the rows have all up to the position `before`."""
    if events and _lock_position(sql) == before:
        _add(sql, events)
        _set_position(sql, events[-1][0])


def catch_up(tenant: Tenant) -> None:
    """Add the events that no row has. A store that cannot be written stays as it is."""
    tenant.catch_up(_add_some)


def _add_some(sql: Sql) -> bool:
    """Add the next events; return whether there may be more."""
    last = _lock_position(sql)
    rows = sql.execute(
        "SELECT position, doc FROM events WHERE org = %s AND position > %s ORDER BY position LIMIT %s",
        (sql.org, last, EVENTS_AT_ONCE),
    ).fetchall()
    if not rows:
        return False
    _add(sql, _readable(rows))
    _set_position(sql, rows[-1][0])
    return len(rows) == EVENTS_AT_ONCE


def sum_up_again(sql: Sql, sessions: Iterable[str]) -> None:
    """Make the rows of these sessions anew from their events, of which words were erased."""
    last = _lock_position(sql)
    for session in map(key, sessions):
        sql.execute("DELETE FROM sessions WHERE org = %s AND session = %s", (sql.org, session))
        sql.execute("DELETE FROM session_branches WHERE org = %s AND session = %s", (sql.org, session))
        rows = sql.execute(
            "SELECT position, doc FROM events WHERE org = %s AND session = %s AND position <= %s ORDER BY position",
            (sql.org, session, last),
        )
        _add(sql, _readable(rows.fetchall()))


def drop_rows(sql: Sql) -> None:
    """Delete the rows of all sessions: the next who lists sessions makes them anew."""
    _lock_position(sql)
    for table in ("sessions", "session_branches"):
        sql.execute(f"DELETE FROM {table} WHERE org = %s", (sql.org,))
    _set_position(sql, 0)


def _lock_position(sql: Sql) -> int:
    """Make others who change the rows wait; return the position of the last event that is in them."""
    sql.execute("INSERT INTO sessions_summed (org, position) VALUES (%s, 0) ON CONFLICT DO NOTHING", (sql.org,))
    row = sql.execute("SELECT position FROM sessions_summed WHERE org = %s FOR UPDATE", (sql.org,)).fetchone()
    return int(row[0]) if row else 0


def _set_position(sql: Sql, position: int) -> None:
    sql.execute("UPDATE sessions_summed SET position = %s WHERE org = %s", (position, sql.org))


def _readable(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Event]]:
    for position, doc in rows:
        try:
            yield position, record_of(Event, doc)
        except DAMAGED:
            continue


def _add(sql: Sql, events: Iterable[tuple[int, Event]]) -> None:
    for part in sum_up(events):
        _add_part(sql, part)


def _add_part(sql: Sql, part: SessionPart) -> None:
    project, session = key(part.project), key(part.session)
    sql.execute(
        "INSERT INTO sessions AS s (org, project, session, host, branch, first, last, events, prompts, opening)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (org, project, session) DO UPDATE SET"
        " branch = CASE excluded.branch WHEN '' THEN s.branch ELSE excluded.branch END,"
        " first = least(s.first, excluded.first), last = greatest(s.last, excluded.last),"
        " events = s.events + excluded.events, prompts = s.prompts + excluded.prompts,"
        " opening = coalesce(s.opening, excluded.opening)",
        (
            sql.org, project, session, key(part.host), key(part.branch), part.first, part.last, part.events,
            part.prompts, part.opening,
        ),
    )  # fmt: skip
    sql.executemany(
        "INSERT INTO session_branches (org, project, branch, session) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
        [(sql.org, project, branch, session) for branch in sorted({*map(key, part.branches)})],
    )


def list_sessions(sql: Sql, where: SessionFilter, as_it_is: bool = False) -> list[SessionRow] | None:
    """Return the sessions that match; None where events are in no row yet, unless the rows are asked as they are."""
    (is_behind,) = sql.execute(
        "SELECT coalesce((SELECT c.last FROM counters c WHERE c.org = %s AND c.name = 'events' AND c.owner = ''), 0)"
        " > coalesce((SELECT i.position FROM sessions_summed i WHERE i.org = %s), 0)",
        (sql.org, sql.org),
    ).fetchone() or (False,)
    if is_behind and not as_it_is:
        return None
    clauses, args = _conditions(sql, where)
    rows = sql.execute(
        "SELECT c.project, c.session, c.host, c.branch, c.first, c.last, c.events, c.prompts, e.doc"
        f" FROM (SELECT * FROM sessions s WHERE {' AND '.join(clauses)} ORDER BY s.last DESC, s.session LIMIT %s) c"
        " LEFT JOIN events e ON e.org = %s AND e.position = c.opening ORDER BY c.last DESC, c.session, c.project",
        (*args, max(0, where.limit), sql.org),
    )
    return [
        SessionRow(
            project=project, session=session, host=host, branch=branch, first=instant(first), last=instant(last),
            events=events, prompts=prompts, opening=opening_of(doc),
        )
        for project, session, host, branch, first, last, events, prompts, doc in rows
    ]  # fmt: skip


_NAMED = """
WITH RECURSIVE named (name) AS (
    (SELECT {column} FROM {table} WHERE org = %s {current} ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT t.{column} FROM {table} t WHERE t.org = %s {current} AND t.{column} > n.name ORDER BY 1 LIMIT 1)
    FROM named n WHERE n.name IS NOT NULL
)
SELECT name FROM named WHERE name <> ''
"""
"""Jumps from one project to the next in an index, so it costs the same however much each project has."""


def list_projects(sql: Sql) -> list[ProjectId]:
    """Return the projects that have an event or a current lesson, in order."""
    events = _NAMED.format(table="events", column="project", current="")
    lessons = _NAMED.format(table="lessons", column="owner", current="AND retracted_at IS NULL")
    names = {name for query in (events, lessons) for (name,) in sql.execute(query, (sql.org, sql.org))}
    return [ProjectId(name) for name in sorted(names)]


def _conditions(sql: Sql, where: SessionFilter) -> tuple[list[str], list[Any]]:
    clauses, args = ["s.org = %s"], list[Any]([sql.org])
    for clause, value in (
        ("s.project = %s", where.project),
        ("s.session = %s", where.session),
        ("s.host = %s", where.host),
    ):
        if value:
            clauses.append(clause)
            args.append(key(value))
    if where.branch:
        clauses.append(
            "EXISTS (SELECT 1 FROM session_branches b WHERE b.org = %s AND b.project = s.project AND b.branch = %s"
            " AND b.session = s.session)"
        )
        args += [sql.org, key(where.branch)]
    if where.since is not None:
        clauses.append("s.last >= %s")
        args.append(micros(where.since))
    if where.until is not None:
        clauses.append("s.first < %s")
        args.append(micros(where.until))
    if where.beyond is not None:
        at = micros(where.beyond[0])
        clauses.append("s.last <= %s AND (s.last < %s OR s.session > %s)")
        args += [at, at, key(where.beyond[1])]
    return clauses, args
