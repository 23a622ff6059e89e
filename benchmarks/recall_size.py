"""Recall at size: 10,000, 100,000 and 1,000,000 lessons through the shipped path, beside FTS5 alone and brute force.

    python benchmarks/recall_size.py [--sizes 10000] [--rounds 100] [--keep DIR] [--json FILE]

For each size four stores are filled (see `size_lessons`): one project that holds all lessons; and one project with a
hundredth of them, alone, with nine times as many lessons of 49 other projects beside it, and with ninety-nine times
as many. Kinds of question take turns within a round, each about another lesson, so that a busy machine slows them
alike and none finds its pages in the processor's caches; then a plain FTS5 query with all the words, and a brute-force
cosine over float vectors in numpy, are asked. Times are wall clock, and `cpu` the thread's own. `--keep` keeps the
stores for the next run. The system's page cache is warm throughout.

Aims: recall p95 under 10 ms at 100,000 and under 40 ms at 1,000,000; 2,000 lessons saved a second; a hook's median at
100,000 at most 1.5 times that at 1,000. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:  # started as `python benchmarks/recall_size.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dataclasses import replace

from benchmarks.hook import Bench as HookBench
from benchmarks.hook import content_of
from benchmarks.size_lessons import Project, Question, TestEmbedder, Words

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.recall.embed import embedding_text
from holdfast.service import hook
from holdfast.settings import load_settings
from holdfast.text.words import terms

SEED = 7
OTHERS = 49
QUESTIONS = 300
BATCH = 1_000
WANTED = 30
PLAIN = f"SELECT rowid FROM lesson_text WHERE lesson_text MATCH ? ORDER BY rank LIMIT {WANTED}"
VECTORS = "SELECT scale, codes FROM vectors"
HOST = "claude-code"
PLAIN_ROUNDS = 30
"""Most rounds of what is compared with: at a million lessons one question takes seconds."""


class Home:
    """A scratch home with a repository and a store, and the questions its lessons answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "shop"
        self.env = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HOLDFAST", "GIT"))
        }
        self.env |= {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home")}
        self.database = Path(load_settings(self.env).database_path)

    @property
    def told(self) -> dict[str, Any]:
        """What is known of the building; empty when the home was not finished."""
        file = self.folder / "built.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def memory(self, *, vectors: bool = False, cold: bool = False) -> Memory:
        """The shipped Memory, its embedder the benchmark's own when there are to be vectors, and none otherwise."""
        memory = Memory(str(self.repository), settings=load_settings(self.env))
        memory = memory.for_hooks() if cold else memory
        embedder = TestEmbedder() if vectors else None
        memory.services = replace(memory.services, embedder=lambda: embedder)
        return memory

    def begin(self, name: str, lessons: int, words: Words) -> None:
        """Make the repository, and save the lessons of its project."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.repository.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        self._git("remote", "add", "origin", "git@example.com:ada/shop.git")
        (self.repository / "README.md").write_text("Shop\n")
        self._commit()
        with self.memory() as memory:
            project = Project(f"{SEED} {name}", memory.location.project.id, lessons, words)
            memory.services.store.set_state(LEARNED_POSITION, "", "1" + "0" * 15)
        for path in project.paths():
            (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / path).write_text(content_of(path))
        self._commit()
        questions: list[Question] = []
        every = max(1, lessons // QUESTIONS)

        def noted() -> Iterator[Lesson]:
            for n, (lesson, question) in enumerate(project.lessons()):
                if n % every == every // 2:
                    questions.append(question)
                yield lesson

        built = self._save(noted())
        self._finish({"lessons": lessons, "own": lessons, "questions": questions[:QUESTIONS], **built})

    def extend(self, other: Home, beside: int, words: Words) -> None:
        """A copy of another home, filled up with that many lessons of other projects."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(other.folder, self.folder, symlinks=True)
        (self.folder / "built.json").unlink()
        record = other.told
        more = beside - (record["lessons"] - record["own"])
        sizes = [more // OTHERS + (n < more % OTHERS) for n in range(OTHERS)]
        built = self._save(
            lesson
            for n, size in enumerate(sizes)
            for lesson, _ in Project(f"{SEED} other {n} {beside}", f"other-{n}", size, words).lessons()  # type: ignore[arg-type]
        )
        self._finish({**record, "lessons": record["own"] + beside, **built})

    def _save(self, lessons: Iterator[Lesson]) -> dict[str, Any]:
        """Put the lessons and their vectors; seconds that took and lessons a second, their making not counted."""
        embedder = TestEmbedder()
        saved, put_s, vectors_s = 0, 0.0, 0.0
        with self.memory() as memory:
            store = memory.services.store
            while batch := list(islice(lessons, BATCH)):
                begun = time.perf_counter()
                store.put(batch, {})
                put_s += time.perf_counter() - begun
                vectors = embedder.embed_documents([embedding_text(lesson) for lesson in batch])
                begun = time.perf_counter()
                store.put_vectors(embedder.id, {lesson.id: v for lesson, v in zip(batch, vectors, strict=True)})
                vectors_s += time.perf_counter() - begun
                saved += len(batch)
                if saved % 100_000 == 0:
                    print(f"  {saved} saved, {saved / put_s:.0f} a second", file=sys.stderr, flush=True)
        with self.memory(vectors=True) as memory:
            memory.embed_pending()  # nothing waits: from now on the embedder is known to have seen every lesson
        return {"saved_per_s": round(saved / put_s), "build_s": round(put_s, 1), "vectors_s": round(vectors_s, 1)}

    def _finish(self, record: dict[str, Any]) -> None:
        record["database_mb"] = round(self.database.stat().st_size / 1e6, 1)
        (self.folder / "built.json").write_text(json.dumps(record))

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "More")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, check=True, env=self.env)


