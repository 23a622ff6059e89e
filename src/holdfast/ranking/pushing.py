"""How near a lesson is to a prompt, and whether it shares anything informative with it.

A prompt that has nothing to do with the project shares no telling word, name or meaning with any lesson, however many
there are. There is no fitted threshold: among the lessons that share something, nearness decides and the budget ends.
"""

from __future__ import annotations

from math import log

from holdfast.ranking.tuning import (
    ALONE_COVERAGE,
    BM25_UNIT,
    EXACT_THRESHOLD,
    MEANING_LEAST,
    MEANING_STEP,
    TELLING_COVERAGE,
    TELLING_WEIGHT,
    WORD_WEIGHT,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import RetrieverShare
    from holdfast.ranking.relevance import LexicalOverlap
    from holdfast.ranking.threshold import CorpusSize


def relevance_of(shares: Sequence[RetrieverShare], weight: float) -> float:
    """Return BM25, cosine and the nearness of a named place as one sum, on the scale of a cosine."""
    return weight / BM25_UNIT + _score(shares, "vector") + max(_score(shares, "path"), _score(shares, "exact")) / 2


def shares_subject_with(shares: Sequence[RetrieverShare], overlap: LexicalOverlap, corpus: CorpusSize) -> bool:
    """Return whether prompt and lesson have in common a name, a place, a meaning, or words that tell a subject.

    Two telling words are enough in any prompt. One telling word needs a second word beside it, or must be half of the
    prompt. Everyday words alone must be two and half of the prompt.
    """
    if _score(shares, "exact") >= EXACT_THRESHOLD or _score(shares, "path") >= 1.0:
        return True
    if _score(shares, "vector") >= MEANING_LEAST + MEANING_STEP * log(1 + corpus.lessons):
        return True
    if overlap.weight >= TELLING_WEIGHT:
        return True
    beside = len(overlap.matched) > 1
    if overlap.weight >= WORD_WEIGHT:
        return overlap.coverage >= (TELLING_COVERAGE if beside else ALONE_COVERAGE)
    return beside and overlap.coverage >= ALONE_COVERAGE


def _score(shares: Sequence[RetrieverShare], retriever: str) -> float:
    return next((share.raw for share in shares if share.lane == retriever), 0.0)
