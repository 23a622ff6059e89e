"""The whole answer to a hook: stores what happened and delivers lessons. A failure of either leaves the other alone.

What most hooks do without is imported by the step that needs it: a hook without a server pays for every module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.capture.observe import redacted, store_events
from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.errors import HoldfastError
from holdfast.ports.services import HasServices, Services

if TYPE_CHECKING:
    from holdfast.recall.deliver import Handover

LogFailure = Callable[[str, Exception], None]


class Later(Protocol):
    """Takes events and deliveries that the store could not take."""

    def keep_events(self, services: Services, location: Location | None, call: HookCall) -> None:
        """Keep the call's events; `location` is None if the project is not known."""
        ...

    def keep_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Keep the records of what was shown."""
        ...


class Reply(Protocol):
    """Sends the answer to the host."""

    def offer(self, text: str) -> None:
        """Store the best answer so far, for a host that stops waiting before a better one is ready."""
        ...

    def write_answer(self, text: str) -> str | None:
        """Send the answer; return the text that the host received, or None when it no longer waits."""
        ...


class KeptReply:
    """A reply that only stores its text, which counts as received."""

    def __init__(self) -> None:
        self.text = ""

    def offer(self, text: str) -> None:
        """Do nothing: nobody stops waiting."""

    def write_answer(self, text: str) -> str | None:
        """Store the text."""
        self.text = text
        return text


def answer(memory: HasServices, host_name: str, payload: dict[str, Any], log_failure: LogFailure | None = None) -> str:
    """Return the host's stdout text. A failing step is reported to `log_failure` (step, error); the others go on.

    Raises PluginNotFoundError for an unknown host and InvalidValueError for a payload that is not this host's.
    """
    return respond(memory, parse(memory, host_name, payload), log_failure)


def parse(memory: HasServices, host_name: str, payload: dict[str, Any]) -> HookCall:
    """Parse the payload; raises as `answer` does."""
    clock = memory.services.clock
    return memory.services.host(host_name).parse_hook(payload, clock.now(), clock.new_id)


def respond(memory: HasServices, call: HookCall, log_failure: LogFailure | None = None, again: bool = False) -> str:
    """Return the host's stdout text, which is empty of lessons if a step failed. See `attend`."""
    reply = KeptReply()
    attend(memory, call, reply, log_failure, again=again)
    return reply.text


def attend(
    memory: HasServices,
    call: HookCall,
    reply: Reply,
    log_failure: LogFailure | None = None,
    *,
    later: Later | None = None,
    until_s: float | None = None,
    again: bool = False,
) -> None:
    """Capture, then deliver, then log what the host received.

    Capture comes first, so that a host that fires a hook twice is answered once. What the store cannot take goes to
    `later`. For `until_s` see `Memory.inject`. `again` means that a server was asked first and did not answer in time;
    it may have captured the events.
    """
    _Exchange(memory, call, reply, log_failure, later).run(until_s, again)


class _Exchange:
    """One call and its answer. Each step may fail alone: that is reported, and the others go on."""

    def __init__(
        self,
        memory: HasServices,
        call: HookCall,
        reply: Reply,
        log_failure: LogFailure | None,
        later: Later | None,
    ) -> None:
        self._call = call
        self._reply = reply
        self._log_failure = log_failure
        self._later = later
        self._folder = call.cwd or memory.folder
        self._services = memory.services
        self._captures = bool(memory.services.capture and call.events)
        self._delivers = call.moment in memory.services.deliver
        self._offers: dict[str, Handover] = {}

    def run(self, until_s: float | None, again: bool) -> None:
        """Process the call; many hooks only capture or only deliver, and both can be off."""
        handover = None
        is_wanted = self._captures or self._delivers or self._call.rules_read
        if is_wanted and (call := self._try("redact", lambda: redacted(self._call))) is not None:
            self._call = call
            handover = self._capture_and_prepare(until_s, again)
        text = self._render(handover.briefing if handover else Briefing())
        received = self._reply.write_answer(text)
        if handover is not None:
            if handover.briefing.degraded:
                self._report("deliver", HoldfastError(handover.briefing.degraded))
            self._try("log", handover.keep_states)
        shown = handover if received == text else self._offers.get(received or "")
        if shown is not None:
            self._try("ask", shown.note_asked)
            self._log(shown)

    def _capture_and_prepare(self, until_s: float | None, again: bool) -> Handover | None:
        call, services = self._call, self._services
        location = self._try("locate", lambda: services.workspace.locate(self._folder))
        if location is None:
            self._keep_for_later(None)
            return None
        if call.rules_read:
            from holdfast.recall.written import note_files_read

            self._try("rules", lambda: note_files_read(services, call.session, call.rules_read))
        if call.moment == "session_start" and self._delivers:
            services.workspace.foresee_dirty(location)
        is_repeated = self._captures and self._capture(location)
        if not self._delivers or (is_repeated and not again):
            return None
        from holdfast.recall.deliver import prepare

        handover: Handover | None = self._try(
            "deliver", lambda: prepare(services, location, call, until_s, offer=self._offer)
        )
        return handover

    def _capture(self, location: Location) -> bool:
        """Store the call's events; return whether all of them were stored before, by a first firing of this hook.

        A second firing must not deliver again, even if both run at once: the store lets only one of them be first.
        """
        call, services = self._call, self._services
        new = self._try("capture", lambda: store_events(services, location, call.events))
        if new is None:
            self._keep_for_later(location)
        kinds = {event.kind for event in call.events} if new else ()
        if "compaction" in kinds:  # before the agent loses its context
            from holdfast.curation.checkpoint import capture as save_task

            self._try("checkpoint", lambda: save_task(services, location, call.session))
        if "file_edit" in kinds:
            from holdfast.freshness.notice import note_edits

            self._try("notice", lambda: note_edits(services, location, call))
        return bool(new == 0)

    def _keep_for_later(self, location: Location | None) -> None:
        later = self._later
        if later is not None and self._captures:
            self._try("spool", lambda: later.keep_events(self._services, location, self._call))

    def _render(self, briefing: Briefing) -> str:
        return self._services.host(self._call.host).render(self._call, briefing)

    def _offer(self, handover: Handover) -> None:
        text = self._render(handover.briefing)
        self._offers[text] = handover
        self._reply.offer(text)

    def _log(self, shown: Handover) -> None:
        deliveries, later = shown.deliveries(), self._later
        if not deliveries or self._try("log", lambda: self._record(deliveries)):
            return
        if later is not None:
            self._try("spool", lambda: later.keep_deliveries(deliveries))

    def _record(self, deliveries: list[Delivery]) -> bool:
        self._services.store.record(deliveries)
        return True

    def _try(self, name: str, step: Callable[[], Any]) -> Any:
        """Return the step's result; None when it failed, which is reported."""
        try:
            return step()
        except Exception as exc:  # none of our errors may reach the host
            self._report(name, exc)
            return None

    def _report(self, name: str, exc: Exception) -> None:
        if self._log_failure:
            self._log_failure(name, exc)