def cases(home: Home, memory: Memory, near: Memory) -> dict[str, Callable[[Question], object]]:
    """The shipped path by kind of question, without an embedder and with one; and hooks, as a warm server answers."""

    def told(kind: str, **fields: object) -> object:
        shared = {"session_id": f"{time.time_ns()}", "cwd": str(home.repository), "transcript_path": "/nowhere.jsonl"}
        text = hook.answer(memory.for_hooks(), HOST, {**shared, "hook_event_name": kind, **fields})
        return text if "additionalContext" in text else ""

    return {
        "hook: a prompt": lambda q: told("UserPromptSubmit", prompt=q.text),
        "hook: a file": lambda q: told(
            "PreToolUse", tool_name="Read", tool_use_id="t", tool_input={"file_path": str(home.repository / q.path)}
        ),
        "hook: a command": lambda q: told(
            "PreToolUse", tool_name="Bash", tool_use_id="t", tool_input={"command": q.command}
        ),
        "words": lambda q: memory.recall(q.text),
        "words and vectors": lambda q: near.recall(q.text),
        "file and symbol": lambda q: memory.recall(q.text, paths=[q.path], symbols=[q.symbol]),
        "error": lambda q: memory.recall(error=q.error, command=q.command),
        "command": lambda q: memory.recall(command=q.command),
    }


def plain_cases(sql: sqlite3.Connection) -> dict[str, Callable[[Question], object]]:
    """What recall is compared with: one index over all lessons of the store, no filter."""
    rows = [np.frombuffer(codes, dtype=np.int8) * np.float32(scale) for scale, codes in sql.execute(VECTORS)]
    vectors, embedder = np.stack(rows), TestEmbedder()

    def words(question: Question) -> object:
        return sql.execute(PLAIN, (" OR ".join(f'"{term}"' for term in terms(question.text)),)).fetchall()

    def cosine(question: Question) -> object:
        scores = vectors @ np.asarray(embedder.embed_query(question.text), dtype=np.float32)
        return np.argpartition(-scores, WANTED)[:WANTED].tolist()

    return {"plain FTS5": words, "brute-force cosine": cosine}


