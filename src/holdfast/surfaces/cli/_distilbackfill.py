"""`holdfast backfill --distil`: sends earlier sessions to the model that the user chose, after showing the cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from holdfast.backfill.distilling import (
    Estimate,
    distil_session,
    estimate_cost,
    keep_trouble,
    open_model,
    sessions_to_distil,
)
from holdfast.backfill.distilrecord import limit_reached
from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, HoldfastError, InvalidValueError, ModelUnavailableError
from holdfast.lean.plain import as_dict
from holdfast.surfaces.cli._learning import progress, report_plain, report_words
from holdfast.surfaces.cli.call import Call, answer_json, counted, note, say

FAILURES_IN_A_ROW = 3
"""An agent that asks for a login fails each time: no more than this is tried."""
INTERRUPTED = 130


def distil_earlier(call: Call, *, since: datetime | None, limit: int | None, yes: bool, dry_run: bool) -> int:
    """Distil sessions of the project that no model has read yet, newest first; return the exit code.

    Raises ModelError if no model is chosen, InvalidValueError if the user cannot be asked or today's limit is reached.
    """
    with call.open() as memory:
        settings = memory.settings
        model = open_model(settings)
        sessions = sessions_to_distil(memory, since)[:limit]
        estimate = estimate_cost(memory, model.id, len(sessions))
        facts: dict[str, Any] = {"model": model.id, "estimate": as_dict(estimate), "dry_run": dry_run}
        if not call.as_json:
            for line in estimate_lines(estimate, model.id):
                note(line)
        if not sessions or dry_run:
            if call.as_json:
                answer_json(facts | {"sessions": [], "left": len(sessions)})
            return 0
        if reached := limit_reached(settings, memory.services.clock.now()):
            raise InvalidValueError(reached, hint=f"edit [distil] in {settings.config_path}, or wait")
        if not yes:
            _ask(call, model.id)
        outcomes, stopped = _send(memory, model, sessions)
        keep_trouble(memory, settings)
    done = [outcome for outcome in outcomes if "failed" not in outcome]
    left = len(sessions) - len(done)
    if call.as_json:
        answer_json(facts | {"sessions": outcomes, "left": left, "interrupted": stopped})
    else:
        lessons = sum(outcome.get("active", 0) + outcome.get("waiting", 0) for outcome in done)
        cost = sum(outcome.get("cost_usd") or 0.0 for outcome in done)
        say(f"{counted(len(done), 'session')} read: {counted(lessons, 'lesson')}, ${cost:.2f}")
        if left:
            note(f"{counted(left, 'session')} left; run it again to go on")
    if stopped:
        return INTERRUPTED
    return 1 if outcomes and not done else 0


def estimate_lines(estimate: Estimate, model: str) -> list[str]:
    """Return the estimate in words."""
    if not estimate.sessions:
        return ["every session of this project has been read already or is too short"]
    about = "about" if estimate.measured else "at most"
    tokens = f"{about} {estimate.input_tokens:,} tokens in and {estimate.output_tokens:,} out"
    cost = "" if estimate.cost_usd is None else f", about ${estimate.cost_usd:.2f}"
    lines = [f"{counted(estimate.sessions, 'session')} would go to {model}: {tokens}{cost}"]
    if estimate.cost_usd is None:
        lines.append("this model did not report what a call costs; see your account")
    if estimate.calls_left < estimate.sessions:
        lines.append(
            f"today's limit leaves {counted(estimate.calls_left, 'call')} (calls_a_day); the other sessions wait"
        )
    if estimate.cost_usd is not None and estimate.cost_usd > estimate.dollars_left:
        lines.append(f"today's limit leaves ${estimate.dollars_left:.2f} (dollars_a_day); the other sessions wait")
    return lines


def _ask(call: Call, model: str) -> None:
    if call.as_json or not sys.stdin.isatty():
        raise InvalidValueError("nothing was sent: there is no terminal to ask on", hint="--yes sends without asking")
    click.confirm(f"Send them to {model}?", abort=True, err=True)


def _send(memory: Memory, model: Any, sessions: Sequence[SessionId]) -> tuple[list[dict[str, Any]], bool]:
    """Send the sessions; return the outcome of each session that was tried, and whether the user interrupted."""
    outcomes: list[dict[str, Any]] = []
    failures = 0
    with progress(len(sessions)) as show:
        for session in sessions:
            if reached := limit_reached(memory.settings, memory.services.clock.now()):
                note(f"stopped: {reached}")
                break
            try:
                report = distil_session(memory, memory.settings, session, model)
            except KeyboardInterrupt:
                return outcomes, True
            except AlreadyRunningError as exc:
                show(f"{session}: not sent: {exc}")
                continue
            except HoldfastError as exc:
                failures += 1
                outcomes.append(report_plain(session, None, exc))
                show(f"{session}: failed: {exc}")
                if failures >= FAILURES_IN_A_ROW or isinstance(exc, ModelUnavailableError):
                    row = f"{failures} failures in a row" if failures > 1 else str(exc)
                    note(f"stopped: {row}" + (f"; {exc.hint}" if exc.hint else ""))
                    break
                continue
            failures = 0
            outcomes.append(report_plain(session, report, None))
            show(f"{session}: {report_words(report)}")
    return outcomes, False
