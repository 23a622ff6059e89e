"""Eight processes writing to one file at once: writes a second, the longest wait, and that nothing is missing.

python benchmarks/store_concurrency.py [--processes 8] [--writes 300] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.ports.store import EventFilter, LessonFilter
from holdfast.stores.sqlite import make
from holdfast.testing.builders import make_event, make_lesson


def write(url: str, name: str, what: str, count: int) -> None:
    """Write one by one and print the longest wait in seconds."""
    longest = 0.0
    with make({"url": url}) as store:
        for i in range(count):
            begun = time.perf_counter()
            if what == "events":
                store.append_events([make_event(id=f"{name}-{i}", text="x" * 500)])
            else:
                trust = "person" if what == "lessons of a person" else "agent"
                store.put([make_lesson(id=f"{name}-{i}", trust=trust, insight=f"writer {name} says {i}")], {})
            longest = max(longest, time.perf_counter() - begun)
    print(longest)


def measure(what: str, processes: int, writes: int) -> dict[str, float | str]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite://{folder}/memory.db"
        make({"url": url}).__enter__().__exit__(None, None, None)
        begun = time.perf_counter()
        writers = [
            subprocess.Popen(
                [sys.executable, __file__, "--url", url, "--name", f"w{i}", "--what", what, "--writes", str(writes)],
                stdout=subprocess.PIPE, text=True,
            )
            for i in range(processes)
        ]  # fmt: skip
        longest = max(float(writer.communicate()[0]) for writer in writers)
        took = time.perf_counter() - begun
        with make({"url": url}) as store:
            stored = len(store.find_events(EventFilter(limit=10**6))) or len(
                store.find(LessonFilter(all_projects=True, limit=10**6))
            )
            sound = "sound" if store.check() == [] else "NOT SOUND"
    return {
        "what": what,
        "writes": processes * writes,
        "missing": processes * writes - stored,
        "writes_per_s": round(processes * writes / took),
        "longest_wait_ms": round(longest * 1000),
        "file": sound,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--writes", type=int, default=300)
    parser.add_argument("--json", type=Path)
    for name in ("--url", "--name", "--what"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.url:
        write(options.url, options.name, options.what, options.writes)
        return
    kinds = ("events", "lessons", "lessons of a person")
    rows = [measure(what, options.processes, options.writes) for what in kinds]
    print("| what | writes | missing | writes/s | longest wait ms | file |\n|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
