"""Embedding what waits: in this process with a bar, or in one of its own that outlives the command.

The second is started through `surfaces/start.py` and ends by itself. Killed, it leaves what it kept, and the next run
or learner goes on from there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from holdfast.home.runfiles import EmbeddingTurn, note, start_detached
from holdfast.settings import isolated, load_settings

if TYPE_CHECKING:
    from holdfast.bootstrap import Memory
    from holdfast.settings import Settings

AT_ONCE = 1_000
PATIENCE_S = 5.0
"""How long to wait for another run to end: one that only looks whether any is running holds the turn for a moment."""


def start() -> None:
    """Start a process that embeds and outlives us, with our environment and its keys."""
    start_detached(isolated("holdfast.surfaces.cli._embedding"))


def is_running(settings: Settings) -> bool:
    """Whether some process is embedding lessons now."""
    with EmbeddingTurn(settings.run_path) as ours:
        return not ours


def embed_all(memory: Memory, kept: Callable[[int], None] | None = None) -> int:
    """Embed until nothing waits; how many got their vector, 0 when another process does it. Raises EmbedderError."""
    from holdfast.recall.embed import embed_pending

    done = 0
    with EmbeddingTurn(memory.settings.run_path, PATIENCE_S) as ours:
        while ours and (got := embed_pending(memory.parts, AT_ONCE, kept)):
            done += got
    return done


@contextmanager
def embedding_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """A progress function, called with how many more are done; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("lessons", total=total)
        yield lambda done: bar.advance(task, done)


def main() -> None:
    """Embed everything; what fails goes to the hooks' log, and `holdfast embedder status` tells it."""
    from holdfast.bootstrap import Memory

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
