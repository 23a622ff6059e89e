"""Replays real sessions of a team through the shipped hook path and scores what was learnt and shown.

    python -m benchmarks.replay --data DIR [--repository PATH] [--gold] [--distilled DIR]
        [--tidied DIR] [--first N] [--count N] [--keep DIR]

`DIR/replay` holds `catalog.jsonl` and `gold/`; the repository is a bare clone with all branches, for its objects hold
the transcripts. Every session is played at the main branch of its time. `--gold` learns nothing: each session's gold is
put into memory after it, which measures delivery alone; with `--first`, that of the sessions before goes in first.
`--distilled` learns with a model too, whose recorded answers are in that folder (a file for each session that has one).
`--tidied` tidies the memory after some sessions, with a model's recorded proposals.
Nothing is downloaded, and nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import MissingSetError
from benchmarks.replay.catalog import load_catalog, load_titles
from benchmarks.replay.player import play
from benchmarks.replay.record import Record, save
from benchmarks.replay.report import render
from benchmarks.replay.repository import Repository
from benchmarks.replay.scoring import score


def main() -> int:
    options = _options()
    folder = options.data / "replay"
    try:
        every = load_catalog(folder, load_titles())
        catalog = every.window(options.first, options.count)
        tidied = {int(file.stem): json.loads(file.read_text("utf-8")) for file in _answers(options.tidied)}
        answers = {int(file.stem): file.read_text("utf-8") for file in _answers(options.distilled)}
        repository = Repository((options.repository or folder / "repo").resolve())
        with tempfile.TemporaryDirectory() as scratch:
            record = play(
                catalog, repository, Path(scratch), with_gold=options.gold, earlier=every.before(options.first),
                answers=answers, tidied=tidied, progress=_tell,
            )  # fmt: skip
    except MissingSetError as exc:
        print(exc, file=sys.stderr)
        return 1
    if options.keep:
        save(record, options.keep)
    figures = {"mode": _mode(options)} | score(record, catalog, every)
    print(render(figures))
    if options.json:
        about = _about(record, options.first, catalog.sha256)
        options.json.write_text(json.dumps(figures | about, indent=1) + "\n", "utf-8")
    return 0


def _mode(options: argparse.Namespace) -> str:
    if options.gold:
        return "gold in memory"
    return "learnt with a model's recorded answers" if options.distilled else "learnt"


def _answers(folder: Path | None) -> list[Path]:
    return sorted(folder.glob("*.json")) if folder else []


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _about(record: Record, first: int, sha256: dict[str, str]) -> dict[str, Any]:
    """What the figures were measured on, and what failed on the way."""
    slowest = sorted(session.p95_ms for session in record.sessions)
    return {
        "first": first,
        "hooks": sum(session.hooks for session in record.sessions),
        "median_of_sessions_p95_ms": slowest[len(slowest) // 2] if slowest else None,
        "cpu_s": round(sum(session.cpu_s for session in record.sessions), 1),
        "complaints": record.complaints,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "sha256": sha256,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that holds replay/")
    parser.add_argument("--repository", type=Path, help="the bare repository; DIR/replay/repo without it")
    parser.add_argument("--gold", action="store_true", help="put the gold into memory instead of learning")
    parser.add_argument("--distilled", type=Path, help="folder of recorded answers to the distillation prompt")
    parser.add_argument("--tidied", type=Path, help="folder of recorded proposals to tidy, by the session before")
    parser.add_argument("--first", type=int, default=0, help="position of the first session")
    parser.add_argument("--count", type=int, default=10_000, help="most sessions")
    parser.add_argument("--keep", type=Path, help="folder for what happened, which `benchmarks.replay.sample` reads")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
