"""Recall in process over 10,000 lessons in a real SQLite store, in multiples of plain full text in the same rounds.

    python benchmarks/recall_speed.py [--lessons 10000] [--rounds 200] [--json FILE]

Seeded lessons of one project with realistic words, paths, symbols, errors and commands. Questions of several kinds take
turns, so that a busy machine slows them alike; a plain FTS5 query with the same words runs in the same rounds and is
what ratios refer to. Times are processor time of the thread. Nothing is
asserted.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if not __package__:  # started as `python benchmarks/recall_speed.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.seeded_lessons import make_lesson

from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.settings import load_settings
from holdfast.text.words import duplicate_key, terms

SEED = 11
BATCH = 1_000
WARM_UP = 20
"""Rounds that are not counted: the process fills its caches."""
PLAIN = "SELECT rowid FROM lesson_text WHERE lesson_text MATCH ? ORDER BY bm25(lesson_text) LIMIT 30"


class Bench:
    """A scratch home and project with that many lessons."""

    def __init__(self, folder: Path, lessons: int) -> None:
        self.folder = folder / "shop"
        self.folder.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.folder, check=True)
        environment = {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "HOLDFAST_HOLDOUT": "0"}
        self.settings = load_settings(environment)
        self.memory = Memory(str(self.folder), settings=self.settings)
        self.rng = random.Random(SEED)
        drawn = (make_lesson(n, self.rng, self.memory.location.project.id) for n in range(lessons))
        # a store keeps a rule once; the templates give a few twice
        made = list({(lesson.kind, duplicate_key(lesson.insight)): (lesson, words) for lesson, words in drawn}.values())
        for start in range(0, len(made), BATCH):
            self.memory.services.store.put([lesson for lesson, _ in made[start : start + BATCH]], {})
        while self.memory.embed_pending():
            pass  # a recall would otherwise embed some of what waits
        self.words = [words for _, words in made]
        self.plain = sqlite3.connect(self.settings.database_path)
        self.calls = 0

    def close(self) -> None:
        """Close the store."""
        self.plain.close()
        self.memory.close()

    def cases(self) -> dict[str, Callable[[], object]]:
        """The questions of one round, about the same random lesson."""
        words, memory = self.rng.choice(self.words), self.memory
        text = (
            f"The {words.noun} of {words.area} looks wrong after the {words.part} was {words.verb}ed, why does the"
            f" {words.noun2} differ?"
        )
        long = text + " Here is what I did so far and what the page says. " * 30 + words.error
        match = " OR ".join(f'"{term}"' for term in terms(text))
        return {
            "plain FTS5": lambda: self.plain.execute(PLAIN, (match,)).fetchall(),
            "words": lambda: memory.recall(text),
            "words, 20 wanted": lambda: memory.recall(text, limit=20),
            "long prompt": lambda: memory.recall(long),
            "file and symbol": lambda: memory.recall(text, paths=[words.path], symbols=[words.symbol]),
            "error": lambda: memory.recall(error=words.error, command=words.command),
            "in general": lambda: memory.recall(),
            "delivery at a prompt": lambda: self.deliver(moment="prompt", prompt=text),
            "delivery before a file": lambda: self.deliver(
                moment="before_file", paths=(str(self.folder / words.path),)
            ),
            "delivery before a command": lambda: self.deliver(moment="before_command", command=words.command),
            "delivery after a failure": lambda: self.deliver(
                moment="after_failure", command=words.command, error=words.error
            ),
        }

    def deliver(self, **fields: object) -> object:
        """Deliver what a hook of a warm server would, in a session of its own."""
        self.calls += 1
        call = HookCall(
            host="claude-code",
            name="bench",
            session=SessionId(f"bench-{self.calls}"),
            cwd=str(self.folder),
            **fields,  # type: ignore[arg-type]
        )
        return self.memory.for_hooks().inject(call)


def measure(bench: Bench, rounds: int) -> dict[str, dict[str, float]]:
    """Return p50 and p95 in ms of each case, and its median as a multiple of plain full text."""
    taken: dict[str, list[float]] = {}
    answered: dict[str, int] = {}
    for n in range(-WARM_UP, rounds):
        for name, case in bench.cases().items():
            begun = time.thread_time()
            answer = case()
            spent = time.thread_time() - begun
            if n >= 0:
                taken.setdefault(name, []).append(spent)
                answered[name] = answered.get(name, 0) + bool(getattr(answer, "items", answer))
    plain = statistics.median(taken["plain FTS5"])
    return {
        name: {
            "p50_ms": round(statistics.median(times) * 1000, 2),
            "p95_ms": round(sorted(times)[int(len(times) * 0.95)] * 1000, 2),
            "ratio_to_fts5": round(statistics.median(times) / plain, 2),
            "answered": round(answered[name] / rounds, 2),
        }
        for name, times in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.lessons)
        results = measure(bench, options.rounds)
        bench.close()
    print(f"{options.lessons} lessons, {options.rounds} rounds, in process, processor time")
    print(f"{'':28}{'p50 ms':>9}{'p95 ms':>9}{'x FTS5':>9}{'answered':>10}")
    for name, row in results.items():
        cells = f"{row['p50_ms']:9.2f}{row['p95_ms']:9.2f}{row['ratio_to_fts5']:9.2f}{row['answered']:10.2f}"
        print(f"{name:28}{cells}")
    if options.json:
        report = {"name": "recall_speed", "lessons": options.lessons, "rounds": options.rounds, "cases": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
