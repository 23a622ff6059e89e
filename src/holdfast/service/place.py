"""The memory of one folder as far as a hook needs it: where the folder is, what to keep, what to hand over.

Use cases are imported when called: a hook that only observes does not pay for delivery.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.project import Place
    from holdfast.ports.parts import Parts
    from holdfast.recall.inject import Handover


class PlaceMemory:
    """What is known about the project of one folder, and of the user. `Memory` adds all other use cases."""

    def __init__(self, parts: Parts, folder: str) -> None:
        self.parts = parts
        self.folder = folder
        self._place: Place | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.folder!r})"

    def close(self) -> None:
        """Let go of the store."""
        self.parts.store.__exit__(None, None, None)

    def at(self, folder: str) -> PlaceMemory:
        """The same memory asked from another folder."""
        return PlaceMemory(self.parts, folder)

    @property
    def place(self) -> Place:
        """The project and work tree of the folder. Raises ProjectUnknownError or InvalidValueError."""
        if self._place is None:
            self._place = self.parts.workspace.locate(self.folder)
        return self._place

    def observe(self, call: HookCall) -> int:
        """Keep the call's events, redacted; returns how many were new."""
        from holdfast.capture.observe import observe

        return observe(self.parts, self.place, call.events)

    def notice(self, call: HookCall) -> None:
        """Judge the lessons about the files that the call's events edited: the session hears of it at its next call."""
        from holdfast.freshness.notice import note_edits

        note_edits(self.parts, self.place, call)

    def hand_over(
        self, call: HookCall, until_s: float | None = None, offer: Callable[[Handover], None] | None = None
    ) -> Handover:
        """What to hand to the host at the call's moment, not logged yet: that is for whoever knows that it arrived.

        After `until_s` of the clock's elapsed seconds nobody waits for it: nothing is handed over. `offer` is given
        what could be handed over already, before lessons whose code changed are looked at closely.
        """
        from holdfast.recall.inject import prepare

        return prepare(self.parts, self.place, call, until_s, offer=offer)
