"""Turns Codex's rollouts into events: `sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions`.

A line is `{timestamp, type, payload}`; older files have the payload of `response_item` without it. Words and calls are
in `response_item`; calls of a script are only in `event_msg`. Compressed rollouts (`.zst`) are read if Python can
(3.14, or the package `zstandard`). Sources: rollouts of codex 0.120 to 0.147 in public repositories, codex-cli 0.169.0
run; 2026-11-21.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, instant, oldest_first, parse_line, unpacked_lines
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, as_it_is, failure
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.lean.texts import loads

SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
OWN_TEXT = "hooks.additional_context"
PATCH_HEAD = "*** Begin Patch"
SCRIPTED = re.compile(r'\bcmd"?\s*:\s*("(?:[^"\\\n]|\\.)*")')
"""A command in a script that calls tools: `tools.exec_command({cmd: "..."})`. Its outcome is not reported."""
RUNNING = "Process running with session ID "


def find(root: str) -> list[str]:
    """Return rollouts, live and archived."""
    folders = (os.path.join(root, name) for name in ("sessions", "archived_sessions"))
    return oldest_first(path for folder in folders for path in find_files(folder, (".jsonl", ".jsonl.zst")))


def parse(host: Adapter, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a rollout's lines. Raises HostConfigError for a compressed one that this Python cannot unpack."""
    path = getattr(lines, "path", "")
    if path.endswith(".zst"):
        lines = unpacked_lines(path)
    reading = _Rollout(TranscriptReplay(host, session.rpartition("rollout-")[2], new_id, as_it_is))
    for line in lines:
        yield from reading.line(parse_line(line))


