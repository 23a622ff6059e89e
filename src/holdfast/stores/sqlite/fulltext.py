"""Full text: the lessons that a question's words choose, with their BM25, at a cost that hardly grows with the store.

FTS5's `bm25()` goes, for every word of its expression, through all rows that have the word, those of other projects
and the word that stands for a project included: 3 ms at 100,000 lessons, 30 ms at a million. So rare words choose,
rarest first, as many as choose no more than CHOSEN lessons; other words only count for what those chose, again rarest
first, up to COUNTED rows; and where a project has many lessons or there are few others, those of others are left out
after the search.
"""

from __future__ import annotations

from holdfast.stores.sqlite.derived import scope_token
from holdfast.stores.sqlite.nearby import POOL
from holdfast.stores.sqlite.rows import clean
from holdfast.stores.sqlite.termcounts import quoted
from holdfast.stores.sqlite.visible import first_visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.domain.query import Query
    from holdfast.stores.sqlite.termcounts import TermCounts

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
COLUMN_WEIGHTS = "5.0, 3.0, 2.0, 2.0, 3.0, 0.0"
"""Of title, insight, reason, expanded, error, scope."""


def search(sql: sqlite3.Connection, query: Query, counts: TermCounts, seen: Clause, limit: int) -> dict[int, float]:
    """Rows of the best lessons among those `seen` (SQL on `lessons l`) and their BM25, larger better.

    With fewer than `limit` found by rare words, common ones choose some more. There may be more than `limit`, for what
    is done with neighbours.
    """
    lessons, rare, common = counts.lessons, counts.rare[:TERM_LIMIT], counts.common[:COMMON_LIMIT]
    depth = max(limit, POOL)
    scores: dict[int, float] = {}
    if rare:
        choosing = _rarest(lessons, rare, CHOSEN)
        # what chooses nothing still counts for what is chosen: left out, it costs a tenth of recall
        counting = _rarest(lessons, [term for term in (*rare, *common) if term not in choosing], COUNTED, least=0)
        chosen = f"{_scope(sql, query, lessons, choosing)}({_any(choosing)})"
        scores = _scored(sql, chosen)
        if counting:
            # FTS5 counts a word once for each time that it stands in the expression, so `(a) AND (a OR b)` will not do
            scores |= _scored(sql, f"{chosen} AND ({_any(counting)})")
        scores = _best_seen(sql, scores, seen, depth)
    elif common:
        together = _rarest(lessons, common, COUNTED)
        match = " AND ".join(map(quoted, together))
        scores = _best(sql, f"{_scope(sql, query, lessons, together)}({match})", seen, depth, CHOSEN)
    if len(scores) < limit and len(common) > (not rare):
        some = _rarest(lessons, common, COUNTED)
        match = f"{_scope(sql, query, lessons, some)}({_any(some)})"
        scores = _best(sql, match, seen, depth, CHOSEN_BY_COMMON) | scores
    return scores


def errors_with(sql: sqlite3.Connection, query: Query, counts: TermCounts, seen: Clause) -> list[tuple[int, str]]:
    """Rows and error signatures of the 20 lessons seen whose errors have most of the rare words."""
    choosing = _rarest(counts.lessons, counts.rare[:TERM_LIMIT], CHOSEN)
    if not choosing:
        return []
    match = f"{_scope(sql, query, counts.lessons, choosing)}error : ({_any(choosing)})"
    clause, args = seen
    found = sql.execute(
        # CROSS JOIN and NOT INDEXED: left to itself SQLite walks an index of owners and asks the full text for each row
        "SELECT l.row, lesson_text.error FROM lesson_text CROSS JOIN lessons l NOT INDEXED ON l.row = lesson_text.rowid"
        f" WHERE lesson_text MATCH ? AND {clause} ORDER BY bm25(lesson_text) LIMIT 20",
        (match, *args),
    )
    return found.fetchall()


def _best(sql: sqlite3.Connection, match: str, seen: Clause, limit: int, newest: int) -> dict[int, float]:
    """The best that are seen of the `newest` lessons that match.

    Where hardly any of the newest are seen (other projects' are newer), more are looked at.
    """
    for most in (newest, newest * WIDER):
        scores = _scored(sql, match, most)
        best = _best_seen(sql, scores, seen, limit)
        if len(scores) != most or len(best) >= limit:
            break
    return best


def _scored(sql: sqlite3.Connection, match: str, newest: int = -1) -> dict[int, float]:
    """The BM25, larger better, of all lessons that match, or of the `newest` so many."""
    found = sql.execute(
        f"SELECT rowid, -bm25(lesson_text, {COLUMN_WEIGHTS}) FROM lesson_text WHERE lesson_text MATCH ?"
        " ORDER BY rowid DESC LIMIT ?",
        (match, newest),
    )
    return dict(found.fetchall())


def _best_seen(sql: sqlite3.Connection, scores: Mapping[int, float], seen: Clause, limit: int) -> dict[int, float]:
    """The best that are seen, looked up only as far as needed: in a large store a look-up costs more than a score."""
    rows = sorted(scores, key=lambda row: (-scores[row], -row))
    return {row: scores[row] for row, _ in first_visible(sql, rows, seen, limit)}


def _rarest(lessons: Mapping[str, int], terms: Sequence[str], most: int, least: int = 1) -> list[str]:
    """The rarest of the words that have at most so many lessons together; at least so many words."""
    taken: list[str] = []
    for term in sorted(terms, key=lessons.__getitem__):
        most -= lessons[term]
        if most < 0 and len(taken) >= least:
            break
        taken.append(term)
    return taken


def _scope(sql: sqlite3.Connection, query: Query, lessons: Mapping[str, int], choosing: Sequence[str]) -> str:
    """The beginning of an expression that keeps to the query's scope; empty where that costs more than it spares."""
    if query.all_projects or _are_few_others(sql, clean(query.project)):
        return ""
    scope = f"scope : ({' OR '.join(dict.fromkeys((scope_token(''), scope_token(clean(query.project)))))})"
    most = LEFT_OUT_AFTERWARDS * min(CHOSEN, sum(lessons[term] for term in choosing))
    counting = "SELECT count(*) FROM (SELECT 1 FROM lesson_text WHERE lesson_text MATCH ? LIMIT ?)"
    has: int = sql.execute(counting, (scope, most)).fetchone()[0]
    return f"{scope} AND " if has < most else ""


def _are_few_others(sql: sqlite3.Connection, owner: str) -> bool:
    """Whether there are hardly any lessons out of scope: an index tells sooner than a count of the scope."""
    counting = (
        "SELECT count(*) FROM (SELECT 1 FROM lessons INDEXED BY lessons_recent WHERE retracted_at IS NULL AND"
        " owner > ? AND owner < ? LIMIT ?)"
    )
    before = sql.execute(counting, ("", owner, FEW_OTHERS + 1)).fetchone()[0]
    after = sql.execute(counting, (owner, "\U0010ffff", FEW_OTHERS + 1)).fetchone()[0]
    return bool(before + after <= FEW_OTHERS)


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))
