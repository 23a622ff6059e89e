"""How relevant a lesson is to what is told unasked, and how relevant it has to be.

Who asked wants the best there is; who did not ask is better served by nothing than by something beside the point. So
what is told unasked is held against real prompts of the same project: long ones, full of the project's own words. Two
measures decide together, both of which grow with how rare the shared words are here: BM25, as it is and not as a share
of a long prompt, and the cosine of prompt and lesson. The more lessons there are, the likelier one of them is near any
prompt, so the least grows with the logarithm of their number.

With few lessons no word's rarity is known yet. Then the words themselves have to be enough: telling ones, more of them
the longer the prompt is, and a good part of what the lesson says.
"""

from __future__ import annotations

from math import log

from holdfast.ranking.tuning import (
    BM25_UNIT,
    EXACT_BAR,
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

    from holdfast.domain.briefing import LaneShare
    from holdfast.ranking.bar import Chance
    from holdfast.ranking.relevance import Fit


def relevance_of(shares: Sequence[LaneShare], weight: float) -> float:
    """BM25 and cosine on one scale."""
    return weight / BM25_UNIT + _score(shares, "vector")


def worth_here(shares: Sequence[LaneShare], weight: float) -> float:
    """What orders lessons about one place: how near to it they are, and how relevant."""
    return max(_score(shares, "path"), _score(shares, "symbol")) + relevance_of(shares, weight)


def is_about(shares: Sequence[LaneShare], weight: float, fit: Fit, chance: Chance, shift: float = 1.0) -> bool:
    """Whether a lesson may be told unasked, for its words and meaning alone.

    `shift`: what the project's outcomes multiply the relevance asked for by.
    """
    lessons = chance.lessons
    is_named = _score(shares, "path") >= 1.0  # the prompt names the very file that the lesson is about
    if lessons < PUSH_FEW and not is_named and not _has_words(fit, chance):
        return False
    # an identifier of both says what no rarity tells yet
    if lessons < PUSH_FEW and _score(shares, "exact") >= EXACT_BAR:
        return True
    return lessons < PUSH_FEWEST or relevance_of(shares, weight) >= shift * _asked_for(lessons)


def is_plainly_about(shares: Sequence[LaneShare], weight: float, chance: Chance, shift: float = 1.0) -> bool:
    """Whether a lesson is so relevant that it may be told beside another one; never where no word's rarity is known."""
    lessons = chance.lessons
    return lessons >= PUSH_FEW and relevance_of(shares, weight) >= PUSH_PLAIN * shift * _asked_for(lessons)


def agrees(shares: Sequence[LaneShare], weight: float, chance: Chance) -> bool:
    """Whether a lesson about a file in play may be told: the session's words agree with it."""
    at_symbol = _score(shares, "symbol") >= PUSH_NEAR
    if not at_symbol and _score(shares, "path") < PUSH_NEAR:
        return False
    return words_agree(weight, chance, at_symbol)


def words_agree(weight: float, chance: Chance, at_symbol: bool) -> bool:
    """Whether the session's words give a lesson at its place enough BM25: less at the very definition."""
    if chance.lessons < (PUSH_FEW if at_symbol else PUSH_FEWEST):  # no word's rarity is known: the place has to do
        return True
    least = PUSH_SYMBOL_LEAST if at_symbol else PUSH_FILE_LEAST
    return weight / BM25_UNIT >= least + PUSH_STEP * log(1 + chance.lessons)


def _asked_for(lessons: int) -> float:
    return PUSH_LEAST + PUSH_STEP * log(1 + lessons)


def _has_words(fit: Fit, chance: Chance) -> bool:
    prompt = fit.strength / fit.coverage if fit.coverage else 0.0
    enough = fit.strength >= PUSH_WORDS + PUSH_WORDS_STEP * prompt
    return enough and (fit.coverage >= PUSH_PART_OF_PROMPT or fit.strength >= PUSH_PART * chance.stems)


def _score(shares: Sequence[LaneShare], lane: str) -> float:
    return next((share.raw for share in shares if share.lane == lane), 0.0)
