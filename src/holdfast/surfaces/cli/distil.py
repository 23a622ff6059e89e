"""`holdfast distil`: choose a model, see what it would be sent, and let it read one session.

`holdfast learn` lets the model read each session after its end.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from holdfast import plugins
from holdfast.backfill.distilling import distil_session, open_model
from holdfast.backfill.distilrecord import note_choice
from holdfast.bootstrap import Memory, agent_options, load_model
from holdfast.capture.sessionevents import session_events
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.installing.configfile import keep_model
from holdfast.lean.plain import as_dict
from holdfast.learning.distil import prepare
from holdfast.settings import load_settings
from holdfast.surfaces.cli._learning import WHAT_IS_SENT, limits, report_words
from holdfast.surfaces.cli.call import (
    Call,
    Group,
    answer_json,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import table
from holdfast.wiring import load_host


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
    """Choose the model that reads sessions, and see what it would be sent.

    Each lesson must quote its session, and the quote is checked. `holdfast learn` lets the model read each session
    after its end. Without a subcommand, it reads this project's latest session now.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(run)


@command.command(epilog=examples("holdfast distil run", "holdfast distil run 0bb9a2d9-a51e-4d5a-8275-566c766a0ff2"))
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@folder_option
@json_option
@pass_call
def run(call: Call, sessions: Sequence[SessionId] = ()) -> None:
    """Let the model read SESSIONS now, also a second time; by default this project's latest session."""
    with call.open() as memory:
        settings = memory.settings
        model = open_model(settings)
        chosen = sessions or [_latest(memory)]
        reports = [(s, distil_session(memory, settings, s, model, again=True)) for s in chosen]
    if call.as_json:
        answer_json([{"session": session} | as_dict(report) for session, report in reports])
        return
    for session, report in reports:
        say(f"{session}: {report_words(report)}")
        for why in report.dropped:
            note(f"rejected: {why}")


@command.command(epilog=examples("holdfast distil digest", "holdfast distil digest SESSION | less"))
@click.argument("session", default="")
@folder_option
@pass_call
def digest(call: Call, session: SessionId) -> None:
    """Print everything that would be sent about SESSION, by default this project's latest. Nothing is sent."""
    with call.open() as memory:
        events = session_events(memory.services, memory.location.project.id, session or _latest(memory))
        if not events:
            raise InvalidValueError(f"no session {session} in this project", hint="holdfast log")
        _, _, prompt = prepare(memory.services, memory.location, events)
    say(prompt)


@command.command(epilog=examples("holdfast distil models", "holdfast distil models --json"))
@json_option
@pass_call
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
    if call.as_json:
        answer_json(rows)
        return
    for line in table([[row["name"], row["remark"]] for row in rows]):
        say(line)


@command.command(
    epilog=examples(
        "holdfast distil use claude-code",
        "holdfast distil use ollama model=qwen3:8b",
        "holdfast distil use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY",
    )
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_call
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
