"""How long a sync of lesson files takes, beside `git status` of the same work tree.

    python -m benchmarks.lesson_files [--lessons 5000] [--changed 200] [--json FILE]

Prints JSON: seconds of whole processes (`holdfast sync`), the median of five runs: by the clock, and of the processor.
`load` is how many processes waited for a processor meanwhile: with more than there are processors, the clock tells of
the machine, and the processor's seconds of the code.
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
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figures = measure(Path(scratch), options.lessons, options.changed)
    text = json.dumps({"name": "lesson_files", **figures}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


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
    run_options = {"input": lines.encode(), "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*holdfast, "import", "-", "--accept", "-C", str(root)], **run_options)  # type: ignore[call-overload]
    figures: dict[str, float] = {"lessons": lessons, "changed": changed, "processors": os.cpu_count() or 1}
    _note(figures, "share_all", [_timed([*holdfast, "share", "--all", "-C", str(root)])])
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "lessons"], check=True)
    sync = [*holdfast, "sync", "-C", str(root)]
    status = [*git, "status", "--porcelain"]
    _timed(sync), _timed(status)
    _note(figures, "unchanged", [_timed(sync) for _ in range(RUNS)])
    _note(figures, "git_status", [_timed(status) for _ in range(RUNS)])
    files = sorted((root / ".holdfast" / "lessons").rglob("*.md"))[:changed]
    runs = []
    for number in range(RUNS):
        for file in files:
            text = file.read_text()
            at = text.index("why: ")
            file.write_text(f"{text[:at]}why: changed {number} {text[at + 5 :]}")
        runs.append(_timed([*sync, "--accept"]))
    _note(figures, "files_changed", runs)
    for name in ("unchanged", "files_changed"):
        figures[f"{name}_to_git_status"] = round(figures[f"{name}_s"] / figures["git_status_s"], 1)
    figures["load"] = round(os.getloadavg()[0], 1)
    return figures


def _note(figures: dict[str, float], name: str, runs: list[tuple[float, float]]) -> None:
    for kind, seconds in zip(("s", "processor_s"), zip(*runs, strict=True), strict=True):
        figures[f"{name}_{kind}"] = round(statistics.median(seconds), 3)


def _timed(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, of the command."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    spent = sum(after[2:4]) - sum(before[2:4])
    return time.perf_counter() - began, spent


if __name__ == "__main__":
    main()
