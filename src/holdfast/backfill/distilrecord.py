"""The record of distillations: which sessions wait, what was sent, what it cost and what failed.

The file `distil.jsonl` in the home is both queue and record. One line queues a session, a line is written before each
call, and a later line settles it. The file only grows by whole lines, so a killed process loses nothing: a call that
it had begun counts as a try. The file holds ids, numbers and reasons of failures, but no text of a session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, HoldfastError, InvalidValueError, ModelUnavailableError
from holdfast.home.runfiles import RunLock
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.learning.distil import DistilReport
from holdfast.redaction import redact
from holdfast.settings import Settings

TRIES = 3
"""How often a session is sent at most: once, and twice again after failures."""
RETRY_AFTER = timedelta(hours=1)
"""How long a session that failed waits for its next try."""
IN_FLIGHT = timedelta(minutes=5)
"""How long a call that has begun may still be answered; afterwards its process was killed."""
USUAL_CALLS = 50
"""Last calls of a model from which the cost of further ones is told."""
DAY = timedelta(days=1)
"""The span that the limits of calls and dollars hold for."""
LOCK_S = 10.0
"""Longest wait in seconds for another process that writes to the record."""
REASON_CHARACTERS = 160
"""Characters of a failure's reason that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A session that waits to be distilled."""

    session: SessionId
    folder: str
    tries: int = 0
    """Calls that failed or were begun; those that no session is to blame for do not count."""
    last_try: datetime | None = None
    is_open: bool = False
    """A call has begun, and its result is not recorded."""
    queued: bool = False
    """Whether it was queued; otherwise the user had it sent."""

    def is_due(self, now: datetime, again: bool = False) -> bool:
        """Return whether it may be sent now; `again` means that the pause after a failure does not count."""
        if self.last_try is None:
            return True
        pause = IN_FLIGHT if self.is_open else timedelta(0)
        return now - self.last_try >= (pause if again else RETRY_AFTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was sent within some time."""

    calls: int = 0
    lessons: int = 0
    """Lessons that these calls taught."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unknown_costs: int = 0
    """Calls whose model did not report the cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """Sessions that failed since the last success, without one in between."""

    sessions: int = 0
    reason: str = ""
    """Why the last of them failed."""


# Write


def enqueue(settings: Settings, session: SessionId, folder: str, at: datetime) -> None:
    """Queue a session for distillation, unless it is already queued or settled."""
    if session and not any(row.get("session") == session for row in _rows(settings)):
        _append(settings, at, {"queued": True, "session": session, "folder": folder})


def begin_call(settings: Settings, session: SessionId, now: datetime, *, again: bool = False) -> None:
    """Record that a call for the session begins, before it is made: no other process then makes it too.

    `again` allows a call for a session that is settled. Raises AlreadyRunningError if a call is under way or has
    settled it meanwhile, InvalidValueError if today's limit is reached.
    """
    with RunLock(settings.run_path, "distil", LOCK_S) as ours:
        entry = _load(settings).entries.get(session)
        in_flight = entry is not None and entry.is_open and not entry.is_due(now, again=True)
        if not ours or in_flight:
            raise AlreadyRunningError(f"another process is learning from session {session}", hint="try again later")
        if not again and is_settled(settings)(session):
            raise AlreadyRunningError(f"another process has read session {session}", hint="holdfast learn")
        if reached := limit_reached(settings, now):
            raise InvalidValueError(reached, hint=f"edit [distil] in {settings.config_path}, or wait")
        _append(settings, now, {"sent": True, "session": session})


def end_call(settings: Settings, session: SessionId, report: DistilReport, at: datetime) -> None:
    """Record the result of the session's call, or why there was none."""
    if report.skipped:
        skip(settings, session, report.skipped, at)
        return
    row: dict[str, Any] = {
        "session": session,
        "model": report.model,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "cost_usd": report.cost_usd,
        "lessons": len(report.active) + len(report.waiting),
    }
    _append(settings, at, row)


def fail_call(settings: Settings, session: SessionId, exc: HoldfastError, model: str, at: datetime) -> None:
    """Record why the session's call failed. A failure that is not the session's fault is not a try."""
    row: dict[str, Any] = {"session": session, "failed": type(exc).__name__, "model": model}
    row["reason"] = redact(" ".join(str(exc).split()))[:REASON_CHARACTERS]
    if isinstance(exc, ModelUnavailableError):
        row["unavailable"] = True
    _append(settings, at, row)


def skip(settings: Settings, session: SessionId, reason: str, at: datetime) -> None:
    """Record that a session is not worth a call, and why."""
    _append(settings, at, {"session": session, "skipped": reason})


def record_call(settings: Settings, row: Mapping[str, Any], at: datetime) -> None:
    """Record a call that reads no session; it counts towards the limits like any other."""
    _append(settings, at, row)


def note_choice(settings: Settings, model: str, at: datetime) -> None:
    """Record that the user chose a model: earlier failures then say nothing about the next call."""
    _append(settings, at, {"chosen": model})


# Read


def waiting(settings: Settings) -> list[Waiting]:
    """Return the sessions that wait, oldest first, without those that failed too often."""
    return [entry for entry in _load(settings).queue if entry.tries < TRIES]


def given_up(settings: Settings) -> int:
    """Return how many sessions failed too often."""
    return sum(entry.tries >= TRIES for entry in _load(settings).queue)


def is_settled(settings: Settings) -> Callable[[SessionId], bool]:
    """Return a function that says whether a session was distilled, was not worth a call, or failed too often."""
    record = _load(settings)
    failed = {session for session, entry in record.entries.items() if entry.tries >= TRIES}
    return lambda session: session in record.settled or session in failed


def usual(settings: Settings, model: str) -> tuple[int, int, float | None]:
    """Return the mean tokens in, tokens out and dollars of a session, from the last calls of that model.

    The tokens are 0 without calls. The dollars are None if the model did not report them.
    """
    calls = [row for row in _rows(settings) if row.get("model") == model and "lessons" in row][-USUAL_CALLS:]
    if not calls:
        return 0, 0, None
    costs = [row["cost_usd"] for row in calls if row.get("cost_usd") is not None]
    mean_in = sum(int(row.get("input_tokens", 0)) for row in calls) // len(calls)
    mean_out = sum(int(row.get("output_tokens", 0)) for row in calls) // len(calls)
    return mean_in, mean_out, sum(costs) / len(costs) if costs else None


def spent(settings: Settings, now: datetime, within: timedelta = DAY) -> Spent:
    """Return what was sent within that time until now. A call that was begun counts, whatever became of it."""
    calls = [row for row in _load(settings).calls if (at := _instant(row)) and now - at < within]
    costs = [row.get("cost_usd") for row in calls]
    return Spent(
        calls=len(calls),
        lessons=sum(int(row.get("lessons", 0)) for row in calls),
        input_tokens=sum(int(row.get("input_tokens", 0)) for row in calls),
        output_tokens=sum(int(row.get("output_tokens", 0)) for row in calls),
        cost_usd=sum(cost for cost in costs if cost is not None),
        unknown_costs=sum(cost is None for cost in costs),
    )


def limit_reached(settings: Settings, now: datetime) -> str:
    """Return why nothing more may be sent today, or ""."""
    today = spent(settings, now)
    if today.calls >= settings.distil_calls_a_day:
        calls = "1 call" if today.calls == 1 else f"{today.calls} calls"
        return f"{calls} within 24 hours: the limit is calls_a_day = {settings.distil_calls_a_day}"
    if today.cost_usd >= settings.distil_dollars_a_day:
        return f"${today.cost_usd:.2f} within 24 hours: the limit is dollars_a_day = {settings.distil_dollars_a_day:g}"
    return ""


def failing(settings: Settings) -> Failing:
    """Return which sessions failed since the last success, the last choice of a model or the beginning."""
    record = _load(settings)
    return Failing(sessions=len(record.failed), reason=record.reason) if record.failed else Failing()


def last_success(settings: Settings) -> datetime | None:
    """Return when a session was distilled last."""
    times = [_instant(row) for row in _rows(settings) if "lessons" in row]
    return times[-1] if times else None


class _Record:
    """What the rows say, taken in from the first to the last."""

    def __init__(self) -> None:
        self.entries: dict[str, Waiting] = {}
        """Sessions that were queued or sent, and are not settled."""
        self.settled: set[str] = set()
        self.failed: set[object] = set()
        """Sessions that failed since the last success."""
        self.reason = ""
        self._calls: list[Mapping[str, Any]] = []
        self._begun: dict[object, Mapping[str, Any]] = {}
        """Rows of calls without a result, by session."""

    @property
    def queue(self) -> list[Waiting]:
        """The queued sessions that are not settled, oldest first."""
        return [entry for entry in self.entries.values() if entry.queued]

    @property
    def calls(self) -> list[Mapping[str, Any]]:
        """A row for each call: its result, or its beginning if it has no result."""
        return [*self._calls, *self._begun.values()]

    def take(self, row: Mapping[str, Any]) -> None:
        """Take in one more row."""
        session = row.get("session")
        before = self._begun.pop(session, None)
        self._count_failure(row, before)
        if row.get("sent"):
            self._begun[session] = row
            self._calls += [before] if before else []
        elif "model" in row and not row.get("unavailable"):
            self._calls.append(row)
        if session:
            self._take_session(session, row)

    def _count_failure(self, row: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
        session = row.get("session")
        if "lessons" in row or row.get("chosen"):
            self.failed.clear()
        elif row.get("failed"):
            self.failed.add(session)
            self.reason = str(row.get("reason") or row["failed"])
        elif row.get("sent") and before:
            self.failed.add(session)
            self.reason = "the call was interrupted"

    def _take_session(self, session: str, row: Mapping[str, Any]) -> None:
        entry = self.entries.get(session) or Waiting(session=session, folder="")  # type: ignore[arg-type]
        if row.get("queued"):
            self.entries.setdefault(session, replace(entry, folder=str(row.get("folder", "")), queued=True))
        elif row.get("sent"):
            self.entries[session] = replace(entry, tries=entry.tries + 1, last_try=_instant(row), is_open=True)
        elif row.get("failed"):
            tries = entry.tries + (not entry.is_open) - bool(row.get("unavailable"))
            self.entries[session] = replace(entry, tries=max(0, tries), last_try=_instant(row), is_open=False)
        else:
            self.entries.pop(session, None)
            if "skipped" in row or "lessons" in row:
                self.settled.add(session)


def _load(settings: Settings) -> _Record:
    record = _Record()
    for row in _rows(settings):
        record.take(row)
    return record


def _rows(settings: Settings) -> Iterable[Mapping[str, Any]]:
    """Yield the record's lines, without lines that a full disk or an editor has broken."""
    try:
        with open(settings.distil_path, encoding="utf-8", errors="replace") as stream:
            lines = stream.readlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _append(settings: Settings, at: datetime, row: Mapping[str, Any]) -> None:
    os.makedirs(os.path.dirname(settings.distil_path), mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    record = os.open(settings.distil_path, flags, 0o600)
    try:
        line = json.dumps({"at": render_instant(at), **row}) + "\n"
        os.write(record, (("\n" if _is_cut_off(record) else "") + line).encode())
    finally:
        os.close(record)


def _is_cut_off(record: int) -> bool:
    """Return whether the file ends within a line, as a full disk or a kill leaves it; that line stays lost."""
    size = os.fstat(record).st_size
    if not size:
        return False
    os.lseek(record, size - 1, os.SEEK_SET)
    return os.read(record, 1) != b"\n"


def _instant(row: Mapping[str, Any]) -> datetime | None:
    try:
        return parse_instant(str(row.get("at", "")))
    except HoldfastError:
        return None
