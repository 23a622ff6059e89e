"""StateStore: what Holdfast stores about its own work, by family and owner (`domain.statefamilies`)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from holdfast.domain.statefamilies import StateFamily


class StateCells(Protocol):
    """Values that are read and written one at a time."""

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """Return the owner's value; empty if there is none."""

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Replace the owner's value; an empty one removes it."""


class StateStore(StateCells, Protocol):
    """Values with an expiry.

    Purging a lesson erases its own values, and removes it from values of families that name lessons, and its words from
    values of families that hold words.
    """

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        """Replace a value by what `edit` makes of it, and return that.

        Nobody else writes in between, so no edit is lost. `edit` must not call the store.
        """

    def expire_states(self, now: datetime) -> int:
        """Erase the values older than their family's days; return how many. Values age by the machine's clock."""
