"""`holdfast setup HOST` and `holdfast uninstall HOST` as a user runs them: a process each, in a scratch home.

    python benchmarks/setup.py [--rounds 5] [--json FILE]

Each home holds that host's files with other tools' entries (tests/golden/hosts/*/home). Also: all hosts at once, and
the first set-up after an installation that compiled nothing, which compiles the package for the hooks. Aim: under a
second a host. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import holdfast
from holdfast import plugins

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "hosts"
PACKAGE = Path(holdfast.__file__).parent


class User:
    """A home with hosts' files in it; `package` is the folder that holds the package."""

    def __init__(self, home: Path, hosts: Sequence[str], package: Path = PACKAGE.parent) -> None:
        self.home = home
        for host in hosts:
            shutil.copytree(GOLDEN / host.replace("-", "_") / "home", home, dirs_exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HOLDFAST"))}
        self.env = environment | {
            "HOME": str(home),
            "HOLDFAST_HOME": str(home / ".holdfast"),
            "PYTHONPATH": str(package),
        }

    def run_s(self, *arguments: str) -> float:
        """Seconds until the command has ended."""
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "holdfast", *arguments], env=self.env, capture_output=True, check=True)
        return time.perf_counter() - begun


def hosts_with_files() -> list[str]:
    names = (name.replace("_", "-") for name in plugins.builtin_names("hosts"))
    return [name for name in names if (GOLDEN / name.replace("-", "_") / "home").is_dir()]


def measure(hosts: Sequence[str], named: Sequence[str], rounds: int) -> dict[str, float]:
    """Median seconds of setting up and of taking back; `named`: the hosts that are named on the command line."""
    took: dict[str, list[float]] = {"setup_s": [], "uninstall_s": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            user = User(Path(folder), hosts)
            took["setup_s"].append(user.run_s("setup", "--yes", *named))
            took["uninstall_s"].append(user.run_s("uninstall", *named))
    return {name: round(statistics.median(values), 3) for name, values in took.items()}


def first_setup_s(host: str) -> float:
    """Seconds of the very first set-up of a package that nobody compiled."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "packages"
        shutil.copytree(PACKAGE, copy / "holdfast", ignore=shutil.ignore_patterns("__pycache__"))
        return round(User(Path(folder) / "home", [host], copy).run_s("setup", host), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time set-up.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    hosts = hosts_with_files()
    rows = {host: measure([host], [host], options.rounds) for host in hosts}
    rows["all"] = measure(hosts, [], options.rounds)
    for name, row in rows.items():
        print(f"{name:15} setup {row['setup_s']:.2f} s   uninstall {row['uninstall_s']:.2f} s")
    first = first_setup_s("codex")
    print(f"first set-up of a package that is not compiled: {first:.2f} s")
    if options.json:
        report = {"name": "setup", "hosts": len(hosts), "aim_s": 1.0, "rows": rows, "first_setup_s": first}
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
