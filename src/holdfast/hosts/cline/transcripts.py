"""Turns Cline's sessions (`~/.cline/data/sessions`) and the tasks of Cline's older versions and its forks into events.

A task is `tasks/<id>/api_conversation_history.json` and the files beside it. Its messages are Anthropic's. Older
versions call tools in XML inside the agent's text, and answer in the user's place with `[tool for '...'] Result:`.
Times are in the messages (Roo) or in `ui_messages.json` (Cline). The folder is in `history_item.json` or in the
environment's details, which come with every user message.

If the conversation is missing, what Cline showed of the task, `ui_messages.json`, is read: a list of messages with
`ts`, `type` (say or ask) and the text. A tool's message is JSON. A command is followed by its output; only the output
can show how it ended. A call that the user answered in words may have been refused, so it is left out.

Sources: Cline CLI 3.0.65 run; the public repository cline/cline, src/shared/ExtensionMessage.ts; 2026-11-22.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import (
    find_files,
    instant,
    oldest_first,
    parse_object,
    read_json,
    settings_folder,
    try_json,
    written_at,
)
from holdfast.hosts.sdk.payloads import fields_of, shorten, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, Translate, blocks_of, failure, tell_message
from holdfast.hosts.sdk.toolcalls import exited, response_text

MESSAGES = ".messages.json"
EXITED = "[Command exited with code "
HISTORY = "api_conversation_history.json"
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""Editors in which the extensions run, by their settings folders."""

CALLS = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
    "search_and_replace", "search_files", "list_files", "list_code_definition_names", "use_mcp_tool",
)  # fmt: skip
ENDINGS = ("attempt_completion", "ask_followup_question", "plan_mode_respond")
"""Calls by which the agent speaks to the user."""

EDITS = frozenset({"write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace"})
SPOKEN = {"attempt_completion": "result", "ask_followup_question": "question", "plan_mode_respond": "response"}
CALL = re.compile(rf"<({'|'.join((*CALLS, *ENDINGS))})>(.*?)</\1>", re.DOTALL)
ARGUMENT = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
RESULT = re.compile(r"^\[(\w+)[^\n]*\] Result:\s*", re.DOTALL)
WORKING_FOLDER = re.compile(r"# Current Work(?:ing|space) Directory \((.+?)\) Files")
CODE = re.compile(r"(?:Exit code: ?|exit code )(\d{1,5})\b")
USERS_WORDS = re.compile(r"<(feedback|answer|user_message)>(.*?)</\1>", re.DOTALL)
TEXT_LIMIT = 200_000
"""Characters of a message that is searched for calls: the search looks from each beginning for an end."""
THINKING = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)

SHOWN = "ui_messages.json"
PROMPTS = ("task", "user_feedback")
REPLIES = ("text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond")
TOOLS = {
    "editedExistingFile": "replace_in_file", "newFileCreated": "write_to_file", "readFile": "read_file",
    "listFilesTopLevel": "list_files", "listFilesRecursive": "list_files", "searchFiles": "search_files",
}  # fmt: skip
"""Names of tools as shown, and the names by which the agent calls them."""


