"""How many lessons have a term, as far as it matters: which terms choose, and how much a question tells.

Counting stops at COMMON and looks past scopes (a quarter of the cost), so that a look costs the same in a large store.
"""

from __future__ import annotations

import math

from holdfast.lean.records import Frozen
from holdfast.text import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

COMMON = 1_000
"""A term in more lessons than this says little; it chooses lessons only when no rarer term is there."""
COMMON_SHARE = 0.02
"""As COMMON, for a store of more than 50,000 lessons: the share of them."""
FAMILIAR, FAMILIAR_ENOUGH = 100, 300
"""Scores count once where the question's most common word is in up to FAMILIAR lessons, twice from FAMILIAR_ENOUGH on.

A question that uses the words of this store is about what it holds; one about something else rarely has any of them.
Between the two the factor grows with the logarithm, so that no score jumps when a lesson is added.
"""
SATURATION = 2.2
"""What a term adds to BM25 times its idf, at most: k1 + 1 with FTS5's k1 of 1.2."""


class TermCounts(Frozen):
    """The terms that any lesson has, those in few lessons and those in many, in the order asked."""

    lessons: Mapping[str, int]
    """In how many lessons each is; of a common term as told by how soon the counting stopped."""
    rare: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    most: float = 1.0
    """The BM25 of a lesson that has every term asked, known or not, as often as counts: what a score is a share of."""
    factor: float = 1.0
    """What a score is multiplied by for how familiar the question's words are here: see FAMILIAR."""


def count_terms(sql: sqlite3.Connection, terms: Sequence[str]) -> TermCounts:
    """Look the terms up."""
    newest: int = sql.execute("SELECT coalesce(max(row), 0) FROM lessons").fetchone()[0]
    many = max(COMMON, int(newest * COMMON_SHARE))
    counting = "SELECT count(*), max(rowid) FROM (SELECT rowid FROM lesson_text WHERE lesson_text MATCH ? LIMIT ?)"
    found = [(term, *sql.execute(counting, (quoted(term), many + 1)).fetchone()) for term in terms]
    counts = [(term, count) for term, count, _ in found]
    lessons = {term: count if count <= many else count * newest // last for term, count, last in found if count}
    return TermCounts(
        lessons=lessons,
        rare=tuple(term for term, count in counts if 0 < count <= many),
        common=tuple(term for term, count in counts if count > many),
        most=SATURATION * math.fsum(_idf(lessons.get(term, 0), newest) for term in terms) or 1.0,
        factor=_familiarity(max(lessons.values(), default=0)),
    )


def _familiarity(most_common: int) -> float:
    """1 to 2, by how many lessons have the question's most common word."""
    if most_common <= FAMILIAR:
        return 1.0
    return min(2.0, 1 + math.log(most_common / FAMILIAR) / math.log(FAMILIAR_ENOUGH / FAMILIAR))


def quoted(term: str) -> str:
    """The term as an FTS5 string, which nothing in it can leave; one character of a run asks for what begins so."""
    return '"' + words.indexed(term).replace('"', '""') + ('" *' if words.is_begun(term) else '"')


def _idf(count: int, newest: int) -> float:
    """FTS5's own, with a floor."""
    return max(LEAST_IDF, math.log((newest - count + 0.5) / (count + 0.5))) if count < newest else LEAST_IDF


LEAST_IDF = 0.1
"""So that a word which most of a small store's lessons have still counts as something asked."""
