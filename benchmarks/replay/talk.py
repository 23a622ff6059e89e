"""Sessions that a benchmark writes itself: what is said and done goes through the shipped hooks and a transcript."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.replay.shipped import Shipped

BEGAN_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
NAMED = re.compile(r"(?:\[|^(?:- )?)([0-9a-f]{4,32})(?=[\] :])")
"""How a delivered line names a lesson: the end of its id, first in brackets or in the line."""


@dataclass(frozen=True)
class Handed:
    """What a hook handed to the model: the text, and the lessons of each of its lines, as the product logged them."""

    text: str = ""
    lines: list[list[str]] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The lessons that were told, in order."""
        return [lesson for line in self.lines for lesson in line]


class Talk:
    """One session after another in the folder of a product; each begins some hours after the one before."""

    def __init__(self, shipped: Shipped, scratch: Path, hours: float = 6) -> None:
        self._shipped = shipped
        self._scratch = scratch
        self._hours = hours
        self._session = ""
        self._at = BEGAN_AT
        self._calls = 0
        self._lines = 0

    def begin(self, session: str) -> Handed:
        """Start a session; what it is told at once."""
        self._session, self._lines = session, 0
        self._at += timedelta(hours=self._hours)
        self._file.write_text("", "utf-8")
        return self._fire("SessionStart", source="startup")

    def say(self, text: str) -> Handed:
        """The user's prompt."""
        handed = self._fire("UserPromptSubmit", prompt=text)
        self._write("user", text)
        return handed

    def reply(self, text: str, *, ends_turn: bool = True) -> Handed:
        """The agent's words; with the last ones its turn ends."""
        self._write("assistant", [{"type": "text", "text": text}])
        if not ends_turn:
            return Handed()
        return self._fire("Stop", stop_hook_active=False, last_assistant_message=text)

    def call(self, tool: str, tool_input: Mapping[str, Any], output: str = "", *, fails: bool = False) -> list[Handed]:
        """A call of the agent: what it is told before it and after it."""
        self._calls += 1
        used = f"toolu_{self._calls}"
        self._write("assistant", [{"type": "tool_use", "id": used, "name": tool, "input": dict(tool_input)}])
        fields = {"tool_name": tool, "tool_input": dict(tool_input), "tool_use_id": used}
        before = self._fire("PreToolUse", **fields)
        result = {"type": "tool_result", "tool_use_id": used, "content": output, "is_error": fails}
        self._write("user", [result])
        if fails:
            return [before, self._fire("PostToolUseFailure", error=output, is_interrupt=False, **fields)]
        return [before, self._fire("PostToolUse", tool_response={"stdout": output, "stderr": ""}, **fields)]

    def end(self) -> None:
        """End the session and let the learner work."""
        self._fire("SessionEnd", reason="other")
        self._shipped.learn(self._session, str(self._file))
        self._shipped.prepare_brief()

    @property
    def _file(self) -> Path:
        return self._scratch / f"{self._session}.jsonl"

    def _write(self, role: str, content: Any) -> None:
        self._lines += 1
        row = {
            "type": role, "uuid": f"{self._session}-{self._lines}", "sessionId": self._session,
            "cwd": self._shipped.folder, "timestamp": self._at.isoformat().replace("+00:00", "Z"),
            "message": {"role": role, "content": content},
        }  # fmt: skip
        with self._file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")

    def _fire(self, name: str, **fields: Any) -> Handed:
        self._at += timedelta(seconds=20)
        self._shipped.clock.move_to(self._at)
        since = self._shipped.clock.now()
        payload = {
            "session_id": self._session, "transcript_path": str(self._file), "cwd": self._shipped.folder,
            "hook_event_name": name, "permission_mode": "default", **fields,
        }  # fmt: skip
        text = self._shipped.answer(payload)
        return Handed(text, self._shipped.lines_told(self._session, since)) if text else Handed()


def make_project(folder: Path, files: Mapping[str, str]) -> None:
    """A repository with those files, on its main branch."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@team.example"]
    commands = [["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "Begin", "--allow-empty"]]
    for command in [*commands, ["config", "user.name", "Ada"], ["config", "user.email", "ada@team.example"]]:
        subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)


def words_told(text: str, ids: Iterable[str]) -> list[tuple[str, str]]:
    """The lessons that a delivered text names, each with its words, in order.

    A line that names none of `ids` and is indented belongs to the lesson before it.
    """
    known = list(dict.fromkeys(ids))
    rows: list[tuple[str, str]] = []
    is_open = False
    for line in text.splitlines():
        ends = [match.group(1) for match in NAMED.finditer(line)]
        lesson = next((id_ for end in ends for id_ in known if id_.replace("-", "").endswith(end)), None)
        if lesson is not None:
            rows.append((lesson, line))
        elif is_open and line[:1].isspace():
            rows[-1] = (rows[-1][0], f"{rows[-1][1]}\n{line}")
            continue
        is_open = lesson is not None
    return rows
