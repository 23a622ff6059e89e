"""Play a story: run its commands, make its edits, and report them as Claude Code would.

Every step yields the hook payloads that the host would send, and writes the transcript lines that the host would
write. Exit codes and outputs come from real runs of the commands. Only the words of the person and of the model come
from the story.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

LIBRARY = os.path.dirname(os.__file__)
"""The folder of this machine's standard library, which is replaced in tracebacks."""

Payload = dict[str, Any]
Step = dict[str, Any]


class Player:
    """One session of a story in one folder. `transcript` and the file grow as the steps are played."""

    def __init__(self, session: str, folder: str, file: str = "", started: datetime | None = None) -> None:
        self.session = session
        self.folder = folder
        self.transcript: list[Payload] = []
        self._file = file
        self._at = started
        self._tools = 0

    def start(self, source: str = "startup") -> Iterator[Payload]:
        """Begin the session."""
        yield self._hook("SessionStart", source=source)

    def play(self, steps: list[Step]) -> Iterator[Payload]:
        """Yield the hooks of all steps, in order."""
        for step in steps:
            yield from self.step(step)

    def step(self, step: Step) -> Iterator[Payload]:
        """Yield the hooks of one step: a prompt, words in a turn, a final reply, a read, an edit or a command."""
        if "prompt" in step:
            self._line("user", content=step["prompt"])
            yield self._hook("UserPromptSubmit", prompt=step["prompt"])
        elif "says" in step:  # no hook reports it
            self._line("assistant", content=[{"type": "text", "text": step["says"]}])
        elif "reply" in step:
            self._line("assistant", content=[{"type": "text", "text": step["reply"]}])
            yield self._hook("Stop", stop_hook_active=False, last_assistant_message=step["reply"])
        elif "read" in step:
            yield from self._read(step["read"])
        elif "edit" in step:
            yield from self._edit(step)
        else:
            yield from self._bash(step["bash"])

    def end(self, reason: str = "prompt_input_exit") -> Iterator[Payload]:
        """End the session."""
        yield self._hook("SessionEnd", reason=reason)

    def _read(self, name: str) -> Iterator[Payload]:
        path = os.path.join(self.folder, name)
        yield (use := self._use("Read", {"file_path": path}))
        with open(path, encoding="utf-8") as stream:
            content = stream.read()
        yield self._used(use, {"type": "text", "file": {"filePath": path, "content": content}}, content)

    def _edit(self, step: Step) -> Iterator[Payload]:
        path = os.path.join(self.folder, step["edit"])
        change = {"file_path": path, "old_string": step["old"], "new_string": step["new"]}
        yield (use := self._use("Edit", change))
        with open(path, encoding="utf-8") as stream:
            before = stream.read()
        if before.count(step["old"]) != 1:
            raise ValueError(f"{path} does not hold the text to replace exactly once")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(before.replace(step["old"], step["new"]))
        answer = {"filePath": path, "oldString": step["old"], "newString": step["new"], "replaceAll": False}
        yield self._used(use, answer, f"The file {path} has been updated.")

    def _bash(self, command: str) -> Iterator[Payload]:
        yield (use := self._use("Bash", {"command": command}))
        ran = subprocess.run(
            command.replace("python ", f"{shlex.quote(sys.executable)} ", 1),
            shell=True, cwd=self.folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        output = (ran.stdout + ran.stderr).replace(self.folder, ".").replace(LIBRARY, "/usr/lib/python3").strip()
        if ran.returncode == 0:
            yield self._used(use, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}, output)
        else:
            yield self._failed(use, f"Exit code {ran.returncode}\n{output}")

    def _use(self, tool: str, arguments: Payload) -> Payload:
        self._tools += 1
        use = {"tool_name": tool, "tool_input": arguments, "tool_use_id": f"toolu_{self.session[:8]}_{self._tools:03d}"}
        block = {"type": "tool_use", "id": use["tool_use_id"], "name": tool, "input": arguments}
        self._line("assistant", content=[block])
        return self._hook("PreToolUse", **use)

    def _used(self, use: Payload, response: Payload, shown: str) -> Payload:
        self._result(use, shown, response, error=False)
        return self._hook("PostToolUse", **_tool(use), tool_response=response, duration_ms=40)

    def _failed(self, use: Payload, error: str) -> Payload:
        self._result(use, error, f"Error: {error}", error=True)
        return self._hook("PostToolUseFailure", **_tool(use), error=error, is_interrupt=False)

    def _result(self, use: Payload, shown: str, response: Payload | str, *, error: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": use["tool_use_id"], "content": shown, "is_error": error}
        self._line("user", content=[block], toolUseResult=response)

    def _hook(self, name: str, **more: Any) -> Payload:
        called = {"session_id": self.session, "transcript_path": self._file, "cwd": self.folder}
        return called | {"hook_event_name": name} | more

    def _line(self, role: str, *, content: Any, **more: Any) -> None:
        at = datetime.now(UTC)
        if self._at is not None:
            at = self._at = self._at + timedelta(seconds=7)
        number = len(self.transcript) + 1
        self.transcript.append(
            {
                "parentUuid": self.transcript[-1]["uuid"] if self.transcript else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.329",
                "gitBranch": "main",
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": f"00000000-0000-4000-8000-{number:012d}",
                "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            }
            | more
        )
        if self._file:
            with open(self._file, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(self.transcript[-1]) + "\n")


def _tool(use: Payload) -> Payload:
    return {key: use[key] for key in ("tool_name", "tool_input", "tool_use_id")}


def load_story(folder: str) -> Payload:
    """Return the story beside an example repository."""
    with open(os.path.join(folder, "story.json"), encoding="utf-8") as stream:
        story: Payload = json.load(stream)
    return story
