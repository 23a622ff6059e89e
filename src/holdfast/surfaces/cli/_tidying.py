"""What `holdfast`, `status` and `doctor` say about tidying: that a proposal waits, and what the last tidying did."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta

from holdfast.bootstrap import Memory, find_place
from holdfast.domain.project import Location
from holdfast.errors import HoldfastError
from holdfast.ports.services import Services
from holdfast.settings import Settings
from holdfast.surfaces.cli.findings import NOTE, CheckFinding
from holdfast.upkeep.tidying.tidy import last, pending

RECENT = timedelta(days=30)
"""How long the last tidying is told."""


def tidying_lines(services: Services, location: Location) -> Iterator[str]:
    """Yield a line for the proposal that waits, and one for the last tidying."""
    proposal = pending(services, location)
    if proposal is not None:
        yield f"a proposal waits: {proposal.counts}; holdfast tidy --show"
    change = last(services, location)
    now = services.clock.now()
    if change is not None and now - change.at < RECENT:
        yield f"tidied {_day(change.at, now)}: {change.summary}; holdfast tidy --undo"


def check_tidying(settings: Settings, folder: str = "") -> Iterator[CheckFinding]:
    """Yield doctor's findings: the same lines, where the folder has a memory."""
    if settings.database_path and not os.path.exists(settings.database_path):
        return  # opening the store would create it
    try:
        with Memory(folder, settings=settings) as memory:
            location = find_place(memory.services.store, settings, folder)
            for line in tidying_lines(memory.services, location):
                what, _, mend = line.rpartition("; ")
                yield CheckFinding(NOTE, "tidying", what, mend)
    except (HoldfastError, OSError):
        return  # `check_store` reports it


def _day(at: datetime, now: datetime) -> str:
    days = (now.date() - at.date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else f"{days} days ago"
