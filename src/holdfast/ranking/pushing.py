"""How relevant a lesson is to a push delivery, and how relevant it must be.

Somebody who asks wants the best lesson there is; a session that did not ask is better served by nothing than by an
irrelevant lesson. So the thresholds for pushing are fitted on real prompts of the same project: long ones, full of the
project's own words. Two measures decide together, and both grow with the rarity of the shared words here: BM25, in
absolute terms and not as a share of a long prompt, and the cosine of prompt and lesson. With more lessons it is more
likely that one of them is near any prompt, so the threshold grows with the logarithm of their number.

With few lessons the rarity of a word is not known yet. Then the words themselves must be enough: telling words, more of
them for a longer prompt, and a good part of the lesson's words.
"""

from __future__ import annotations

from math import log

from holdfast.ranking.tuning import (
    BM25_UNIT,
    EXACT_THRESHOLD,
    PUSH_FEW,
    PUSH_FEWEST,
    PUSH_FILE_LEAST,
    PUSH_LEAST,
    PUSH_NEAR,
    PUSH_PART,
    PUSH_PART_OF_PROMPT,
    PUSH_PLAIN,
    PUSH_STEP,
    PUSH_SYMBOL_LEAST,
    PUSH_WORDS,
    PUSH_WORDS_STEP,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import RetrieverShare
    from holdfast.ranking.relevance import LexicalOverlap
    from holdfast.ranking.threshold import CorpusSize


def relevance_of(shares: Sequence[RetrieverShare], weight: float) -> float:
    """Return BM25 and cosine as one sum, on the scale of a cosine."""
    return weight / BM25_UNIT + _score(shares, "vector")


def worth_here(shares: Sequence[RetrieverShare], weight: float) -> float:
    """Return the sort key for lessons about one place: how near to it they are, and how relevant."""
    return max(_score(shares, "path"), _score(shares, "symbol")) + relevance_of(shares, weight)


def is_about(
    shares: Sequence[RetrieverShare], weight: float, overlap: LexicalOverlap, corpus: CorpusSize, shift: float = 1.0
) -> bool:
    """Return whether a lesson may be pushed for its words and meaning alone.

    `shift` multiplies the required relevance; it comes from the project's outcomes.
    """
    lessons = corpus.lessons
    is_named = _score(shares, "path") >= 1.0  # the prompt names the very file that the lesson is about
    if lessons < PUSH_FEW and not is_named and not _has_words(overlap, corpus):
        return False
    # With few lessons a shared identifier tells what no word's rarity can tell yet.
    if lessons < PUSH_FEW and _score(shares, "exact") >= EXACT_THRESHOLD:
        return True
    return lessons < PUSH_FEWEST or relevance_of(shares, weight) >= shift * _asked_for(lessons)


def is_plainly_about(shares: Sequence[RetrieverShare], weight: float, corpus: CorpusSize, shift: float = 1.0) -> bool:
    """Return whether a lesson may be pushed as a second one; False where no word's rarity is known."""
    lessons = corpus.lessons
    return lessons >= PUSH_FEW and relevance_of(shares, weight) >= PUSH_PLAIN * shift * _asked_for(lessons)


def agrees(shares: Sequence[RetrieverShare], weight: float, corpus: CorpusSize) -> bool:
    """Return whether a lesson about a file in play may be pushed: the session's words agree with it."""
    at_symbol = _score(shares, "symbol") >= PUSH_NEAR
    if not at_symbol and _score(shares, "path") < PUSH_NEAR:
        return False
    return words_agree(weight, corpus, at_symbol)


def words_agree(weight: float, corpus: CorpusSize, at_symbol: bool) -> bool:
    """Return whether the session's words give a lesson at its place enough BM25; a definition needs less."""
    if corpus.lessons < (PUSH_FEW if at_symbol else PUSH_FEWEST):  # no word's rarity is known, so the place is enough
        return True
    least = PUSH_SYMBOL_LEAST if at_symbol else PUSH_FILE_LEAST
    return weight / BM25_UNIT >= least + PUSH_STEP * log(1 + corpus.lessons)


def _asked_for(lessons: int) -> float:
    return PUSH_LEAST + PUSH_STEP * log(1 + lessons)


def _has_words(overlap: LexicalOverlap, corpus: CorpusSize) -> bool:
    prompt = overlap.weight / overlap.coverage if overlap.coverage else 0.0
    enough = overlap.weight >= PUSH_WORDS + PUSH_WORDS_STEP * prompt
    return enough and (overlap.coverage >= PUSH_PART_OF_PROMPT or overlap.weight >= PUSH_PART * corpus.stems)


def _score(shares: Sequence[RetrieverShare], retriever: str) -> float:
    return next((share.raw for share in shares if share.lane == retriever), 0.0)
