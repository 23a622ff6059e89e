"""Answers a hook in a process of its own, with the store opened for this one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.domain.hookcall import HookCall, render_errand
from holdfast.domain.moments import PATIENT_MOMENTS
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.errors import InvalidValueError, StoreError
from holdfast.home.handover import (
    SYNC,
    has_leftovers,
    is_left_waiting,
    is_sync_due,
    start_learner,
    start_upgrader,
    waits,
)
from holdfast.home.runfiles import leave_errand
from holdfast.lean.deadline import Deadline
from holdfast.lean.texts import loads
from holdfast.ports.services import Services
from holdfast.service.hook import attend, parse
from holdfast.settings import Settings
from holdfast.wiring import Opened

if TYPE_CHECKING:
    from holdfast.home.spool import Spool
    from holdfast.surfaces.hooks.client import _Hook


def answer_alone(
    hook: _Hook, settings: Settings, payload: bytes, deadline: Deadline, *, again: bool, keep_by: float
) -> None:
    """Answer the payload, then do what can wait until the host has its answer.

    `again` means that a server was too slow. `keep_by` is when deferred work must end.
    """
    plain = loads(payload.decode("utf-8", "replace"))
    if not isinstance(plain, dict):
        raise InvalidValueError("a hook payload that is not a JSON object")
    memory = Opened(_folder(), settings, is_hook=True)
    if again:  # after a wait, parsing code could take the rest of the deadline
        memory.services = replace(memory.services, codeindex=lambda: None)
    call = parse(memory, hook.host, plain)
    hook.subject = f"{hook.host} {call.name}"
    hook.reply.wait_until(deadline, is_patient=call.moment in PATIENT_MOMENTS)
    if call.transcript and settings.capture:
        try:
            leave_errand(settings.run_path, call)
        except (OSError, ValueError) as exc:
            hook.log_failure("errand", exc)
    later = _LaterSpool(settings, hook.host)
    attend(memory, call, hook.reply, hook.log_failure, later=later, again=again)
    if errand := _errand_due(memory, call):
        start_learner(errand)
    elif memory.trouble is not None:
        start_upgrader(memory.trouble, settings.run_path)
    hook.reply.release()
    if not later.was_used and memory.trouble is None and waits(settings.run_path, "spool"):
        _drain(memory, keep_by)
    memory.bound_log(hook.reply.release)


class _LaterSpool:
    """The spool, imported only when it is needed."""

    def __init__(self, settings: Settings, host: str) -> None:
        self._settings = settings
        self._host = host
        self.was_used = False

    def keep_events(self, services: Services, location: Location | None, call: HookCall) -> None:
        """See `spool.Spool`."""
        self._spool().keep_events(services, location, call)

    def keep_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """See `spool.Spool`."""
        self._spool().keep_deliveries(deliveries)

    def _spool(self) -> Spool:
        from holdfast.home.spool import Spool  # late: most hooks need none

        self.was_used = True
        return Spool(self._settings.run_path, self._host)


def _drain(memory: Opened, keep_by: float) -> None:
    from holdfast.home.spool import drain  # late: as above

    try:
        drain(memory, memory.settings.run_path, keep_by)
    except StoreError:
        return  # the spool waits for the next hook; the reason was logged when it was filled


def _errand_due(memory: Opened, call: HookCall) -> str:
    """Return the learner's request, or "" if none is due.

    One is due when a session ends or may end, or when it starts and an earlier session waits.
    """
    ends = call.ends_session or (call.may_be_last and memory.services.capture)
    starts = call.moment != "after_compaction" and any(event.kind == "session_start" for event in call.events)
    if not ends and not (starts and memory.services.capture and _has_leftovers(memory, call)):
        if starts and is_sync_due(memory.settings.home, memory.settings.run_path):
            start_learner(render_errand(call, _folder()), SYNC)
        return ""
    return render_errand(call, _folder())


def _has_leftovers(memory: Opened, call: HookCall) -> bool:
    if is_left_waiting(memory.settings.run_path):
        return True
    return memory.trouble is None and has_leftovers(memory.services.store, call.session)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return os.sep  # the folder is gone; the payload names it
