"""Gemini CLI: hooks in its settings file, MCP server, rules.

It takes context at a session's start, on a prompt and after a tool, but not before one. Timeouts are milliseconds.
PreCompress fires before every call of the model, so it shows nothing; Gemini does not wait for hooks at a session's
end.

Its chats are `~/.gemini/tmp/<project>/chats/session-*.jsonl`, older ones `.json`. A line may set fields of the session
(`$set`), take messages back (`$rewindTo`), or replace a message with its id; results of tools arrive that way. So a
chat is assembled first and then replayed.

Sources: Gemini CLI 0.61.0 run with a mock API, the documentation bundled with it; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, read_json, read_lines, try_json, written_at
from holdfast.hosts.sdk.hooks import render_nested
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import exited, response_text
from holdfast.ports.host import Headless, Host, HostMarks, HostPackage, HostProfile, InstallPlan, RulesTarget

TAKES_CONTEXT = frozenset({"SessionStart", "BeforeAgent", "AfterTool"})
EVENTS = {
    "SessionStart": "SessionStart", "BeforeAgent": "UserPromptSubmit", "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse", "AfterAgent": "Stop", "SessionEnd": "SessionEnd",
}  # fmt: skip
TOOLS = {
    "read_file": "Read", "write_file": "Write", "replace": "Edit", "run_shell_command": "Bash", "grep_search": "Grep",
    "search_file_content": "Grep", "glob": "Glob", "list_directory": "LS",
}  # fmt: skip
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "", {"name": "holdfast-start", "timeout": 10_000}),
    ("BeforeAgent", "", {"name": "holdfast-prompt", "timeout": 5_000}),
    ("AfterTool", ".*", {"name": "holdfast-tool", "timeout": 5_000}),
    ("AfterAgent", "", {"name": "holdfast-turn", "timeout": 10_000}),
    ("SessionEnd", "", {"name": "holdfast-end", "timeout": 5_000}),
)
"""Hook, matcher and handler's keys; a lifecycle hook without a matcher receives every source."""
UNTRUSTED = ("<untrusted_context>", "</untrusted_context>")
OWN_CONTEXT = "</hook_context>"
"""End of the text that hooks put before a prompt in a headless run."""

Chat = tuple[dict[str, Any], list[Mapping[str, Any]]]


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return GeminiCli()


