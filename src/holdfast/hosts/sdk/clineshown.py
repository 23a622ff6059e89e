"""Reads what Cline showed of a task, `ui_messages.json`, if the conversation itself is missing beside it.

It is a list of messages with `ts`, `type` (say or ask) and the text. A tool's message is JSON. A command is followed by
its output; only the output can show how it ended. A call that the user answered in words may have been refused, so it
is left out.

Sources: the public repository cline/cline, src/shared/ExtensionMessage.ts; 2026-11-22.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.clinetasks import WORKING_FOLDER, error_of, folder_of
from holdfast.hosts.sdk.files import instant, parse_object, read_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay

SHOWN = "ui_messages.json"
PROMPTS = ("task", "user_feedback")
REPLIES = ("text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond")
TOOLS = {
    "editedExistingFile": "replace_in_file", "newFileCreated": "write_to_file", "readFile": "read_file",
    "listFilesTopLevel": "list_files", "listFilesRecursive": "list_files", "searchFiles": "search_files",
}  # fmt: skip
"""Names of tools as shown, and the names by which the agent calls them."""


def read_shown(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of a task as it was shown. Raises OSError, or HostConfigError for a huge file."""
    content = read_json(path)
    messages = [fields_of(message) for message in content] if isinstance(content, list) else []
    messages = [message for message in messages if message.get("partial") is not True]
    folder = os.path.dirname(path)
    task = _Task(TranscriptReplay(host, os.path.basename(folder) or path, new_id))
    task.telling.stand(at=instant(os.path.basename(folder)) or written_at(path), cwd=folder_of(folder))
    for at, message in enumerate(messages):
        yield from task.message(message, messages[at + 1 :])


class _Task:
    """Reads a task's messages; remembers what later messages need."""

    def __init__(self, telling: TranscriptReplay) -> None:
        self.telling = telling
        self._begun = False
        self._calls = 0

    def message(self, message: Mapping[str, Any], later: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        """Yield the events of a message; for a command also from the output that follows."""
        kind, text = _kind(message), text_of(message.get("text"))
        self.telling.stand(at=instant(message.get("ts")), model=_model(message))
        if kind == "api_req_started":
            folder = WORKING_FOLDER.search(text_of(parse_object(text).get("request")))
            self.telling.stand(cwd=folder[1] if folder and not self.telling.cwd else "")
        elif kind in PROMPTS or (kind == "text" and not self._begun):  # older versions show the task as a text
            self._begun = True
            yield from self.telling.prompt(text)
        elif kind in REPLIES:
            yield from self.telling.reply(_spoken(text))
        elif kind in ("tool", "command") and not _is_doubtful(message, later):
            yield from self._call(kind, text, later)

    def _call(self, kind: str, text: str, later: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
        self._calls += 1
        use = f"shown-{self._calls}"
        if kind == "command":
            output = _output(later)
            error = error_of(output)
            response = {"stdout": output, **UNANSWERED}
            yield from self.telling.call("execute_command", {"command": text}, response, use, error)
            return
        shown = parse_object(text)
        tool = TOOLS.get(text_of(shown.get("tool")), "")
        if tool:
            content = text_of(shown.get("content"))
            arguments = {"path": text_of(shown.get("path")), "pattern": text_of(shown.get("regex"))}
            if tool == "write_to_file":
                arguments["content"] = content
            elif tool == "replace_in_file":
                arguments["diff"] = text_of(shown.get("diff")) or content
            yield from self.telling.call(tool, arguments, {"content": content}, use)


def _kind(message: Mapping[str, Any]) -> str:
    """Return what kind of message was said or asked."""
    return text_of(message.get("say")) or text_of(message.get("ask"))


def _model(message: Mapping[str, Any]) -> str:
    return text_of(fields_of(message.get("modelInfo")).get("modelId"))


def _spoken(text: str) -> str:
    """Return the agent's words; a question or a plan is inside an object."""
    fields = parse_object(text)
    return text_of(fields.get("question")) or text_of(fields.get("response")) or text


def _is_doubtful(message: Mapping[str, Any], later: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the call needed an answer and the user answered in words."""
    return message.get("type") == "ask" and bool(later) and _kind(later[0]) == "user_feedback"


def _output(later: Sequence[Mapping[str, Any]]) -> str:
    """Return the output that follows a command."""
    lines: list[str] = []
    for message in later:
        if _kind(message) != "command_output":
            break
        lines.append(text_of(message.get("text")))
    return "\n".join(lines)
