"""The whole of a threshold, as `recall.ask` asks it: a shared path or name, the meaning, or the words."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import (
    UNKNOWN,
    CorpusSize,
    Threshold,
    is_certain,
    meaning_meets_threshold,
    words_meet_threshold,
)


def meets_threshold(
    shares: Sequence[RetrieverShare], overlap: LexicalOverlap, threshold: Threshold, corpus: CorpusSize = UNKNOWN
) -> bool:
    """Whether a lesson may be delivered."""
    return (
        is_certain(shares, corpus)
        or words_meet_threshold(overlap, threshold, shares, corpus)
        or meaning_meets_threshold(shares, threshold, overlap, corpus)
    )
