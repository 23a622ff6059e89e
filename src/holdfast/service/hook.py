"""The whole answer to a hook: stores what happened and delivers lessons. A failure of either leaves the other alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from holdfast.curation.checkpoint import capture
from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.errors import HoldfastError
from holdfast.ports.services import Services
from holdfast.recall.inject import Handover
from holdfast.service.location import LocationMemory

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


def answer(
    memory: LocationMemory, host_name: str, payload: dict[str, Any], log_failure: LogFailure | None = None
) -> str:
    """Return the host's stdout text. A failing step is reported to `log_failure` (step, error); the others go on.

    Raises PluginNotFoundError for an unknown host and InvalidValueError for a payload that is not this host's.
    """
    return respond(memory, parse(memory, host_name, payload), log_failure)


def parse(memory: LocationMemory, host_name: str, payload: dict[str, Any]) -> HookCall:
    """Parse the payload; raises as `answer` does."""
    clock = memory.services.clock
    return memory.services.host(host_name).parse_hook(payload, clock.now(), clock.new_id)


def respond(memory: LocationMemory, call: HookCall, log_failure: LogFailure | None = None, again: bool = False) -> str:
    """Return the host's stdout text, which is empty of lessons if a step failed. See `attend`."""
    reply = KeptReply()
    attend(memory, call, reply, log_failure, again=again)
    return reply.text


def attend(
    memory: LocationMemory,
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
    _Exchange(memory, call, reply, _Steps(log_failure), later).run(until_s, again)


class _Exchange:
    """One call and its answer."""

    def __init__(
        self, memory: LocationMemory, call: HookCall, reply: Reply, steps: _Steps, later: Later | None
    ) -> None:
        self._memory = memory
        self._call = call
        self._reply = reply
        self._steps = steps
        self._later = later
        self._here = memory.at(call.cwd) if call.cwd else memory
        self._offers: dict[str, Handover] = {}

    def run(self, until_s: float | None, again: bool) -> None:
        """Process the call."""
        handover = self._keep_and_prepare(until_s, again) if self._is_wanted() else None
        briefing = handover.briefing if handover else Briefing()
        text = self._render(briefing)
        heard = self._reply.write_answer(text)
        if handover is not None:
            self._steps.tell("deliver", briefing.degraded)
            self._steps.run("log", handover.keep_states)
        shown = handover if heard == text else self._offers.get(heard or "")
        if shown is not None:
            self._steps.run("ask", shown.note_asked)
            self._log(shown)

    def _is_wanted(self) -> bool:
        """Return whether there is anything to do: many hooks only capture or only deliver, and both can be off."""
        return bool(self._captures() or self._call.rules_read) or self._call.moment in self._memory.services.deliver

    def _captures(self) -> bool:
        return bool(self._memory.services.capture and self._call.events)

    def _keep_and_prepare(self, until_s: float | None, again: bool) -> Handover | None:
        call, here = self._call, self._here
        if not self._steps.run("locate", lambda: here.location):
            self._keep_for_later(None)
            return None
        delivers = call.moment in here.services.deliver
        if call.rules_read:
            self._steps.run("rules", self._note_files_read)
        if call.moment == "session_start" and delivers:
            here.services.workspace.foresee_dirty(here.location)
        is_repeated = self._captures() and self._capture()
        if not delivers or (is_repeated and not again):
            return None
        handover: Handover | None = self._steps.run("deliver", lambda: here.hand_over(call, until_s, self._offer))
        return handover

    def _capture(self) -> bool:
        """Store the call's events; return whether all of them were stored before, by a first firing of this hook.

        A second firing must not deliver again, even if both run at once: the store lets only one of them be first.
        """
        call, here = self._call, self._here
        new = self._steps.run("capture", lambda: here.observe(call))
        if new is None:
            self._keep_for_later(here.location)
        if new and any(event.kind == "compaction" for event in call.events):
            self._steps.run("checkpoint", lambda: _checkpoint(here, call))
        if new and any(event.kind == "file_edit" for event in call.events):
            self._steps.run("notice", lambda: here.notice(call))
        return bool(new == 0)

    def _keep_for_later(self, location: Location | None) -> None:
        later = self._later
        if later is not None and self._captures():
            self._steps.run("spool", lambda: later.keep_events(self._here.services, location, self._call))

    def _render(self, briefing: Briefing) -> str:
        return self._memory.services.host(self._call.host).render(self._call, briefing)

    def _note_files_read(self) -> None:
        from holdfast.lessons.rulesread import note_files_read

        note_files_read(self._here.services, self._call.session, self._call.rules_read)

    def _offer(self, handover: Handover) -> None:
        text = self._render(handover.briefing)
        self._offers[text] = handover
        self._reply.offer(text)

    def _log(self, shown: Handover) -> None:
        deliveries, later = shown.deliveries(), self._later
        if not deliveries or self._steps.run("log", lambda: self._record(deliveries)):
            return
        if later is not None:
            self._steps.run("spool", lambda: later.keep_deliveries(deliveries))

    def _record(self, deliveries: list[Delivery]) -> bool:
        self._memory.services.store.record(deliveries)
        return True


class _Steps:
    """Runs steps each of which may fail alone."""

    def __init__(self, log_failure: LogFailure | None) -> None:
        self._log_failure = log_failure

    def run(self, name: str, step: Callable[[], Any]) -> Any:
        """Return the step's result; None when it failed, which is reported."""
        try:
            return step()
        except Exception as exc:  # none of our errors may reach the host
            if self._log_failure:
                self._log_failure(name, exc)
            return None

    def tell(self, name: str, degraded: str) -> None:
        """Report what a step that continued could not do."""
        if degraded and self._log_failure:
            self._log_failure(name, HoldfastError(degraded))


def _checkpoint(here: LocationMemory, call: HookCall) -> None:
    """Store the task's state before the agent loses its context."""
    capture(here.services, here.location, call.session)
