"""Turns of the recorded sessions, derived from the events, and the search of them by words.

A search first indexes the sessions that have new events, each as a whole; nothing else fills the index. Processes that
index at the same time take turns. Scores are the BM25 of FTS5 over prompt, replies and their expanded words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.query import Query
from holdfast.lean.plain import clean
from holdfast.ports.store import SpokenTurn, TurnMatch, TurnMatches
from holdfast.ranking.tuning import TURN_PROMPT_WEIGHT
from holdfast.stores._shared.rows import DAMAGED, instant, micros, record_of
from holdfast.stores.postgresql.derived import MOST_COUNTED, joined, phrase
from holdfast.stores.postgresql.postings import IDF_LEAST, K1, SCORE, TERM_LIMIT, B
from holdfast.stores.postgresql.rows import key
from holdfast.stores.postgresql.tenant import Sql, Tenant
from holdfast.stores.postgresql.terms import stems_of
from holdfast.text import words
from holdfast.text.searchkeys import asked_terms
from holdfast.text.speech import turns_of

EVENTS_AT_ONCE = 5_000
"""Events that are indexed in one transaction: others write in between."""
WEIGHTS = (TURN_PROMPT_WEIGHT, 1.0, 1.0)
"""How often a word of the prompt, of the replies and of their expanded words counts."""
MEASURED = 5_000
"""Turns, the newest, whose mean length stands for that of all: to read the lengths of 50,000 takes 0.1 s."""
LOOKED_UP = 1_000
"""Turns with the highest scores that are looked up at first, of any project and time."""
MOST_OF_TERM = 20_000
"""Most turns of one word that are scored: the newest."""

Hit = tuple[int, float]
"""A turn's row and what one word adds to its score."""


def catch_up(tenant: Tenant) -> None:
    """Index the sessions with events that are not indexed yet. A store that cannot be written stays as it is."""
    tenant.catch_up(_index_some)


def _index_some(sql: Sql) -> bool:
    """Index the sessions of the next events; return whether there may be more."""
    last = _lock_index(sql)
    rows = sql.execute(
        "SELECT position, session FROM events WHERE org = %s AND position > %s ORDER BY position LIMIT %s",
        (sql.org, last, EVENTS_AT_ONCE),
    ).fetchall()
    if not rows:
        return False
    index_turns(sql, dict.fromkeys(session for _, session in rows))
    sql.execute("UPDATE turns_indexed SET position = %s WHERE org = %s", (rows[-1][0], sql.org))
    return len(rows) == EVENTS_AT_ONCE


def _lock_index(sql: Sql) -> int:
    """Make others who index turns wait; return the position of the last event that was indexed."""
    sql.execute("INSERT INTO turns_indexed (org, position) VALUES (%s, 0) ON CONFLICT DO NOTHING", (sql.org,))
    row = sql.execute("SELECT position FROM turns_indexed WHERE org = %s FOR UPDATE", (sql.org,)).fetchone()
    return int(row[0]) if row else 0


def index_turns(sql: Sql, sessions: Iterable[str]) -> None:
    """Replace the turns of these sessions by those that their events make now."""
    for session in map(key, sessions):
        _drop_turns(sql, session)
        for turn in turns_of(_spoken(sql, session)):
            _insert_turn(sql, session, turn)


def index_again(sql: Sql, sessions: Iterable[str]) -> None:
    """Index the sessions again after words of their events were erased.

    Who indexes them at this moment may have read the words; so it waits, and then drops what the other one wrote.
    """
    _lock_index(sql)
    index_turns(sql, sessions)


def _drop_turns(sql: Sql, session: str) -> None:
    rows = sql.execute("SELECT row, stems FROM turns WHERE org = %s AND session = %s", (sql.org, session)).fetchall()
    for row, stems in rows:
        sql.execute(
            "DELETE FROM turn_postings WHERE org = %s AND term = ANY(%s) AND turn = %s",
            (sql.org, list(set(stems.split())), row),
        )
    sql.execute("DELETE FROM turns WHERE org = %s AND session = %s", (sql.org, session))


