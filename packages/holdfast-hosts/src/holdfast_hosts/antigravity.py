"""Google Antigravity, IDE and `agy`: hooks before each call of the model, MCP server, rules.

A payload does not name its hook; its content shows which one it is. The first call of a turn stands for the prompt,
whose words are in the transcript; our answer is a step that lasts for that turn. Commands are split at blanks, even in
quotes, so no hooks are set up if our program's path has a blank.

Sources: several independent adapters verified on agy 1.2, the documentation's mirror; 2026-11-21. Not run here.

Turns Antigravity's transcripts into events: `brain/<conversation>/.system_generated/logs/transcript.jsonl`.

The IDE and `agy` write the same form. The results of calls are in the steps after the calling step, in order; a call's
arguments are separate JSON texts. Sources: several independent readers, verified by them on agy 1.2; 2026-11-21. Not
run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_lines, try_json, written_at
from holdfast.hosts.sdk.hooks import within_limit
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, launcher_words, server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast.lean.texts import dumps, loads
from holdfast.ports.host import ConfigEdit, Edit, Host, HostMarks, HostProfile, InstallPlan, RulesTarget

TOOLS = {"run_command": "Bash", "view_file": "Read", "write_to_file": "Write", "replace_file_content": "Edit"}
FIELDS = (
    ("command", "CommandLine"), ("file_path", "AbsolutePath"), ("file_path", "TargetFile"), ("content", "CodeContent"),
    ("old_string", "TargetContent"), ("new_string", "ReplacementContent"),
)  # fmt: skip
TAIL = 65_536
"""Bytes of a transcript that are searched for the prompt."""

NOT_RESULTS = frozenset({"USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT", "SYSTEM_MESSAGE", "CONVERSATION_HISTORY"})
HEADER = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n)+\n?")
CODE = re.compile(r"exit code:? (\d{1,5})\b", re.IGNORECASE)


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Antigravity()


class Antigravity(Adapter):
    """The adapter for Antigravity; implements `ports.host.Host`."""

    name = "antigravity"
    folders = (".gemini/antigravity", ".gemini/antigravity-cli", ".gemini/config")
    tells_end = False

    @property
    def profile(self) -> HostProfile:
        """What Antigravity can do and where."""
        return HostProfile(
            title="Google Antigravity",
            mcp="~/.gemini/config/mcp_config.json",
            hooks="~/.gemini/config/hooks.json",
            moments=("prompt",),
            transcripts="~/.gemini/antigravity-cli/brain",
            grows_by_lines=False,
            transcript_files=(".system_generated/logs/transcript.jsonl",),
            transcript_marks=(('{"step_index":', '"source":"USER_EXPLICIT"'),),
            rules=(
                RulesTarget(
                    file=".agents/rules/holdfast-{slug}.md",
                    front_matter="---\ntrigger: glob\nglobs: {globs}\ndescription: {description}\n---\n",
                    always="---\ntrigger: always_on\ndescription: {description}\n---\n",
                    limit_chars=12_000,
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            marks=HostMarks(started="ANTIGRAVITY_CONVERSATION_ID", started_rank=5),
            sources=("adapters of others verified on agy 1.2, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload in Claude Code's shape; its content shows which hook it is."""
        fields = fields_of(payload)
        translated: dict[str, Any] = {
            "session_id": fields.get("conversationId"),
            "transcript_path": fields.get("transcriptPath"),
        }
        folders = fields.get("workspacePaths")
        translated["cwd"] = text_of(folders[0]) if isinstance(folders, list) and folders else ""
        if "invocationNum" in fields:
            first = fields["invocationNum"] == 0
            prompt = _last_prompt(text_of(fields.get("transcriptPath"))) if first else ""
            return translated | {"hook_event_name": "UserPromptSubmit" if first else "-", "prompt": prompt}
        if "toolCall" not in fields:
            return translated | {"hook_event_name": "Stop"}
        call = fields_of(fields["toolCall"])
        arguments = dict(fields_of(call.get("args")))
        arguments |= {name: arguments[own] for name, own in FIELDS if own in arguments}
        translated |= {"tool_name": TOOLS.get(text_of(call.get("name")), call.get("name")), "tool_input": arguments}
        error = text_of(fields.get("error"))
        return translated | {"hook_event_name": "PostToolUseFailure" if error else "PostToolUse", "error": error}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return a step for this turn, or an empty object."""
        if not briefing.text or call.name != "UserPromptSubmit":
            return "{}"
        return dumps({"injectSteps": [{"ephemeralMessage": within_limit(briefing.text)}]})

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's files; the server also where an older build looks for it."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".gemini")
        places = ("config", *(name for name in ("antigravity", "antigravity-cli") if _has_servers(root, name)))
        edits: list[Edit] = [
            server_edit(os.path.join(root, name, "mcp_config.json"), command, self.name) for name in places
        ]
        hooks, notes = _hooks(os.path.join(root, "config", "hooks.json"), command, self.name)
        return InstallPlan(host=self.name, scope=scope, edits=(*edits, *hooks), notes=notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the transcripts of both."""
        root = os.path.join(home, ".gemini")
        folders = (os.path.join(root, name, "brain") for name in ("antigravity", "antigravity-cli"))
        return [path for folder in folders for path in find_files(folder, ("/logs/transcript.jsonl",))]

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a conversation. Raises OSError."""
        plain = path.replace(os.sep, "/")
        session = plain.partition("/brain/")[2].partition("/")[0] or os.path.basename(os.path.dirname(path))
        telling = TranscriptReplay(self, session, new_id, lambda call: _judged(call, self.translate))
        telling.stand(at=written_at(path), cwd=_folder(plain.partition("/brain/")[0], session))
        waiting: list[str] = []
        for number, entry in enumerate(read_lines(path)):
            telling.stand(at=instant(entry.get("created_at")))
            yield from _step(telling, entry, waiting, number)


def _hooks(file: str, command: Sequence[str], host: str) -> tuple[list[Any], tuple[str, ...]]:
    words = launcher_words(command, host)
    if any(" " in word for word in words):
        return [], (
            "Antigravity splits commands at blanks, and the path of Holdfast's program has one: no hooks were set up.",
        )
    handler = {"type": "command", "command": " ".join(words), "timeout": 10}
    value = {
        "enabled": True,
        "PreInvocation": [handler],
        "PostToolUse": [{"matcher": "*", "hooks": [handler]}],
        "Stop": [handler],
    }
    return [ConfigEdit(file=file, path=(), key="holdfast", value=value, **OUR_MARKS)], ()


def _has_servers(root: str, name: str) -> bool:
    return os.path.exists(os.path.join(root, name, "mcp_config.json"))


def _last_prompt(path: str) -> str:
    """Return the user's last words in a transcript."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.path.getsize(path) - TAIL))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            entry = fields_of(loads(line)) if '"USER_INPUT"' in line else {}
        except InvalidValueError:
            continue
        if entry.get("type") == "USER_INPUT":
            content = text_of(entry.get("content"))
            return (content.partition("<USER_REQUEST>")[2].partition("</USER_REQUEST>")[0] or content).strip()
    return ""


