"""`holdfast distil`: let a model word the lessons of sessions. Nothing is sent until the user has chosen a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.surfaces.cli.call import (
    Call,
    Group,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import pairs, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.bootstrap import Memory
    from holdfast.domain.vocabulary import SessionId
    from holdfast.learning.distillation.distil import DistilReport
    from holdfast.settings import Settings

NONE = "none"
WHAT_IS_SENT = (
    "One digest is sent for each session: at most 6,000 tokens, without secrets. It holds what you typed, the agent's\n"
    "explanations, failures and their fixes, and commit messages. To read it in full: holdfast distil digest"
)


@click.group(
    cls=Group,
    invoke_without_command=True,
    epilog=examples(
        "holdfast distil models", "holdfast distil use claude-code", "holdfast distil", "holdfast distil digest"
    ),
)
@folder_option
@json_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Let a model word the lessons of sessions. Each lesson must quote its session, and the quote is checked.

    Without a subcommand, it distils the sessions that wait, or this project's latest session if none waits.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(run)


@command.command(epilog=examples("holdfast distil run", "holdfast distil run 0bb9a2d9-a51e-4d5a-8275-566c766a0ff2"))
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@folder_option
@json_option
@pass_call
def run(call: Call, sessions: Sequence[SessionId] = ()) -> None:
    """Distil SESSIONS now; by default the sessions that wait, or this project's latest session if none waits."""
    from holdfast.backfill.distilling import distil_session, distil_waiting, may_send, open_model, waiting
    from holdfast.bootstrap import worth_of_replies

    with call.open() as memory:
        settings = memory.settings
        model = open_model(settings)
        limit = may_send(settings, memory.services.clock.now())
        if limit:
            raise InvalidValueError(limit, hint=f"edit [distil] in {settings.config_path}, or wait")
        if not sessions and waiting(settings):
            failures: list[str] = []
            done = distil_waiting(
                memory, settings, worth_of_replies, lambda step, exc: failures.append(f"{step}: {exc}")
            )
            reports = [(entry.session, report) for entry, report in done]
            for failure in failures:
                note(f"warning: {failure}")
        else:
            chosen = sessions or [_latest(memory)]
            reports = [(s, distil_session(memory, settings, s, model, worth_of_replies)) for s in chosen]
    if call.as_json:
        answer_json([{"session": session} | report.__dict__ for session, report in reports])
        return
    for session, report in reports:
        say(f"{session}: {_words(report)}")
        for why in report.dropped:
            note(f"rejected: {why}")


@command.command(epilog=examples("holdfast distil digest", "holdfast distil digest SESSION | less"))
@click.argument("session", default="")
@folder_option
@pass_call
def digest(call: Call, session: SessionId) -> None:
    """Print everything that would be sent about SESSION, by default this project's latest. Nothing is sent."""
    from holdfast.bootstrap import worth_of_replies
    from holdfast.capture.sessionevents import session_events
    from holdfast.learning.distillation.distil import prepare

    with call.open() as memory:
        events = session_events(memory.services, memory.location.project.id, session or _latest(memory))
        if not events:
            raise InvalidValueError(f"no session {session} in this project", hint="holdfast log")
        _, _, prompt = prepare(memory.services, memory.location, events, worth_of_replies)
    say(prompt)


@command.command(epilog=examples("holdfast distil models", "holdfast distil models --json"))
@json_option
@pass_call
def models(call: Call) -> None:
    """List the models that you can choose: agents on this machine, and kinds of endpoints."""
    from holdfast import plugins
    from holdfast.bootstrap import agent_options
    from holdfast.wiring import load_host

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
    if call.as_json:
        answer_json(rows)
        return
    for line in table([[row["name"], row["remark"]] for row in rows]):
        say(line)


@command.command(
    epilog=examples(
        "holdfast distil use claude-code",
        "holdfast distil use claude-code --after-sessions",
        "holdfast distil use ollama model=qwen3:8b",
        "holdfast distil use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY",
        "holdfast distil use none",
    )
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--after-sessions", is_flag=True, help="Distil each session automatically after its end.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_call
def use(call: Call, name: str, options: Sequence[str], after_sessions: bool, yes: bool) -> None:
    """Choose the model that distils: an agent on this machine or an endpoint. With `none`, nothing is sent any more."""
    from holdfast.bootstrap import load_model
    from holdfast.settings import load_settings

    settings = load_settings()
    values: dict[str, str | int] = {}
    if name != NONE:
        chosen = dict(_option(text) for text in options)
        model = load_model(name, chosen)
        note(WHAT_IS_SENT)
        note(f"The model is {model.id}; it gets at most {settings.distil_calls_a_day} calls a day (calls_a_day).")
        if not yes:
            click.confirm("Send digests of your sessions to this model?", abort=True, err=True)
        values = {"model_from": name, **chosen}
        if after_sessions:
            values["after_sessions"] = True
    elif options:
        raise InvalidValueError("none takes no options", hint="holdfast distil use none")
    choose_model(settings, values)


@command.command(epilog=examples("holdfast distil status", "holdfast distil status --json"))
@json_option
@pass_call
def status(call: Call) -> None:
    """Print which model distils, how many sessions wait, and what the last 24 hours cost."""
    from datetime import UTC, datetime

    from holdfast.backfill.distilling import may_send, spent, waiting
    from holdfast.settings import load_settings

    settings = load_settings()
    now = datetime.now(UTC)
    today = spent(settings, now)
    facts: dict[str, Any] = {
        "model": settings.distil_model,
        "after_sessions": settings.distil_after_sessions,
        "waiting": len(waiting(settings)),
        "last_24_hours": today.__dict__,
        "limit_reached": may_send(settings, now),
    }
    if call.as_json:
        answer_json(facts)
        return
    for line in pairs(status_rows(settings, facts)):
        say(line)


def choose_model(settings: Settings, values: Mapping[str, str | int]) -> None:
    """Save the choice in the configuration. Without values, no model is used any more."""
    from holdfast.installing.configfile import keep_model

    keep_model(settings, values)
    say(f"distil: {values.get('model_from', NONE)}; saved in {settings.config_path}")


def status_rows(settings: Settings, facts: dict[str, Any]) -> list[list[str]]:
    """Return the facts as rows of label and words."""
    today = facts["last_24_hours"]
    cost = f"${today['cost_usd']:.2f}" + (
        f" and {counted(today['unknown_costs'], 'call')} of unknown cost" if today["unknown_costs"] else ""
    )
    when = "after each session" if settings.distil_after_sessions else "when you run holdfast distil"
    return [
        ["model", f"{settings.distil_model}, {when}" if settings.distil_model else "none: nothing is ever sent"],
        ["waiting", counted(facts["waiting"], "session")],
        [
            "24 hours",
            f"{counted(today['calls'], 'call')}, {today['input_tokens']:,} tokens in, "
            f"{today['output_tokens']:,} out, {cost}",
        ],
        *([["limit", facts["limit_reached"]]] if facts["limit_reached"] else []),
    ]


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


def _words(report: DistilReport) -> str:
    if report.skipped:
        return f"not sent: {report.skipped}"
    cost = "" if report.cost_usd is None else f", ${report.cost_usd:.4f}"
    tokens = f"{report.input_tokens:,} tokens in, {report.output_tokens:,} out{cost}"
    counts = (
        f"{counted(len(report.active), 'lesson')} active, {len(report.waiting)} waiting, {report.merged} known already"
    )
    return f"{counts} ({tokens})"
