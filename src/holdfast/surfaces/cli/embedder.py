"""`holdfast embedder`: which embedder recall uses, choose one, and whether every lesson has its vector."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.domain.errors import EmbedderError, HoldfastError, InvalidValueError
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.bootstrap import Memory

NONE = "none"
BATCH = 256
PROBE = "why do the login tests fail near midnight?"


@click.group(epilog=examples("holdfast embedder status", "holdfast embedder list"))
def command() -> None:
    """Choose what places lessons by meaning; without an embedder recall goes by words, paths and identifiers."""


@command.command("list", epilog=examples("holdfast embedder list", "holdfast embedder list --json"))
@json_option
@pass_call
def list_embedders(call: Call) -> None:
    """List the embedders there are."""
    from holdfast import plugins
    from holdfast.settings import load_settings

    chosen = load_settings().embedder.replace("_", "-") or NONE
    names = [NONE, *(name.replace("_", "-") for name in plugins.names("embedders"))]
    if call.as_json:
        answer_json([{"name": name, "chosen": name == chosen} for name in names])
        return
    for name in names:
        say(f"{'*' if name == chosen else ' '} {name}")


@command.command(
    epilog=examples(
        "holdfast embedder use ollama model=nomic-embed-text",
        "holdfast embedder use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY",
        "holdfast embedder use onnx path=~/models/all-minilm-l6-v2",
        "holdfast embedder use none",
    )
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--later", is_flag=True, help="Leave the embedding of what is there to the background.")
@folder_option
@pass_call
def use(call: Call, name: str, options: Sequence[str], later: bool) -> None:
    """Use that embedder from now on: try it, keep it in config.toml, and embed every lesson."""
    from holdfast.settings import load_settings

    if name == NONE:
        _keep(load_settings().config_path, {})
        note("no embedder: recall goes by words, paths and identifiers")
        return
    told = _parse_options(options)
    dimension = _try(name, told)
    _keep(load_settings().config_path, {"name": name, **told, "dimension": dimension})
    note(f"{name} answers with {dimension} numbers a text; kept in {load_settings().config_path}")
    if not later:
        with call.open() as memory:
            note(f"{_embed_all(memory)} lessons embedded")


@command.command(epilog=examples("holdfast embedder status", "holdfast embedder status --json"))
@json_option
@folder_option
@pass_call
def status(call: Call) -> None:
    """Ask the embedder for a vector and say how many lessons wait for theirs."""
    with call.open() as memory:
        told = _gather(memory)
    if call.as_json:
        answer_json(told)
    elif not told["name"]:
        say("no embedder: recall goes by words, paths and identifiers")
    else:
        say(f"{told['name']}  {told['id'] or '-'}")
        say(f"answers in {told['milliseconds']:.0f} ms" if told["answers"] else f"does not answer: {told['error']}")
        say(f"{told['lessons'] - told['waiting']} of {told['lessons']} lessons have a vector")


def _gather(memory: Memory) -> dict[str, Any]:
    from holdfast.service.embed import count_pending, embed_question

    clock = memory.parts.clock
    told: dict[str, Any] = {"name": memory.settings.embedder, "id": "", "answers": False, "error": ""}
    before = clock.elapsed_s()
    try:
        told["id"] = embed_question(memory.parts, PROBE)[1]
        told["answers"] = bool(told["id"])
        waiting, lessons = count_pending(memory.parts)
    except HoldfastError as exc:
        told["error"] = str(exc)
        waiting = lessons = len(memory.lessons(states=(), all_projects=True, limit=1_000_000))
    told["milliseconds"] = 1_000 * (clock.elapsed_s() - before) if told["answers"] else None
    return {**told, "lessons": lessons, "waiting": waiting}


def _parse_options(options: Sequence[str]) -> dict[str, str]:
    told: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.isidentifier() or key == "name":
            raise click.UsageError(f"{option!r} is no option: write key=value, e.g. model=nomic-embed-text")
        told[key] = os.path.abspath(os.path.expanduser(value)) if key == "path" else value
    if "api_key" in told:
        hint = "put it into an environment variable and give that variable's name: api_key_env=…"
        raise InvalidValueError("a key does not belong on a command line or in a file", hint=hint)
    return told


def _try(name: str, options: dict[str, str]) -> int:
    """The dimension the embedder answers with. Raises HoldfastError when it cannot be used."""
    from holdfast.bootstrap import load_embedder

    measured = "dimension" in options or name == "onnx"
    embedder = load_embedder(name, options if measured else {**options, "dimension": "1"})
    measure: Callable[[], int] | None = getattr(embedder, "measure", None)
    if not measured and measure is not None:
        return _try(name, {**options, "dimension": str(measure())})
    found = len(embedder.embed([PROBE, PROBE])[0])
    if found != embedder.dimension:
        raise EmbedderError(f"{name} answered {found} numbers, not {embedder.dimension}", hint="leave out `dimension`")
    return found


def _keep(path: str, table: dict[str, str | int]) -> None:
    from holdfast.surfaces.cli._configfile import load_text, save_text, with_table

    before = load_text(path)
    after = with_table(before, "embedder", table)
    if after != before:
        save_text(path, after)


def _embed_all(memory: Memory) -> int:
    """Embed until nothing waits; on a terminal with a line that counts."""
    done = 0
    while got := memory.embed_pending(BATCH):
        done += got
        note(f"  {done} …")
    return done
