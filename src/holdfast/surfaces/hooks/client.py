"""A hook call: one JSON object in, one out, exit 0, whatever is broken.

A running `holdfast mcp` answers through its private socket; without one the hook answers alone, in this process.
A second thread speaks `{}` when the deadline comes first: unlike a signal it also wakes while SQLite waits in C.
The process leaves by `os._exit`: nothing it opened needs an orderly end, and taking the interpreter down costs 3 ms.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock, start_new_thread

from holdfast.surfaces.hooks.finder import install

install()

from holdfast.domain.errors import HoldfastError, InvalidValueError  # noqa: E402 - found by what was just installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.domain.hookcall import HookCall
    from holdfast.service.memory import Memory
    from holdfast.service.parts import Parts
    from holdfast.settings import Settings

PAYLOAD_LIMIT = 16_000_000
"""Bytes; a longer payload is not read to its end."""

DEADLINE_S = 0.5
SPARE_S = 0.08
"""What the deadline loses to the interpreter's start before we see the clock, and to writing down why we were late."""

NOTHING = "{}"
ANY, NAMELESS = "any", "codex"
"""In the host's place where one command serves several: the environment tells which; that one marks nothing."""
PLAIN = "--plain"
"""Argument after the host's name, for a host that hands whatever we print to the model: silence is no output."""


class Desk:
    """Where the one answer is given: the first to speak has spoken, everybody later is too late."""

    def __init__(self, nothing: str = NOTHING) -> None:
        self.began = time.monotonic()
        self.nothing = nothing
        self.deadline_s = DEADLINE_S
        self.log_path = ""
        self.subject = ""
        self._first = allocate_lock()

    def say(self, text: str) -> bool:
        """Print the answer unless one was given before; whether it was ours. A blank answer is silence."""
        if not self._first.acquire(False):
            return False
        rest = b"" if text.isspace() else text.encode("utf-8", "replace")
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:
            pass  # the host has stopped listening
        return True

    def complain(self, step: str, exc: BaseException) -> None:
        """Write down why something was not done."""
        from holdfast.runfiles import note

        note(self.log_path, f"{self.subject} {step}", exc)

    def watch(self) -> None:
        """Speak at the deadline and leave; runs in a thread of its own."""
        while (left := self.began + self.deadline_s - SPARE_S - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))
        if self.say(self.nothing):
            start_new_thread(_leave_soon, ())  # writing it down needs imports, and the other thread may be in one
            self.complain("deadline", TimeoutError(f"no answer within {self.deadline_s * 1000:.0f} ms"))
            os._exit(0)


def main(arguments: Sequence[str]) -> None:
    """Answer the hook on stdin and leave the process with exit status 0."""
    desk = Desk("" if PLAIN in arguments else NOTHING)
    try:
        _start_watch(desk)
        _serve(desk, arguments[0] if arguments else "")
    except BaseException as exc:  # the host must not feel it, whatever it is
        desk.say(desk.nothing)
        _last_words(desk, exc)
    finally:
        desk.say(desk.nothing)
        os._exit(0)


def _start_watch(desk: Desk) -> None:
    try:
        start_new_thread(desk.watch, ())
    except RuntimeError:
        return  # no more threads for this user: each wait of ours has its own limit


def _leave_soon() -> None:
    time.sleep(0.05)
    os._exit(0)


def _serve(desk: Desk, host: str) -> None:
    from holdfast.settings import calling_host, load_settings

    calling = calling_host()
    if host == ANY:
        host = calling or NAMELESS
    elif host == "claude-code" and calling not in ("", host):
        return  # others run what stands in Claude Code's files too, and have hooks of their own
    settings = load_settings()
    desk.log_path, desk.subject = settings.log_path, host
    desk.deadline_s = max(SPARE_S, settings.hook_deadline_ms / 1000)
    payload = _read_payload()
    if not settings.capture and not settings.deliver:
        return
    from holdfast.surfaces.hooks.rendezvous import ask_server

    answer = ask_server(settings, host, payload)
    errand, text = answer or ("", "")
    if text:
        desk.say(text)
    else:
        errand = _answer_alone(desk, settings, (host, payload), again=answer is not None)
    if errand:
        from holdfast.surfaces.hooks.handover import start_learner

        start_learner(errand)


def _read_payload() -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1_048_576):
        parts.append(part)
        size += len(part)
        if size > PAYLOAD_LIMIT:
            raise InvalidValueError(f"a hook payload of more than {PAYLOAD_LIMIT:,} bytes")
    return b"".join(parts)


def _answer_alone(desk: Desk, settings: Settings, asked: tuple[str, bytes], again: bool) -> str:
    """Answer in this process; returns the errand for a learner, or an empty string. `again`: a server was too slow."""
    host, payload = asked
    _load_c_halves()
    from holdfast.bootstrap import Memory
    from holdfast.domain.jsontext import loads
    from holdfast.service import hook

    told = loads(payload.decode("utf-8", "replace"))
    if not isinstance(told, dict):
        raise InvalidValueError("a hook payload that is not a JSON object")
    memory = Memory(_folder(), settings=settings, cold=True)
    if again:
        memory.parts = _without_close_looks(memory.parts)
    call = hook.parse(memory, host, told)
    desk.subject = f"{host} {call.name}"
    desk.say(hook.respond(memory, call, desk.complain, again=again))
    if not call.ends_session and not _starts_with_leftovers(memory, call):
        return ""
    from holdfast.domain.hookcall import render_errand

    return render_errand(call, _folder())


def _without_close_looks(parts: Parts) -> Parts:
    """Judging files as a whole: the wait took its part of the deadline, and parsing code could take the rest."""
    from holdfast.domain.frozen import replace
    from holdfast.service.parts import no_codeindex

    return replace(parts, codeindex=no_codeindex)


def _load_c_halves() -> None:
    """Load `datetime` and SQLite's driver without the Python modules around them: 3.5 of a hook's 25 ms.

    From Python 3.12 on `datetime` is its C half. The driver asks `functools` for `lru_cache` alone, once, when it is
    loaded; with that comes `collections`. Where an interpreter differs, the usual imports follow.
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
        return os.sep  # the folder is gone; the payload says where we are


def _starts_with_leftovers(memory: Memory, call: HookCall) -> bool:
    """Whether a session begins and an earlier one, which crashed, was never learnt from."""
    starts = call.moment != "after_compaction" and any(event.kind == "session_start" for event in call.events)
    if not starts or not memory.parts.capture:
        return False
    from holdfast.surfaces.hooks.handover import has_leftovers

    return has_leftovers(memory.parts.store, call.session)


def _last_words(desk: Desk, exc: BaseException) -> None:
    try:
        desk.complain("hook", exc)
        if not desk.log_path and isinstance(exc, HoldfastError):
            print(f"holdfast: {exc}", file=sys.stderr)
    except BaseException:
        os._exit(0)  # a full disk, a closed stderr: there is nobody left to tell
