"""Rehearses lessons at the moments at which they were learnt: the share that is told again, beside all others.

    python -m benchmarks.rehearsal --data DIR [--repository PATH] [--distilled DIR] [--count N] [--keep DIR]

The memory is learnt from the sessions of `DIR/replay` (see `benchmarks.replay`), with a model's recorded answers where
the folder of `--distilled` has one. `--keep` names a folder for that memory, which a later run uses as it is.
Three figures: told at the start or at a moment; told at a moment alone, with no start; and the same with every title
moved to another lesson, which has to be far worse, or the figure means nothing. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

if not __package__:  # started as `python benchmarks/rehearsal.py`
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.recall.cases import MissingSetError
from benchmarks.replay.catalog import load_catalog, load_titles
from benchmarks.replay.player import learnt
from benchmarks.replay.repository import Repository
from benchmarks.replay.shipped import Shipped

DISTILLED = Path(__file__).parent / "replay" / "distilled"
CONDITIONS: dict[str, dict[str, bool]] = {
    "start and moments": {},
    "moments alone": {"with_start": False},
    "start and moments, titles shuffled": {"shuffled": True},
    "moments alone, titles shuffled": {"with_start": False, "shuffled": True},
}


def main() -> int:
    options = _options()
    try:
        catalog = load_catalog(options.data / "replay", load_titles()).window(0, options.count)
        repository = Repository((options.repository or options.data / "replay" / "repo").resolve())
        answers = {int(file.stem): file.read_text("utf-8") for file in sorted(options.distilled.glob("*.json"))}
        with ExitStack() as stack:
            folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            shipped = stack.enter_context(learnt(catalog, repository, folder.resolve(), answers, _tell))
            figures = {name: measure(shipped, **condition) for name, condition in CONDITIONS.items()}
    except MissingSetError as exc:
        print(exc, file=sys.stderr)
        return 1
    print(render(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


def measure(shipped: Shipped, **condition: bool) -> dict[str, Any]:
    """The counts of one condition, the share told, and the seconds of processor time."""
    began = time.process_time()
    counts = shipped.rehearse(**condition)
    cpu_s = time.process_time() - began
    lessons = sum(counts.values()) - counts["without moments"]
    share = (lessons - counts["no"]) / lessons if lessons else 0.0
    return {"lessons": lessons, "told": round(share, 3), "cpu_s": round(cpu_s, 1), "counts": counts}


def render(figures: dict[str, dict[str, Any]]) -> str:
    """The figures as a table for people."""
    lines = []
    for name, row in figures.items():
        counts = ", ".join(f"{when} {count}" for when, count in row["counts"].items() if count)
        lines.append(f"{name:<36} {row['told']:.2f} of {row['lessons']} lessons ({counts}); {row['cpu_s']} s")
    return "\n".join(lines)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rehearsal", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder that holds replay/")
    parser.add_argument("--repository", type=Path, help="the bare repository; DIR/replay/repo without it")
    parser.add_argument("--distilled", type=Path, default=DISTILLED, help="folder of recorded answers")
    parser.add_argument("--count", type=int, default=100, help="sessions to learn from, from the first on")
    parser.add_argument("--keep", type=Path, help="folder for the memory; one that has a memory is used as it is")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
