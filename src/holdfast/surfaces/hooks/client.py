"""A hook call: reads one JSON object, prints one, and exits with 0, whatever is broken.

A running `holdfast mcp` answers through its private socket; without one the hook answers alone. On a busy machine the
process that the host started only waits for the answer (see `responder`), and the work goes on after it has left. An
event is stored however late it is, in the store or else in the spool. The process ends with `os._exit`: nothing it
opened needs an orderly end, and shutting the interpreter down costs 3 ms.
"""

from __future__ import annotations

import os
import sys

from holdfast.surfaces.hooks.finder import install

install()

from holdfast.errors import HoldfastError, InvalidValueError  # noqa: E402 - found by what was just installed
from holdfast.surfaces.hooks.responder import NOTHING, open_responder  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.project import Location
    from holdfast.domain.records import Delivery
    from holdfast.home.spool import Spool
    from holdfast.ports.services import Services
    from holdfast.settings import Settings
    from holdfast.surfaces.hooks.responder import Responder
    from holdfast.wiring import HookMemory

PAYLOAD_LIMIT = 16_000_000
"""Bytes; a longer payload is not read to its end."""

ANY = "any"
"""The host's name for a command that serves several hosts; the environment says which."""
PLAIN = "--plain"
"""Argument after the host's name, for a host that passes all output to the model: no answer then prints nothing."""


def main(arguments: Sequence[str]) -> None:
    """Answer the hook on stdin and leave the process with exit status 0."""
    responder = open_responder("" if PLAIN in arguments else NOTHING)
    hook = _Hook(responder, arguments[0] if arguments else "")
    responder.give_up = hook.note_lateness
    try:
        hook.serve()
    except BaseException as exc:  # no error may reach the host
        responder.write_answer(responder.nothing)
        hook.log_fatal(exc)
    finally:
        try:
            responder.write_answer(responder.nothing)
            hook.note_lateness()
        finally:
            os._exit(0)


class _Hook:
    """One hook call, with the state that its steps share."""

    def __init__(self, responder: Responder, host: str) -> None:
        self.responder = responder
        self.host = host
        self.subject = host
        self.settings: Settings | None = None

    def log_failure(self, step: str, exc: BaseException) -> None:
        """Log why a step failed."""
        from holdfast.home.runfiles import note

        note(self.settings.log_path if self.settings else "", f"{self.subject} {step}", exc)

    def serve(self) -> None:
        """Read the payload, get its answer, and start a learner if one is due."""
        from holdfast.lean.hostmarks import IMITATED, UNMARKED
        from holdfast.settings import calling_host, load_settings

        calling = calling_host()
        if self.host == ANY:
            self.host = calling or UNMARKED
        elif self.host in IMITATED and calling not in ("", self.host):
            return  # another host also runs the hooks in this host's files, and has hooks of its own
        self.subject = self.host
        self.settings = settings = load_settings()
        self.responder.limit(settings.hook_deadline_ms / 1000)
        payload = _read_payload()
        if not settings.capture and not settings.deliver:
            return
        from holdfast.surfaces.hooks.rendezvous import ask_server

        answer = ask_server(settings, self.host, payload, self.responder.deadline.server_s)
        if answer is None or not answer.text:
            self._answer_alone(settings, payload, again=answer is not None)
            return
        answer.close(heard=self.responder.write_answer(answer.text) == answer.text)
        if answer.errand:
            from holdfast.surfaces.hooks.handover import start_learner

            start_learner(answer.errand)

    def _answer_alone(self, settings: Settings, payload: bytes, again: bool) -> None:
        """Answer in this process; `again` means that a server was too slow."""
        _load_c_halves()
        from holdfast.domain.moments import PATIENT_MOMENTS
        from holdfast.lean.texts import loads
        from holdfast.service.hook import attend, parse
        from holdfast.wiring import HookMemory

        plain = loads(payload.decode("utf-8", "replace"))
        if not isinstance(plain, dict):
            raise InvalidValueError("a hook payload that is not a JSON object")
        memory = HookMemory(_folder(), settings)
        if again:
            memory.services = _without_close_looks(memory.services)
        call = parse(memory, self.host, plain)
        self.subject = f"{self.host} {call.name}"
        self.responder.allow_late(call.moment in PATIENT_MOMENTS)
        if call.transcript and settings.capture:
            self._leave_errand(settings, call)
        later = _LaterSpool(settings, self.host)
        attend(memory, call, self.responder, self.log_failure, later=later, again=again)
        self._finish(memory, call, drains=not later.was_used)

    def _leave_errand(self, settings: Settings, call: HookCall) -> None:
        from holdfast.home.runfiles import leave_errand

        try:
            leave_errand(settings.run_path, call)
        except (OSError, ValueError) as exc:
            self.log_failure("errand", exc)

    def _finish(self, memory: HookMemory, call: HookCall, drains: bool) -> None:
        """Do what can wait until the host has its answer: start a learner, drain the spool, shorten the log.

        `drains` means that the store accepts writes, so that draining the spool makes sense.
        """
        settings = memory.settings
        errand = _errand_due(memory, call)
        if errand or memory.trouble is not None:
            from holdfast.surfaces.hooks.handover import start_learner, start_upgrader

            if errand:
                start_learner(errand)
            else:
                start_upgrader(memory.trouble, settings.run_path)
        if drains and memory.trouble is None and _spool_waits(settings):
            self.responder.release()
            self._drain(memory)
        memory.bound_log(self.responder.release)

    def _drain(self, memory: HookMemory) -> None:
        from holdfast.errors import StoreError
        from holdfast.home.spool import drain

        try:
            drain(memory, memory.settings.run_path, self.responder.keep_by)
        except StoreError:
            return  # the spool waits for the next hook; the reason was logged when it was filled

    def note_lateness(self) -> None:
        """Count and log a late answer, if the host did not wait for it."""
        if not self.responder.is_late or self.settings is None:
            return
        from holdfast.home.runfiles import LATE, count

        self.log_failure("deadline", TimeoutError(f"no answer within {self.settings.hook_deadline_ms} ms"))
        count(self.settings.run_path, self.host, LATE)

    def log_fatal(self, exc: BaseException) -> None:
        """Log the error that ended the hook, or print it on stderr if there is no log yet."""
        try:
            self.log_failure("hook", exc)
            if self.settings is None and isinstance(exc, HoldfastError):
                self.responder.warn(f"holdfast: {exc}\n")
        except BaseException:
            os._exit(0)  # for example a full disk or a closed stderr: nothing can be reported


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
        from holdfast.home.spool import Spool

        self.was_used = True
        return Spool(self._settings.run_path, self._host)


