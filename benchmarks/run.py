"""Runs every benchmark and keeps its JSON under benchmarks/results/.

    python benchmarks/run.py [--data DIR] [--only NAME ...] [--results DIR]

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
    "recall_speed": False,
    "recall_size": False,
    "mcp_start": False,
    "setup": False,
    "backfill": False,
    "redaction": False,
    "watch": False,
    "detection": True,
    "freshness": True,
    "compile": True,
    "recall": True,
}
"""Each benchmark, and whether it needs --data."""

PROGRAMS = {"hook_hosts": ("hook.py", "--host", "all")}
"""Those that are another one's program."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with data sets from outside")
    parser.add_argument("--only", nargs="+", choices=sorted(BENCHMARKS), default=sorted(BENCHMARKS))
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    data_folder, results = options.data and options.data.resolve(), options.results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    return max([run(name, data_folder, results) for name in options.only], default=0)


def run(name: str, data_folder: Path | None, results: Path) -> int:
    """The benchmark's exit code; 0 for one that was left out."""
    if BENCHMARKS[name] and data_folder is None:
        print(f"\n== {name}: left out, it needs --data", flush=True)
        return 0
    print(f"\n== {name}", flush=True)
    package = (HERE / name).is_dir()
    file, *arguments = PROGRAMS.get(name, (f"{name}.py",))
    program = ["-m", f"benchmarks.{name}", "--ablate"] if package else [str(HERE / file), *arguments]
    command = [sys.executable, *program, "--json", str(results / f"{name}.json")]
    if data_folder is not None and BENCHMARKS[name]:
        command += ["--data", str(data_folder)]
    environment = {key: held for key, held in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=HERE.parent, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
