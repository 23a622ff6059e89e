"""Many hooks in one long session, and many calls to one server: what grows.

Hooks come in pairs around an edit, as in a long session; no server is there that would close the store, and the session
does not end. Memory of the server is read from /proc; its slope is that of the line through the second half.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.hostile._machine import Machine, Server
from benchmarks.hostile._report import Row, Tables, seconds

HOOKS, QUICK_HOOKS = 1_000, 60
CALLS, QUICK_CALLS = 3_000, 200
LOOKS = 10
"""How often sizes are read on the way."""


def run(folder: Path, quick: bool, python: str) -> Tables:
    hooks = soak_hooks(Machine(folder / "hooks", python), QUICK_HOOKS if quick else HOOKS)
    if not Path("/proc/self/statm").exists():
        return {"Hooks one after another": hooks, "Server": [{"skipped": "no /proc"}]}
    calls = QUICK_CALLS if quick else CALLS
    kinds = ("recall", "remember")
    servers = [soak_server(Machine(folder / kind, python), kind, calls) for kind in kinds]
    return {"Hooks one after another": hooks, "Server": servers}


def soak_hooks(machine: Machine, count: int) -> list[Row]:
    """One row a tenth of the way: sizes so far, and how long the hooks took since the last."""
    machine.teach([f"Amounts of account {number} are rounded half to even." for number in range(20)])
    rows: list[Row] = []
    taken: list[float] = []
    failed = unreadable = 0
    for number in range(count):
        done = machine.hook(machine.edit(number // 2, "long", before=number % 2 == 0))
        taken.append(done.took_s)
        failed += done.code != 0
        unreadable += not done.is_valid_answer
        if (number + 1) % (count // LOOKS) == 0:
            rows.append({"hooks": number + 1, **sizes(machine), **seconds(taken), "exit not 0": failed,
                         "unreadable": unreadable, "processes left": len(machine.processes())})  # fmt: skip
            taken = []
    machine.settle()
    event_count = sum('"session": "long"' in text or '"session":"long"' in text for text in machine.event_texts())
    settled = {"hooks": "settled", **sizes(machine), "processes left": len(machine.processes())}
    rows.append({**settled, "events lost": count // 2 - event_count})  # one event for each edit that was made
    return rows


def sizes(machine: Machine) -> Row:
    """Kilobytes of the store's files, and how many files there are besides."""
    log = machine.database.with_name("memory.db-wal")
    run_folder = machine.memory_home / "run"
    return {
        "database_kB": machine.database.stat().st_size // 1024,
        "write-ahead log kB": log.stat().st_size // 1024 if log.exists() else 0,
        "files in run": len(list(run_folder.rglob("*"))) if run_folder.exists() else 0,
    }


def soak_server(machine: Machine, kind: str, calls: int) -> Row:
    """What a server's memory, descriptors and threads do over that many calls of one kind."""
    machine.teach([f"Amounts of account {number} are rounded half to even." for number in range(20)])
    failed, memory_kb = 0, []
    with machine.serve() as server:
        server.open()
        for number in range(calls):
            failed += not _call(server, kind, number)
            if number % max(1, calls // 40) == 0:
                memory_kb.append((number, resident_kb(server.running.pid)))
            if number == calls // 2:
                opened, threads = _count(server, "fd"), _count(server, "task")
        now_opened, now_threads = _count(server, "fd"), _count(server, "task")
    half = memory_kb[len(memory_kb) // 2 :]
    return {
        "calls": calls, "kind": kind, "failed": failed, "memory_first_kB": memory_kb[0][1],
        "memory_half_kB": half[0][1], "memory_last_kB": half[-1][1], "slope_kB_a_call": round(slope(half), 2),
        "descriptors": f"{opened} → {now_opened}", "threads": f"{threads} → {now_threads}",
    }  # fmt: skip


def _call(server: Server, kind: str, number: int) -> bool:
    if kind == "recall":
        return server.call("recall", query=f"how are amounts of account {number % 50} rounded")
    return server.call("remember", insight=f"Amounts of account k{number}x are rounded half to even.")


def _count(server: Server, what: str) -> int:
    return len(os.listdir(f"/proc/{server.running.pid}/{what}"))


def resident_kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def slope(points: Sequence[tuple[int, int]]) -> float:
    """Of the line of least squares."""
    middle = sum(x for x, _ in points) / len(points)
    spread = sum((x - middle) ** 2 for x, _ in points)
    return sum((x - middle) * y for x, y in points) / spread if spread else 0.0
