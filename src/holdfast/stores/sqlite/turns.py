"""The index of turns: full text over the prompts and replies of every session, derived from the events.

A search of the sessions first indexes the sessions that have new events, each as a whole, because a new reply belongs
to a turn that may be indexed already. Nothing else reads or fills the index, so capture and hooks pay nothing for it.
What erases words of events indexes their sessions again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.query import Query
from holdfast.errors import StoreCorruptError, StoreError
from holdfast.ports.search import SpokenTurn, TurnMatch, TurnMatches
from holdfast.ranking.tuning import TURN_PROMPT_WEIGHT
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.fulltext import TERM_LIMIT, quoted
from holdfast.stores.sqlite.rows import DAMAGED, clean, instant, micros, record_of
from holdfast.text.searchkeys import asked_terms
from holdfast.text.speech import turns_of
from holdfast.text.words import expand

EVENTS_AT_ONCE = 5_000
"""Events that are indexed in one transaction: others write in between."""


def catch_up(connection: Connection) -> None:
    """Index the sessions with events that are not indexed yet. A store that cannot be written stays as it is."""
    with connection.reading() as sql:
        last = _last(sql)
        (newest,) = sql.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()
    try:
        while last < newest:
            with connection.writing() as sql:
                last = _index_some(sql)
    except StoreCorruptError:
        raise
    except StoreError:
        pass  # read-only, full or busy: what is indexed answers


def _index_some(sql: sqlite3.Connection) -> int:
    """Index the sessions of the next events; return the position of the last one."""
    last = _last(sql)
    some = "SELECT position, session FROM events WHERE position > ? ORDER BY position LIMIT ?"
    rows = sql.execute(some, (last, EVENTS_AT_ONCE)).fetchall()
    index(sql, dict.fromkeys(session for _, session in rows))
    sql.execute("DELETE FROM turns_indexed")
    last = rows[-1][0] if rows else last
    sql.execute("INSERT INTO turns_indexed VALUES (?)", (last,))
    return last


def _last(sql: sqlite3.Connection) -> int:
    row = sql.execute("SELECT position FROM turns_indexed").fetchone()
    return int(row[0]) if row else 0


def index(sql: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Replace the turns of these sessions by those that their events make now."""
    for session in sessions:
        rows = sql.execute("SELECT row FROM turns WHERE session = ?", (session,)).fetchall()
        sql.executemany("DELETE FROM turn_text WHERE rowid = ?", rows)
        sql.execute("DELETE FROM turns WHERE session = ?", (session,))
        for turn in turns_of(_spoken(sql, session)):
            row = sql.execute(
                "INSERT INTO turns (project, session, at, host, branch) VALUES (?, ?, ?, ?, ?)",
                (turn.project, session, micros(turn.at), turn.host, turn.branch),
            ).lastrowid
            sql.execute(
                "INSERT INTO turn_text (rowid, prompt, reply, expanded) VALUES (?, ?, ?, ?)",
                (row, turn.prompt, turn.reply, expand(f"{turn.prompt}\n{turn.reply}")),
            )


def _spoken(sql: sqlite3.Connection, session: str) -> Iterator[Event]:
    """Yield the readable prompts and replies of a session."""
    for (doc,) in sql.execute(
        "SELECT doc FROM events WHERE session = ? AND key >= 'prompt' AND key < 'reply;' ORDER BY position", (session,)
    ).fetchall():
        try:
            yield record_of(Event, doc)
        except DAMAGED:
            continue


def index_again(sql: sqlite3.Connection, sessions: Iterable[str]) -> None:
    """Index the sessions again after words of their events were erased, and erase these words from the index."""
    index(sql, sessions)
    # Deleted text stays in the index's segments until they are merged.
    sql.execute("INSERT INTO turn_text (turn_text) VALUES ('optimize')")


def search_turns(sql: sqlite3.Connection, query: Query, limit: int) -> TurnMatches:
    """See `ports.search.Search`."""
    terms = asked_terms(clean(query.text))[:TERM_LIMIT]
    if not terms:
        return TurnMatches()
    counting = "SELECT count(*) FROM turn_text WHERE turn_text MATCH ?"
    counts = [(term, sql.execute(counting, (quoted(term),)).fetchone()[0]) for term in terms]
    (turns,) = sql.execute("SELECT count(*) FROM turns").fetchone()
    clauses = ["turn_text MATCH ?", "t.project = ?"]
    args: list[Any] = [" OR ".join(map(quoted, terms)), clean(query.project)]
    for clause, at in (("t.at >= ?", query.since), ("t.at < ?", query.until), ("t.at <= ?", query.as_of)):
        if at is not None:
            clauses.append(clause)
            args.append(micros(at))
    rows = sql.execute(
        f"SELECT t.row, t.session, t.host, t.branch, t.at, x.prompt, x.reply,"
        f" -bm25(turn_text, {TURN_PROMPT_WEIGHT}, 1.0, 1.0) AS score"
        f" FROM turn_text x JOIN turns t ON t.row = x.rowid WHERE {' AND '.join(clauses)}"
        " ORDER BY score DESC, t.at DESC LIMIT ?",
        (*args, max(0, limit)),
    ).fetchall()
    matches = [
        TurnMatch(
            row=row, score=score,
            turn=SpokenTurn(
                project=query.project, session=session, host=host, branch=branch, at=instant(at), prompt=prompt,
                reply=reply,
            ),
        )
        for row, session, host, branch, at, prompt, reply, score in rows
    ]  # fmt: skip
    return TurnMatches(matches=tuple(matches), terms=tuple(counts), turns=turns)
