"""Runs every benchmark and keeps its JSON under benchmarks/results/.

    python benchmarks/run.py [--data DIR] [--replay-repository PATH] [--only NAME ...] [--results DIR]

Ratios are within one run, because machines are noisy. Benchmarks that need data from outside run only with --data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCHMARKS = {
    "hook": False,
    "hook_hosts": False,
    "recall_size": False,
    "mcp_start": False,
    "setup": False,
    "backfill": False,
    "lesson_files": False,
    "redaction": False,
    "everyday": False,
    "freshness": True,
    "recall": True,
    "sdebench": True,
    "replay": True,
    "replay_gold": True,
    "replay_distilled": True,
    "rehearsal": True,
}
"""Each benchmark, and whether it needs --data."""

PROGRAMS = {
    "hook_hosts": ("hook.py", "--host", "all"),
    "recall": ("-m", "benchmarks.recall", "--ablate"),
    "rehearsal": ("-m", "benchmarks.rehearsal"),
    "replay": ("-m", "benchmarks.replay"),
    "replay_gold": ("-m", "benchmarks.replay", "--gold"),
    "replay_distilled": (
        "-m",
        "benchmarks.replay",
        "--distilled",
        str(HERE / "replay" / "distilled"),
        "--first",
        "40",
        "--count",
        "40",
    ),
}
"""Those that are not run as a file of their name."""

REPLAYS = ("replay", "replay_gold", "replay_distilled", "rehearsal")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with data sets from outside")
    parser.add_argument(
        "--replay-repository", type=Path, help="bare repository of the replay; DATA/replay/repo without it"
    )
    parser.add_argument("--only", nargs="+", choices=sorted(BENCHMARKS), default=sorted(BENCHMARKS))
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    data_folder, results = options.data and options.data.resolve(), options.results.resolve()
    repository = options.replay_repository and options.replay_repository.resolve()
    results.mkdir(parents=True, exist_ok=True)
    return max([run(name, data_folder, repository, results) for name in options.only], default=0)


def run(name: str, data_folder: Path | None, repository: Path | None, results: Path) -> int:
    """The benchmark's exit code; 0 for one that was left out. `repository` is the replay's."""
    reason = missing(name, data_folder, repository)
    if reason:
        print(f"\n== {name}: left out, {reason}", flush=True)
        return 0
    print(f"\n== {name}", flush=True)
    file, *arguments = PROGRAMS.get(name, (f"{name}.py",))
    program = [file if file == "-m" else str(HERE / file), *arguments]
    command = [sys.executable, *program, "--json", str(results / f"{name}.json")]
    if data_folder is not None and BENCHMARKS[name]:
        command += ["--data", str(data_folder)]
    if repository is not None and name in REPLAYS:
        command += ["--repository", str(repository)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=HERE.parent, env=environment, check=False).returncode


def missing(name: str, data_folder: Path | None, repository: Path | None) -> str:
    """What the benchmark needs and was not given, in words; empty when it can run."""
    if not BENCHMARKS[name]:
        return ""
    if data_folder is None:
        return "it needs --data"
    if name in REPLAYS and not (data_folder / "replay" / "catalog.jsonl").is_file():
        return f"{data_folder} has no replay/catalog.jsonl"
    bare = repository or data_folder / "replay" / "repo"
    if name in REPLAYS and not bare.is_dir():
        return f"it needs the team's repository at {bare}, or --replay-repository"
    return ""


if __name__ == "__main__":
    sys.exit(main())
