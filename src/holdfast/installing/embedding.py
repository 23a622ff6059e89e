"""Which embedder recall uses: trying one, keeping the choice, downloading its model, and embedding what waits.

Embedding goes on in this process, or in one of its own that outlives the command: it is started through
`surfaces/start.py` and ends by itself. Killed, it leaves what it kept, and the next run or learner goes on from there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.bootstrap import Memory, load_embedder
from holdfast.domain.statefamilies import EMBEDDER_COVERING
from holdfast.errors import AlreadyRunningError, EmbedderError, HoldfastError, InvalidValueError
from holdfast.home.runfiles import EmbeddingTurn, Turn, note, start_detached
from holdfast.installing import pulling
from holdfast.installing.configfile import load_text, save_text, with_table
from holdfast.recall.embed import PROBE, embed_pending
from holdfast.settings import isolated, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.settings import Settings

NONE = "none"
PATIENCE_S = 5.0
"""How long to wait for another run to end: one that only looks whether any is running holds the turn for a moment."""


def complete_options(settings: Settings, name: str, options: dict[str, str]) -> dict[str, str]:
    """The options, with the folder of the model that was pulled where none is given."""
    if name != "onnx" or "path" in options:
        return options
    folders = pulling.pulled(settings.home)
    if len(folders) > 1:
        raise InvalidValueError("more than one model was pulled", hint=f"path=… one of {', '.join(folders)}")
    return {**options, "path": folders[0]} if folders else options


def why_unusable(settings: Settings, name: str, options: dict[str, str]) -> str:
    """What keeps the embedder from being used with these options, in words; empty when nothing does."""
    try:
        load_embedder(name, {"dimension": "1", **complete_options(settings, name, options)})
    except HoldfastError as exc:
        return f"{exc}: {exc.hint}" if exc.hint else str(exc)
    return ""


def try_embedder(name: str, options: dict[str, str]) -> int:
    """The dimension the embedder answers with. Raises HoldfastError when it cannot be used."""
    measured = "dimension" in options or name == "onnx"
    embedder = load_embedder(name, options if measured else {**options, "dimension": "1"})
    measure: Callable[[], int] | None = getattr(embedder, "measure", None)
    if not measured and measure is not None:
        return try_embedder(name, {**options, "dimension": str(measure())})
    dimension = len(embedder.embed_documents([PROBE])[0])
    if dimension != embedder.dimension:
        raise EmbedderError(
            f"{name} answered {dimension} numbers, not {embedder.dimension}", hint="leave out `dimension`"
        )
    return dimension


def keep_choice(memory: Memory, name: str, options: dict[str, str], dimension: int) -> None:
    """Write the choice into config.toml, and what it replaces beside it while that is what answers.

    `dimension` 0 is for no embedder.
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
    """Whether every lesson had a vector of the embedder in use, so that it can answer for the next one."""
    try:
        used = memory.parts.embedder()
    except HoldfastError:
        return False
    return used is not None and memory.parts.store.get_state(EMBEDDER_COVERING) == used.id


def download(settings: Settings, model: str, hub: str, advance: Callable[[int, int], None]) -> str:
    """The folder of the model, which is downloaded unless it is there. Raises HoldfastError when it cannot be."""
    with Turn(settings.run_path, "pull") as is_ours:
        if not is_ours:
            raise AlreadyRunningError("another process is pulling a model", hint="wait for it")
        return pulling.pull(settings.home, model, hub, advance)


def start() -> None:
    """Start a process that embeds and outlives us, with our environment and its keys."""
    start_detached(isolated("holdfast.installing.embedding"))


def is_running(settings: Settings) -> bool:
    """Whether some process is embedding lessons now."""
    with EmbeddingTurn(settings.run_path) as is_ours:
        return not is_ours


def embed_all(memory: Memory, on_kept: Callable[[int], None] | None = None) -> int:
    """Embed until nothing waits; how many got their vector, 0 when another process does it. Raises EmbedderError."""
    done = 0
    with EmbeddingTurn(memory.settings.run_path, PATIENCE_S) as is_ours:
        while is_ours and (count := embed_pending(memory.parts, on_batch=on_kept)):
            done += count
    return done


def main() -> None:
    """Embed everything; what fails goes to the hooks' log, and `holdfast embedder status` tells it."""
    settings = load_settings()
    with suppress(OSError, AttributeError):
        os.nice(10)
    try:
        with Memory(os.sep, settings=settings) as memory:
            embed_all(memory)
    except Exception as exc:  # nobody waits for us: the log is the only one to tell
        note(settings.log_path, "embedding", exc)


if __name__ == "__main__":
    main()
