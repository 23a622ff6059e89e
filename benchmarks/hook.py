"""One hook call in a cold process over 10,000 lessons, as a ratio to `python -I -S -c pass` of the same interpreter.

    python benchmarks/hook.py [--rounds 60] [--lessons 10000] [--host NAME|all] [--json FILE]

The lessons are those of `seeded_lessons`. Every kind of hook, three ways: through the compiled launcher and a running
server, as a platform's wheel does it; through Python and a running server, as the pure wheel does; and answered alone.
With `--host` the recorded payloads of that host, or of every host, through the launcher and alone. Within a round the
bare interpreter and the hooks take turns, so that a busy machine slows them alike. Aims: through the launcher and a
server median at most .3, 95th percentile .6; alone median at most 4, over the median of the bare interpreter, whose own
95th percentile is told beside it. "Own" is the hook process's processor time, in which a busy machine matters less;
the server's is not in it. Nothing is asserted; also listed is how often the answer held a lesson.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if not __package__:  # started as `python benchmarks/hook.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dataclasses import replace

from benchmarks.hook_hosts import Recordings, arguments_of, recorded_hosts
from benchmarks.seeded_lessons import Words, make_lesson

import holdfast
from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.settings import load_settings, socket_folder
from holdfast.text.words import duplicate_key

PACKAGE = Path(holdfast.__file__).parent
ENTRY = PACKAGE / "surfaces" / "hooks" / "entry.py"
LAUNCHER = PACKAGE / "_launcher" / "hook"
"""Made by `make`, or by `python launcher/build.py`."""
FILES = 500
"""Of the files lessons are about, those that the repository has."""

Times = tuple[float, float]
"""Milliseconds of one process: on the wall, and of processors, its own alone."""
Measured = tuple[list[Times], dict[str, list[Times]], dict[str, int]]

WARM_UP = 3
LAUNCHED, SERVED, ALONE = "launcher", "server", "alone"


def content_of(path: str) -> str:
    """What is in the repository's file."""
    return f"def work():\n    return {path!r}\n"


def anchored(lesson: Lesson, there: set[str]) -> Lesson:
    """The lesson with the blobs of its files that are there: it is fresh, as most lessons are when they are shown."""
    anchors = [
        replace(anchor, blob=blob_of(content_of(anchor.path))) if anchor.path in there else anchor
        for anchor in lesson.anchors
    ]
    return replace(lesson, anchors=tuple(anchors))


def blob_of(text: str) -> str:
    """Git's id of a file with that text."""
    return "git1:" + hashlib.sha1(b"blob %d\0" % len(text.encode()) + text.encode()).hexdigest()


