"""`holdfast learn`: let your own agent read each session after its end; off until you agree. And what that takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from holdfast import plugins
from holdfast.backfill.distilling import distil_waiting, keep_trouble, learning_facts, open_model
from holdfast.backfill.distilrecord import given_up, limit_reached, note_choice, waiting
from holdfast.backfill.endedsessions import begin, queue_ended
from holdfast.bootstrap import Memory, agent_options, load_model
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.installing.configfile import keep_consent, keep_model
from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.lean.texts import counted
from holdfast.learning.distil import DistilReport
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.frame import INTERRUPTED, Call, command
from holdfast.surfaces.cli.screen import bar, note, pairs, say
from holdfast.wiring import load_host

BEST = "best"
"""Stands for the best agent on this machine."""
SWITCH_ON = "holdfast learn --on"
WHAT_IS_SENT = (
    "For each session with real work, one digest without secrets goes to that model: what you typed, the agent's\n"
    "explanations, failures and their fixes, commit messages. To read it in full: holdfast distil digest\n"
    "A memory that outgrows a session's start is tidied, at most once a day: that model then gets its lessons' titles."
)


@command(
    "holdfast learn", "holdfast learn --on", "holdfast learn --on codex", "holdfast learn --now",
    "holdfast learn --off", "holdfast learn --json", folder=False,
)  # fmt: skip
@click.option(
    "--on", "agent", is_flag=False, flag_value=BEST, default="", metavar="[NAME]",
    help="From now on, let this agent read each session; by default the chosen model, else the best agent here.",
)  # fmt: skip
@click.option("--off", "stops", is_flag=True, help="Send nothing any more after sessions.")
@click.option("--now", "at_once", is_flag=True, help="Read the sessions that wait now, with a progress bar.")
@click.option("--status", "tells", is_flag=True, help="Print the state; the same as without an option.")
def learn(call: Call, agent: str, stops: bool, at_once: bool, tells: bool) -> int:
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
        new = switch_on(settings, "" if agent == BEST else agent)
        if not call.answer(_facts(new)):
            say(f"on: {_model_words(new)} reads each session after its end; saved in {new.config_path}")
            note(WHAT_IS_SENT)
            note(f"It gets at most {limits(new)}. To stop it: holdfast learn --off")
    elif stops:
        switch_off(settings)
        if not call.answer(_facts(load_settings())):
            say(f"off: nothing is sent after sessions; saved in {settings.config_path}")
    elif not call.answer(_facts(settings)):
        facts = _facts(settings)
        say(*pairs(_rows(settings, facts)))
        if not facts["after_sessions"]:
            note(f"to switch it on: {SWITCH_ON}")
    return 0


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
                    hint = f" ({outcome.error.hint})" if outcome.error and outcome.error.hint else ""
                    words = report_words(outcome.report) if outcome.report else f"failed: {outcome.error}{hint}"
                    show(f"{outcome.session}: {words}")
            except KeyboardInterrupt:
                is_stopped = True
        keep_trouble(memory, settings)
        reached = limit_reached(settings, memory.services.clock.now())
    done = [outcome for outcome in outcomes if "failed" not in outcome]
    left = len(waiting(settings))
    if not call.answer({"sessions": outcomes, "left": left, "limit_reached": reached, "interrupted": is_stopped}):
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


def _facts(settings: Settings) -> dict[str, Any]:
    facts = learning_facts(settings, datetime.now(UTC))
    limits = {"calls_a_day": settings.distil_calls_a_day, "dollars_a_day": settings.distil_dollars_a_day}
    return {**facts, "given_up": given_up(settings), "limits": limits}


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


def agents(settings: Settings, first: Sequence[str] = ()) -> list[str]:
    """Return the hosts whose program can answer a prompt here, the best choice first.

    Those of `first` come before those that are set up, and these before the others; a host that names its cheapest
    model comes before one that does not.
    """
    names = [name.replace("_", "-") for name in plugins.names("hosts")]
    wired = set_up(HostFiles(settings.home).manifest)
    able = []
    for name in names:
        try:
            agent_options(name)
        except HoldfastError:
            continue  # it has no headless mode, or its program is not on the PATH
        able.append(name)
    return sorted(able, key=lambda name: (name not in first, name not in wired, not _cheapest(name), name))


def _cheapest(host: str) -> str:
    headless = load_host(host).profile.headless
    return headless.model if headless else ""


def agent_words(host: str) -> tuple[str, str]:
    """Return the host's title with the model that is asked, and that model in words."""
    title, model = load_host(host).profile.title, _cheapest(host)
    return (f"{title}, {model}", "its cheapest model") if model else (title, "the model that is set there")


def switch_on(settings: Settings, name: str = "") -> Settings:
    """Let the model read each session from now on; return the new settings.

    Without a name it is the model that was chosen before, else the best agent here. Raises InvalidValueError if there
    is none, ModelError or PluginNotFoundError if that model cannot be used.
    """
    name = name or settings.distil_model or next(iter(agents(settings)), "")
    if not name:
        hint = "install one, or choose an endpoint: holdfast distil use --help; then holdfast learn --on"
        raise InvalidValueError("no agent on this machine can answer without a terminal", hint=hint)
    if name == settings.distil_model:
        load_model(name, dict(settings.distil_options))
    else:
        load_model(name, {})
        keep_model(settings, name, {})
    keep_consent(load_settings(), True)
    new = load_settings()
    note_choice(new, name, datetime.now(UTC))
    with Memory(os.sep, settings=new) as memory:
        if not settings.learns_after_sessions:
            begin(memory)
        keep_trouble(memory, new)
    return new


def switch_off(settings: Settings) -> None:
    """Send nothing any more after sessions, and remember that; the chosen model stays for the user's own commands."""
    keep_consent(settings, False)
    if settings.learns_after_sessions:
        with Memory(os.sep, settings=load_settings()) as memory:
            keep_trouble(memory, load_settings())


def limits(settings: Settings) -> str:
    """Return the limits of a day in words."""
    return f"{counted(settings.distil_calls_a_day, 'call')} and ${settings.distil_dollars_a_day:g} a day"


def cost_words(today: dict[str, Any]) -> str:
    """Return the dollars of the last 24 hours, and how many calls did not report theirs."""
    unknown = f" and {counted(today['unknown_costs'], 'call')} of unknown cost" if today["unknown_costs"] else ""
    return f"${today['cost_usd']:.2f}{unknown}"


def report_words(report: DistilReport) -> str:
    """Return what became of a session that was sent, or why it was not."""
    if report.skipped:
        return f"not sent: {report.skipped}"
    cost = "" if report.cost_usd is None else f", ${report.cost_usd:.4f}"
    tokens = f"{report.input_tokens:,} tokens in, {report.output_tokens:,} out{cost}"
    counts = (
        f"{counted(len(report.active), 'lesson')} active, {len(report.waiting)} waiting, {report.merged} known already"
    )
    return f"{counts} ({tokens})"


def report_plain(session: str, report: DistilReport | None, error: HoldfastError | None) -> dict[str, Any]:
    """Return what became of a session, for `--json`."""
    if report is None:
        return {"session": session, "failed": str(error)}
    return {
        "session": session, "skipped": report.skipped, "active": len(report.active),
        "waiting": len(report.waiting), "cost_usd": report.cost_usd
    }  # fmt: skip


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows that one more session is done, with its line: a bar on a terminal, else a note."""
    with bar("learning", total) as shown:
        done = iter(range(1, 1_000_000))

        def show(line: str) -> None:
            if shown:
                shown.say(line)
                shown.advance()
            else:
                note(f"{next(done)}/{total} {line}")

        yield show
