"""Processes are killed at random moments, several at once on one home: what was acknowledged must be there, once.

The moment is drawn evenly from one and a half times what an undisturbed run takes, so that some end by themselves.
An acknowledgement is exit 0 of a command or hook, and the server's answer to a call.
"""

from __future__ import annotations

import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hostile._machine import Machine, counted
from benchmarks.hostile._report import Row, Tables

SEED = 11
CALLS_A_SERVER = 40
LONGER = 1.5
KEPT, LOST = "acknowledged", "acknowledged and lost"


@dataclass(frozen=True)
class Size:
    """How much is tried on each surface."""

    workers: int
    tries: int
    imports: int
    lines: int
    servers: int


FULL = Size(workers=8, tries=320, imports=16, lines=200, servers=20)
QUICK = Size(workers=3, tries=12, imports=3, lines=30, servers=3)


@dataclass
class Attempts:
    """What was tried on one surface."""

    tried: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    kills: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, words: Sequence[str], acknowledged: Sequence[str], killed: bool) -> None:
        with self._lock:
            self.tried += words
            self.acknowledged += acknowledged
            self.kills += killed


def run(folder: Path, quick: bool, python: str) -> Tables:
    size = QUICK if quick else FULL
    surfaces: dict[str, Callable[[Machine, Size], Attempts]] = {
        "CLI remember": kill_commands, "MCP remember": kill_servers, "import": kill_imports, "hooks": kill_hooks,
    }  # fmt: skip
    rows = []
    for number, (surface, attempt) in enumerate(surfaces.items()):
        machine = Machine(folder / str(number), python)
        machine.cli("status")  # the store is there
        rows.append(judge(surface, machine, attempt(machine, size)))
    return {"Killed at random moments": rows}


def judge(surface: str, machine: Machine, attempts: Attempts) -> Row:
    """The row of a surface, once everything has settled."""
    machine.settle()
    hooks = surface == "hooks"
    texts = machine.event_texts() if hooks else [lesson["insight"] for lesson in machine.lessons()]
    counts = counted(attempts.tried, texts)
    return {
        "surface": surface, "tried": len(attempts.tried), KEPT: len(attempts.acknowledged), "kills": attempts.kills,
        LOST: sum(counts[word] == 0 for word in attempts.acknowledged),
        "twice": sum(count > 1 for count in counts.values()), "integrity": machine.integrity(),
        "doctor": machine.doctor(), "lessons without change": "" if hooks else machine.unlogged_lessons(),
        "processes left": len(machine.processes()),
    }  # fmt: skip


def kill_commands(machine: Machine, size: Size) -> Attempts:
    whole_s = _time_several(size, lambda number: machine.cli("remember", rule(f"warmup{number}x")).took_s)

    def attempt(word: str, kill_after_s: float) -> tuple[bool, bool]:
        done = machine.cli("remember", rule(word), kill_after_s=kill_after_s)
        return done.code == 0, done.code < 0

    return _at_random(size, "c", whole_s, attempt)


def kill_hooks(machine: Machine, size: Size) -> Attempts:
    whole_s = _time_several(size, lambda number: machine.hook(machine.prompt(f"warmup{number}x")).took_s)

    def attempt(word: str, kill_after_s: float) -> tuple[bool, bool]:
        done = machine.hook(machine.prompt(word, f"s-{word}"), kill_after_s=kill_after_s)
        return done.code == 0 and done.is_valid_answer, done.code < 0

    return _at_random(size, "h", whole_s, attempt)


def _time_several(size: Size, attempt: Callable[[int], float]) -> float:
    """Seconds that one attempt takes when as many run at once as will be killed."""
    with ThreadPoolExecutor(size.workers) as pool:
        return statistics.median(pool.map(attempt, range(2 * size.workers)))


def _at_random(size: Size, prefix: str, whole_s: float, attempt: Callable[[str, float], tuple[bool, bool]]) -> Attempts:
    """Several attempts at a time; `attempt` tells whether it was acknowledged and whether it was killed."""
    attempts, moments = Attempts(), random.Random(SEED)
    plan = [(f"{prefix}{number}x", moments.uniform(0, whole_s * LONGER)) for number in range(size.tries)]

    def one(planned: tuple[str, float]) -> None:
        acknowledged, killed = attempt(*planned)
        attempts.add([planned[0]], [planned[0]] if acknowledged else [], killed)

    with ThreadPoolExecutor(size.workers) as pool:
        list(pool.map(one, plan))
    return attempts


def kill_imports(machine: Machine, size: Size) -> Attempts:
    attempts, moments = Attempts(), random.Random(SEED)

    def write(number: int) -> tuple[Path, list[str]]:
        words = [f"i{number}n{line}x" for line in range(size.lines)]
        path = machine.home / f"lessons{number}.jsonl"
        path.write_text("".join(json.dumps({"kind": "convention", "insight": rule(word)}) + "\n" for word in words))
        return path, words

    first, words = write(0)
    whole = machine.cli("import", str(first))
    attempts.add(words, words if whole.code == 0 else [], False)
    plan = [(*write(number), moments.uniform(0, whole.took_s * LONGER * 2)) for number in range(1, size.imports)]

    def one(planned: tuple[Path, list[str], float]) -> None:
        path, words, kill_after_s = planned
        done = machine.cli("import", str(path), kill_after_s=kill_after_s)
        attempts.add(words, words if done.code == 0 else [], done.code < 0)

    with ThreadPoolExecutor(min(4, size.workers)) as pool:
        list(pool.map(one, plan))
    return attempts


def kill_servers(machine: Machine, size: Size) -> Attempts:
    attempts, moments = Attempts(), random.Random(SEED)
    with machine.serve() as server:
        server.open()
        server.call("remember", insight=rule("warmup0x"))  # the first one opens the store
        began = time.perf_counter()
        for number in range(1, 11):
            server.call("remember", insight=rule(f"warmup{number}x"))
        whole_s = (time.perf_counter() - began) * CALLS_A_SERVER / 10
    plan = [(number, moments.uniform(0, whole_s * LONGER)) for number in range(size.servers)]

    def one(planned: tuple[int, float]) -> None:
        number, kill_after_s = planned
        with machine.serve() as server:
            if not server.open():
                return
            timer = threading.Timer(kill_after_s, server.kill)
            timer.start()
            for call in range(CALLS_A_SERVER):
                word = f"m{number}n{call}x"
                acknowledged = server.call("remember", insight=rule(word))
                attempts.add([word], [word] if acknowledged else [], False)
                if not acknowledged and server.running.poll() is not None:
                    break
            timer.cancel()
            server.kill()
        attempts.add([], [], True)

    with ThreadPoolExecutor(size.workers) as pool:
        list(pool.map(one, plan))
    return attempts


def rule(word: str) -> str:
    """A lesson's text that the word tells from all others."""
    return f"Amounts of account {word} are rounded half to even."