class _Rollout:
    """Reads a rollout's lines; keeps what later lines need."""

    def __init__(self, telling: TranscriptReplay) -> None:
        self.telling = telling
        self.silent = False
        """A sub-agent's rollout: its results came back to the session that started it."""
        self.calls: set[str] = set()
        """Calls that `response_item` lines reported, so that `event_msg` lines for them are skipped."""
        self.running: dict[str, str] = {}
        """The command of each shell that runs on in the background."""

    def line(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events that this line completes."""
        kind, payload = text_of(entry.get("type")), fields_of(entry.get("payload"))
        self.telling.stand(at=instant(entry.get("timestamp")))
        if kind in ("session_meta", "turn_context"):
            self._meta(payload)
        elif self.silent:
            return
        elif kind == "event_msg":
            yield from self._message(payload)
        elif kind == "compacted":
            yield from self.telling.compacted(text_of(payload.get("message")))
        elif kind == "response_item" or (kind and not payload):
            yield from self._item(payload or entry)
        elif not kind and "id" in entry:
            self._meta(entry)  # the first line of the oldest form

    def _meta(self, payload: Mapping[str, Any]) -> None:
        self.silent = self.silent or "subagent" in fields_of(payload.get("source"))
        self.telling.stand(
            session=text_of(payload.get("id")), cwd=text_of(payload.get("cwd")), model=text_of(payload.get("model")),
            branch=text_of(fields_of(payload.get("git")).get("branch")),
        )  # fmt: skip

    def _item(self, item: Mapping[str, Any]) -> Iterator[Event]:
        kind, use = text_of(item.get("type")), text_of(item.get("call_id")) or text_of(item.get("id"))
        if kind == "message":
            yield from self._said(item)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self.calls.add(use)
            self.telling.open(use, *self._called(item))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._answered(use, item.get("output"))

    def _said(self, item: Mapping[str, Any]) -> Iterator[Event]:
        blocks = item.get("content")
        kinds = item.get("content_item_kinds")
        texts = [text_of(fields_of(block).get("text")) for block in blocks] if isinstance(blocks, list) else []
        if isinstance(kinds, list):
            texts = [text for text, kind in zip(texts, kinds, strict=False) if kind != OWN_TEXT]
        if item.get("role") == "assistant":
            yield from self.telling.reply("\n".join(texts))
        elif item.get("role") == "user":
            for text in texts:
                if "<cwd>" in text and not self.telling.cwd:
                    self.telling.stand(cwd=text.partition("<cwd>")[2].partition("</cwd>")[0])
                yield from self.telling.prompt(text)

    def _called(self, item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the call by Claude Code's names."""
        name = text_of(item.get("name")) or "local_shell"
        arguments = _arguments(item)
        if name == PATCH_TOOL:
            return PATCH_TOOL, {"patch": text_of(item.get("input")) or text_of(arguments.get("input"))}
        if name == "write_stdin":
            return "Bash", {"command": self.running.get(str(arguments.get("session_id")), ""), "follows": True}
        if name == "exec" and (commands := SCRIPTED.findall(text_of(arguments.get("input")))):
            return "Bash", {"command": "\n".join(text_of(_json(command)) for command in commands)}
        if name not in SHELLS:
            server = text_of(item.get("namespace"))  # set for an MCP tool, whose name comes without its server
            return (f"{server}__{name}" if server else name), arguments
        command = _command(arguments)
        if PATCH_HEAD in command:
            return PATCH_TOOL, {"patch": command[command.find(PATCH_HEAD) :]}
        return "Bash", {"command": command}

    def _answered(self, use: str, output: object) -> Iterator[Event]:
        tool, arguments = self.telling.opened(use)
        code, text = _outcome(output)
        if tool == "Bash" and RUNNING in text:
            shell = text.partition(RUNNING)[2].partition("\n")[0].strip()
            self.running[shell] = text_of(arguments.get("command"))
            if not arguments.get("follows"):
                yield from self.telling.close(use, UNANSWERED)
            return
        failed = "Failed to find expected lines" in text or text.startswith("apply_patch verification failed")
        error = failure(code, text) or (text if tool == PATCH_TOOL and failed else "")
        response = {"stdout": text, "content": text, **({} if code is not None or tool != "Bash" else UNANSWERED)}
        yield from self.telling.close(use, response, error)

    def _message(self, payload: Mapping[str, Any]) -> Iterator[Event]:
        """Yield edits and commands that a script made, which no call reported."""
        item = fields_of(payload.get("item")) or payload
        use = text_of(item.get("call_id")) or text_of(item.get("id"))
        kind = text_of(item.get("type"))
        if use in self.calls:
            return
        if kind in ("patch_apply_end", "FileChange") and item.get("success") is not False:
            yield from self._changed(use, fields_of(item.get("changes")))
        elif kind in ("exec_command_end", "CommandExecution"):
            code, output = item.get("exit_code"), text_of(item.get("aggregated_output"))
            response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
            yield from self.telling.call("Bash", {"command": _command(item)}, response, use, failure(code, output))

    def _changed(self, use: str, changes: Mapping[str, Any]) -> Iterator[Event]:
        for number, (path, change) in enumerate(changes.items()):
            arguments = {"file_path": path, **_texts(fields_of(change))}
            yield from self.telling.call("Edit", arguments, {}, use if number == 0 else f"{use}.{number}")


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    if "action" in item:
        return fields_of(item["action"])
    try:
        return fields_of(loads(text_of(item.get("arguments"))))
    except (InvalidValueError, RecursionError):
        return {"input": text_of(item.get("input"))}


def _command(arguments: Mapping[str, Any]) -> str:
    """Return the command as a person would type it: the argument of `bash -lc "..."`."""
    command = arguments.get("cmd") or arguments.get("command")
    if isinstance(command, list):
        words = [text_of(word) for word in command]
        return words[2] if len(words) == 3 and words[1] in ("-lc", "-c", "-Command", "/c") else " ".join(words)
    return text_of(command)


def _outcome(output: object) -> tuple[int | None, str]:
    """Return the exit code, if reported, and the output without the lines about it."""
    text = response_text(output) if isinstance(output, list) else text_of(output)
    if text.startswith("{"):
        fields = fields_of(_json(text))
        if "metadata" in fields:
            code = fields_of(fields["metadata"]).get("exit_code")
            return (code if isinstance(code, int) else None), text_of(fields.get("output"))
    head, mark, rest = text.partition("\nOutput:\n")
    for line in (head if mark else text[:400]).split("\n"):
        name = next((name for name in ("Process exited with code ", "Exit code: ") if line.startswith(name)), "")
        if name and line.removeprefix(name).strip().lstrip("-").isdecimal():
            return int(line.removeprefix(name)), rest if mark else text
    return None, text if RUNNING in head or not mark else rest


def _json(text: str) -> Any:
    try:
        return loads(text)
    except (InvalidValueError, RecursionError):
        return None


def _texts(change: Mapping[str, Any]) -> dict[str, str]:
    """Return what a file lost and gained."""
    diff = text_of(change.get("unified_diff"))
    if not diff:
        gone = change.get("type") == "delete"
        return {"old_string" if gone else "new_string": text_of(change.get("content"))}
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++", "@@"))]
    return {
        "old_string": "\n".join(line[1:] for line in lines if line.startswith("-")),
        "new_string": "\n".join(line[1:] for line in lines if line.startswith("+")),
    }
