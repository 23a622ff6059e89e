"""Watching a large tree: how soon a change is told, what idling costs, and what looking costs by the number of files.

    python benchmarks/watch.py [--folders 5000] [--edits 30] [--idle-s 20] [--json FILE]

A tree of ten files a folder in git, lessons about 30, 300 and 3,000 of its functions. `holdfast watch` and the MCP
server run as processes. Beside them, where the package `watchfiles` can be imported, the same tree subscribed to as a
whole. Linux only: processor time and watches are read from /proc.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.settings import load_settings

FILES = 10
LESSONS = (30, 300, 3_000)
SUBSCRIBED = """
import sys, watchfiles
for changes in watchfiles.watch(sys.argv[1], step=10, debounce=50, yield_on_timeout=True, rust_timeout=200):
    for _, path in changes:
        print(path, flush=True)
    if not changes:
        print("ready", flush=True)
        break
for changes in watchfiles.watch(sys.argv[1], step=10, debounce=50):
    for _, path in changes:
        print(path, flush=True)
"""


class Ground:
    """A home and a tree of modules with one function each, under version control."""

    def __init__(self, folder: Path, folders: int) -> None:
        self.tree, self.folders = folder / "tree", folders
        for number in range(folders):
            room = self.module(number, 0).parent
            os.makedirs(room)
            for name in range(FILES):
                self.write(number, name, "held")
        self.env = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT", "HOLDFAST"))
        }
        self.env |= {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
        for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
            subprocess.run(["git", *who, *step], cwd=self.tree, env=self.env, check=True)

    def module(self, number: int, name: int) -> Path:
        return self.tree / f"part{number // 100}" / f"room{number}" / f"m{name}.py"

    def write(self, number: int, name: int, body: str) -> None:
        with open(self.module(number, name), "w") as stream:
            stream.write(f"def step{number}_{name}(value):\n    held = load(value)\n    return {body}\n")

    def memory(self) -> Memory:
        return Memory(str(self.tree), settings=load_settings(self.env))

    def remember(self, have: int, want: int) -> None:
        with self.memory() as memory:
            for at in range(have, want):
                number, name = at % self.folders, at // self.folders
                path = self.module(number, name).relative_to(self.tree).as_posix()
                memory.remember(f"Step {number} {name} never rounds.", files=[path], symbols=[f"step{number}_{name}"])

    def start(self, *arguments: str, folder: Path | None = None) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=folder or self.tree, env=self.env, text=True, stdin=pipe, stdout=pipe,
            stderr=pipe,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=5_000)
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--idle-s", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-watch") as folder:
        result = measure(Ground(Path(folder), options.folders), options.edits, options.idle_s)
    result["files_in_tree"] = options.folders * FILES
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


def measure(ground: Ground, edits: int, idle_s: float) -> dict[str, object]:
    result: dict[str, object] = {}
    have = 0
    for lessons in LESSONS:
        ground.remember(have, lessons)
        have = lessons
        begun = time.perf_counter()
        running = ground.start("-m", "holdfast", "watch", "--json")
        assert running.stderr is not None
        running.stderr.readline()
        ready_s = time.perf_counter() - begun
        figures = watched(ground, running, edits, idle_s, told_json)
        result[f"holdfast watch, {lessons} lessons"] = show(f"holdfast watch, {lessons:,} lessons", ready_s, figures)
        end(running)
        if lessons == 300:
            result["server"] = serve(ground, idle_s)
    if importlib.util.find_spec("watchfiles"):
        result["subscribed"] = subscribe(ground, edits, idle_s)
    return result


def serve(ground: Ground, idle_s: float) -> dict[str, float]:
    """The MCP server, idle and watching, and idle in an empty folder where there is nothing to look at."""
    empty = ground.tree.parent / "empty"
    empty.mkdir()
    spent = {}
    for name, folder in (("watching 300 lessons", ground.tree), ("nothing to watch", empty)):
        running = ground.start("-m", "holdfast.surfaces.mcp", folder=folder)
        time.sleep(12)  # it begins to watch after five seconds
        spent[f"idle_cpu_percent, {name}"] = round(idle_percent(running.pid, idle_s), 3)
        running.communicate(timeout=20)
    for name, percent in spent.items():
        print(f"MCP server, {name}: {percent} %")
    return spent


def subscribe(ground: Ground, edits: int, idle_s: float) -> dict[str, float]:
    begun = time.perf_counter()
    running = ground.start("-c", SUBSCRIBED, str(ground.tree))
    assert running.stdout is not None
    running.stdout.readline()
    ready_s = time.perf_counter() - begun
    time.sleep(3 * ready_s)  # it subscribes a second time
    figures = watched(ground, running, edits, idle_s, str.strip)
    result = show("the whole tree subscribed to", ready_s, figures)
    end(running)
    return result


def watched(
    ground: Ground, running: subprocess.Popen[str], edits: int, idle_s: float, read: Callable[[str], str]
) -> dict[str, float]:
    idle = idle_percent(running.pid, idle_s)
    taken = []
    assert running.stdout is not None
    for at in range(edits):
        time.sleep(0.3 + (at * 37 % 100) / 100)  # at any moment between two looks
        ground.write(at, 0, f"held + {time.perf_counter_ns()}" if at % 2 else "held * 2")
        begun = time.perf_counter()
        wanted = ground.module(at, 0).relative_to(ground.tree).as_posix()
        while not read(running.stdout.readline()).endswith(wanted):
            pass
        taken.append(time.perf_counter() - begun)
    resident, watches = resident_mb(running.pid), inotify_watches(running.pid)
    for at in range(edits):
        ground.write(at, 0, "held")
    taken.sort()
    return {
        "p50_ms": 1000 * taken[len(taken) // 2], "max_ms": 1000 * taken[-1], "idle_cpu_percent": idle,
        "resident_mb": resident, "inotify_watches": watches,
    }  # fmt: skip


def told_json(line: str) -> str:
    change = json.loads(line)
    return str(change["lesson"]["files"][0]) if change["freshness"] == "drifted" else ""


def show(name: str, ready_s: float, figures: dict[str, float]) -> dict[str, float]:
    figures = {"ready_s": ready_s, **figures}
    print(
        f"{name:30} ready {ready_s:5.1f} s, told after p50 {figures['p50_ms']:.0f} ms, "
        f"at most {figures['max_ms']:.0f} ms; "
        f"idle {figures['idle_cpu_percent']:.2f} % of a processor, {figures['resident_mb']:.0f} MB, "
        f"{figures['inotify_watches']:.0f} watches",
        flush=True,
    )
    return {key: round(value, 3) for key, value in figures.items()}


def end(running: subprocess.Popen[str]) -> None:
    running.terminate()
    running.communicate(timeout=20)


def idle_percent(pid: int, seconds: float) -> float:
    before, begun = processor_s(pid), time.perf_counter()
    time.sleep(seconds)
    return 100 * (processor_s(pid) - before) / (time.perf_counter() - begun)


def processor_s(pid: int) -> float:
    """Processor time of all threads so far, to the nanosecond."""
    return sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def resident_mb(pid: int) -> float:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) / 1024 for row in rows if row.startswith("VmRSS"))


def inotify_watches(pid: int) -> int:
    return sum(file.read_text().count("inotify wd:") for file in Path(f"/proc/{pid}/fdinfo").iterdir())


if __name__ == "__main__":
    main()
