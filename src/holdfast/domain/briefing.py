"""Briefing: the few lessons handed to a host at a moment, each with the reason it was chosen."""

from __future__ import annotations

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Freshness, LessonId, Moment, State
from holdfast.lean.records import Frozen

UNCONFIRMED: tuple[State, ...] = ("probation", "candidate")
"""States of lessons that may be right and that nobody confirmed yet."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class LaneShare(Frozen):
    """What one retriever (`lane`) gave to a result: its rank there (from 1), its own score and its share of ours."""

    lane: str
    rank: int
    raw: float
    share: float


class Why(Frozen, nested={"shares": LaneShare}):
    """Everything a result's score is made of: score = (sum of shares) x (product of multipliers)."""

    shares: tuple[LaneShare, ...] = ()
    multipliers: tuple[tuple[str, float], ...] = ()
    words: str = ""
    """The reason in a few words, e.g. `anchored to src/app.py; answers this error`."""


class Ranked(Frozen):
    """A lesson in its place: rank from 1, fused score, freshness as checked just now."""

    lesson: Lesson
    rank: int
    score: float
    why: Why
    freshness: Freshness = "unverified"
    caveat: str = ""
    """What changed, in words, when it is not fresh."""
    also: tuple[LessonId, ...] = ()
    """Other lessons of its group, which its line stands for: they count as told."""

    @property
    def is_unconfirmed(self) -> bool:
        """Whether nobody confirmed the lesson yet."""
        return self.lesson.state in UNCONFIRMED


class Briefing(Frozen):
    """At most a few lessons within a token budget, or none and what the nearest was."""

    moment: Moment = "on_demand"
    items: tuple[Ranked, ...] = ()
    more: int = 0
    """How many further lessons fit the question but not the delivery."""
    tokens: int = 0
    near: tuple[Ranked, ...] = ()
    """When nothing passed the bar: the few best that did not, best first."""
    near_more: int = 0
    """How many more were found that did not pass either."""
    disputes: tuple[tuple[LessonId, LessonId], ...] = ()
    """Pairs of the items that contradict each other, the better proven or newer one first."""
    checkpoint_text: str = ""
    """A task's working state, restored at a session's start or after compaction; already compiled."""
    text: str = ""
    """The compiled text for the host; empty when there is nothing to say."""
    degraded: str = ""
    """Why the answer is weaker than it could be (no embedder, deadline), or empty."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.items)

    def __bool__(self) -> bool:
        return True  # an empty briefing is an answer too

    def __repr__(self) -> str:
        titles = ", ".join(repr(item.lesson.title) for item in self.items)
        return f"Briefing({self.moment}: {titles or 'nothing fits'})"

    @property
    def nearest(self) -> Ranked | None:
        """The best that did not pass the bar, when nothing did."""
        return self.near[0] if self.near else None
