"""What is true of each moment at which lessons are handed over, one row a moment.

Adding a moment is its name in `Moment`, its row here, and its function in `recall/moments`. Which hook of a host is
which moment is a fact of the host.
"""

from __future__ import annotations

from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.vocabulary import EventKind, Moment


class MomentProfile(Frozen):
    """The facts about one moment."""

    moment: Moment
    label: str
    """In one word, as a heading."""
    budget_tokens: int
    """Tokens a delivery may cost."""
    is_pushed: bool = True
    """A host's hook delivers at it, and `[deliver]` switches it off; otherwise somebody asks."""
    is_particular: bool = False
    """It is about what the agent does now: lessons on probation may be told, and what became of their code."""
    is_patient: bool = False
    """A late answer is better than none: what is not said then is not said for long."""
    restores_task: bool = False
    """The agent begins without what it knew: it is given the state of its task."""
    more_command: str = "holdfast recall"
    """The command that shows lessons for which there was no room."""
    event_kind: EventKind | None = None
    """The event that a host tells together with it."""
    check_names: tuple[str, ...] = ()
    """What a check of deliveries calls it."""


MOMENT_PROFILES: dict[Moment, MomentProfile] = {
    row.moment: row
    for row in (
        MomentProfile(
            moment="session_start", label="start", budget_tokens=600, is_patient=True, restores_task=True,
            more_command="holdfast list", event_kind="session_start", check_names=("start",),
        ),
        MomentProfile(
            moment="prompt", label="prompt", budget_tokens=400, is_particular=True, is_patient=True,
            event_kind="prompt", check_names=("prompt",),
        ),
        MomentProfile(
            moment="before_file", label="file", budget_tokens=300, is_particular=True, check_names=("edit", "read"),
        ),
        MomentProfile(
            moment="before_command", label="command", budget_tokens=200, is_particular=True, check_names=("command",),
        ),
        MomentProfile(
            moment="after_failure", label="failure", budget_tokens=300, is_particular=True, event_kind="tool_failure",
            check_names=("failure",),
        ),
        MomentProfile(
            moment="after_compaction", label="compaction", budget_tokens=600, is_patient=True, restores_task=True,
        ),
        MomentProfile(
            moment="on_demand", label="on demand", budget_tokens=2000, is_pushed=False, check_names=("ask",),
        ),
    )
}  # fmt: skip

CHANNELS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_pushed)
"""Deliveries that can each be switched off under `[deliver]`."""
PARTICULAR_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_particular)
PATIENT_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.is_patient)
RESTORING_MOMENTS: tuple[Moment, ...] = tuple(row.moment for row in MOMENT_PROFILES.values() if row.restores_task)
