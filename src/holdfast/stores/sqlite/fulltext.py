"""Full-text search: finds lessons by a question's words, with their BM25, at a cost that hardly grows with the store.

FTS5's `bm25()` visits, for every word of its expression, all rows that have the word, those of other projects and the
word that stands for a project included: 3 ms at 100,000 lessons, 30 ms at a million. So only rare words select lessons,
rarest first, as many words as select no more than CHOSEN lessons. Other words only add to the scores of those, again
rarest first, up to COUNTED rows. Where a project has many lessons, or there are few others, lessons of other projects
are filtered out after the search. Counting a word stops at COMMON and ignores scopes (a quarter of the cost), so that
it costs the same in a large store.

The index of turns, over the prompts and replies of every session, is derived from the events. A search of the sessions
first indexes the sessions that have new events, each as a whole; nothing else reads or fills it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.domain.event import Event
from holdfast.domain.query import Query
from holdfast.errors import StoreCorruptError, StoreError
from holdfast.ports.store import ErrorMatches, Numbered, SpokenTurn, TextMatch, TextMatches, TurnMatch, TurnMatches
from holdfast.ranking.tuning import TEXT_COLUMN_WEIGHTS, TURN_PROMPT_WEIGHT
from holdfast.stores._shared.rows import SCORE_STEPS
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.matching import first_visible, visible
from holdfast.stores.sqlite.rows import DAMAGED, SESSION_PREFIX, clean, instant, micros, record_of, scope_token, slots
from holdfast.text import words
from holdfast.text.searchkeys import asked_terms
from holdfast.text.signature import error_signature
from holdfast.text.speech import turns_of
from holdfast.text.words import expand

if TYPE_CHECKING:
    import sqlite3

Clause = tuple[str, list[Any]]

CHOSEN, CHOSEN_BY_COMMON = 3_000, 500
"""Most lessons scored in one search, and in one by any of the common words: the newest that match."""
WIDER = 8
"""So many times as many where hardly any of the newest are in the question's scope."""
COUNTED = 40_000
"""Most rows that words which choose nothing may have together: 0.05 ms a thousand."""
TERM_LIMIT, COMMON_LIMIT = 64, 20
"""Most words asked for in one search, and how many of them may be common."""
LEFT_OUT_AFTERWARDS = 15
"""A project with as many lessons for each that is chosen is not asked for in the expression: to look a chosen one up
costs as much as to pass that many in the index."""
FEW_OTHERS = 500
"""With no more lessons of other projects than that, none are left out by the expression."""
COMMON = 1_000
"""A term in more lessons than this says little; it chooses lessons only when no rarer term is there."""
COMMON_SHARE = 0.02
"""As COMMON, for a store of more than 50,000 lessons: the share of them."""
COLUMN_WEIGHTS = ", ".join(map(str, (*TEXT_COLUMN_WEIGHTS, 0.0)))
"""Weights of the columns; the last column is the scope."""

