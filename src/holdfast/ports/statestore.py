"""StateStore: small values that Holdfast keeps about its own work."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol
else:
    Protocol = object


class StateStore(Protocol):
    """Values by key."""

    def mark(self, key: str, value: str | None = None) -> str:
        """A small named value: sets it when given; returns what is kept now, or an empty string."""
        ...

    def edit_mark(self, key: str, edit: Callable[[str], str]) -> str:
        """Set a mark to what `edit` makes of its value, and return that.

        Nobody else writes in between, so that an edit is never lost. `edit` must not call the store.
        """
        ...
