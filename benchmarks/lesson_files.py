"""How long a sync of lesson files takes, beside `git status` of the same work tree.

    python -m benchmarks.lesson_files [--lessons 5000] [--changed 200]

Prints JSON: seconds of whole processes (`holdfast sync`), the median of five runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=5_000)
    parser.add_argument("--changed", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(measure(Path(scratch), options.lessons, options.changed), indent=2))


def measure(scratch: Path, lessons: int, changed: int) -> dict[str, float]:
    """The figures of a repository with that many shared lessons."""
    root = scratch / "repository"
    root.mkdir()
    os.environ["HOLDFAST_HOME"] = str(scratch / "home")
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    (root / "a.py").write_text("X = 1\n")
    stated = [
        {"kind": "convention", "insight": f"Rule {n}: part {n % 97} of module {n} is read before part {n % 89}",
         "why": f"reason {n}", "tags": [f"t{n % 7}"], "files": ["a.py"]}
        for n in range(lessons)
    ]  # fmt: skip
    lines = "\n".join(json.dumps(line) for line in stated)
    holdfast = [sys.executable, "-I", "-m", "holdfast"]
    subprocess.run([*holdfast, "import", "-", "--accept", "-C", str(root)], input=lines.encode(), check=True)
    figures = {"share_all_s": _timed([*holdfast, "share", "--all", "-C", str(root)])}
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "lessons"], check=True)
    sync = [*holdfast, "sync", "-C", str(root)]
    status = [*git, "status", "--porcelain"]
    _timed(sync), _timed(status)
    figures["unchanged_s"] = statistics.median(_timed(sync) for _ in range(RUNS))
    figures["git_status_s"] = statistics.median(_timed(status) for _ in range(RUNS))
    figures["ratio_to_git_status"] = figures["unchanged_s"] / figures["git_status_s"]
    files = sorted((root / ".holdfast" / "lessons").rglob("*.md"))[:changed]
    for number in range(3):
        for file in files:
            text = file.read_text()
            at = text.index("why: ")
            file.write_text(f"{text[:at]}why: changed {number} {text[at + 5 :]}")
        figures[f"changed_{number}_s"] = _timed([*sync, "--accept"])
    return {name: round(value, 3) for name, value in figures.items()}


def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
