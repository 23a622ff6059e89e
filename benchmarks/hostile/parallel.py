"""Several hooks at once, with and without a server: lost events, exit codes, unreadable answers, and how long it takes.

Every prompt is a session of its own and has no transcript: an event the hook does not keep is lost.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.hostile._machine import Machine, Run, counted, wait_until
from benchmarks.hostile._report import Row, Tables, seconds

AT_ONCE = (1, 2, 4, 8)
ROUNDS = {1: 24, 2: 24, 4: 12, 8: 12}
QUICK_ROUNDS = 3


def run(folder: Path, quick: bool, python: str) -> Tables:
    rows = []
    for way in ("alone", "server"):
        machine = Machine(folder / way, python)
        machine.teach([f"Amounts of account {number} are rounded half to even." for number in range(20)])
        with ExitStack() as stack:
            if way == "server":
                stack.enter_context(machine.serve()).open()
                wait_until(partial(has_socket, machine.memory_home / "run"), 20)
            rows += [measure(machine, way, at_once, quick) for at_once in AT_ONCE]
    return {"Hooks at once": rows}


def has_socket(folder: Path) -> bool:
    return any(folder.glob("*.sock"))


def measure(machine: Machine, way: str, at_once: int, quick: bool) -> Row:
    """The row of so many hooks at once, repeated."""
    rounds = QUICK_ROUNDS if quick else ROUNDS[at_once]
    words = [f"{way[0]}{at_once}n{number}x" for number in range(rounds * at_once)]
    runs: list[Run] = []
    with ThreadPoolExecutor(at_once) as pool:
        for begin in range(0, len(words), at_once):
            runs += pool.map(
                lambda word: machine.hook(machine.prompt(word, f"s-{word}")), words[begin : begin + at_once]
            )
    load = os.getloadavg()[0]
    log_lines = [line for line in machine.log_lines() if "deadline" in line]
    machine.settle()
    counts = counted(words, machine.event_texts())
    return {
        "way": way, "at once": at_once, "hooks": len(runs), "exit not 0": sum(done.code != 0 for done in runs),
        "unreadable": sum(not done.is_valid_answer for done in runs), "lost": sum(counts[word] == 0 for word in words),
        "twice": sum(count > 1 for count in counts.values()), **seconds([done.took_s for done in runs]),
        "deadline in log, so far": len(log_lines), "load": round(load, 1),
    }  # fmt: skip
