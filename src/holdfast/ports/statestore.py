"""StateStore: what Holdfast keeps about its own work, by family and owner (`domain.statefamilies`)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Protocol

    from holdfast.domain.statefamilies import StateFamily
else:
    Protocol = object


class StateCells(Protocol):
    """Values that are read and written one at a time."""

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """The owner's value; empty for none."""
        ...

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Keep a value in the place of the owner's; an empty one is kept no more."""
        ...


class StateStore(StateCells, Protocol):
    """Values with an expiry. Purging a lesson takes it out of the families that name lessons."""

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        """Set a value to what `edit` makes of it, and return that.

        Nobody else writes in between, so that an edit is never lost. `edit` must not call the store.
        """
        ...

    def expire_states(self, now: datetime) -> int:
        """Erase the values whose family's days are over by then; returns how many. Their time is the machine's."""
        ...
