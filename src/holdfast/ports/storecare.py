"""StoreCare: whether a store is sound and whole, and copies of it."""

from __future__ import annotations

from holdfast.errors import StoreError
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Problem(Frozen):
    """Something wrong with the store and the command that mends it."""

    what: str
    mend: str = ""


class Extent(Frozen):
    """How much a store holds."""

    lessons: int = 0
    """Current lessons, tombstones not counted."""
    versions: int = 0
    """Lesson versions ever written; erasing does not lower it."""
    events: int = 0
    """Events ever received; erasing does not lower it."""


class StoreCare(Protocol):
    """Care of a whole store: damage, extent, copies.

    A backend whose rows cannot be damaged one by one, or that has no file, inherits what is said of those here.
    """

    def check(self) -> list[Problem]:
        """What is wrong with the store, its rows and its indexes; empty when sound. Changes nothing."""
        return []

    def left_out(self) -> int:
        """How many damaged rows were left out of answers since the store was opened."""
        return 0

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row, byte for byte, to where no question finds it; rows moved, by table.

        Nothing is deleted: a later version of Holdfast, or a person, may still make sense of it.
        """
        return {}

    def extent(self) -> Extent:
        """How much there is and ever was: what a witness compares to notice that a store was lost or emptied."""
        ...

    def write_copy(self, path: str) -> None:
        """Write everything there is, as of one instant, into a new file that a store of this backend can open.

        Raises StoreError where there are no such files.
        """
        raise StoreError("this store has no copies")

    def take_copy(self, path: str) -> None:
        """Replace everything there is by what a file of `write_copy` holds: all of it or nothing.

        The copy has the current schema: open it once to bring an older one up to date. Raises StoreError where there
        are no such files.
        """
        raise StoreError("this store has no copies")