def measure(home: Home, rounds: int, *, plain: bool) -> dict[str, Any]:
    """p50 and p95 in ms of each case, over questions that differ, and how often it answered."""
    questions = home.told["questions"]
    taken: dict[str, list[tuple[float, float]]] = {}
    answered: dict[str, int] = {}
    with home.memory() as memory, home.memory(vectors=True) as near, closing(sqlite3.connect(home.database)) as sql:
        # one after the other: what is compared with leaves nothing of ours in the processor's caches
        turns = [(rounds, cases(home, memory, near)), (min(rounds, PLAIN_ROUNDS), plain_cases(sql) if plain else {})]
        for turn, name, case in (
            (n, *named) for many, group in turns for n in range(-3, many) for named in group.items()
        ):
            question = Question(*questions[(turn * 7 + len(name) * 31) % len(questions)])
            begun, busy = time.perf_counter(), time.thread_time()
            answer = case(question)
            spent_ms = (time.perf_counter() - begun) * 1000, (time.thread_time() - busy) * 1000
            if turn >= 0:
                taken.setdefault(name, []).append(spent_ms)
                answered[name] = answered.get(name, 0) + bool(getattr(answer, "items", answer))
    return {name: {**spread(times), "answered": round(answered[name] / len(times), 2)} for name, times in taken.items()}


def spread(times: list[tuple[float, float]]) -> dict[str, float]:
    """Of pairs of ms by the clock and of ms of this thread's processor time: the latter leaves other programs out."""
    figures = {}
    for name, values in zip(("", "cpu_"), map(sorted, zip(*times, strict=True)), strict=True):
        figures[f"{name}p50_ms"] = round(statistics.median(values), 2)
        figures[f"{name}p95_ms"] = round(values[int(len(values) * 0.95)], 2)
    return figures


def cold(home: Home, *, vectors: bool) -> dict[str, float]:
    """In this process, which just began: ms to open the store, of the first recall and the second; peak memory."""
    questions = [Question(*fields) for fields in home.told["questions"][::7]]
    begun = time.perf_counter()
    with home.memory(vectors=vectors) as memory:
        marks = [begun, time.perf_counter()]
        for question in questions[:20]:
            memory.recall(question.text)
            marks.append(time.perf_counter())
    first, second, third = ((after - before) * 1000 for before, after in pairwise(marks[:4]))
    return {
        "open_ms": round(first, 1),
        "first_ms": round(second, 1),
        "second_ms": round(third, 1),
        "peak_mb": round(peak_mb()),
    }


