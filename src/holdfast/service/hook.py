"""A hook's whole answer: keep what happened, hand over what fits. Neither may take the other down."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.domain.hookcall import HookCall
    from holdfast.service.memory import Memory

    Complain = Callable[[str, Exception], None]


def answer(memory: Memory, host_name: str, payload: dict[str, Any], complain: Complain | None = None) -> str:
    """The host's stdout text. What fails on the way is told to `complain` (which step, why); the rest goes on.

    Raises PluginNotFoundError for an unknown host and InvalidValueError for a payload that is not this host's.
    """
    return respond(memory, parse(memory, host_name, payload), complain)


def parse(memory: Memory, host_name: str, payload: dict[str, Any]) -> HookCall:
    """What the payload says; raises as `answer` does."""
    clock = memory.parts.clock
    return memory.parts.host(host_name).parse_hook(payload, clock.now(), clock.new_id)


def respond(
    memory: Memory, call: HookCall, complain: Complain | None = None, until_s: float | None = None, again: bool = False
) -> str:
    """Capture, then deliver: the host's stdout text, which says nothing where a step failed.

    Capture comes first, so that a deadline costs the delivery and not the event. `until_s`: see `Memory.inject`.
    `again`: a server was asked first and did not answer in time; it may have captured the events.
    """
    here = memory.at(call.cwd) if call.cwd else memory
    steps = _Steps(complain)
    briefing = Briefing()
    if _wanted(memory, call) and steps.run("locate", lambda: here.place):
        if call.moment == "session_start" and call.moment in memory.parts.deliver:
            here.parts.workspace.foresee_dirty(here.place)
        repeated = _capture(here, call, steps)
        if call.moment in memory.parts.deliver and (again or not repeated):
            briefing = steps.run("deliver", lambda: here.inject(call, until_s)) or briefing
            steps.tell("deliver", briefing.degraded)
    return memory.parts.host(call.host).render(call, briefing)


class _Steps:
    """Runs steps of which each may fail alone."""

    def __init__(self, complain: Complain | None) -> None:
        self._complain = complain

    def run(self, name: str, step: Callable[[], Any]) -> Any:
        """The step's result; None when it failed, which is told."""
        try:
            return step()
        except Exception as exc:  # whatever it is, the host must not feel it
            if self._complain:
                self._complain(name, exc)
            return None

    def tell(self, name: str, degraded: str) -> None:
        """Pass on what a step that went on could not do."""
        if degraded and self._complain:
            self._complain(name, HoldfastError(degraded))


def _wanted(memory: Memory, call: HookCall) -> bool:
    """Whether there is anything to do: many hooks only matter for one of the two, and either can be switched off."""
    return bool(memory.parts.capture and call.events) or call.moment in memory.parts.deliver


def _capture(here: Memory, call: HookCall, steps: _Steps) -> bool:
    """Keep the call's events; whether all of them were kept before: the host fired this hook twice.

    A second firing must not deliver again, also when both run at once: the store lets only one of them be first.
    """
    if not (here.parts.capture and call.events):
        return False
    new = steps.run("capture", lambda: here.observe(call))
    if new and any(event.kind == "compaction" for event in call.events):
        steps.run("checkpoint", lambda: _checkpoint(here, call))
    if new and any(event.kind == "file_edit" for event in call.events):
        steps.run("notice", lambda: here.notice(call))
    return bool(new == 0)


def _checkpoint(here: Memory, call: HookCall) -> None:
    """Write down the task's state before the agent forgets it."""
    from holdfast.service.checkpoint import capture

    capture(here.parts, here.place, call.session)
