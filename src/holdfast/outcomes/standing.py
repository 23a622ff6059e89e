"""Standing: the sum of a lesson's outcomes, and the state that it should have.

It is a pure function of the outcomes since a person last vouched for the lesson, so counting twice changes nothing. A
lesson that a person stated, or pinned, is never closed by inference: it is only put up for review (ADR 16).
"""

from __future__ import annotations

from holdfast.lean.records import Frozen
from holdfast.outcomes.tuning import (
    HARM_TO_RETIRE,
    HEEDED_TO_CONFIRM,
    IGNORED_TO_RETIRE,
    STATED,
    STATED_BY_AGENT,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.records import Change, Outcome
    from holdfast.domain.vocabulary import State

AGENT = "agent"
"""`Outcome.judge` of an agent's statement."""
PERSONAL = ("remember", "accept", "confirm", "revise", "undo", "edit", "import")
"""Verbs of changes by which somebody vouches for a lesson: outcomes before them no longer count."""


class Standing(Frozen):
    """The sums of a lesson's outcomes, and their consequence."""

    told: int = 0
    heeded: int = 0
    helped: int = 0
    ignored: int = 0
    ignored_in_a_row: int = 0
    overridden: int = 0
    failed: int = 0
    hurt: int = 0
    missed: int = 0
    withheld: int = 0
    credit: int = 0
    """Heeded uses, plus statements by their weight."""
    harm: int = 0
    becomes: State | None = None
    """The state to which it should move; None: it stays."""
    for_review: bool = False
    """Whether a person should review it: outcomes contradict it, and only a person may close it."""
    words: str = ""
    """What its state rests on, and what would change it."""

    @property
    def is_harmful(self) -> bool:
        """Whether enough outcomes contradict the lesson, and more than support it."""
        return self.harm >= HARM_TO_RETIRE and self.harm > self.credit


def standing_of(lesson: Lesson, outcomes: Sequence[Outcome], since: datetime | None = None) -> Standing:
    """Return the standing of a lesson by its outcomes, in any order; outcomes up to `since` do not count."""
    counted = sorted(
        (outcome for outcome in outcomes if since is None or outcome.at > since),
        key=lambda outcome: (outcome.at, outcome.id),
    )
    told_outcomes = [outcome for outcome in counted if not outcome.withheld and outcome.verdict != "missed"]
    counts: dict[str, Any] = {
        verdict: sum(outcome.verdict == verdict for outcome in told_outcomes) for verdict in _COUNTED
    }
    in_a_row = 0
    for outcome in told_outcomes:
        if outcome.verdict in ("heeded", "helped"):
            in_a_row = 0
        in_a_row += outcome.verdict == "ignored"
    credit = sum(_worth(outcome) for outcome in told_outcomes if outcome.verdict in ("heeded", "helped"))
    harm = sum(_worth(outcome) for outcome in told_outcomes if outcome.verdict in ("overridden", "hurt"))
    standing = Standing(
        told=sum(bool(outcome.judge) and outcome.judge != AGENT for outcome in told_outcomes),
        ignored_in_a_row=in_a_row,
        missed=sum(outcome.verdict == "missed" for outcome in counted),
        withheld=sum(outcome.verdict == "withheld" for outcome in counted),
        credit=credit,
        harm=harm,
        **counts,
    )
    return _with_consequence(lesson, standing)


def since_of(changes: Sequence[Change]) -> datetime | None:
    """Return when somebody last vouched for a lesson with these changes; None for never."""
    return max((change.at for change in changes if change.verb in PERSONAL), default=None)


_COUNTED = ("heeded", "helped", "ignored", "overridden", "failed", "hurt")


def _worth(outcome: Outcome) -> int:
    if outcome.judge == "":
        return STATED
    return STATED_BY_AGENT if outcome.judge == AGENT else 1


def _with_consequence(lesson: Lesson, standing: Standing) -> Standing:
    is_idle = standing.ignored_in_a_row >= IGNORED_TO_RETIRE
    reasons = _reasons(standing)
    fields = {**standing.__dict__, "words": reasons}
    if lesson.state not in ("active", "probation"):
        return Standing(**fields)
    if standing.is_harmful or is_idle:
        if lesson.trust == "person" or lesson.pinned:
            return Standing(**{**fields, "for_review": True, "words": f"{reasons}; a person decides"})
        return Standing(**{**fields, "becomes": "retired"})
    if lesson.state == "probation" and standing.credit >= HEEDED_TO_CONFIRM and standing.harm == 0:
        return Standing(**{**fields, "becomes": "active"})
    return Standing(**{**fields, "words": f"{reasons}; {_outlook(lesson, standing)}"})


def _reasons(standing: Standing) -> str:
    parts = [f"{getattr(standing, verdict)} {verdict}" for verdict in _COUNTED if getattr(standing, verdict)]
    parts += [f"{standing.missed} missed"] if standing.missed else []
    return ", ".join(parts) or "no outcome yet"


def _outlook(lesson: Lesson, standing: Standing) -> str:
    if lesson.state == "probation":
        left = max(1, HEEDED_TO_CONFIRM - standing.credit)
        if not standing.harm:
            return f"active after {left} more heeded {'use' if left == 1 else 'uses'}"
        return "not confirmed by uses while something speaks against it"
    end = "put up for review" if lesson.trust == "person" or lesson.pinned else "retired"
    harm = max(HARM_TO_RETIRE, standing.credit + 1) - standing.harm
    return (
        f"{end} after {harm} more overridden or {IGNORED_TO_RETIRE - standing.ignored_in_a_row} more ignored in a row"
    )