EVENTS_AT_ONCE = 5_000
"""Events that are indexed in one transaction: others write in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """The terms that lessons have, those in few lessons and those in many, in the order of the question."""

    lessons: Mapping[str, int]
    """The number of lessons with each term; for a common term it is estimated from where counting stopped."""
    rare: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    newest: int = 0
    """How many lessons the store has."""


def match_text(sql: sqlite3.Connection, query: Query, limit: int, neighbours: int) -> TextMatches:
    """See `ports.store.Search`."""
    terms = asked_terms(clean(query.text))
    if not terms:
        return TextMatches()
    counts = count_terms(sql, terms)
    scores = search(sql, query, counts, visible(query), limit, max(limit, neighbours))
    best_first = sorted(scores, key=lambda numbered: (-scores[numbered], -numbered[0]))
    sessions = _sessions(sql, query, best_first[:neighbours])
    matches = []
    for numbered in best_first:
        session, after = sessions.get(numbered[0], ("", None))
        matches.append(TextMatch(lesson=numbered, score=scores[numbered], session=session, after=after))
    return TextMatches(
        matches=tuple(matches), terms=tuple((term, counts.lessons.get(term, 0)) for term in terms),
        lessons=counts.newest,
    )  # fmt: skip


def match_errors(sql: sqlite3.Connection, query: Query, limit: int) -> ErrorMatches:
    """See `ports.store.Search`."""
    signature = error_signature(clean(query.error))
    counts = count_terms(sql, sorted(frozenset(words.terms(signature))))
    return ErrorMatches(signature=signature, lessons=tuple(errors_with(sql, query, counts, visible(query), limit)))


def _sessions(
    sql: sqlite3.Connection, query: Query, best: Sequence[Numbered]
) -> dict[int, tuple[str, Numbered | None]]:
    """Return the session of each lesson that has one, and the lesson learnt next in it."""
    rows = sql.execute(
        "SELECT s.lesson, s.token,"
        " (SELECT min(n.lesson) FROM tokens n WHERE n.token = s.token AND n.owner = s.owner AND n.lesson > s.lesson)"
        f" FROM tokens s WHERE s.lesson IN ({slots(len(best))}) AND s.token >= ? AND s.token < ?",
        (*(row for row, _ in best), SESSION_PREFIX, SESSION_PREFIX + "\U0010ffff"),
    ).fetchall()
    known = dict(best)
    after = [row for _, _, row in rows if row is not None and row not in known]
    known.update(first_visible(sql, after, visible(query), len(after)))
    return {
        row: (token.removeprefix(SESSION_PREFIX), (next_row, known[next_row]) if next_row in known else None)
        for row, token, next_row in rows
    }


def search(
    sql: sqlite3.Connection, query: Query, counts: TermCounts, seen: Clause, limit: int, depth: int
) -> dict[Numbered, float]:
    """Return the best `depth` lessons that satisfy `seen` (SQL on `lessons l`) with their BM25, larger is better.

    If rare words find fewer than `limit`, common words add some more.
    """
    lessons, rare, common = counts.lessons, counts.rare[:TERM_LIMIT], counts.common[:COMMON_LIMIT]
    scores: dict[Numbered, float] = {}
    if rare:
        choosing = _rarest(lessons, rare, CHOSEN)
        # Words that select nothing still count for selected lessons: without them recall falls by a tenth.
        counting = _rarest(lessons, [term for term in (*rare, *common) if term not in choosing], COUNTED, least=0)
        chosen = f"{_scope(sql, query, lessons, choosing)}({_any(choosing)})"
        if counting:
            # Each lesson is scored once, by all words that it has. FTS5 counts a word once for each time that it occurs
            # in the expression, so `(a) AND (a OR b)` would count a word twice.
            bm25 = _scored(sql, f"{chosen} NOT ({_any(counting)})")
            bm25 |= _scored(sql, f"{chosen} AND ({_any(counting)})")
        else:
            bm25 = _scored(sql, chosen)
        scores = _best_seen(sql, bm25, seen, depth)
    elif common:
        together = _rarest(lessons, common, COUNTED)
        match = " AND ".join(map(quoted, together))
        scores = _best(sql, f"{_scope(sql, query, lessons, together)}({match})", seen, depth, CHOSEN)
    if len(scores) < limit and len(common) > (not rare):
        some = _rarest(lessons, common, COUNTED)
        match = f"{_scope(sql, query, lessons, some)}({_any(some)})"
        scores = _best(sql, match, seen, depth, CHOSEN_BY_COMMON) | scores
    return scores


def errors_with(
    sql: sqlite3.Connection, query: Query, counts: TermCounts, seen: Clause, limit: int
) -> list[tuple[str, Numbered]]:
    """Return the error signatures that have most of the rare words, with their visible lessons."""
    choosing = _rarest(counts.lessons, counts.rare[:TERM_LIMIT], CHOSEN)
    if not choosing:
        return []
    match = f"{_scope(sql, query, counts.lessons, choosing)}error : ({_any(choosing)})"
    rows = sql.execute(
        "SELECT rowid, -bm25(lesson_text) FROM lesson_text WHERE lesson_text MATCH ? ORDER BY rowid", (match,)
    )
    scores: dict[int, float] = dict(rows.fetchall())
    best_first = sorted(scores, key=scores.__getitem__, reverse=True)
    numbered = first_visible(sql, best_first, seen, limit)  # scored first: a look-up costs more than a score
    signatures = dict(
        sql.execute(
            f"SELECT rowid, error FROM lesson_text WHERE rowid IN ({slots(len(numbered))})",
            [row for row, _ in numbered],
        ).fetchall()
    )
    return [(signatures[row], (row, id_)) for row, id_ in numbered]


def _best(sql: sqlite3.Connection, match: str, seen: Clause, limit: int, newest: int) -> dict[Numbered, float]:
    """Return the best visible lessons among the `newest` that match.

    If hardly any of the newest are visible (other projects' are newer), more are searched.
    """
    for most in (newest, newest * WIDER):
        scores = _scored(sql, match, most)
        best = _best_seen(sql, scores, seen, limit)
        if len(scores) != most or len(best) >= limit:
            break
    return best


def _scored(sql: sqlite3.Connection, match: str, newest: int = -1) -> dict[int, float]:
    """Return the BM25, larger is better, of all lessons that match, or of that many of the newest."""
    rows = sql.execute(
        f"SELECT rowid, CAST(-bm25(lesson_text, {COLUMN_WEIGHTS}) * {SCORE_STEPS} AS INTEGER) / {SCORE_STEPS}"
        " FROM lesson_text WHERE lesson_text MATCH ? ORDER BY rowid DESC LIMIT ?",
        (match, newest),
    )
    return dict(rows.fetchall())


def _best_seen(sql: sqlite3.Connection, scores: Mapping[int, float], seen: Clause, limit: int) -> dict[Numbered, float]:
    """Return the best visible lessons. It looks up only as many as needed: a look-up costs more than a score."""
    newest_first = sorted(scores, reverse=True)
    rows = sorted(newest_first, key=scores.__getitem__, reverse=True)
    return {numbered: scores[numbered[0]] for numbered in first_visible(sql, rows, seen, limit)}


def _rarest(lessons: Mapping[str, int], terms: Sequence[str], most: int, least: int = 1) -> list[str]:
    """Return the rarest words that together occur in at most `most` lessons, but at least `least` words."""
    taken: list[str] = []
    for term in sorted(terms, key=lessons.__getitem__):
        most -= lessons[term]
        if most < 0 and len(taken) >= least:
            break
        taken.append(term)
    return taken


def _scope(sql: sqlite3.Connection, query: Query, lessons: Mapping[str, int], choosing: Sequence[str]) -> str:
    """Return the prefix of an expression that limits it to the query's scope; empty where that does not pay."""
    if query.all_projects or _are_few_others(sql, clean(query.project)):
        return ""
    scope = f"scope : ({' OR '.join(dict.fromkeys((scope_token(''), scope_token(clean(query.project)))))})"
    most = LEFT_OUT_AFTERWARDS * min(CHOSEN, sum(lessons[term] for term in choosing))
    counting = "SELECT count(*) FROM (SELECT 1 FROM lesson_text WHERE lesson_text MATCH ? LIMIT ?)"
    has: int = sql.execute(counting, (scope, most)).fetchone()[0]
    return f"{scope} AND " if has < most else ""


def _are_few_others(sql: sqlite3.Connection, owner: str) -> bool:
    """Return whether hardly any lessons are out of scope; an index answers sooner than a count of the scope."""
    counting = (
        "SELECT count(*) FROM (SELECT 1 FROM lessons INDEXED BY lessons_recent WHERE retracted_at IS NULL AND"
        " owner > ? AND owner < ? LIMIT ?)"
    )
    before = sql.execute(counting, ("", owner, FEW_OTHERS + 1)).fetchone()[0]
    after = sql.execute(counting, (owner, "\U0010ffff", FEW_OTHERS + 1)).fetchone()[0]
    return bool(before + after <= FEW_OTHERS)


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))


