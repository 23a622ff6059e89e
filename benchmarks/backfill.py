"""Back-fill through the shipped command on one core: megabytes a minute, redaction and learning included.

    python benchmarks/backfill.py [--data DIR] [--megabytes 25] [--rounds 3] [--json FILE]

Without --data a seeded transcript is made up in the shape and the proportions of real ones: about 130 events a
megabyte, half of the bytes book-keeping of the host. With --data every Claude Code transcript below that folder is
read (those in folders named `claude-code` when there are such). Each round has a fresh home; the second figure reads
the same transcripts again, when nothing has changed. Aim: 50 MB a minute. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AIM_MB_PER_MINUTE = 50
PROGRAM = "from holdfast.surfaces.cli.main import main; main()"
STEMS = str.split(
    "ledger cent total tax float cart session login token cache key worker queue retry timeout socket header parser "
    "schema column index row cursor page layout theme button form field label locale currency invoice receipt report "
    "digest mailer hook filter router view model store batch shard replica backup archive upload thumbnail codec frame"
)
VERBS = str.split("reads writes opens closes keeps drops checks builds renders sends loads merges splits sorts counts")
WORDS = [f"{stem}{ending}" for stem in STEMS for ending in ("", "s", "_id", "_at", "-free")]
TELLING = (
    "Root cause: the {0} {1} was stale because two {2} workers start at once.",
    "We decided to keep one {0} {1} so that the {2} never waits.",
    "Never call the {0} before the {1} is open, otherwise {2} hangs.",
)
"""Sentences that detectors may take for lessons; one in twelve, as in real transcripts."""
PROMPTS = (
    "No, use Decimal for money, floats lose cents.",
    "Please mend the failing test in {path}.",
    "Remember: run `make gen` after changing {path}.",
    "why does it hang?",
    "ok, go on",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with transcripts from outside")
    parser.add_argument("--megabytes", type=float, default=25, help="size of the made-up transcripts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="keep the figures here")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, also for the processes we start
    with tempfile.TemporaryDirectory() as scratch:
        files = transcripts(options.data) if options.data else invent(Path(scratch) / "made-up", options.megabytes)
        rounds = [measure(Path(scratch) / f"round{n}", files) for n in range(options.rounds)]
        figures = summarise(rounds, files, "outside" if options.data else "made up")
    show(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def transcripts(folder: Path) -> list[Path]:
    files = sorted(folder.rglob("*.jsonl"))
    own = [path for path in files if path.parent.name == "claude-code"]
    return own or files


def measure(folder: Path, files: list[Path]) -> dict[str, Any]:
    """One round: the figures of the first and of the second reading."""
    repository = folder / "repository"
    repository.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    first, second = backfill(folder, repository, files), backfill(folder, repository, files)
    return {"first": first, "again": second}


def backfill(folder: Path, repository: Path, files: list[Path]) -> dict[str, Any]:
    environment = {**os.environ, "HOME": str(folder), "HOLDFAST_HOME": str(folder / "holdfast")}
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "backfill",
        "--json",
        "--accept",
        "--project",
        str(repository),
        *map(str, files),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    wall_s = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": wall_s, "cpu_s": cpu_s, "peak_rss_mb": after.ru_maxrss / 1024, **json.loads(ran.stdout)}


def summarise(rounds: list[dict[str, Any]], files: list[Path], source: str) -> dict[str, Any]:
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    wall_s = statistics.median(run["first"]["wall_s"] for run in rounds)
    first_run = rounds[0]["first"]
    return {
        "transcripts": source,
        "files": len(files),
        "megabytes": round(megabytes, 1),
        "events": first_run["events"],
        "lessons": first_run["lessons"],
        "failed_detectors": first_run["failed"],
        "wall_s": round(wall_s, 2),
        "cpu_s": round(statistics.median(run["first"]["cpu_s"] for run in rounds), 2),
        "mb_per_minute": round(60 * megabytes / wall_s, 1),
        "aim_mb_per_minute": AIM_MB_PER_MINUTE,
        "again_wall_s": round(statistics.median(run["again"]["wall_s"] for run in rounds), 2),
        "again_events": rounds[0]["again"]["events"],
        "peak_rss_mb": round(max(run["first"]["peak_rss_mb"] for run in rounds), 1),
        "rounds": len(rounds),
    }


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:20} {value}")


def invent(folder: Path, megabytes: float) -> list[Path]:
    """Transcripts of about 1 MB each, the same for every run."""
    folder.mkdir()
    dice = random.Random(20261121)
    files = []
    for number in range(max(1, round(megabytes))):
        file = folder / f"session-{number:03}.jsonl"
        with file.open("w") as stream:
            for line in session(dice, f"00000000-0000-4000-8000-{number:012}", min(megabytes, 1.0) * 1e6):
                stream.write(json.dumps(line) + "\n")
        files.append(file)
    return files


def session(dice: random.Random, name: str, size: float) -> Iterator[dict[str, Any]]:
    """Lines of one session until there are `size` bytes."""
    common = {
        "sessionId": name,
        "cwd": "/home/ada/shop",
        "gitBranch": "main",
        "version": "2.1.329",
        "isSidechain": False,
    }
    written, turn = 0, 0
    while written < size:
        turn += 1
        stamp = f"2026-{1 + turn // 28 % 12:02}-{1 + turn % 28:02}T{turn % 24:02}:00:00.000Z"
        for line in exchange(dice, turn):
            whole = {**common, "uuid": f"{name}-{written}", "timestamp": stamp, **line}
            written += len(json.dumps(whole)) + 1
            yield whole


def exchange(dice: random.Random, turn: int) -> Iterator[dict[str, Any]]:
    """A prompt, some calls with their results, a reply; and the lines the host keeps for itself."""
    path = f"/home/ada/shop/src/{dice.choice(['cart', 'tax', 'sync', 'login'])}_{dice.randrange(9)}.py"
    yield {"type": "user", "message": {"role": "user", "content": dice.choice(PROMPTS).format(path=path)}}
    for step in range(dice.randrange(2, 8)):
        yield from call(dice, f"toolu_{turn}_{step}", path)
    yield {"type": "attachment", "attachment": {"type": "prompt_snapshot", "systemPrompt": [prose(dice, 1500)]}}
    yield said(f"msg_{turn}", {"type": "text", "text": prose(dice, 120)})


def call(dice: random.Random, use: str, path: str) -> Iterator[dict[str, Any]]:
    kind = dice.choice(["Bash", "Bash", "Bash", "Read", "Edit", "fails"])
    if kind == "Edit":
        tool_input = {"file_path": path, "old_string": prose(dice, 60), "new_string": prose(dice, 60)}
        yield said(use, {"type": "tool_use", "id": use, "name": "Edit", "input": tool_input})
        yield result(use, "updated", {"filePath": path, "originalFile": prose(dice, 2500), "oldString": ""})
        return
    if kind == "Read":
        yield said(use, {"type": "tool_use", "id": use, "name": "Read", "input": {"file_path": path}})
        text = prose(dice, 900)
        yield result(use, text, {"type": "text", "file": {"filePath": path, "content": text}})
        return
    command = f"python -m pytest tests/test_{dice.randrange(9)}.py -q"
    yield said(use, {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": command}})
    output = "\n".join(prose(dice, 12) for _ in range(dice.randrange(5, 60)))
    if kind == "fails":
        yield result(use, f"Exit code 1\n{output}\nE   AssertionError: {dice.random():.3f} != 1", "Error", error=True)
    else:
        yield result(use, output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False})


def said(message: str, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": message, "role": "assistant", "content": [block]}}


def result(use: str, content: str, use_result: object, error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": use, "content": content, "is_error": error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": use_result}


def prose(dice: random.Random, words: int) -> str:
    """Sentences of about twelve words, together about `words`."""
    return " ".join(sentence(dice) for _ in range(max(1, words // 12)))


def sentence(dice: random.Random) -> str:
    nouns = dice.choices(WORDS, k=10)
    if dice.random() < 1 / 12:
        return dice.choice(TELLING).format(*nouns)
    return f"The {' '.join(nouns[:4])} {dice.choice(VERBS)} {' '.join(nouns[4:])}."


if __name__ == "__main__":
    main()
