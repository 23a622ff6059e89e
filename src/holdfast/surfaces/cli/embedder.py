"""`holdfast embedder`: choose the embedder that recall uses, download a model, and count the embedded lessons."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import click

from holdfast import plugins
from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.installing import embedding, pulling
from holdfast.installing.embedding import NONE
from holdfast.lean.texts import counted
from holdfast.recall.embed import coverage, embed_pending, probe
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.frame import Call, command, group
from holdfast.surfaces.cli.screen import answer_json, bar, note, say, table

WORDS_ALONE = "no embedder: recall uses words, paths and identifiers"


@group("holdfast embedder status", "holdfast embedder list")
def embedder(call: Call) -> None:
    """Choose the embedder, which finds lessons by their meaning.

    Without an embedder, recall uses words, paths and identifiers only.
    """


@command("holdfast embedder list", "holdfast embedder list --json", of=embedder, name="list", folder=False)
def list_embedders(call: Call) -> None:
    """List the embedders, and what is missing for those that cannot be used here. Nothing is loaded or contacted."""
    settings = load_settings()
    names = [NONE, *(name.replace("_", "-") for name in plugins.names("embedders"))]
    rows: list[dict[str, Any]] = []
    for name in names:
        chosen = name == (settings.embedder.replace("_", "-") or NONE)
        options = dict(settings.embedder_options) if chosen else {}
        why = "" if name == NONE else embedding.why_unusable(settings, name, options)
        rows.append({"name": name, "chosen": chosen, "usable": not why, "why": why})
    if not call.answer(rows):
        say(*table([["*" if row["chosen"] else " ", row["name"], row["why"] or "usable"] for row in rows]))


@command(
    "holdfast embedder use ollama model=nomic-embed-text",
    "holdfast embedder use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY",
    "holdfast embedder use onnx", "holdfast embedder use onnx path=~/models/all-minilm-l6-v2",
    "holdfast embedder use none", of=embedder,
)  # fmt: skip
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--wait", is_flag=True, help="Embed every lesson before the command ends, not in the background.")
def use(call: Call, name: str, options: Sequence[str], wait: bool) -> None:
    """Use the embedder NAME from now on: test it, save it in config.toml, and embed every lesson in the background.

    If the embedder does not work, nothing is changed. The previous embedder answers until every lesson has its new
    vector. To continue an embedding run that was stopped, give the same command again.
    """
    settings = load_settings()
    choose(call, settings, name, embedding.complete_options(settings, name, _parse_options(options)), wait=wait)


def choose(call: Call, settings: Settings, name: str, options: dict[str, str], *, wait: bool = False) -> None:
    """Test the embedder, save it in config.toml and embed every lesson. Raises HoldfastError if it does not work."""
    dimension = 0 if name == NONE else embedding.try_embedder(name, options)
    with call.open() as memory:
        embedding.keep_choice(memory, name, options, dimension)
    with call.open() as memory:  # opened anew, with the configuration that was just saved
        if dimension:
            note(f"{name} works and gives {dimension} numbers for each text; saved in {settings.config_path}")
            _embed(memory, wait)
        else:
            note(WORDS_ALONE)
        if call.as_json:
            answer_json(_gather(memory))


@command("holdfast embedder status", "holdfast embedder status --json", of=embedder, memory=True)
def status(call: Call, memory: Memory) -> None:
    """Test the embedder, and print how many lessons have a vector and what went wrong last."""
    fields = _gather(memory)
    if not call.answer(fields):
        say(*_lines(fields))


@command(
    "holdfast embedder pull", "holdfast embedder pull BAAI/bge-small-en-v1.5", "holdfast embedder use onnx",
    of=embedder, folder=False,
)  # fmt: skip
@click.argument("model", default=pulling.DEFAULT, metavar="[MODEL]")
@click.option("--hub", default=pulling.HUB, show_default=True, help="Address of the hub or of a mirror.")
def pull(call: Call, model: str, hub: str) -> None:
    """Download a model for the embedder `onnx`. Besides this command, only setup downloads one, after it asked.

    MODEL is OWNER/NAME or OWNER/NAME@REVISION on the Hugging Face Hub; the default is 91 MB. Every file is checked
    against its checksum. An interrupted download continues where it stopped.
    """
    folder = download(load_settings(), model, hub)
    if not call.answer({"model": model, "folder": folder}):
        say(folder)
        note(f"to use it: holdfast embedder use onnx path={folder}")


def download(settings: Settings, model: str, hub: str) -> str:
    """Return the folder of the model. The model is downloaded if it is missing, with a bar on a terminal."""
    with bar("pulling", in_bytes=True) as progress:
        return embedding.download(settings, model, hub, progress.show)


def _parse_options(options: Sequence[str]) -> dict[str, str]:
    parsed: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.isidentifier() or key == "name":
            raise click.UsageError(f"{option!r} is not an option: write key=value, e.g. model=nomic-embed-text")
        parsed[key] = os.path.abspath(os.path.expanduser(value)) if key == "path" else value
    if "api_key" in parsed:
        hint = "put the key into an environment variable and give the variable's name: api_key_env=…"
        raise InvalidValueError("an API key must not be on a command line or in a file", hint=hint)
    return parsed


def _embed(memory: Memory, wait: bool) -> None:
    seen = coverage(memory.services)
    waiting = seen.lessons - seen.embedded
    if not waiting:
        embed_pending(memory.services)  # embeds nothing, but removes the previous embedder's vectors
        note("every lesson has a vector")
    elif wait:
        with bar("embedding", waiting) as progress:
            note(f"{counted(embedding.embed_all(memory, progress.advance), 'lesson')} embedded")
    else:
        embedding.start()
        note(f"{counted(waiting, 'lesson')} to embed in the background; to see how far it is: holdfast embedder status")


def _gather(memory: Memory) -> dict[str, Any]:
    clock, seen = memory.services.clock, coverage(memory.services)
    fields: dict[str, Any] = {
        "name": memory.settings.embedder, "id": "", "dimension": None, "answers": False, "error": "",
        "milliseconds": None, "lessons": seen.lessons, "embedded": seen.embedded,
        "waiting": seen.lessons - seen.embedded, "answering": seen.answering,
        "running": embedding.is_running(memory.settings), "failed": seen.failed,
    }  # fmt: skip
    before = clock.elapsed_s()
    try:
        probed = probe(memory.services)
        if probed is not None:
            fields |= {"id": probed.id, "dimension": probed.dimension, "answers": True}
            fields["milliseconds"] = 1_000 * (clock.elapsed_s() - before)
    except HoldfastError as exc:
        fields["error"] = str(exc)
    return fields


def _lines(fields: dict[str, Any]) -> Iterator[str]:
    if not fields["name"]:
        yield WORDS_ALONE
        return
    yield f"{fields['name']}  {fields['id'] or '-'}"
    yield f"answers in {fields['milliseconds']:.0f} ms" if fields["answers"] else f"does not answer: {fields['error']}"
    yield f"{fields['embedded']:,} of {fields['lessons']:,} lessons have a vector"
    if fields["running"]:
        yield "the others are being embedded now"
    elif fields["waiting"]:
        yield "the others follow after the next session; for now, run the same `holdfast embedder use …` again"
    if fields["answering"] != fields["id"] and fields["answering"]:
        yield f"until then {fields['answering']} is used"
    if fields["failed"]:
        yield f"last error: {fields['failed']}"
