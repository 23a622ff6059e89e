"""Gives each match its score, its reason, and its freshness as of now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.briefing import Ranked, RetrieverShare, Why
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import Freshness
from holdfast.freshness.check import FreshnessCheck
from holdfast.ports.services import Services
from holdfast.ranking.aim import Aim
from holdfast.ranking.fuse import score_of
from holdfast.ranking.multipliers import NO_AIM, multipliers
from holdfast.ranking.names import UNNAMED
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import UNKNOWN, CorpusSize, is_sufficient_alone
from holdfast.recall.tuning import LOOKED_AT

SETTLING = ("pinned", "recent")
"""Retrievers that settle ties; a lesson that only they find answers no particular question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedLesson:
    """A lesson that retrievers found, with its lexical overlap."""

    lesson: Lesson
    shares: tuple[RetrieverShare, ...]
    overlap: LexicalOverlap
    stems: frozenset[str]
    aim: Aim = NO_AIM
    via: str = ""
    """For a lesson about another file than those in play: how that file is linked to them."""
    named: int = UNNAMED
    """Whether the question contains a name of it: see `ranking.names`."""
    corpus: CorpusSize = UNKNOWN
    """The amount of text that the question could match by chance."""
    weight: float = 0.0
    """The lesson's own BM25, without shares from neighbouring hits."""


def score_matches(
    services: Services,
    location: Location,
    matches: Sequence[RetrievedLesson],
    because: str = "",
    offer: Callable[[list[tuple[Ranked, RetrievedLesson]]], None] | None = None,
) -> list[tuple[Ranked, RetrievedLesson]]:
    """Return the matches with score, reason and freshness as of now, best first. Ranks are set when they are chosen.

    `because` is the moment's own reason; otherwise retrievers and words give it. A close freshness check can take
    longer than a host waits, so `offer` is called with the list as it is before the first one; it is not called when
    no close check is needed.
    """
    check = FreshnessCheck(services, location)
    now = services.clock.now()
    quick_checked = ((match, check.quick_check(match.lesson)) for match in matches)
    scored = sorted(
        (_score_match(match, judged, because, now, check.share(match.lesson)) for match, judged in quick_checked),
        key=_best_first,
    )
    while lesson := check.next_to_verify([ranked.lesson for ranked, _ in scored[:LOOKED_AT]]):
        if offer is not None:
            offer(scored)
            offer = None
        judged, share = check.judge(lesson), check.share(lesson)
        again = (
            _score_match(match, judged, because, now, share) if match.lesson is lesson else (r, match)
            for r, match in scored
        )
        scored = sorted(again, key=_best_first)
    return scored


def _score_match(
    match: RetrievedLesson, judged: tuple[Freshness, str], because: str, now: datetime, share: float
) -> tuple[Ranked, RetrievedLesson]:
    freshness, caveat = judged
    why = Why(
        shares=match.shares,
        multipliers=multipliers(match.lesson, freshness, now, match.aim, share),
        words=(match.via and reason(match)) or because or reason(match),
    )
    ranked = Ranked(lesson=match.lesson, rank=1, score=score_of(why), why=why, freshness=freshness, caveat=caveat)
    return ranked, match


def _best_first(pair: tuple[Ranked, RetrievedLesson]) -> tuple[float, str]:
    return -pair[0].score, pair[0].lesson.id


def reason(match: RetrievedLesson) -> str:
    """Return why it was chosen, in a few words."""
    reasons = [match.via] if match.via else []
    for share in match.shares:
        if share.lane in SETTLING or (share.lane in _REASONS and is_sufficient_alone(share)):
            reasons.append(_REASONS[share.lane])
    if match.overlap.matched:
        reasons.append("shares " + ", ".join(match.overlap.matched[:4]))
    return "; ".join(reasons) or "nearest"


_REASONS = {
    "exact": "names the same thing", "path": "about this file", "symbol": "about this symbol",
    "vector": "similar in meaning", "pinned": "pinned", "recent": "recent",
}  # fmt: skip
