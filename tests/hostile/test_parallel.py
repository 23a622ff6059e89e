"""Several processes write to one store at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from benchmarks.hostile._machine import Machine, counted


def test_processes_that_state_the_same_rules_at_once_keep_each_once(machine: Machine) -> None:
    words = [f"same{number}x" for number in range(25)]
    begin = threading.Barrier(3)

    def state_all(_: int) -> None:
        with machine.serve() as server:
            server.open()
            begin.wait()
            for word in words:
                assert server.call("remember", insight=f"Amounts of account {word} are rounded half to even.")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(state_all, range(3)))
    counts = counted(words, [lesson["insight"] for lesson in machine.lessons()])
    assert {word: counts[word] for word in words} == dict.fromkeys(words, 1)