def _insert_turn(sql: Sql, session: str, turn: SpokenTurn) -> None:
    prompt, reply = clean(turn.prompt), clean(turn.reply)
    columns = [stems_of(text) for text in (prompt, reply, words.expand(f"{prompt}\n{reply}"))]
    length = sum(map(len, columns))
    row = sql.execute(
        "INSERT INTO turns (org, row, project, session, at, host, branch, prompt, reply, length, stems)"
        " VALUES (%s, nextval('row_numbers'), %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING row",
        (
            sql.org, key(turn.project), session, micros(turn.at), clean(turn.host), clean(turn.branch), prompt, reply,
            length, joined(columns),
        ),
    ).fetchone()  # fmt: skip
    weights: Counter[str] = Counter()
    for weight, stems in zip(WEIGHTS, columns, strict=True):
        for term, count in Counter(stems).items():
            weights[term] += round(weight) * count
    sql.execute(
        "INSERT INTO turn_postings (org, term, turn, weight, length)"
        " SELECT %s, q.term, %s, q.weight, %s FROM unnest(%s::text[], %s::smallint[]) q (term, weight)",
        (
            sql.org, row and row[0], min(length, MOST_COUNTED), list(weights),
            [min(weight, MOST_COUNTED) for weight in weights.values()],
        ),
    )  # fmt: skip


def _spoken(sql: Sql, session: str) -> Iterator[Event]:
    """Yield the readable prompts and replies of a session."""
    for (doc,) in sql.execute(
        "SELECT doc FROM events WHERE org = %s AND session = %s AND key >= 'prompt' AND key < 'reply;'"
        " ORDER BY position",
        (sql.org, session),
    ).fetchall():
        try:
            yield record_of(Event, doc)
        except DAMAGED:
            continue


def search_turns(sql: Sql, query: Query, limit: int, as_it_is: bool = False) -> TurnMatches | None:
    """See `ports.store.Search`. Return None where events are not indexed yet, unless the index is asked as it is."""
    terms = asked_terms(clean(query.text))[:TERM_LIMIT]
    if not terms:
        return TurnMatches()
    (turns, average, is_behind) = sql.execute(
        "SELECT count(*), coalesce((SELECT avg(n.length) FROM (SELECT a.length FROM turns a WHERE a.org = %s"
        " ORDER BY a.row DESC LIMIT %s) n), 1)::float8,"
        " coalesce((SELECT c.last FROM counters c WHERE c.org = %s AND c.name = 'events' AND c.owner = ''), 0)"
        " > coalesce((SELECT i.position FROM turns_indexed i WHERE i.org = %s), 0) FROM turns t WHERE t.org = %s",
        (sql.org, MEASURED, sql.org, sql.org, sql.org),
    ).fetchone() or (0, 1.0, False)
    if is_behind and not as_it_is:
        return None
    if not turns:
        return TurnMatches(terms=tuple((term, 0) for term in terms))
    stems = {term: stems_of(words.indexed(term)) for term in terms}
    plain = {term: own[0] for term, own in stems.items() if len(own) == 1 and not words.is_begun(term)}
    counts = dict.fromkeys(terms, 0) | _counts(sql, plain)
    hits: list[Hit] = []
    for term, own in stems.items():
        if own and term not in plain:
            rows = _begun(sql, own[0]) if words.is_begun(term) else _neighbours(sql, own)
            counts[term] = len(rows)
            idf = _idf(counts[term], turns)
            hits += [(row, idf * _saturated(weight, length, average)) for row, weight, length in rows]
    idfs = [(own, _idf(counts[term], turns)) for term, own in plain.items()]
    matches = _best(sql, query, limit, idfs, average, hits)
    return TurnMatches(matches=tuple(matches), terms=tuple((term, counts[term]) for term in terms), turns=turns)


def _idf(count: int, turns: int) -> float:
    return max(IDF_LEAST, log((max(turns - count, 0) + 0.5) / (count + 0.5)))


def _saturated(weight: int, length: int, average: float) -> float:
    return (K1 + 1) * weight / (weight + K1 * (1 - B) + K1 * B * length / average)


def _counts(sql: Sql, plain: dict[str, str]) -> dict[str, int]:
    rows = sql.execute(
        "SELECT q.term, (SELECT count(*) FROM turn_postings p WHERE p.org = %s AND p.term = q.term)"
        " FROM unnest(%s::text[]) q (term)",
        (sql.org, list(plain.values())),
    )
    by_stem: dict[str, int] = dict(rows.fetchall())
    return {term: by_stem[stem] for term, stem in plain.items()}


