"""What `holdfast pr --check` says of merged pull requests: lessons that it calls stale or contradicted, for reading.

    python -m benchmarks.pr_check REPOSITORY [--gold numbered.json --catalog catalog.jsonl] [--merges 100] [--out FILE]

REPOSITORY is a git repository whose merges are pull requests; it is cloned into a scratch folder. The memory holds the
labelled lessons of recorded sessions, each from its session's time on, or, without --gold, what `backfill --git` learns
from the commits before the first merge, accepted. Each merge is checked as its branch was: its second parent against
its first. Every finding is written to FILE as a line of JSON, and a person says which are false.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("repository", type=Path)
    options.add_argument("--gold", type=Path)
    options.add_argument("--catalog", type=Path)
    options.add_argument("--merges", type=int, default=100)
    options.add_argument("--out", type=Path, default=Path("pr_check.jsonl"))
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLDFAST_HOME"] = f"{folder}/home"
        totals = play(chosen, Path(folder, "clone"))
    print(json.dumps(totals, indent=1))


def git(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def play(chosen: argparse.Namespace, clone: Path) -> dict[str, int]:
    """Check the newest merges, oldest first."""
    subprocess.run(["git", "clone", "-q", str(chosen.repository), str(clone)], check=True)
    log = git(clone, "log", "--merges", "--first-parent", "--format=%H %P %cI", f"-{chosen.merges}").splitlines()
    merges = [line.split(" ") for line in reversed(log) if len(line.split(" ")) == 4]
    waiting = gold_lessons(chosen.gold, chosen.catalog) if chosen.gold else []
    if not chosen.gold:
        git(clone, "checkout", "-q", merges[0][1])
        run_holdfast(clone, "backfill", "--git", "--accept")
    totals: Counter[str] = Counter()
    with chosen.out.open("w") as out:
        for merge, base, head, at in merges:
            totals.update(check(clone, (merge, base, head), teach(clone, base, waiting, at), out))
    return dict(totals)


def gold_lessons(gold: Path, catalog: Path) -> list[tuple[datetime, dict[str, Any]]]:
    """The labelled lessons of grade 2 and above with the time of their session, the newest first."""
    began = {row["n"]: row["ts"] for row in map(json.loads, catalog.read_text().splitlines())}
    lessons = [lesson for lesson in json.loads(gold.read_text()) if lesson["grade"] >= 2 and lesson["s"] in began]
    timed = [(datetime.fromisoformat(began[lesson["s"]]).astimezone(UTC), lesson) for lesson in lessons]
    return sorted(timed, key=lambda pair: pair[0], reverse=True)


def teach(clone: Path, base: str, waiting: list[tuple[datetime, dict[str, Any]]], at: str) -> int:
    """Remember the lessons of sessions before that time, as the code was; return how many."""
    from holdfast import Memory

    now, count = datetime.fromisoformat(at).astimezone(UTC), 0
    if not waiting or waiting[-1][0] >= now:
        return 0
    git(clone, "checkout", "-qf", base)
    with Memory(str(clone)) as memory:
        while waiting and waiting[-1][0] < now:
            _, lesson = waiting.pop()
            files = [name for name in lesson["files"] if (clone / name).is_file()][:4]
            kind: Any = lesson["kind"] if lesson["kind"] != "exploration" else "constraint"
            memory.remember(
                lesson["lesson"], kind=kind, why=lesson.get("why", ""), files=files, symbols=lesson["symbols"][:3]
            )
            count += 1
    return count


def check(clone: Path, commits: tuple[str, str, str], taught: int, out: Any) -> Counter[str]:
    """Check one merge; write its findings."""
    merge, base, head = commits
    git(clone, "checkout", "-qf", head)
    made = json.loads(run_holdfast(clone, "pr", "--check", base, "--json"))
    totals = Counter(merges=1, taught=taught, files=len(made["files"]), lessons_looked_at=made["lessons"])
    for row in made["effects"]:
        totals[row["effect"]] += 1
        out.write(
            json.dumps({"merge": merge, "subject": git(clone, "log", "-1", "--format=%s %b", merge)[:120], **row})
            + "\n"
        )
    totals["merges_with_a_warning"] += any(row["effect"] != "touched" for row in made["effects"])
    return totals


def run_holdfast(clone: Path, *arguments: str) -> str:
    import sys

    ran = subprocess.run(
        [sys.executable, "-m", "holdfast", "-C", str(clone), *arguments], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(f"holdfast {' '.join(arguments)}: {ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    main()