def find(home: str) -> list[str]:
    """Return sessions and tasks."""
    own = os.path.join(home, ".cline", "data")
    folders = [os.path.join(own, "tasks"), *task_folders(home, "saoudrizwan.claude-dev")]
    tasks = [path for folder in folders for path in find_files(folder, (f"/{HISTORY}",))]
    known = {os.path.dirname(path) for path in tasks}
    shown = (path for folder in folders for path in find_files(folder, (f"/{SHOWN}",)))
    tasks += (path for path in shown if os.path.dirname(path) not in known)
    return oldest_first([*find_files(os.path.join(own, "sessions"), (MESSAGES,)), *tasks])


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a session or a task. Raises OSError, or HostConfigError for a huge file."""
    if os.path.basename(path) == SHOWN:
        history = os.path.join(os.path.dirname(path), HISTORY)
        yield from read_task(host, history, new_id) if os.path.isfile(history) else read_shown(host, path, new_id)
        return
    if not path.endswith(MESSAGES):
        yield from read_task(host, path, new_id)
        return
    history_fields = fields_of(read_json(path))
    about = try_json(path.removesuffix(MESSAGES) + ".json")
    session = text_of(about.get("session_id")) or os.path.basename(path).removesuffix(MESSAGES)
    telling = TranscriptReplay(host, session, new_id)
    telling.stand(
        at=instant(about.get("started_at")) or written_at(path), model=text_of(about.get("model")),
        cwd=text_of(about.get("workspace_root")) or text_of(about.get("cwd")),
    )  # fmt: skip
    messages = history_fields.get("messages")
    for message in map(fields_of, messages if isinstance(messages, list) else ()):
        telling.stand(at=instant(message.get("ts")))
        yield from tell_message(
            telling, message.get("role"), [_with_outcome(b) for b in blocks_of(message.get("content"))]
        )
    yield from telling.close_all()


def outcome(response: object) -> tuple[str, bool]:
    """Return a tool's text and whether it failed.

    Built-in tools return `{query, result, error, success}`, some a list of it, one for each command or file; a
    command's exit code precedes its output. MCP tools return `content` and `isError`. Hooks get it in the field
    `output`.
    """
    about = fields_of(response)
    answer = about.get("output", response)
    parts = [fields_of(part) for part in answer] if isinstance(answer, list) else [fields_of(answer)]
    if not any("success" in part for part in parts):
        return response_text(answer), any(part.get("isError") is True for part in parts)
    failed = any(part.get("success") is False for part in parts)
    text = "\n".join(filter(None, (text_of(part.get("result")) or text_of(part.get("error")) for part in parts)))
    head, _, output = text.partition("]\n")
    code = head.removeprefix(EXITED)
    if head == code:
        return text.removeprefix("\n[stderr]\n"), failed
    output = output.removeprefix("\n[stderr]\n")
    return exited(code, output) or output, failed


def _with_outcome(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result block in Anthropic's shape: its text, and whether it is a failure."""
    if block.get("type") != "tool_result":
        return block
    text, failed = outcome(block.get("content"))
    return {**block, "content": text, "is_error": failed or block.get("is_error") is True}


def task_folders(home: str, *extensions: str) -> list[str]:
    """Return the folders in which the extensions may have tasks, for every editor."""
    root = settings_folder(home)
    return [
        os.path.join(root, editor, "User", "globalStorage", extension, "tasks")
        for editor in EDITORS
        for extension in extensions
    ]


def read_task(
    host: Adapter, path: str, new_id: Callable[[], str], translate: Translate | None = None
) -> Iterator[Event]:
    """Yield the events of a task. Raises OSError, or HostConfigError for a huge file."""
    messages = read_json(path)
    folder = os.path.dirname(path)
    task = _Task(TranscriptReplay(host, os.path.basename(folder), new_id, translate), _times(folder))
    task.telling.stand(at=instant(os.path.basename(folder)) or written_at(path), cwd=folder_of(folder))
    for message in messages if isinstance(messages, list) else ():
        yield from task.message(fields_of(message))


