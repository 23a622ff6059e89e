"""Briefing: the few lessons handed to a host at a moment, each with the reason for its choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Freshness, LessonId, Moment, SessionId, State

UNCONFIRMED: tuple[State, ...] = ("candidate",)
"""States of lessons that may be right but that nobody has confirmed yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverShare:
    """The part of a result's score that comes from one retriever: rank there (from 1), its own score, share of ours."""

    lane: str
    rank: int
    raw: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The parts of a result's score: score = (sum of shares) x (product of multipliers)."""

    shares: tuple[RetrieverShare, ...] = ()
    multipliers: tuple[tuple[str, float], ...] = ()
    words: str = ""
    """The reason in a few words, e.g. `anchored to src/app.py; answers this error`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A lesson in a ranking: rank from 1, fused score, freshness as checked just now."""

    lesson: Lesson
    rank: int
    score: float
    why: Why
    freshness: Freshness = "unverified"
    caveat: str = ""
    """What changed, in words, when it is not fresh."""
    also: tuple[LessonId, ...] = ()
    """Other lessons of its group, for which its line stands: they count as delivered."""

    @property
    def is_unconfirmed(self) -> bool:
        """Return whether nobody has confirmed the lesson yet."""
        return self.lesson.state in UNCONFIRMED


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefEntry:
    """A lesson that a brief tells: its line's rank from 1, what it was worth, and why it is there."""

    id: LessonId
    rank: int
    score: float
    reason: str
    text: str = ""
    """The line."""
    also: tuple[LessonId, ...] = ()
    """Other lessons that say the same, for which the line stands: they count as told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurn:
    """A turn of an earlier session that answers a question: where and when it was, and its best words."""

    session: SessionId
    host: str
    branch: str
    at: datetime
    asked: str
    """The beginning of its prompt."""
    passage: str
    """The words that answer best, of the prompt or of a reply."""
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """The lessons chosen within a token budget; when there are none, the nearest that did not pass."""

    moment: Moment = "on_demand"
    items: tuple[Ranked, ...] = ()
    entries: tuple[BriefEntry, ...] = ()
    """What a brief tells, which has no `items`: it is told from prepared lines, without reading the lessons."""
    left_out: tuple[BriefEntry, ...] = ()
    """What a brief would have told next."""
    more: int = 0
    """How many further lessons answer the question but do not fit the budget."""
    tokens: int = 0
    near: tuple[Ranked, ...] = ()
    """When no lesson passed the relevance threshold: the best that did not, best first."""
    near_more: int = 0
    """How many more were found that did not pass."""
    disputes: tuple[tuple[LessonId, LessonId], ...] = ()
    """Pairs of the items that contradict each other, the better proven or newer one first."""
    checkpoint_text: str = ""
    """A task's working state as compiled text, restored at a session's start or after compaction."""
    text: str = ""
    """The compiled text for the host; empty when there is nothing to say."""
    turns: tuple[FoundTurn, ...] = ()
    """Turns of earlier sessions that answer the question, best first: see `recall.sessions`."""
    asks: bool = False
    """The agent is asked what the session taught."""
    degraded: str = ""
    """Why the answer is weaker than usual (no embedder, deadline), or empty."""

    def __len__(self) -> int:
        return len(self.items) + len(self.entries)

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.items)

    def __bool__(self) -> bool:
        return True  # an empty briefing is an answer too

    def __repr__(self) -> str:
        lines = [*(item.lesson.title for item in self.items), *(entry.text for entry in self.entries)]
        return f"Briefing({self.moment}: {', '.join(map(repr, lines)) or 'nothing fits'})"

    @property
    def nearest(self) -> Ranked | None:
        """Return the best lesson below the relevance threshold when no lesson passed it; otherwise None."""
        return self.near[0] if self.near else None