def _begun(sql: Sql, beginning: str) -> list[tuple[int, int, int]]:
    """Return row, weight and length of the turns that have a stem with that beginning."""
    return sql.execute(
        "SELECT p.turn, sum(p.weight), max(p.length) FROM turn_postings p WHERE p.org = %s AND p.term >= %s"
        " AND p.term < %s GROUP BY p.turn ORDER BY p.turn DESC LIMIT %s",
        (sql.org, beginning, beginning[:-1] + chr(ord(beginning[-1]) + 1), MOST_OF_TERM),
    ).fetchall()


def _neighbours(sql: Sql, stems: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return row, weight and length of the turns in which these stems are neighbours."""
    neighbours = phrase(stems)
    rows = sql.execute(
        "SELECT t.row, t.length, t.stems FROM (SELECT p.turn FROM turn_postings p WHERE p.org = %s AND p.term = ANY(%s)"
        " GROUP BY p.turn HAVING count(*) = %s ORDER BY p.turn DESC LIMIT %s) c"
        " JOIN turns t ON t.org = %s AND t.row = c.turn WHERE strpos(t.stems, %s) > 0",
        (sql.org, list(set(stems)), len(set(stems)), MOST_OF_TERM, sql.org, neighbours),
    )
    return [
        (row, sum(round(weight) * column.count(neighbours) for weight, column in zip(WEIGHTS, columns, strict=True)), n)
        for row, n, text in rows
        if (columns := text.split("\n"))
    ]


def _best(
    sql: Sql, query: Query, limit: int, idfs: Sequence[tuple[str, float]], average: float, hits: Sequence[Hit]
) -> list[TurnMatch]:
    """Return the best turns of the query's project and time.

    Only the best of all are looked up at first: what a turn is about stands beside its text, which is long.
    """
    matches = _best_of(sql, query, limit, (idfs, average, hits), LOOKED_UP)
    return matches if len(matches) >= limit else _best_of(sql, query, limit, (idfs, average, hits), None)


def _best_of(
    sql: Sql,
    query: Query,
    limit: int,
    scoring: tuple[Sequence[tuple[str, float]], float, Sequence[Hit]],
    most: int | None,
) -> list[TurnMatch]:
    """Return the best turns of the query's project and time among the `most` with the highest scores, or all."""
    idfs, average, hits = scoring
    times = [("t.at >= %s", query.since), ("t.at < %s", query.until), ("t.at <= %s", query.as_of)]
    clauses = ["t.project = %s", *(clause for clause, at in times if at is not None)]
    args: list[Any] = [key(query.project), *(micros(at) for _, at in times if at is not None)]
    rows = sql.execute(
        "WITH scored AS (SELECT h.turn, sum(h.score) AS score FROM ("
        f"SELECT p.turn, q.idf * {SCORE.format('p')} AS score"
        " FROM unnest(%s::text[], %s::float8[]) q (term, idf) CROSS JOIN LATERAL (SELECT p.turn, p.weight, p.length"
        " FROM turn_postings p WHERE p.org = %s AND p.term = q.term ORDER BY p.turn DESC LIMIT %s) p"
        " UNION ALL SELECT r.turn, r.score FROM unnest(%s::bigint[], %s::float8[]) r (turn, score)) h GROUP BY h.turn"
        " ORDER BY 2 DESC, 1 DESC LIMIT %s)"
        " SELECT t.row, t.session, t.host, t.branch, t.at, t.prompt, t.reply, s.score"
        f" FROM scored s JOIN turns t ON t.org = %s AND t.row = s.turn WHERE {' AND '.join(clauses)}"
        " ORDER BY s.score DESC, t.at DESC LIMIT %s",
        (
            average, [stem for stem, _ in idfs], [idf for _, idf in idfs], sql.org, MOST_OF_TERM,
            [row for row, _ in hits], [score for _, score in hits], most, sql.org, *args, max(0, limit),
        ),
    )  # fmt: skip
    return [
        TurnMatch(
            row=row, score=score,
            turn=SpokenTurn(
                project=query.project, session=session, host=host, branch=branch, at=instant(at), prompt=prompt,
                reply=reply,
            ),
        )
        for row, session, host, branch, at, prompt, reply, score in rows
    ]  # fmt: skip