def count_terms(sql: sqlite3.Connection, terms: Sequence[str]) -> TermCounts:
    """Return how many lessons have each term, counted only as far as it matters."""
    newest: int = sql.execute("SELECT coalesce(max(row), 0) FROM lessons").fetchone()[0]
    many = max(COMMON, int(newest * COMMON_SHARE))
    counting = "SELECT count(*), max(rowid) FROM (SELECT rowid FROM lesson_text WHERE lesson_text MATCH ? LIMIT ?)"
    counts = [(term, *sql.execute(counting, (quoted(term), many + 1)).fetchone()) for term in terms]
    return TermCounts(
        lessons={term: count if count <= many else count * newest // last for term, count, last in counts if count},
        rare=tuple(term for term, count, _ in counts if 0 < count <= many),
        common=tuple(term for term, count, _ in counts if count > many),
        newest=newest,
    )


def quoted(term: str) -> str:
    """Return the term as an escaped FTS5 string; a single character of a script without spaces becomes a prefix."""
    return '"' + words.indexed(term).replace('"', '""') + ('" *' if words.is_begun(term) else '"')


def catch_up(connection: Connection) -> None:
    """Index the sessions with events that are not indexed yet. A store that cannot be written stays as it is."""
    with connection.reading() as sql:
        last = _last_indexed(sql)
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
    last = _last_indexed(sql)
    some = "SELECT position, session FROM events WHERE position > ? ORDER BY position LIMIT ?"
    rows = sql.execute(some, (last, EVENTS_AT_ONCE)).fetchall()
    index_turns(sql, dict.fromkeys(session for _, session in rows))
    sql.execute("DELETE FROM turns_indexed")
    last = rows[-1][0] if rows else last
    sql.execute("INSERT INTO turns_indexed VALUES (?)", (last,))
    return last


def _last_indexed(sql: sqlite3.Connection) -> int:
    row = sql.execute("SELECT position FROM turns_indexed").fetchone()
    return int(row[0]) if row else 0


def index_turns(sql: sqlite3.Connection, sessions: Iterable[str]) -> None:
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
    index_turns(sql, sessions)
    # Deleted text stays in the index's segments until they are merged.
    sql.execute("INSERT INTO turn_text (turn_text) VALUES ('optimize')")


def search_turns(sql: sqlite3.Connection, query: Query, limit: int) -> TurnMatches:
    """See `ports.store.Search`."""
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
