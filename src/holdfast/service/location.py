"""The part of a folder's memory that hooks need: its location, storing events, delivering lessons.

Methods import their use case when they are called, so that a hook that only observes does not pay for delivery.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.capture.observe import observe
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.ports.services import Services
from holdfast.recall.inject import Handover, prepare


class LocationMemory:
    """The memory of the project of one folder, and of the user. `Memory` adds all other use cases."""

    def __init__(self, services: Services, folder: str) -> None:
        self.services = services
        self.folder = folder
        self._location: Location | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.folder!r})"

    def close(self) -> None:
        """Close the store."""
        self.services.store.__exit__(None, None, None)

    def at(self, folder: str) -> LocationMemory:
        """Return the same memory for another folder."""
        return LocationMemory(self.services, folder)

    @property
    def location(self) -> Location:
        """The project and work tree of the folder. Raises ProjectUnknownError or InvalidValueError."""
        if self._location is None:
            self._location = self.services.workspace.locate(self.folder)
        return self._location

    def observe(self, call: HookCall) -> int:
        """Store the call's events, redacted; return how many were new."""
        return observe(self.services, self.location, call.events)

    def notice(self, call: HookCall) -> None:
        """Check the lessons about the files that the call edited; the session is told at its next call."""
        from holdfast.freshness.notice import note_edits

        note_edits(self.services, self.location, call)

    def hand_over(
        self, call: HookCall, until_s: float | None = None, offer: Callable[[Handover], None] | None = None
    ) -> Handover:
        """Return what to hand to the host at the call's moment. The caller logs it once it knows that it arrived.

        After `until_s` of the clock's elapsed seconds nobody waits: nothing is delivered. `offer` is called with what
        could be delivered already, before lessons whose code changed are checked closely.
        """
        return prepare(self.services, self.location, call, until_s, offer=offer)