class Bench:
    """A scratch home with a repository, a full store, and payloads as Claude Code sends them."""

    def __init__(self, folder: Path, lessons: int) -> None:
        self.folder = folder
        self.repository = folder / "shop"
        self.repository.mkdir()
        self.rng = random.Random(7)
        self.turn = 0
        self.lessons = lessons
        self.env = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HOLDFAST", "GIT"))
        }
        self.env |= {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "HOLDFAST_HOLDOUT": "0"}
        self.words: list[Words] = []
        self.failing_commands: set[str] = set()
        """Commands that a lesson is about: every other payload is about such a command."""
        self._begin_repository()
        self._fill(lessons)

    def _begin_repository(self) -> None:
        (self.repository / "README.md").write_text("Shop\n")
        self._git("init", "-q", "-b", "main")
        self._git("remote", "add", "origin", "git@example.com:ada/shop.git")
        self._commit()

    def _fill(self, count: int) -> None:
        with Memory(str(self.repository), settings=load_settings(self.env)) as memory:
            made = self._different(count, memory.location.project.id)
            self.failing_commands = {words.command for lesson, words in made if lesson.command}
            self._add_files([words for _, words in made])
            there = {words.path for words in self.words}
            for begin in range(0, count, 1000):
                batch = [anchored(lesson, there) for lesson, _ in made[begin : begin + 1000]]
                memory.services.store.put(batch, {})
            # As after any session that ended: else each start would find the last round's sessions unlearnt and start
            # a learner, which would run beside the measurements.
            memory.services.store.set_state(LEARNED_POSITION, "", "1" + "0" * 15)
            memory.prepare_brief()

    def _different(self, count: int, project: str) -> list[tuple[Lesson, Words]]:
        """So many lessons, no two of one kind with the same rule: a store keeps one living lesson a rule."""
        made: dict[tuple[str, str], tuple[Lesson, Words]] = {}
        number = 0
        while len(made) < count:
            lesson, words = make_lesson(number, self.rng, project)
            made.setdefault((lesson.kind, duplicate_key(lesson.insight)), (lesson, words))
            number += 1
        return list(made.values())

    def _add_files(self, words: list[Words]) -> None:
        self.words = self.rng.sample(words, min(FILES, len(words)))
        for path in {words.path for words in self.words}:
            (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / path).write_text(content_of(path))
        self.failing = [words for words in self.words if words.command in self.failing_commands]
        self._commit()

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "More")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, check=True, env=self.env)

    def next_words(self) -> Words:
        """What the next payloads are about."""
        self.turn += 1
        return self.rng.choice(self.failing if self.turn % 2 else self.words)

    def payloads(self) -> dict[str, dict[str, Any]]:
        """One payload of each kind of hook, each in a session of its own: nothing was shown in it before."""
        w = self.next_words()
        shared = {
            "transcript_path": "/nowhere.jsonl", "cwd": str(self.repository),
            "permission_mode": "default",
        }  # fmt: skip
        path = str(self.repository / w.path)
        prompt = f"The {w.noun} of {w.area} looks wrong after the {w.part} was {w.verb}ed, see {w.symbol}. Fix it."
        command = f"cd {self.repository} && {w.command} -q"
        edit = {"file_path": path, "old_string": "work", "new_string": f"work_{self.turn}"}
        use = {"tool_use_id": f"toolu_{self.turn}"}
        error = f'Exit code 1\nTraceback (most recent call last):\n  File "{path}", line 3\n{w.error}'
        fields: dict[str, dict[str, Any]] = {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": prompt},
            "PreToolUse Edit": {"tool_name": "Edit", "tool_input": edit, **use},
            "PreToolUse Bash": {"tool_name": "Bash", "tool_input": {"command": command}, **use},
            "PostToolUse Edit": {"tool_name": "Edit", "tool_input": edit, "tool_response": {"filePath": path}, **use},
            "PostToolUse Bash": {
                "tool_name": "Bash", "tool_input": {"command": command},
                "tool_response": {"stdout": "3 passed in 0.11s\n" * 40, "stderr": "", "interrupted": False},
                "tool_use_id": f"toolu_{self.turn}b",
            },
            "PostToolUseFailure": {
                "tool_name": "Bash", "tool_input": {"command": command}, "error": error,
                "tool_use_id": f"toolu_{self.turn}c",
            },
            "PreCompact": {"trigger": "auto", "custom_instructions": None},
            "Stop": {"stop_hook_active": False, "last_assistant_message": f"Done: {w.area} keeps its {w.noun} now."},
        }  # fmt: skip
        return {
            name: {**shared, "session_id": f"{self.turn}-{name}", "hook_event_name": name.split()[0], **more}
            for name, more in fields.items()
        }

    def hook_ms(
        self, payload: dict[str, Any], arguments: Sequence[str] = ("claude-code",), launched: bool = False
    ) -> tuple[Times, str]:
        """The times of one hook process, and what it printed."""
        program = [str(LAUNCHER), sys.executable, str(ENTRY)] if launched else [sys.executable, "-I", "-S", str(ENTRY)]
        return self._run_ms([*program, *arguments], json.dumps(payload).encode())

    def bare_ms(self) -> Times:
        """The times of an interpreter that does nothing."""
        return self._run_ms([sys.executable, "-I", "-S", "-c", "pass"], b"")[0]

    def _run_ms(self, command: list[str], payload: bytes) -> tuple[Times, str]:
        """Started without `subprocess`, whose own work would be counted on both sides of the ratio."""
        stdin, stdout = self.folder / "stdin", self.folder / "stdout"
        stdin.write_bytes(payload)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(stdout), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        begun = time.perf_counter()
        child = os.posix_spawn(command[0], command, self.env, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        took_ms = (time.perf_counter() - begun) * 1000
        own_ms = (usage.ru_utime + usage.ru_stime) * 1000
        if status:
            raise RuntimeError(f"{command} ended with {status}")
        return (took_ms, own_ms), stdout.read_text()

    def drop_errands(self) -> None:
        """Forget the transcripts that ended turns left to be read: the next start would start a learner for them."""
        shutil.rmtree(Path(load_settings(self.env).run_path) / "errands", ignore_errors=True)

    def serve(self) -> subprocess.Popen[bytes]:
        """A running server, whose socket is there."""
        command = [sys.executable, "-m", "holdfast.surfaces.mcp"]
        running = subprocess.Popen(
            command, cwd=self.repository, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        assert running.stdin is not None
        running.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')  # any line ends the wait for a handshake
        running.stdin.flush()
        folder = Path(socket_folder(load_settings(self.env).run_path))
        for _ in range(200):
            if any(folder.glob("*.sock")):
                time.sleep(4)  # let it do what it does after its start
                return running
            time.sleep(0.05)
        raise RuntimeError("the server opened no socket")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(bench: Bench, rounds: int, host: str = "claude-code", *, launched: bool = False) -> Measured:
    """Milliseconds of the bare interpreter and of each kind of hook, and how often the kind's answer held a lesson."""
    recordings = None if host == "claude-code" else Recordings(host)
    arguments = arguments_of(host)
    bare: list[Times] = []
    took: dict[str, list[Times]] = {}
    spoke: dict[str, int] = {}
    for turn in range(-WARM_UP, rounds):
        for kind, payload in (recordings.payloads(bench) if recordings else bench.payloads()).items():
            bench.drop_errands()
            bare.append(bench.bare_ms())
            took_ms, printed = bench.hook_ms(payload, arguments, launched)
            took.setdefault(kind, []).append(took_ms)
            spoke[kind] = spoke.get(kind, 0) + (turn >= 0 and len(printed) > 2)
    return bare[len(took) * WARM_UP :], {kind: values[WARM_UP:] for kind, values in took.items()}, spoke


def measure_ends(bench: Bench, rounds: int) -> Measured:
    """As `measure`, for the end of sessions: each starts a learner, whose own work is waited for and not counted."""
    bare: list[Times] = []
    took: list[Times] = []
    for _ in range(rounds):
        payload = {**bench.payloads()["Stop"], "hook_event_name": "SessionEnd", "reason": "other"}
        bare.append(bench.bare_ms())
        took.append(bench.hook_ms(payload)[0])
        time.sleep(1)
    return bare, {"SessionEnd": took}, {"SessionEnd": 0}


def measure_beside_learner(bench: Bench, rounds: int) -> Measured:
    """As `measure`, for a prompt right after a start that started a learner, which then runs beside it."""
    bare: list[Times] = []
    took: list[Times] = []
    for _ in range(rounds):
        payloads = bench.payloads()
        bare.append(bench.bare_ms())
        bench.hook_ms(payloads["Stop"])
        bench.hook_ms(payloads["SessionStart"])
        took.append(bench.hook_ms(payloads["UserPromptSubmit"])[0])
        time.sleep(3)
    return bare, {"UserPromptSubmit beside a learner": took}, {"UserPromptSubmit beside a learner": 0}


def table_rows(way: str, measured: Measured) -> list[dict[str, Any]]:
    bare, took, spoke = measured
    unit, own_unit = (statistics.median(times[of] for times in bare) for of in (0, 1))
    rows = []
    for kind, values in took.items():
        walls = [wall for wall, _ in values]
        rows.append({
            "way": way, "hook": kind, "rounds": len(values), "bare_ms": round(unit, 2),
            "median_ms": round(statistics.median(walls), 2),
            "median_ratio": round(statistics.median(walls) / unit, 2),
            "p95_ratio": round(percentile(walls, 0.95) / unit, 2),
            "own_ratio": round(statistics.median(own for _, own in values) / own_unit, 2),
            "own_p95_ratio": round(percentile([own for _, own in values], 0.95) / own_unit, 2),
            "bare_p95_ratio": round(percentile([wall for wall, _ in bare], 0.95) / unit, 2),
            "max_ms": round(max(walls), 1), "answers_with_lessons": spoke[kind],
        })  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure one hook call.")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--lessons", type=int, default=10_000)
    parser.add_argument("--host", metavar="all|NAME,...", help=f"claude-code, {', '.join(recorded_hosts())}")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    compileall.compile_dir(PACKAGE, quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.lessons)
        result = run_hosts(bench, options.rounds, options.host) if options.host else run(bench, options.rounds)
    for row in result["rows"]:
        print(
            "{way:22} {hook:33} median {median_ms:6.1f} ms {median_ratio:5.2f}x   p95 {p95_ratio:5.2f}x   "
            "own {own_ratio:5.2f}x, p95 {own_p95_ratio:5.2f}x   max {max_ms:6.1f} ms   "
            "with lessons {answers_with_lessons}/{rounds}".format(**row)
        )
    first = result["rows"][0]
    print(f"bare interpreter: {first['bare_ms']} ms, p95 {first['bare_p95_ratio']}x")
    if result["log"]:
        print("the hooks' log:", *result["log"][-5:], sep="\n  ")
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


def run_hosts(bench: Bench, rounds: int, host: str) -> dict[str, Any]:
    """The payloads of that host, of several with commas between them, or of all: alone, and through the launcher."""
    hosts = ["claude-code", *recorded_hosts()] if host == "all" else host.split(",")
    rows = [row for name in hosts for row in table_rows(f"{name} alone", measure(bench, rounds, name))]
    server = bench.serve()
    try:
        for name in hosts:
            rows += table_rows(f"{name} {LAUNCHED}", measure(bench, rounds, name, launched=True))
    finally:
        server.communicate(timeout=20)
    return result_of(bench, rows)


def run(bench: Bench, rounds: int) -> dict[str, Any]:
    few = max(5, rounds // 5)
    rows = table_rows(ALONE, measure(bench, rounds)) + table_rows(ALONE, measure_ends(bench, few))
    rows += table_rows(ALONE, measure_beside_learner(bench, few))
    server = bench.serve()
    try:
        rows += table_rows(SERVED, measure(bench, rounds))
        rows += table_rows(LAUNCHED, measure(bench, rounds, launched=True))
    finally:
        server.communicate(timeout=20)
    return result_of(bench, rows)


def result_of(bench: Bench, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What is printed and kept."""
    log = Path(load_settings(bench.env).log_path)
    return {
        "name": "hook", "lessons": bench.lessons, "python": sys.version.split()[0], "rows": rows,
        "aims": {LAUNCHED: {"median_ratio": 0.3, "p95_ratio": 0.6}, ALONE: {"median_ratio": 4.0}},
        "log": log.read_text().splitlines() if log.exists() else [],
    }  # fmt: skip


if __name__ == "__main__":
    main()
