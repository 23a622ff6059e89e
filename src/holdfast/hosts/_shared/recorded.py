"""Programs of which only transcripts are read: nothing is set up for them."""

from __future__ import annotations

from holdfast.errors import InvalidValueError
from holdfast.hosts._shared.adapter import Adapter
from holdfast.ports.host import InstallPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Recorded(Adapter):
    """An adapter that only reads. Sub-classes say `profile`, `find_transcripts` and how they are read."""

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Raises InvalidValueError: there is nothing to set up."""
        raise InvalidValueError(
            f"there is nothing to set up in {self.name}", hint=f"its transcripts: holdfast backfill --host {self.name}"
        )