def peak_mb() -> float:
    """Most memory this process ever held. What `resource` tells begins with the size of the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def cold_medians(home: Home, *, vectors: bool, times: int = 5) -> dict[str, float]:
    """Medians over fresh processes."""
    command = [sys.executable, __file__, "--cold", str(home.folder), *(["--vectors"] if vectors else [])]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(times)]
    return {name: statistics.median(figures[name] for figures in runs) for name in runs[0]}


class Hooks(HookBench):
    """Hooks as the host starts them, over one of our homes."""

    def __init__(self, home: Home) -> None:
        self.folder, self.env, self.repository = home.folder, home.env, home.repository
        self.asked = [Question(*fields) for fields in home.told["questions"]]
        self.turn = 0

    def payloads(self) -> dict[str, dict[str, Any]]:
        """A prompt, and a file about to be edited, each in a session of its own."""
        self.turn += 1
        question = self.asked[self.turn % len(self.asked)]
        edit = {"file_path": str(self.repository / question.path), "old_string": "work", "new_string": "works"}
        fields: dict[str, dict[str, Any]] = {
            "UserPromptSubmit": {"prompt": question.text},
            "PreToolUse": {"tool_name": "Edit", "tool_input": edit, "tool_use_id": f"toolu_{self.turn}"},
        }
        shared = {"transcript_path": "/nowhere.jsonl", "cwd": str(self.repository), "permission_mode": "default"}
        unique = f"{time.time_ns()}"
        return {
            name: {**shared, "session_id": f"{unique}-{name}", "hook_event_name": name, **more}
            for name, more in fields.items()
        }


def measure_hooks(small: Home, large: Home, rounds: int) -> dict[str, Any]:
    """Median ms of a cold hook over both stores, taking turns, and the ratio."""
    benches = {"small": Hooks(small), "large": Hooks(large)}
    taken: dict[str, dict[str, list[float]]] = {}
    for turn in range(-2, rounds):
        for size, bench in benches.items():
            for name, payload in bench.payloads().items():
                (took_ms, _), _ = bench.hook_ms(payload)
                if turn >= 0:
                    taken.setdefault(name, {}).setdefault(size, []).append(took_ms)
    medians = {name: {size: statistics.median(times) for size, times in sizes.items()} for name, sizes in taken.items()}
    return {
        name: {
            **{f"{size}_ms": round(ms, 1) for size, ms in sizes.items()},
            "ratio": round(sizes["large"] / sizes["small"], 2),
        }
        for name, sizes in medians.items()
    }


def run(size: int, rounds: int, folder: Path, words: Words, others: bool) -> dict[str, Any]:
    """Everything that is measured at one size."""
    project_home = Home(folder / f"one-{size}")
    if not project_home.told:
        project_home.begin(f"one {size}", size, words)
    homes = {"one project": project_home, **(among_others(size, folder, words) if others else {})}
    result: dict[str, Any] = {"lessons": size}
    for name, home in homes.items():
        built = {key: value for key, value in home.told.items() if key != "questions"}
        result[name] = {"built": built, "recall": measure(home, rounds, plain=home is project_home)}
        print_table(f"{size} lessons: {name}", result[name])
    result["cold"] = {way: cold_medians(project_home, vectors=way == "vectors") for way in ("words", "vectors")}
    print(f"  cold {result['cold']}", flush=True)
    return result


def among_others(size: int, folder: Path, words: Words) -> dict[str, Home]:
    """One project's lessons alone, and with nine and with ninety-nine times as many of other projects beside them."""
    alone, some, most = (Home(folder / f"{name}-{size}") for name in ("alone", "some", "most"))
    if not alone.told:
        alone.begin(f"alone {size}", size // 100, words)
    if not some.told:
        some.extend(alone, size // 100 * 9, words)
    if not most.told:
        most.extend(some, size // 100 * 99, words)
    return {"alone": alone, "90 % others": some, "99 % others": most}


def run_hooks(size: int, rounds: int, folder: Path, words: Words) -> dict[str, Any]:
    """Hooks over 1,000 lessons and over those of that size."""
    small = Home(folder / "one-1000")
    if not small.told:
        small.begin("one 1000", 1_000, words)
    hooks = {"sizes": [1_000, size], **measure_hooks(small, Home(folder / f"one-{size}"), rounds)}
    print(f"  hooks {hooks}", flush=True)
    return hooks


def print_table(title: str, result: dict[str, Any]) -> None:
    built = result["built"]
    print(
        f"{title}: {built['database_mb']:.0f} MB, {built['saved_per_s']} saved a second, vectors {built['vectors_s']} s"
    )
    for name, row in result["recall"].items():
        cells = "".join(f"{row[key]:9.2f}" for key in ("p50_ms", "p95_ms", "cpu_p50_ms", "cpu_p95_ms", "answered"))
        print(f"  {name:20}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder that keeps the stores for the next run")
    parser.add_argument("--one", action="store_true", help="leave out the stores that hold other projects")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cold", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--vectors", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cold:
        print(json.dumps(cold(Home(options.cold), vectors=options.vectors)))
        return
    words = Words(SEED)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        results = [run(size, options.rounds, folder, words, not options.one) for size in options.sizes]
        hooks = [run_hooks(size, options.rounds // 4, folder, words) for size in options.sizes if size <= 100_000]
    if options.json:
        report = {"name": "recall_size", "rounds": options.rounds, "sizes": results, "hooks": hooks}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
