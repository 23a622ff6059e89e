"""A scratch machine for one host: a home, a repository under git, and a scripted model."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal as signals
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.hosts_live.model import ScriptedModel
from tests.hosts_live.parcels import FILES, TURNS
from tests.hosts_live.programs import FOLDER, Program

PROMPT_LIMIT_S = 240
LEARN_LIMIT_S = 60
BACKGROUND_S = 10
OWN_FOLDER = ".holdfast"
BLOCK = re.compile(r"<holdfast-memory.*?</holdfast-memory>|&lt;holdfast-memory.*?&lt;/holdfast-memory&gt;", re.DOTALL)
TOOL = re.compile(r"\b(?:mcp__?holdfast__?|holdfast[-_]{1,2})(recall|remember|expand)\b")

RECORDER = """\
#!/bin/sh
# Keeps what a host sends to a hook, starts the launcher, and notes from when to when it ran.
if [ "$1" = --mcp ]; then exec /bin/sh {real} "$@"; fi
LAB_HOOK={folder}/$(date +%s%N)-$1-$$.json
export LAB_HOOK
cat > "$LAB_HOOK"
begun=$(date +%s%N)
/bin/sh {watched} "$@" < "$LAB_HOOK"
ended=$(date +%s%N)
printf '%s\\t%s\\t%s\\n' "$begun" "$ended" "$LAB_HOOK" >> {folder}/times
exit 0
"""
PYTHON = """\
#!/bin/sh
# Notes that the launcher started Python for this hook.
printf '%s\\n' "$LAB_HOOK" >> {folder}/pythons
exec {python} "$@"
"""


class Ran(NamedTuple):
    """How a program ended."""

    code: int
    output: str


class HookCall(NamedTuple):
    """A hook that a host ran."""

    event: str
    ms: float | None
    """None for one that the host did not let end."""
    in_python: bool
    """The launcher started Python, because no server answered in time."""


class Machine:
    """One host's scratch machine."""

    def __init__(self, root: Path, program: Program) -> None:
        self.program = program
        self.home, self.repository, self.payloads = root / "home", root / "work" / "parcels", root / "payloads"
        for folder in (self.home, self.payloads):
            folder.mkdir(parents=True)
        for name, text in FILES.items():
            file = self.repository / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.model = ScriptedModel(TURNS, str(self.repository))
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "Parcels")):
            self.git(*words)
        program.prepare(self)

    def close(self) -> None:
        """Stop the model, and what a host left running in the background of this home."""
        self.model.close()
        self.end_background()

    def end_background(self) -> None:
        """End what a host left running in the background of this home, as restarting it does, and wait for it."""
        for signal in (signals.SIGTERM, signals.SIGKILL):
            until = time.monotonic() + BACKGROUND_S
            while (running := list(self._background())) and time.monotonic() < until:
                for pid in running:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal)
                time.sleep(0.2)

    def _background(self) -> Iterator[int]:
        """The processes of this home."""
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if f"HOME={self.home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)

    def environment(self) -> dict[str, str]:
        """What every program of this machine inherits."""
        folders = (str(Path(sys.executable).parent), os.environ.get(FOLDER, ""), os.environ.get("PATH", ""))
        person = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER")
                  for field, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))}  # fmt: skip
        return {
            "HOME": str(self.home), "PATH": os.pathsep.join(filter(None, folders)), "LANG": "C.UTF-8", "USER": "ada",
            "TERM": "xterm-256color", "SHELL": "/bin/bash", **person,
            "HOLDFAST_HOLDOUT": "0",  # a delivery that is withheld to measure its worth says nothing of the host
        }  # fmt: skip

    def write(self, name: str, text: str) -> None:
        """A file of the home."""
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def git(self, *words: str) -> None:
        """Run git in the repository."""
        subprocess.run(["git", *words], cwd=self.repository, env=self.environment(), check=True, capture_output=True)

    def run(self, words: list[str], environment: dict[str, str] | None = None) -> Ran:
        """Run a program in the repository."""
        try:
            ran = subprocess.run(
                words, cwd=self.repository, env={**self.environment(), **(environment or {})}, input="",
                capture_output=True, text=True, timeout=PROMPT_LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Ran(-1, "(did not end)")
        return Ran(ran.returncode, ran.stdout + ran.stderr)

    def holdfast(self, *words: str) -> Ran:
        """Run our own command."""
        return self.run([sys.executable, "-m", "holdfast", *words])

    def ask(self, prompt: str, resumed: bool = False) -> list[dict[str, Any]]:
        """Give the host one prompt; the requests it sent to the model."""
        begun = len(self.model.requests)
        words = [str(self.program.path()), *self.program.words(self, prompt, resumed)]
        self.run(words, self.program.environment(self))
        return self.model.requests[begun:]

    def record_hooks(self) -> None:
        """From here on keep what the host sends to hooks, how long they take, and whether they start Python."""
        launcher = self.home / OWN_FOLDER / "bin" / "holdfast-launch"
        real, watched = launcher.with_name("real-launch"), launcher.with_name("watched-launch")
        launcher.rename(real)
        text = real.read_text(encoding="utf-8")
        [python] = re.findall(r"(?m)^python=(.*)$", text)
        shim = launcher.with_name("python3")
        _write_program(watched, text.replace(f"python={python}", f"python={shim}"))
        _write_program(shim, PYTHON.format(folder=self.payloads, python=python))
        _write_program(launcher, RECORDER.format(real=real, watched=watched, folder=self.payloads))

    def stop_recording(self) -> None:
        """Put the launcher back."""
        launcher = self.home / OWN_FOLDER / "bin" / "holdfast-launch"
        launcher.with_name("real-launch").replace(launcher)
        for name in ("watched-launch", "python3"):
            launcher.with_name(name).unlink()

    def recorded(self) -> list[dict[str, Any]]:
        """The payloads, in their order."""
        texts = (file.read_text(encoding="utf-8") for file in sorted(self.payloads.glob("*.json")))
        return [json.loads(text) for text in texts if text.strip()]

    def hook_calls(self) -> list[HookCall]:
        """The hooks that were recorded, in their order."""
        ended, pythons = self.payloads / "times", self.payloads / "pythons"
        lines = ended.read_text("utf-8").splitlines() if ended.exists() else []
        spans = {file: (int(end) - int(begin)) / 1e6 for begin, end, file in (line.split("\t") for line in lines)}
        started = set(pythons.read_text("utf-8").splitlines()) if pythons.exists() else set()
        return [
            HookCall(_event(file), spans.get(str(file)), str(file) in started)
            for file in sorted(self.payloads.glob("*.json"))
        ]

    def events(self) -> list[dict[str, Any]]:
        """What was kept, in its order."""
        return self._rows("SELECT doc FROM events")

    def lessons(self) -> list[dict[str, Any]]:
        """The lessons of the project in any state."""
        ran = self.holdfast("list", "--state", "all", "--json")
        return list(json.loads(ran.output)["lessons"]) if ran.code == 0 else []

    def delivered(self, moment: str, trigger: str) -> list[dict[str, Any]]:
        """What was handed over at that moment for that trigger."""
        deliveries = json.loads(self.holdfast("log", "--json").output.splitlines()[0])["deliveries"]
        return [entry for entry in deliveries if entry["moment"] == moment and entry["trigger"].startswith(trigger)]

    def wait_until_learnt(self) -> list[dict[str, Any]]:
        """The lessons, when there are some and their number has not changed for some seconds."""
        end = time.monotonic() + LEARN_LIMIT_S
        count, same = -1, 0
        while time.monotonic() < end and same < 3:
            lessons = self.lessons()
            same = same + 1 if lessons and len(lessons) == count else 0  # on a busy machine a learner begins late
            count = len(lessons)
            time.sleep(1)
        return self.lessons()

    def files(self) -> dict[str, str]:
        """A digest of each file of the home that is not our own."""
        digests = {}
        for file in self.home.rglob("*"):
            name = file.relative_to(self.home).as_posix()
            if file.is_file() and not name.startswith(OWN_FOLDER):
                digests[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        return digests

    def _rows(self, statement: str) -> list[dict[str, Any]]:
        file = self.home / OWN_FOLDER / "memory.db"
        if not file.exists():
            return []
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as sql:
            rows = [json.loads(row[0]) for row in sql.execute(statement)]
        sql.close()
        return rows


def _write_program(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def _event(payload: Path) -> str:
    """The host's name for the moment of a payload."""
    text = payload.read_text(encoding="utf-8")
    about = json.loads(text) if text.strip() else {}
    return str(about.get("hook_event_name") or about.get("hookName") or about.get("event") or "hook")


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def handed_over(requests: list[dict[str, Any]]) -> str:
    """What the model was told of ours, each block once."""
    blocks = (block for request in requests for text in strings(request["body"]) for block in BLOCK.findall(text))
    return "\n".join(dict.fromkeys(blocks))


def offers_recall(requests: list[dict[str, Any]]) -> bool:
    """Whether the model saw our `recall` among its tools, also behind a search for tools."""
    return any(text == "recall" or TOOL.search(text) for request in requests for text in strings(request["body"]))
