"""StoreCare: checks of a store's soundness, its size, and copies of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from holdfast.errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A fault of the store and the command that repairs it."""

    what: str
    mend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The size of a store."""

    lessons: int = 0
    """Current lessons, tombstones not counted."""
    versions: int = 0
    """Lesson versions ever written; erasing does not lower it."""
    events: int = 0
    """Events ever received; erasing does not lower it."""


class StoreCare(Protocol):
    """Care of a whole store: damage, size, copies.

    A backend without files, or whose rows cannot be damaged one by one, inherits the default methods.
    """

    def check(self) -> list[Problem]:
        """Return the faults of the store, its rows and its indexes; empty when it is sound. Changes nothing."""
        return []

    def left_out(self) -> int:
        """Return how many damaged rows were left out of answers since the store was opened."""
        return 0

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row unchanged to where no query finds it; return the number of rows moved, by table.

        Nothing is deleted: a later version of Holdfast, or a person, may still read the row.
        """
        return {}

    def extent(self) -> Extent:
        """Return the store's size now and ever. A witness compares it to notice a lost or emptied store."""

    def write_copy(self, path: str) -> None:
        """Write a snapshot of the whole store into a new file that a store of this backend can open.

        Raises StoreError for a backend without such files.
        """
        raise StoreError("this store has no copies")

    def take_copy(self, path: str) -> None:
        """Replace the whole store by the content of a file from `write_copy`: all of it or nothing.

        The copy must have the current schema: open it once to migrate an older one. Raises StoreError for a backend
        without such files.
        """
        raise StoreError("this store has no copies")