def _read_payload() -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1_048_576):
        parts.append(part)
        size += len(part)
        if size > PAYLOAD_LIMIT:
            raise InvalidValueError(f"a hook payload of more than {PAYLOAD_LIMIT:,} bytes")
    return b"".join(parts)


def _without_close_looks(services: Services) -> Services:
    """Return services without a code index: after a wait, parsing code could take the rest of the deadline."""
    from holdfast.lean.records import replace
    from holdfast.ports.services import no_codeindex

    return replace(services, codeindex=no_codeindex)


def _load_c_halves() -> None:
    """Load `datetime` and SQLite's driver without the Python modules around them, which saves 3.5 of a hook's 25 ms.

    From Python 3.12 on, `datetime` is its C half. The driver uses only `lru_cache` of `functools`, once, when it is
    loaded; the real `functools` would also load `collections`. On a different interpreter the usual imports follow.
    """
    try:
        import _datetime  # type: ignore[import-not-found]

        sys.modules.setdefault("datetime", _datetime)
        if "functools" in sys.modules:
            return
        sys.modules["functools"] = _Functools  # type: ignore[assignment]
        try:
            import _sqlite3  # noqa: F401 - the store finds it loaded
        finally:
            del sys.modules["functools"]
    except (ImportError, AttributeError, TypeError):
        return


class _Functools:
    """Stands in for `functools` while the driver is loaded."""

    @staticmethod
    def lru_cache(size: int) -> Callable[[Any], Any]:
        from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

        return lambda function: _lru_cache_wrapper(function, size, False, None)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return os.sep  # the folder is gone; the payload names it


def _errand_due(memory: HookMemory, call: HookCall) -> str:
    """Return the learner's request, or "" if none is due.

    One is due when a session ends or may end, or when it starts and an earlier session waits.
    """
    ends = call.ends_session or (call.may_be_last and memory.services.capture)
    starts = call.moment != "after_compaction" and any(event.kind == "session_start" for event in call.events)
    if not ends and not (starts and memory.services.capture and _has_leftovers(memory, call)):
        return ""
    from holdfast.domain.hookcall import render_errand

    return render_errand(call, _folder())


def _has_leftovers(memory: HookMemory, call: HookCall) -> bool:
    from holdfast.surfaces.hooks.handover import has_leftovers, is_left_waiting

    if is_left_waiting(memory.settings.run_path):
        return True
    return memory.trouble is None and has_leftovers(memory.services.store, call.session)


def _spool_waits(settings: Settings) -> bool:
    try:
        return any(name.endswith(".jsonl") for name in os.listdir(f"{settings.run_path}/spool"))
    except OSError:
        return False
