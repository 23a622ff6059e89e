"""What stands near a hit: lessons of one session are about the same work, those learnt one after the other most of all.

An answer rarely repeats the words of what it answers, so a lesson takes a share of the score of the one before it and
of the best of its session. On turns of recorded conversations that finds a tenth more than words alone. On lessons of
coding sessions it changes nothing that can be told from chance, a share for the lesson before a hit changes nothing on
either, and there is none.
"""

from __future__ import annotations

from holdfast.stores.sqlite.derived import SESSION_PREFIX
from holdfast.stores.sqlite.rows import slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

POOL = 60
"""Hits, best first, that give something to what is near them."""
NEXT, SESSION = 0.3, 0.2
"""Shares of a hit's score: for the lesson after it, for all of its session."""
SESSION_HITS = 3
"""How many of a session's hits count for all of it: its best."""


def spread(sql: sqlite3.Connection, scores: Mapping[int, float]) -> dict[int, float]:
    """Scores by row, with the shares that hits of one session give each other and the next."""
    given = sorted(scores, key=lambda row: (-scores[row], -row))[:POOL]
    found = sql.execute(
        "SELECT s.lesson, s.token,"
        " (SELECT min(n.lesson) FROM tokens n WHERE n.token = s.token AND n.owner = s.owner AND n.lesson > s.lesson)"
        f" FROM tokens s WHERE s.lesson IN ({slots(len(given))}) AND s.token >= ? AND s.token < ?",
        (*given, SESSION_PREFIX, SESSION_PREFIX + "\U0010ffff"),
    ).fetchall()
    spread_out = dict(scores)
    sessions: dict[int, str] = {}
    hits: dict[str, list[float]] = {}
    for row, session, after in found:
        hits.setdefault(session, []).append(scores[row])
        for near, share in ((row, 0.0), (after, NEXT)):
            if near is not None:
                sessions[near] = session
                spread_out[near] = spread_out.get(near, 0.0) + share * scores[row]
    for row, session in sessions.items():
        spread_out[row] += SESSION * sum(sorted(hits[session], reverse=True)[:SESSION_HITS])
    return spread_out
