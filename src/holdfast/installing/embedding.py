"""Manages the embedder that recall uses: tests it, saves the choice, downloads its model, and embeds lessons.

Embedding runs in this process, or in a process of its own that outlives the command. That process is started through
`surfaces/start.py` and ends by itself. If it is killed, the vectors so far are stored, and the next run or learner goes
on from there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from holdfast.bootstrap import Memory
from holdfast.domain.statefamilies import EMBEDDER_COVERING
from holdfast.errors import AlreadyRunningError, EmbedderError, HoldfastError, InvalidValueError
from holdfast.home.runfiles import EmbeddingLock, RunLock, note, start_detached
from holdfast.installing import pulling
from holdfast.installing.configfile import load_text, save_text, with_table
from holdfast.recall.embed import PROBE, embed_pending
from holdfast.settings import Settings, isolated, load_settings
from holdfast.wiring import load_embedder

NONE = "none"
PATIENCE_S = 5.0
"""How long to wait for another run to end: one that only looks whether any is running holds the turn for a moment."""


def complete_options(settings: Settings, name: str, options: dict[str, str]) -> dict[str, str]:
    """Return the options; for `onnx` without a path, the folder of the downloaded model is added."""
    if name != "onnx" or "path" in options:
        return options
    folders = pulling.pulled(settings.home)
    if len(folders) > 1:
        hint = f"give path=… with one of {', '.join(folders)}"
        raise InvalidValueError("more than one model was downloaded", hint=hint)
    return {**options, "path": folders[0]} if folders else options


def why_unusable(settings: Settings, name: str, options: dict[str, str]) -> str:
    """Return in words why the embedder cannot be used with these options, or ""."""
    try:
        load_embedder(name, {"dimension": "1", **complete_options(settings, name, options)})
    except HoldfastError as exc:
        return f"{exc}: {exc.hint}" if exc.hint else str(exc)
    return ""


def try_embedder(name: str, options: dict[str, str]) -> int:
    """Embed a text and return the vector's dimension. Raises HoldfastError if the embedder cannot be used."""
    measured = "dimension" in options or name == "onnx"
    embedder = load_embedder(name, options if measured else {**options, "dimension": "1"})
    measure: Callable[[], int] | None = getattr(embedder, "measure", None)
    if not measured and measure is not None:
        return try_embedder(name, {**options, "dimension": str(measure())})
    dimension = len(embedder.embed_documents([PROBE])[0])
    if dimension != embedder.dimension:
        raise EmbedderError(
            f"{name} returned {dimension} numbers, not {embedder.dimension}", hint="leave out `dimension`"
        )
    return dimension


def keep_choice(memory: Memory, name: str, options: dict[str, str], dimension: int) -> None:
    """Write the choice into config.toml, and the previous embedder too as long as it still answers.

    A `dimension` of 0 means no embedder.
    """
    chosen: dict[str, str | int] = {"name": name, **options, "dimension": dimension} if dimension else {"name": NONE}
    path = memory.settings.config_path
    before = load_text(path)
    after = with_table(before, "embedder", chosen)
    if after == before:
        return
    if chosen["name"] == NONE:
        after = with_table(after, "former_embedder", {})
    elif _answers(memory):
        after = with_table(
            after, "former_embedder", {"name": memory.settings.embedder, **dict(memory.settings.embedder_options)}
        )
    save_text(path, after)


def _answers(memory: Memory) -> bool:
    """Return whether every lesson has a vector of the embedder in use, so that it can answer in the meantime."""
    try:
        used = memory.services.embedder()
    except HoldfastError:
        return False
    return used is not None and memory.services.store.get_state(EMBEDDER_COVERING) == used.id


def download(settings: Settings, model: str, hub: str, advance: Callable[[int, int], None]) -> str:
    """Download the model unless it is there; return its folder. Raises HoldfastError."""
    with RunLock(settings.run_path, "pull") as is_ours:
        if not is_ours:
            raise AlreadyRunningError("another process is downloading a model", hint="wait until it has ended")
        return pulling.pull(settings.home, model, hub, advance)


def start() -> None:
    """Start a process that embeds and outlives this one, with the same environment and its API keys."""
    start_detached(isolated("holdfast.installing.embedding"))


def is_running(settings: Settings) -> bool:
    """Return whether a process is embedding lessons now."""
    with EmbeddingLock(settings.run_path) as is_ours:
        return not is_ours


def embed_all(memory: Memory, on_kept: Callable[[int], None] | None = None) -> int:
    """Embed until no lesson waits; return their number, or 0 if another process does it. Raises EmbedderError."""
    done = 0
    with EmbeddingLock(memory.settings.run_path, PATIENCE_S) as is_ours:
        while is_ours and (count := embed_pending(memory.services, on_batch=on_kept)):
            done += count
    return done


def main() -> None:
    """Embed everything. Errors go to the hooks' log, and `holdfast embedder status` shows them."""
    settings = load_settings()
    with suppress(OSError, AttributeError):
        os.nice(10)
    try:
        with Memory(os.sep, settings=settings) as memory:
            embed_all(memory)
    except Exception as exc:  # nobody waits for this process, so the log is the only place to report it
        note(settings.log_path, "embedding", exc)


if __name__ == "__main__":
    main()
