"""Distils sessions with a model, and records which sessions wait, what was sent and what it cost.

The file `distil.jsonl` in the home is both queue and record: one line queues a session, a later line settles it. It
only grows by whole lines, so a killed process loses nothing. It holds ids and numbers, but no text of a session. A
session that failed is tried again, at most twice.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.bootstrap import load_model
from holdfast.errors import HoldfastError, ModelError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.records import Frozen
from holdfast.learning.distillation.distil import DistilReport, distil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from typing import Any

    from holdfast.domain.vocabulary import SessionId
    from holdfast.ports.model import LanguageModel
    from holdfast.service.memory import Memory
    from holdfast.settings import Settings

TRIES = 3
"""How often a session is sent at most: once, and twice again after failures."""
RETRY_AFTER = timedelta(hours=1)
"""How long a session that failed waits for its next try."""
USUAL_CALLS = 50
"""Last calls of a model from which the cost of further ones is told."""
DAY = timedelta(days=1)
"""The span that the limits of calls and dollars hold for."""


class Waiting(Frozen):
    """A session that waits to be distilled."""

    session: SessionId
    folder: str
    tries: int = 0
    last_try: datetime | None = None


class Spent(Frozen):
    """What was sent within the last 24 hours."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unknown_costs: int = 0
    """Calls whose model did not report the cost."""


def enqueue(settings: Settings, session: SessionId, folder: str, at: datetime) -> None:
    """Queue a session for distillation, unless it is already queued or settled."""
    if session and not any(row.get("session") == session for row in _rows(settings)):
        _append(settings, {"at": render_instant(at), "queued": True, "session": session, "folder": folder})


def waiting(settings: Settings) -> list[Waiting]:
    """Return the sessions that wait, oldest first, without those that failed too often."""
    by_session: dict[str, Waiting] = {}
    for row in _rows(settings):
        session = row.get("session", "")
        if row.get("queued"):
            by_session[session] = Waiting(session=session, folder=str(row.get("folder", "")))
        elif session in by_session and row.get("failed"):
            before = by_session[session]
            by_session[session] = Waiting(
                session=session, folder=before.folder, tries=before.tries + 1, last_try=_instant(row)
            )
        else:
            by_session.pop(session, None)
    return [entry for entry in by_session.values() if entry.tries < TRIES]


def is_settled(settings: Settings) -> Callable[[SessionId], bool]:
    """Return a function that says whether a session was distilled, was not worth a call, or failed too often."""
    done = {row.get("session") for row in _rows(settings) if "skipped" in row or "lessons" in row}
    failures = Counter(row.get("session") for row in _rows(settings) if row.get("failed"))
    return lambda session: session in done or failures[session] >= TRIES


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


def spent(settings: Settings, now: datetime) -> Spent:
    """Return what was sent within the last 24 hours."""
    calls = [row for row in _rows(settings) if "model" in row and (at := _instant(row)) and now - at < DAY]
    costs = [row.get("cost_usd") for row in calls]
    return Spent(
        calls=len(calls),
        input_tokens=sum(int(row.get("input_tokens", 0)) for row in calls),
        output_tokens=sum(int(row.get("output_tokens", 0)) for row in calls),
        cost_usd=sum(cost for cost in costs if cost is not None),
        unknown_costs=sum(cost is None for cost in costs),
    )


def may_send(settings: Settings, now: datetime) -> str:
    """Return why nothing more may be sent today, or ""."""
    today = spent(settings, now)
    if today.calls >= settings.distil_calls_a_day:
        return f"{today.calls} calls within 24 hours: the limit is calls_a_day = {settings.distil_calls_a_day}"
    if today.cost_usd >= settings.distil_dollars_a_day:
        return f"${today.cost_usd:.2f} within 24 hours: the limit is dollars_a_day = {settings.distil_dollars_a_day:g}"
    return ""


def open_model(settings: Settings) -> LanguageModel:
    """Load the configured model. Raises ModelError if none is configured."""
    if not settings.distil_model:
        raise ModelError(
            "no model is chosen, so nothing was sent",
            hint="list them: holdfast distil models; holdfast distil use NAME",
        )
    return load_model(settings.distil_model, dict(settings.distil_options))


def distil_session(
    memory: Memory,
    settings: Settings,
    session: SessionId,
    model: LanguageModel,
) -> DistilReport:
    """Distil one session of the memory's folder and record the cost. Raises ModelError, which is recorded too."""
    clock = memory.services.clock
    try:
        report = distil(memory.services, memory.location, session, model)
    except HoldfastError as exc:
        _append(
            settings,
            {"at": render_instant(clock.now()), "session": session, "failed": type(exc).__name__, "model": model.id},
        )
        raise
    row: dict[str, Any] = {"at": render_instant(clock.now()), "session": session}
    if report.skipped:
        row["skipped"] = report.skipped
    else:
        row |= {
            "model": report.model,
            "input_tokens": report.input_tokens,
            "output_tokens": report.output_tokens,
            "cost_usd": report.cost_usd,
            "lessons": len(report.active) + len(report.waiting),
        }
    _append(settings, row)
    return report


def record_call(settings: Settings, at: datetime, row: Mapping[str, Any]) -> None:
    """Record a call that reads no session; it counts towards the limits like any other."""
    _append(settings, {"at": render_instant(at), **row})


def distil_waiting(
    memory: Memory,
    settings: Settings,
    log_failure: Callable[[str, Exception], None],
) -> Iterator[tuple[Waiting, DistilReport]]:
    """Distil waiting sessions within today's limits; yield each report. Failures go to `log_failure`."""
    due = [entry for entry in waiting(settings) if _is_due(entry, memory.services.clock.now())]
    if not due:
        return
    model = open_model(settings)
    for entry in due:
        if may_send(settings, memory.services.clock.now()) or not os.path.isdir(entry.folder):
            continue
        try:
            yield entry, distil_session(memory.at(entry.folder), settings, entry.session, model)
        except HoldfastError as exc:
            log_failure(f"distil {entry.session}", exc)


def _is_due(entry: Waiting, now: datetime) -> bool:
    return entry.last_try is None or now - entry.last_try >= RETRY_AFTER


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


def _append(settings: Settings, row: Mapping[str, Any]) -> None:
    os.makedirs(os.path.dirname(settings.distil_path), mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    record = os.open(settings.distil_path, flags, 0o600)
    try:
        os.write(record, (json.dumps(row) + "\n").encode())
    finally:
        os.close(record)


def _instant(row: Mapping[str, Any]) -> datetime | None:
    try:
        return parse_instant(str(row.get("at", "")))
    except HoldfastError:
        return None
