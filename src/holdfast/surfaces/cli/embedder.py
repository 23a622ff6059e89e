"""`holdfast embedder`: choose the embedder that recall uses, download a model, and count the embedded lessons."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from holdfast import plugins
from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.installing import embedding, pulling
from holdfast.installing.embedding import NONE
from holdfast.recall.embed import coverage, embed_pending, probe
from holdfast.settings import Settings, load_settings
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
from holdfast.surfaces.cli.rows import table

WORDS_ALONE = "no embedder: recall uses words, paths and identifiers"


@click.group(cls=Group, epilog=examples("holdfast embedder status", "holdfast embedder list"))
def command() -> None:
    """Choose the embedder, which finds lessons by their meaning.

    Without an embedder, recall uses words, paths and identifiers only.
    """


@command.command("list", epilog=examples("holdfast embedder list", "holdfast embedder list --json"))
@json_option
@pass_call
def list_embedders(call: Call) -> None:
    """List the embedders, and what is missing for those that cannot be used here. Nothing is loaded or contacted."""
    settings = load_settings()
    names = [NONE, *(name.replace("_", "-") for name in plugins.names("embedders"))]
    rows = [_row(settings, name) for name in names]
    if call.as_json:
        answer_json(rows)
        return
    for line in table([["*" if row["chosen"] else " ", row["name"], _remark(row)] for row in rows]):
        say(line)


@command.command(
    epilog=examples(
        "holdfast embedder use ollama model=nomic-embed-text",
        "holdfast embedder use openai-compatible url=https://api.example.org/v1 model=m api_key_env=MY_KEY",
        "holdfast embedder use onnx",
        "holdfast embedder use onnx path=~/models/all-minilm-l6-v2",
        "holdfast embedder use none",
    )
)
@click.argument("name")
@click.argument("options", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--wait", is_flag=True, help="Embed every lesson before the command ends, not in the background.")
@json_option
@folder_option
@pass_call
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


@command.command(epilog=examples("holdfast embedder status", "holdfast embedder status --json"))
@json_option
@folder_option
@pass_call
def status(call: Call) -> None:
    """Test the embedder, and print how many lessons have a vector and what went wrong last."""
    with call.open() as memory:
        fields = _gather(memory)
    if call.as_json:
        answer_json(fields)
        return
    for line in _lines(fields):
        say(line)


@command.command(
    epilog=examples(
        "holdfast embedder pull", "holdfast embedder pull BAAI/bge-small-en-v1.5", "holdfast embedder use onnx"
    )
)
@click.argument("model", default=pulling.DEFAULT, metavar="[MODEL]")
@click.option("--hub", default=pulling.HUB, show_default=True, help="Address of the hub or of a mirror.")
@json_option
@pass_call
def pull(call: Call, model: str, hub: str) -> None:
    """Download a model for the embedder `onnx`. Besides this command, only setup downloads one, after it asked.

    MODEL is OWNER/NAME or OWNER/NAME@REVISION on the Hugging Face Hub; the default is 91 MB. Every file is checked
    against its checksum. An interrupted download continues where it stopped.
    """
    folder = download(load_settings(), model, hub)
    if call.as_json:
        answer_json({"model": model, "folder": folder})
    else:
        say(folder)
        note(f"to use it: holdfast embedder use onnx path={folder}")


def download(settings: Settings, model: str, hub: str) -> str:
    """Return the folder of the model. The model is downloaded if it is missing, with a bar on a terminal."""
    with _download_bar() as advance:
        return embedding.download(settings, model, hub, advance)


def _row(settings: Settings, name: str) -> dict[str, Any]:
    chosen = name == (settings.embedder.replace("_", "-") or NONE)
    why = (
        ""
        if name == NONE
        else embedding.why_unusable(settings, name, dict(settings.embedder_options) if chosen else {})
    )
    return {"name": name, "chosen": chosen, "usable": not why, "why": why}


def _remark(row: dict[str, Any]) -> str:
    return "usable" if row["usable"] else row["why"]


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
        with _embedding_bar(waiting) as on_batch:
            note(f"{counted(embedding.embed_all(memory, on_batch), 'lesson')} embedded")
    else:
        embedding.start()
        note(f"{counted(waiting, 'lesson')} to embed in the background; to see how far it is: holdfast embedder status")


def _gather(memory: Memory) -> dict[str, Any]:
    clock = memory.services.clock
    fields: dict[str, Any] = {
        "name": memory.settings.embedder, "id": "", "dimension": None, "answers": False, "error": "",
        "milliseconds": None,
    }  # fmt: skip
    before = clock.elapsed_s()
    try:
        probed = probe(memory.services)
        if probed is not None:
            fields |= {"id": probed.id, "dimension": probed.dimension, "answers": True}
            fields["milliseconds"] = 1_000 * (clock.elapsed_s() - before)
    except HoldfastError as exc:
        fields["error"] = str(exc)
    seen = coverage(memory.services)
    return {
        **fields,
        "lessons": seen.lessons,
        "embedded": seen.embedded,
        "waiting": seen.lessons - seen.embedded,
        "answering": seen.answering,
        "running": embedding.is_running(memory.settings),
        "failed": seen.failed,
    }


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


@contextmanager
def _embedding_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """Yield a progress function, which takes the number of lessons just done; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("lessons", total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def _download_bar() -> Iterator[Callable[[int, int], None]]:
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("pulling"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
