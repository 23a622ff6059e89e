"""The facts about each moment at which lessons are delivered, one row a moment.

To add a moment, add its name to `Moment`, a row here, and a function in `recall/moments`. Each host's adapter says
which of its hooks is which moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.domain.vocabulary import EventKind, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentProfile:
    """The facts about one moment."""

    moment: Moment
    label: str
    """One word for headings."""
    words: str
    """When it is, for a sentence: `told at the session's start`."""
    budget_tokens: int
    """Most tokens of a delivery."""
    is_pushed: bool = True
    """A host's hook delivers at it, and `[deliver]` switches it off; otherwise it is an explicit query."""
    is_particular: bool = False
    """It concerns what the agent does now: it may deliver changes of the code of lessons."""
    is_act: bool = False
    """A tool call causes it: the agent is about to act, or has just failed."""
    is_patient: bool = False
    """A late answer is better than none, because the next chance to deliver is far away."""
    restores_task: bool = False
    """The agent starts without its earlier context, so the state of its task is delivered."""
    event_kind: EventKind | None = None
    """The event that a host reports together with it."""
    check_names: tuple[str, ...] = ()
    """Its names in a check of deliveries."""


MOMENT_PROFILES: dict[Moment, MomentProfile] = {
    row.moment: row
    for row in (
        MomentProfile(
            moment="session_start", words="at the session's start", label="start",
            budget_tokens=2_300, is_patient=True, restores_task=True,
            event_kind="session_start", check_names=("start",),
        ),
        MomentProfile(
            moment="prompt", words="at a prompt", label="prompt",
            budget_tokens=400, is_particular=True, is_patient=True,
            event_kind="prompt", check_names=("prompt",),
        ),
        MomentProfile(
            moment="before_file", words="before a file was read or edited", label="file",
            budget_tokens=300, is_particular=True,
            is_act=True, check_names=("edit", "read"),
        ),
        MomentProfile(
            moment="before_command", words="before a command", label="command",
            budget_tokens=300, is_particular=True,
            is_act=True, check_names=("command",),
        ),
        MomentProfile(
            moment="after_failure", words="after a failure", label="failure",
            budget_tokens=300, is_particular=True,
            is_act=True, event_kind="tool_failure",
            check_names=("failure",),
        ),
        MomentProfile(
            moment="after_compaction", words="after a compaction", label="compaction",
            budget_tokens=2_300, is_patient=True, restores_task=True,
        ),
        MomentProfile(moment="before_end", words="before the end", label="end", budget_tokens=100),
        MomentProfile(
            moment="on_demand", words="because it was asked for", label="on demand",
            budget_tokens=2000, is_pushed=False, check_names=("ask",),
        ),
    )
}  # fmt: skip

CHANNELS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_pushed)
"""Deliveries that `[deliver]` switches off one by one."""
PARTICULAR_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_particular)
ACT_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_act)
PATIENT_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_patient)
RESTORING_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.restores_task)
