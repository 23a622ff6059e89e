"""`holdfast distil` and `backfill --distil`: choose a model, see what it would be sent, let it read sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from holdfast import plugins
from holdfast.backfill.distilling import (
    Estimate,
    distil_session,
    estimate_cost,
    keep_trouble,
    open_model,
    sessions_to_distil,
)
from holdfast.backfill.distilrecord import limit_reached, note_choice
from holdfast.bootstrap import Memory, agent_options, load_model
from holdfast.capture.sessionevents import session_events
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, HoldfastError, InvalidValueError, ModelUnavailableError
from holdfast.installing.configfile import keep_model
from holdfast.lean.plain import as_dict
from holdfast.lean.texts import counted
from holdfast.learning.distil import prepare
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import INTERRUPTED, Call, command, group
from holdfast.surfaces.cli.learn import WHAT_IS_SENT, limits, progress, report_plain, report_words
from holdfast.surfaces.cli.screen import answer_json, note, say, table
from holdfast.wiring import load_host

FAILURES_IN_A_ROW = 3
"""An agent that asks for a login fails each time: no more than this is tried."""


@group(
    "holdfast distil models", "holdfast distil use claude-code", "holdfast distil", "holdfast distil digest", json=True,
    folder=True, invoke_without_command=True,
)  # fmt: skip
def distil(call: Call) -> None:
    """Choose the model that reads sessions, and see what it would be sent.

    Each lesson must quote its session, and the quote is checked. `holdfast learn` lets the model read each session
    after its end. Without a subcommand, it reads this project's latest session now.
    """
    click.get_current_context().invoke(run)


@command("holdfast distil run", "holdfast distil run 0bb9a2d9-a51e-4d5a-8275-566c766a0ff2", of=distil, memory=True)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
def run(call: Call, memory: Memory, sessions: Sequence[SessionId] = ()) -> None:
    """Let the model read SESSIONS now, also a second time; by default this project's latest session."""
    settings = memory.settings
    model = open_model(settings)
    chosen = sessions or [_latest(memory)]
    reports = [(s, distil_session(memory, settings, s, model, again=True)) for s in chosen]
    if call.answer([{"session": session} | as_dict(report) for session, report in reports]):
        return
    for session, report in reports:
        say(f"{session}: {report_words(report)}")
        for why in report.dropped:
            note(f"rejected: {why}")


@command("holdfast distil digest", "holdfast distil digest SESSION | less", of=distil, json=False, memory=True)
@click.argument("session", default="")
def digest(call: Call, memory: Memory, session: SessionId) -> None:
    """Print everything that would be sent about SESSION, by default this project's latest. Nothing is sent."""
    events = session_events(memory.services, memory.location.project.id, session or _latest(memory))
    if not events:
        raise InvalidValueError(f"no session {session} in this project", hint="holdfast log")
    _, _, prompt = prepare(memory.services, memory.location, events)
    say(prompt)


@command("holdfast distil models", "holdfast distil models --json", of=distil, folder=False)
def models(call: Call) -> None:
    """List the models that you can choose: agents on this machine, and kinds of endpoints."""
    rows: list[dict[str, str]] = []
    for name in plugins.names("hosts"):
        host = load_host(name.replace("_", "-"))
        if host.profile.headless is None:
            continue
        try:
            agent_options(host.name)
            remark = "uses your account and " + (host.profile.headless.model or "the model that is set there")
        except HoldfastError as exc:
            remark = str(exc)
        rows.append({"name": host.name, "remark": remark})
    remarks = {
        "anthropic": "model=NAME api_key_env=VARIABLE",
        "ollama": "model=NAME, on this machine",
        "openai-compatible": "url=URL model=NAME [api_key_env=VARIABLE]",
    }
    rows += [
        {"name": name, "remark": remarks.get(name, "a plug-in")}
        for name in (each.replace("_", "-") for each in plugins.names("models"))
        if name != "agent"
    ]
    if not call.answer(rows):
        say(*table([[row["name"], row["remark"]] for row in rows]))


@command(
    "holdfast distil use claude-code", "holdfast distil use ollama model=qwen3:8b",
    "holdfast distil use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY", of=distil,
    json=False, folder=False,
)  # fmt: skip
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def use(call: Call, name: str, options: Sequence[str], yes: bool) -> None:
    """Choose the model that reads sessions: an agent on this machine or an endpoint."""
    if name == "none":
        raise InvalidValueError("a model is not switched off here", hint="holdfast learn --off")
    settings = load_settings()
    chosen = dict(_option(text) for text in options)
    model = load_model(name, chosen)
    note(WHAT_IS_SENT)
    note(f"The model is {model.id}; it gets at most {limits(settings)}.")
    if not yes:
        click.confirm("Send digests of your sessions to this model?", abort=True, err=True)
    keep_model(settings, name, chosen)
    note_choice(settings, name, datetime.now(UTC))
    say(f"distil: {name}; saved in {settings.config_path}")
    if not settings.distil_after_sessions:
        note("it reads a session when you run holdfast distil; to let it read each one: holdfast learn --on")


def _latest(memory: Memory) -> SessionId:
    """Return the session of this project with the newest prompt or reply.

    A session without either has nothing to distil. Raises InvalidValueError if there is none.
    """
    spoken = [event for event in memory.newest_events() if event.kind in ("prompt", "reply")]
    newest = [event for event in spoken if event.project == memory.location.project.id]
    if not newest:
        raise InvalidValueError("no session of this project is known", hint="holdfast backfill")
    return newest[0].session


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InvalidValueError(f"{text!r} is not KEY=VALUE", hint="holdfast distil use --help")
    if key == "api_key":
        hint = "put the key into an environment variable and give the variable's name: api_key_env=VARIABLE"
        raise InvalidValueError("an API key must not be on a command line or in a file", hint=hint)
    return key, os.path.expanduser(value)


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
    if not call.answer(facts | {"sessions": outcomes, "left": left, "interrupted": stopped}):
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
