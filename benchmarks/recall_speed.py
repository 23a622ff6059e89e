"""Recall in process over 10,000 lessons in a real SQLite store.

    python benchmarks/recall_speed.py [--lessons 10000] [--rounds 300] [--json FILE]

Seeded lessons of one project with realistic words, paths, symbols, errors and commands. Questions of six kinds take
turns, so that a busy machine slows them alike; a plain FTS5 query with the same words runs in the same rounds and is
what ratios refer to. Aims: median under 5 ms, 95th percentile under 20 ms. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson, Provenance, Scope, Validity
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.lean.texts import uuid7
from holdfast.settings import load_settings
from holdfast.text.signature import command_target, error_signature
from holdfast.text.titles import make_title
from holdfast.text.words import duplicate_key, terms


def _words(text: str) -> list[str]:
    return text.split()


AREAS = _words(
    "billing login search export cache queue report invoice webhook session ledger catalog shipping refund tenant "
    "audit theme editor upload thumbnail mailer digest quota pricing coupon basket wishlist rating chat presence"
)
PARTS = _words(
    "client parser worker store router view schema policy index gateway scheduler serializer validator adapter factory "
    "repository middleware migration fixture renderer"
)
VERBS = _words("close open flush retry parse merge load emit drain rotate sign verify split batch lock release")
NOUNS = _words(
    "timezone cursor transaction deadlock cents locale webhook signature pagination retry backoff idempotency cookie "
    "header encoding checksum shard replica snapshot rollback fsync semaphore watermark bucket histogram debounce "
    "viewport hydration polyfill bundler sourcemap symlink permission umask entropy nonce certificate handshake"
)
TEMPLATES = (
    "Call {symbol} before the {part} is closed; the {area} {noun} is lost otherwise.",
    "Never {verb} the {area} {part} inside a {noun}: it waits for itself and the {noun2} times out.",
    "The {area} {part} keeps its {noun} in {noun2} units, so compare it after {symbol}.",
    "Use {symbol} instead of building the {noun} by hand; it escapes the {noun2} of {area}.",
    "The {noun} of {area} is generated: edit the {part} template and {verb} it again.",
    "{symbol} returns None while the {noun} is being {verb}ed; check it before the {noun2}.",
    "Tests of {area} fail near midnight because the {part} rounds the {noun} to the local {noun2}.",
)
KINDS = ("decision", "constraint", "convention", "bug_cause", "failed_approach", "fix", "tooling", "preference")
BEGIN = datetime(2025, 6, 1, tzinfo=UTC)


class Words:
    """Seeded choices of one lesson."""

    def __init__(self, rng: random.Random) -> None:
        self.area, self.part, self.verb = rng.choice(AREAS), rng.choice(PARTS), rng.choice(VERBS)
        self.noun, self.noun2 = rng.sample(NOUNS, 2)
        self.number = rng.randrange(400)
        self.symbol = f"{self.verb}{self.area.title()}{self.part.title()}{self.number}"
        self.path = f"src/{self.area}/{self.part}_{self.number % 40}.py"
        self.command = f"pytest tests/{self.area}/test_{self.part}_{self.number % 40}.py"
        self.error = f"{self.part.title()}Error: {self.noun} of {self.area} was not {self.verb}ed"


def make_lesson(n: int, rng: random.Random, project: str) -> tuple[Lesson, Words]:
    words = Words(rng)
    insight = rng.choice(TEMPLATES).format(**vars(words))
    at = BEGIN + timedelta(hours=n * 1.2)
    kind = rng.choice(KINDS)
    fails = kind in ("fix", "bug_cause", "tooling")
    lesson = Lesson(
        id=LessonId(uuid7(int(at.timestamp() * 1000), rng.randbytes(10))),
        kind=kind,  # type: ignore[arg-type]
        title=make_title(insight),
        insight=insight,
        why=f"The {words.noun2} was {words.verb}ed twice when {words.area} was under load." if n % 2 else "",
        how=f"See {words.path} and {words.verb} it first." if n % 3 == 0 else "",
        scope=Scope(project=project),  # type: ignore[arg-type]
        validity=Validity(valid_from=at),
        recorded_at=at,
        anchors=(Anchor(path=words.path, symbol=words.symbol),),
        provenance=Provenance(session=SessionId(f"session-{n // 8}")),
        state="active",
        pinned=n % 997 == 0,
        error_signature=error_signature(words.error) if fails else "",
        command=command_target(words.command) if fails else "",
    )
    return lesson, words


class Bench:
    """A scratch home and project with that many lessons."""

    def __init__(self, folder: Path, lessons: int) -> None:
        project = folder / "shop"
        project.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
        settings = load_settings({"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "HOLDFAST_HOLDOUT": "0"})
        self.memory = Memory(str(project), settings=settings, cold=True)
        self.rng = random.Random(11)
        drawn = (make_lesson(n, self.rng, self.memory.location.project.id) for n in range(lessons))
        # a store keeps a rule once; the templates give a few twice
        made = list({(lesson.kind, duplicate_key(lesson.insight)): (lesson, words) for lesson, words in drawn}.values())
        for start in range(0, lessons, 1000):
            some = [lesson for lesson, _ in made[start : start + 1000]]
            self.memory.services.store.put(some, {lesson.id: None for lesson in some})
        self.words = [words for _, words in made]
        self.folder = project
        self.plain = sqlite3.connect(settings.database_path)
        self.calls = 0

    def cases(self) -> dict[str, Callable[[], object]]:
        """The questions of one round, about the same random lesson."""
        w = self.rng.choice(self.words)
        text = f"The {w.noun} of {w.area} looks wrong after the {w.part} was {w.verb}ed, why does the {w.noun2} differ?"
        long = text + " Here is what I did so far and what the page says. " * 30 + w.error
        match = " OR ".join(f'"{term}"' for term in terms(text))
        fts = "SELECT rowid FROM lesson_text WHERE lesson_text MATCH ? ORDER BY bm25(lesson_text) LIMIT 30"
        return {
            "plain FTS5": lambda: self.plain.execute(fts, (match,)).fetchall(),
            "recall: words": lambda: self.memory.recall(text),
            "recall: words, 20 wanted": lambda: self.memory.recall(text, limit=20),
            "recall: long prompt": lambda: self.memory.recall(long),
            "recall: file and symbol": lambda: self.memory.recall(text, paths=[w.path], symbols=[w.symbol]),
            "recall: error": lambda: self.memory.recall(error=w.error, command=w.command),
            "recall: in general": lambda: self.memory.recall(),
            "inject: prompt": lambda: self.inject(moment="prompt", prompt=text),
            "inject: before file": lambda: self.inject(moment="before_file", paths=(str(self.folder / w.path),)),
            "inject: before command": lambda: self.inject(moment="before_command", command=w.command),
            "inject: after failure": lambda: self.inject(moment="after_failure", command=w.command, error=w.error),
        }

    def inject(self, **fields: object) -> object:
        self.calls += 1
        session = SessionId(f"bench-{self.calls}")
        call = HookCall(host="claude-code", name="bench", session=session, cwd=str(self.folder), **fields)  # type: ignore[arg-type]
        return self.memory.inject(call)


def measure(bench: Bench, rounds: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[float]] = {}
    answered: dict[str, int] = {}
    for n in range(rounds + 5):
        for name, case in bench.cases().items():
            begun = time.perf_counter()
            answer = case()
            spent = time.perf_counter() - begun
            if n >= 5:
                taken.setdefault(name, []).append(spent)
                answered[name] = answered.get(name, 0) + bool(getattr(answer, "items", answer))
    plain = statistics.median(taken["plain FTS5"])
    return {
        name: {
            "p50_ms": statistics.median(times) * 1000,
            "p95_ms": sorted(times)[int(len(times) * 0.95)] * 1000,
            "ratio_to_fts5": statistics.median(times) / plain,
            "answered": answered[name] / rounds,
        }
        for name, times in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.lessons)
        results = measure(bench, options.rounds)
        bench.plain.close()
        bench.memory.close()
    print(f"{options.lessons} lessons, {options.rounds} rounds, in process")
    print(f"{'':28}{'p50 ms':>9}{'p95 ms':>9}{'x FTS5':>9}{'answered':>10}")
    for name, row in results.items():
        cells = f"{row['p50_ms']:9.2f}{row['p95_ms']:9.2f}{row['ratio_to_fts5']:9.2f}{row['answered']:10.2f}"
        print(f"{name:28}{cells}")
    if options.json:
        report = {"lessons": options.lessons, "rounds": options.rounds, "cases": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
