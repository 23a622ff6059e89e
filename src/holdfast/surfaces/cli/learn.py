"""`holdfast learn`: let your own agent read each session after its end. Off until you agree."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import click

from holdfast.backfill.distilling import distil_waiting, keep_trouble, learning_facts, open_model
from holdfast.backfill.distilrecord import given_up, limit_reached, waiting
from holdfast.backfill.endedsessions import queue_ended
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli._learning import (
    WHAT_IS_SENT,
    cost_words,
    limits,
    progress,
    report_plain,
    report_words,
    switch_off,
    switch_on,
)
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call, say
from holdfast.surfaces.cli.rows import pairs

BEST = "best"
"""Stands for the best agent on this machine."""
INTERRUPTED = 130
SWITCH_ON = "holdfast learn --on"


@click.command(
    epilog=examples(
        "holdfast learn",
        "holdfast learn --on",
        "holdfast learn --on codex",
        "holdfast learn --now",
        "holdfast learn --off",
        "holdfast learn --json",
    )
)
@click.option(
    "--on", "agent", is_flag=False, flag_value=BEST, default="", metavar="[NAME]",
    help="From now on, let this agent read each session; by default the chosen model, else the best agent here.",
)  # fmt: skip
@click.option("--off", "stops", is_flag=True, help="Send nothing any more after sessions.")
@click.option("--now", "at_once", is_flag=True, help="Read the sessions that wait now, with a progress bar.")
@click.option("--status", "tells", is_flag=True, help="Print the state; the same as without an option.")
@json_option
@pass_call
def command(call: Call, agent: str, stops: bool, at_once: bool, tells: bool) -> int:
    """Let your own agent read each session after its end, and store what was learnt.

    A session with real work costs about one call of the agent's cheapest model, some 8,000 tokens. Real work: at
    least two replies, and an edit, a commit, a failure or three prompts. The call goes to your own account. Every
    lesson must quote its session. Nothing is sent before you agree, in `holdfast setup` or with --on; sessions that
    were over before are left alone (`holdfast backfill --distil` reads those).

    Without an option, it prints whether this is on, what waits, what the last 24 hours cost, and why it cannot go on.
    """
    if sum((bool(agent), stops, at_once, tells)) > 1:
        raise click.UsageError("use one of --on, --off, --now and --status")
    settings = load_settings()
    if at_once:
        return _learn_now(call, settings)
    if agent:
        _switch_on(call, settings, "" if agent == BEST else agent)
    elif stops:
        _switch_off(call, settings)
    else:
        _print_status(call, settings)
    return 0


def _switch_on(call: Call, settings: Settings, name: str) -> None:
    new = switch_on(settings, name)
    if call.as_json:
        answer_json(_facts(new))
        return
    say(f"on: {_model_words(new)} reads each session after its end; saved in {new.config_path}")
    note(WHAT_IS_SENT)
    note(f"It gets at most {limits(new)}. To stop it: holdfast learn --off")


def _switch_off(call: Call, settings: Settings) -> None:
    switch_off(settings)
    if call.as_json:
        answer_json(_facts(load_settings()))
    else:
        say(f"off: nothing is sent after sessions; saved in {settings.config_path}")


def _learn_now(call: Call, settings: Settings) -> int:
    if not settings.learns_after_sessions:
        raise InvalidValueError("learning with your own agent is off, so nothing was sent", hint=SWITCH_ON)
    outcomes: list[dict[str, Any]] = []
    is_stopped = False
    with call.open() as memory:
        open_model(settings)
        now = memory.services.clock.now()
        if reached := limit_reached(settings, now):
            raise InvalidValueError(reached, hint=f"edit [distil] in {settings.config_path}, or wait")
        queue_ended(memory)
        due = [entry for entry in waiting(settings) if entry.is_due(now, again=True)]
        with progress(len(due)) as show:
            try:
                for outcome in distil_waiting(memory, settings, again=True):
                    outcomes.append(report_plain(outcome.session, outcome.report, outcome.error))
                    words = report_words(outcome.report) if outcome.report else _failure_words(outcome.error)
                    show(f"{outcome.session}: {words}")
            except KeyboardInterrupt:
                is_stopped = True
        keep_trouble(memory, settings)
        reached = limit_reached(settings, memory.services.clock.now())
    done = [outcome for outcome in outcomes if "failed" not in outcome]
    left = len(waiting(settings))
    if call.as_json:
        answer_json({"sessions": outcomes, "left": left, "limit_reached": reached, "interrupted": is_stopped})
    else:
        _print_run(done, left, reached)
    if is_stopped:
        return INTERRUPTED
    return 1 if outcomes and not done else 0


def _print_run(done: list[dict[str, Any]], left: int, reached: str) -> None:
    sent = [outcome for outcome in done if not outcome["skipped"]]
    lessons = sum(outcome["active"] + outcome["waiting"] for outcome in sent)
    cost = sum(outcome["cost_usd"] or 0.0 for outcome in sent)
    say(f"{counted(len(sent), 'session')} read: {counted(lessons, 'lesson')}, ${cost:.2f}")
    if left:
        note(f"{counted(left, 'session')} left" + (f": {reached}" if reached else ""))


def _failure_words(error: HoldfastError | None) -> str:
    hint = f" ({error.hint})" if error and error.hint else ""
    return f"failed: {error}{hint}"


def _facts(settings: Settings) -> dict[str, Any]:
    facts = learning_facts(settings, datetime.now(UTC))
    limits = {"calls_a_day": settings.distil_calls_a_day, "dollars_a_day": settings.distil_dollars_a_day}
    return {**facts, "given_up": given_up(settings), "limits": limits}


def _print_status(call: Call, settings: Settings) -> None:
    facts = _facts(settings)
    if call.as_json:
        answer_json(facts)
        return
    for line in pairs(_rows(settings, facts)):
        say(line)
    if not facts["after_sessions"]:
        note(f"to switch it on: {SWITCH_ON}")


def _rows(settings: Settings, facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if facts["after_sessions"]:
        yield "learning", f"on: {_model_words(settings)} reads each session after its end"
    else:
        yield "learning", "off: nothing is sent after sessions"
    given_up = f"; {facts['given_up']} given up after three tries" if facts["given_up"] else ""
    yield "waiting", counted(facts["waiting"], "session") + given_up
    today = facts["last_24_hours"]
    tokens = f"{today['input_tokens']:,} tokens in, {today['output_tokens']:,} out"
    yield "24 hours", f"{counted(today['calls'], 'call')}, {tokens}, {cost_words(today)}"
    yield "limits", limits(settings)
    if facts["last_success"]:
        yield "last", f"{facts['last_success'][:16].replace('T', ' ')} UTC"
    if facts["trouble"]:
        yield "problem", facts["trouble"]


def _model_words(settings: Settings) -> str:
    try:
        return open_model(settings).id
    except HoldfastError:
        return settings.distil_model
