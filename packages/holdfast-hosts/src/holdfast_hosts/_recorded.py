"""The base class of programs of which only transcripts are read; nothing is set up for them."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.ports.host import InstallPlan


class Recorded(Adapter):
    """An adapter that only reads. Subclasses define `profile`, `find_transcripts` and how to read them."""

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Raise InvalidValueError: there is nothing to set up."""
        raise InvalidValueError(
            f"there is nothing to set up in {self.name}", hint=f"its transcripts: holdfast backfill --host {self.name}"
        )