def _judged(
    payload: Mapping[str, Any], translate: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return the call by Claude Code's names, with its output, which hooks do not get."""
    call = {"name": payload["tool_name"], "args": payload["tool_input"]}
    return {**translate({"toolCall": call, "error": payload["error"]}), "tool_response": payload["tool_response"]}


def _step(telling: TranscriptReplay, entry: Mapping[str, Any], waiting: list[str], number: int) -> Iterator[Event]:
    kind, content = text_of(entry.get("type")), text_of(entry.get("content"))
    if kind == "USER_INPUT" and entry.get("source") != "SYSTEM":
        yield from telling.prompt(content)
    elif kind == "PLANNER_RESPONSE":
        yield from telling.reply(content)
        calls = entry.get("tool_calls")
        waiting[:] = []
        for place, call in enumerate(map(fields_of, calls if isinstance(calls, list) else ())):
            waiting.append(f"{number}.{place}")
            telling.open(waiting[-1], text_of(call.get("name")), _arguments(fields_of(call.get("args"))))
    elif kind == "CHECKPOINT":
        yield from telling.compacted()
    elif kind not in NOT_RESULTS and waiting:
        yield from _answered(telling, waiting.pop(0), entry, HEADER.sub("", content))


def _answered(telling: TranscriptReplay, use: str, entry: Mapping[str, Any], output: str) -> Iterator[Event]:
    """Yield the events of a result. Hooks get no id of a call, so its key rests on the minute here too."""
    tool, arguments = telling.take(use)
    code = CODE.search(output[:400])
    error = failure(int(code[1]), output) if code else ""
    if entry.get("status") == "ERROR":
        error = error or output or "failed"
    response = {"stdout": output, "content": output, **({} if code else UNANSWERED)}
    yield from telling.call(tool, arguments, response, "", error)


def _arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in arguments.items()}


def _plain(value: object) -> object:
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    try:
        return loads(value)
    except (InvalidValueError, RecursionError):
        return value


def _folder(root: str, session: str) -> str:
    """Return the conversation's folder, from what the IDE or the command line stores about conversations."""
    about = fields_of(try_json(os.path.join(root, "cache", "conversation_metadata.json")).get(session))
    folders = about.get("WorkspaceURIs") or about.get("workspaceUris")
    if isinstance(folders, list) and folders:
        return path_of_uri(text_of(folders[0]))
    last = try_json(os.path.join(root, "cache", "last_conversations.json"))
    return next((folder for folder, name in last.items() if session in (name, fields_of(name).get("id"))), "")