class GeminiCli(Adapter):
    """The adapter for Gemini CLI; implements `ports.host.Host`."""

    name = "gemini-cli"
    folders = (".gemini/settings.json", ".gemini/projects.json", ".gemini/tmp")
    late = True

    @property
    def profile(self) -> HostProfile:
        """What Gemini CLI can do and where."""
        return HostProfile(
            title="Gemini CLI",
            headless=Headless(
                program="gemini",
                arguments=(
                    "-o",
                    "json",
                    "--approval-mode",
                    "plan",
                    "--skip-trust",
                    "-e",
                    "none",
                    "--allowed-mcp-server-names",
                    "none",
                    "{model}",
                ),
                answer="response",
                model="gemini-2.5-flash",
                model_option="-m",
            ),
            mcp="~/.gemini/settings.json",
            hooks="~/.gemini/settings.json",
            moments=("session_start", "prompt", "before_file", "after_failure"),
            transcripts="~/.gemini/tmp",
            grows_by_lines=False,
            transcript_files=("chats/session-*.jsonl", "chats/session-*.json"),
            transcript_marks=(('{"sessionId":"', '"projectHash":"'),),
            rules=(RulesTarget(file="GEMINI.md"),),
            notes=("A file's lessons come when it has been read: Gemini CLI takes nothing before a tool runs.",),
            marks=HostMarks(started="GEMINI_SESSION_ID", started_rank=3),
            context_file="GEMINI.md",
            package=HostPackage(
                layout="extension",
                manifest="gemini-extension.json",
                hooks=HOOKS,
                hook_host="gemini-cli",
                plain_exit=True,  # it has no separate keys for Windows
            ),
            sources=("the documentation bundled with Gemini CLI 0.61.0",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of hooks and tools."""
        translated = dict(fields_of(payload))
        translated["hook_event_name"] = EVENTS.get(text_of(translated.get("hook_event_name")), "") or "-"
        translated["tool_name"] = TOOLS.get(text_of(translated.get("tool_name")), translated.get("tool_name"))
        arguments = fields_of(translated.get("tool_input"))
        if "dir_path" in arguments:
            translated["tool_input"] = {"path": arguments["dir_path"], **arguments}
        translated["prompt"] = text_of(translated.get("prompt")).rpartition(OWN_CONTEXT)[2].lstrip()
        translated["last_assistant_message"] = translated.get("prompt_response")
        if translated["hook_event_name"] == "PostToolUse":
            answer = fields_of(translated.get("tool_response"))
            output = _without_frame(response_text(answer.get("llmContent")))
            error = response_text(answer.get("error")) or _failure(output)
            output = output.removeprefix("Output: ")
            translated |= {"tool_response": {"stdout": output, "content": output}}
            translated |= {"hook_event_name": "PostToolUseFailure", "error": error} if error else {}
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout; Gemini CLI escapes angle brackets and fences the text itself."""
        return render_nested(call, briefing, TAKES_CONTEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's settings file."""
        check_scope(self.name, scope)
        settings = os.path.join(home, ".gemini", "settings.json")
        command_line = hook_command(command, self.name)
        edits = [
            *(hook_edit(settings, command_line, hook) for hook in HOOKS),
            server_edit(settings, command, self.name),
        ]
        edits = [replace(edit, comments=True) for edit in edits]
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the chats of all projects."""
        files = find_files(os.path.join(home, ".gemini", "tmp"), (".jsonl", ".json"), ("tool-outputs", "logs"))
        return [path for path in files if os.path.basename(os.path.dirname(path)) == "chats"]

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a chat. Raises OSError, or HostConfigError for a huge file."""
        if path.endswith(".jsonl"):
            about, messages = _put_together(read_lines(path))
        else:
            about = dict(fields_of(read_json(path)))
            messages = _objects(about.get("messages"))
        session = text_of(about.get("sessionId")) or os.path.basename(path).partition(".")[0]
        telling = TranscriptReplay(self, session, new_id, lambda payload: self.translate(_as_hook(payload)))
        telling.stand(at=instant(about.get("startTime")) or written_at(path), cwd=_folder(path))
        for message in messages:
            yield from _message(telling, message)


def _without_frame(output: str) -> str:
    """Return a tool's answer without the tags that mark it as untrusted, and without the process's number."""
    output = output.strip()
    if output.startswith(UNTRUSTED[0]) and output.endswith(UNTRUSTED[1]):
        output = output.removeprefix(UNTRUSTED[0]).removesuffix(UNTRUSTED[1])
    lines = [line for line in output.split("\n") if not line.startswith("Process Group PGID: ")]
    return "\n".join(lines).strip()


def _failure(text: str) -> str:
    """Return the error of a command whose result names an exit code other than 0."""
    code = text.rpartition("\nExit Code: ")[2].partition("\n")[0] if "\nExit Code: " in text else ""
    output = next((text.partition(name)[2] for name in ("Output: ", "Stdout: ") if name in text), text)
    return exited(code, output.rpartition("\nExit Code: ")[0])


def _as_hook(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    response = fields_of(payload["tool_response"])
    return {**payload, "hook_event_name": "AfterTool", "tool_response": {**response, "error": payload["error"]}}


def _put_together(lines: Iterable[Mapping[str, Any]]) -> Chat:
    """Return the session's own fields, and its messages as they are after the last line."""
    about: dict[str, Any] = {}
    messages: dict[str, Mapping[str, Any]] = {}
    for entry in lines:
        if "$set" in entry:
            about.update(fields_of(entry["$set"]))
            if isinstance(about.get("messages"), list):
                messages = {_id(message): message for message in _objects(about.pop("messages"))}
        elif "$rewindTo" in entry:
            ids = list(messages)
            to = text_of(entry["$rewindTo"])
            for name in ids[ids.index(to) :] if to in messages else ():
                del messages[name]
        elif "type" in entry:
            messages[_id(entry) or str(len(messages))] = entry
        else:
            about.update(entry)
    return about, list(messages.values())


def _message(telling: TranscriptReplay, message: Mapping[str, Any]) -> Iterator[Event]:
    telling.stand(at=instant(message.get("timestamp")), model=text_of(message.get("model")))
    content = response_text(message.get("content"))
    if message.get("type") == "user":
        yield from telling.prompt(content)
    elif message.get("type") == "gemini":
        yield from telling.reply(content)
        for call in _objects(message.get("toolCalls")):
            yield from _call(telling, call)


def _call(telling: TranscriptReplay, call: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of a call. Hooks get no id of a call, so its key rests on the minute here too."""
    answers = [
        fields_of(fields_of(part.get("functionResponse")).get("response")) for part in _objects(call.get("result"))
    ]
    output = "\n".join(filter(None, (response_text(answer.get("output")) for answer in answers)))
    error = next(filter(None, (response_text(answer.get("error")) for answer in answers)), "")
    if call.get("status") == "error":
        error = error or output or "failed"
    if call.get("status") == "cancelled":
        return
    telling.stand(at=instant(call.get("timestamp")))
    yield from telling.call(text_of(call.get("name")), fields_of(call.get("args")), {"llmContent": output}, "", error)


def _folder(path: str) -> str:
    """Return the project's folder: named in its folder of chats, or in the list of projects by that folder's name."""
    root = os.path.dirname(os.path.dirname(path))
    try:
        with open(os.path.join(root, ".project_root"), encoding="utf-8", errors="replace") as stream:
            return stream.read(4_096).strip()
    except OSError:
        listed = try_json(os.path.join(os.path.dirname(os.path.dirname(root)), "projects.json"))
        folders = fields_of(listed.get("projects"))
        name = os.path.basename(root)
        return next((folder for folder, short in folders.items() if name in (short, _hashed(folder))), "")


def _hashed(folder: str) -> str:
    return sha256(folder.encode()).hexdigest()


def _id(message: Mapping[str, Any]) -> str:
    return text_of(message.get("id"))


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [fields_of(element) for element in value] if isinstance(value, list) else []
