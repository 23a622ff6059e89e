"""The rows of sessions, derived from the events: changed in the transaction that stores an event, and rebuilt from all.

They hold no words of events: the first prompt is read from its event, so erasing the event's text erases it here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.store import SessionFilter, SessionRow
from holdfast.stores._shared.sessions import SessionPart, opening_of, sum_up
from holdfast.stores.sqlite.rows import DAMAGED, clean, instant, micros, record_of

SUMMED_AT_ONCE = 20_000
"""Events of which a rebuild adds up the sessions at once."""


def add_events(sql: sqlite3.Connection, events: Iterable[tuple[int, Event]]) -> None:
    """Add new events, as (position, event), to the rows of their sessions."""
    for part in sum_up(events):
        _add_part(sql, part)


def _add_part(sql: sqlite3.Connection, part: SessionPart) -> None:
    names = (part.project, part.session)
    sql.execute(
        "INSERT INTO sessions (project, session, host, branch, first, last, events, prompts, opening)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, session) DO UPDATE SET"
        " branch = CASE excluded.branch WHEN '' THEN branch ELSE excluded.branch END,"
        " first = min(first, excluded.first), last = max(last, excluded.last), events = events + excluded.events,"
        " prompts = prompts + excluded.prompts, opening = coalesce(opening, excluded.opening)",
        (*names, part.host, part.branch, part.first, part.last, part.events, part.prompts, part.opening),
    )
    sql.executemany(
        "INSERT OR IGNORE INTO session_branches (project, branch, session) VALUES (?, ?, ?)",
        [(part.project, branch, part.session) for branch in sorted(part.branches)],
    )


def rebuild(sql: sqlite3.Connection) -> None:
    """Make the rows of all sessions anew from the events that can be read."""
    sql.execute("DELETE FROM sessions")
    sql.execute("DELETE FROM session_branches")
    rows = sql.execute("SELECT position, doc FROM events ORDER BY position")
    while some := rows.fetchmany(SUMMED_AT_ONCE):
        add_events(sql, _readable(some))


def sum_up_again(sql: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Make the rows of these sessions anew from their events, of which words were erased."""
    for session in map(clean, sessions):
        sql.execute("DELETE FROM sessions WHERE session = ?", (session,))
        sql.execute("DELETE FROM session_branches WHERE session = ?", (session,))
        rows = sql.execute("SELECT position, doc FROM events WHERE session = ? ORDER BY position", (session,))
        add_events(sql, _readable(rows.fetchall()))


def _readable(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Event]]:
    for position, doc in rows:
        try:
            yield position, record_of(Event, doc)
        except DAMAGED:
            continue


def list_sessions(sql: sqlite3.Connection, where: SessionFilter) -> list[SessionRow]:
    """Return the sessions that match, the one with the newest event first."""
    clauses, args = _conditions(where)
    # the inner query chooses without the documents of events, which are read only for the chosen page
    chosen = f"SELECT * FROM sessions s WHERE {' AND '.join(clauses)} ORDER BY s.last DESC, s.session LIMIT ?"
    rows = sql.execute(
        "SELECT c.project, c.session, c.host, c.branch, c.first, c.last, c.events, c.prompts, e.doc"
        f" FROM ({chosen}) c LEFT JOIN events e ON e.position = c.opening ORDER BY c.last DESC, c.session, c.project",
        (*args, max(0, where.limit)),
    )
    return [
        SessionRow(
            project=project, session=session, host=host, branch=branch, first=instant(first), last=instant(last),
            events=events, prompts=prompts, opening=opening_of(doc),
        )
        for project, session, host, branch, first, last, events, prompts, doc in rows
    ]  # fmt: skip


_PROJECTS = """
WITH RECURSIVE
talked (project) AS (
    SELECT min(project) FROM sessions
    UNION ALL SELECT (SELECT min(s.project) FROM sessions s WHERE s.project > t.project) FROM talked t
    WHERE t.project IS NOT NULL
),
learnt (owner) AS (
    SELECT min(owner) FROM lessons WHERE retracted_at IS NULL
    UNION ALL SELECT (SELECT min(l.owner) FROM lessons l WHERE l.owner > t.owner AND l.retracted_at IS NULL)
    FROM learnt t WHERE t.owner IS NOT NULL
)
SELECT project FROM talked WHERE project <> '' UNION SELECT owner FROM learnt WHERE owner <> '' ORDER BY 1
"""
"""Jumps from one project to the next in an index, so it costs the same however much each project has."""


def list_projects(sql: sqlite3.Connection) -> list[ProjectId]:
    """Return the projects that have a session or a lesson, in order."""
    return [project for (project,) in sql.execute(_PROJECTS)]


def _conditions(where: SessionFilter) -> tuple[list[str], list[Any]]:
    clauses, args = ["1"], list[Any]()
    on_branch = "EXISTS (SELECT 1 FROM session_branches b WHERE b.project = s.project AND b.branch = ?"
    for clause, value in (
        ("s.project = ?", where.project),
        ("s.session = ?", where.session),
        ("s.host = ?", where.host),
        (f"{on_branch} AND b.session = s.session)", where.branch),
    ):
        if value:
            clauses.append(clause)
            args.append(clean(value))
    if where.since is not None:
        clauses.append("s.last >= ?")
        args.append(micros(where.since))
    if where.until is not None:
        clauses.append("s.first < ?")
        args.append(micros(where.until))
    if where.beyond is not None:
        at = micros(where.beyond[0])
        clauses.append("s.last <= ? AND (s.last < ? OR s.session > ?)")
        args += [at, at, clean(where.beyond[1])]
    return clauses, args