class _Task:
    """Reads a task's messages; remembers what later messages need."""

    def __init__(self, telling: TranscriptReplay, times: Sequence[datetime]) -> None:
        self.telling = telling
        self._times = iter(times)
        self._pending: list[tuple[str, dict[str, str]]] = []

    def message(self, message: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events that this message completes."""
        role, blocks = message.get("role"), blocks_of(message.get("content"))
        at = instant(message.get("ts")) or (next(self._times, None) if role == "assistant" else None)
        self.telling.stand(at=at, model=text_of(fields_of(message.get("modelInfo")).get("modelId")))
        if role == "assistant":
            yield from self._assistant(blocks)
        elif role == "user":
            yield from self._user(blocks)

    def _assistant(self, blocks: list[Mapping[str, Any]]) -> Iterator[Event]:
        spoken_text = "\n".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")
        text = THINKING.sub("", shorten(spoken_text, TEXT_LIMIT))
        calls = [(name, dict(ARGUMENT.findall(inside))) for name, inside in CALL.findall(text)]
        self._pending += [call for call in calls if call[0] in CALLS]
        spoken = [arguments.get(SPOKEN[name], "") for name, arguments in calls if name in SPOKEN]
        spoken += [_spoken(block) for block in blocks if _speaks(block)]
        yield from self.telling.reply("\n".join(filter(None, (CALL.sub("", text).strip(), *spoken))))
        tools = [block for block in blocks if block.get("type") == "tool_use" and not _speaks(block)]
        yield from tell_message(self.telling, "assistant", tools)

    def _user(self, blocks: list[Mapping[str, Any]]) -> Iterator[Event]:
        yield from tell_message(self.telling, "user", [_judged(b) for b in blocks if b.get("type") == "tool_result"])
        texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
        folder = next((match[1] for text in texts if (match := WORKING_FOLDER.search(text))), "")
        self.telling.stand(cwd="" if self.telling.cwd else folder)
        answered = next((n for n, text in enumerate(texts) if RESULT.match(text)), -1)
        if answered < 0:
            for text in texts:
                yield from self.telling.prompt(text)
            return
        head = RESULT.match(texts[answered])
        text = "\n".join((RESULT.sub("", texts[answered]), *texts[answered + 1 :]))
        yield from self._answer(text, head[1] if head else "")

    def _answer(self, text: str, tool: str) -> Iterator[Event]:
        """Yield the result of a call in XML, and the user's words that only the host and the user can have written."""
        words = [match[2] for match in USERS_WORDS.finditer(text) if _is_users(text, match.start(), tool)]
        output = USERS_WORDS.sub("", text.partition("<environment_details>")[0]).strip()
        if self._pending:
            tool, arguments = self._pending.pop(0)
            self._pending.clear()  # only one call a message is run; the others were cut off
            yield from self.telling.call(tool, arguments, {"stdout": output, "content": output}, "", error_of(output))
        for word in words:
            yield from self.telling.prompt(word)


def _is_users(text: str, start: int, tool: str) -> bool:
    """Return whether words in a result's tag are the user's: in a question's answer, or first in an edit's result.

    Any other result may hold a tool's output or a file's content, which can contain the same tags.
    """
    return tool in SPOKEN or (tool in EDITS and text.find("<") == start)


def error_of(output: str) -> str:
    """Return the error that a result reports; empty if it reports none."""
    code = CODE.search(output[:400])
    if code:
        return failure(int(code[1]), output)
    failed = output.startswith(("The tool execution failed", "Error executing", "Error ", "<error>"))
    return output if failed else ""


def _judged(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result block, marked as failed if its text says so."""
    content = "\n".join(text_of(part.get("text")) for part in blocks_of(block.get("content")))
    error = error_of(content)
    return {**block, "content": error, "is_error": True} if error else block


def _speaks(block: Mapping[str, Any]) -> bool:
    return text_of(block.get("name")) in SPOKEN


def _spoken(block: Mapping[str, Any]) -> str:
    return text_of(fields_of(block.get("input")).get(SPOKEN[text_of(block.get("name"))]))


def _times(folder: str) -> list[datetime]:
    """Return the times at which requests to the model began."""
    try:
        shown = read_json(os.path.join(folder, SHOWN))
    except OSError:
        return []
    messages = (fields_of(message) for message in shown) if isinstance(shown, list) else ()
    times = (instant(message.get("ts")) for message in messages if message.get("say") == "api_req_started")
    return [at for at in times if at]


def folder_of(folder: str) -> str:
    """Return the folder in which a task began, from the file beside it or from the list of all tasks."""
    history = try_json(os.path.join(folder, "history_item.json"))
    cwd = text_of(history.get("workspace")) or text_of(history.get("cwdOnTaskInitialization"))
    state = os.path.join(os.path.dirname(os.path.dirname(folder)), "state", "taskHistory.json")
    return cwd or _folders(state).get(os.path.basename(folder), "")


@lru_cache(maxsize=4)
def _folders(path: str) -> dict[str, str]:
    try:
        tasks = read_json(path)
    except OSError:
        return {}
    entries = [fields_of(task) for task in tasks] if isinstance(tasks, list) else []
    return {str(task.get("id")): text_of(task.get("cwdOnTaskInitialization")) for task in entries}


def read_shown(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of a task as it was shown. Raises OSError, or HostConfigError for a huge file."""
    content = read_json(path)
    messages = [fields_of(message) for message in content] if isinstance(content, list) else []
    messages = [message for message in messages if message.get("partial") is not True]
    folder = os.path.dirname(path)
    task = _ShownTask(TranscriptReplay(host, os.path.basename(folder) or path, new_id))
    task.telling.stand(at=instant(os.path.basename(folder)) or written_at(path), cwd=folder_of(folder))
    for at, message in enumerate(messages):
        yield from task.message(message, messages[at + 1 :])


class _ShownTask:
    """Reads the messages of a task as it was shown; remembers what later messages need."""

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
            yield from self.telling.reply(_shown_words(text))
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


def _shown_words(text: str) -> str:
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
