"""Visual Studio Code: our MCP server in the user's `mcp.json`, for every agent that runs in it.

Its local agent also runs the hooks of Claude Code's and Copilot's files; Copilot's sessions belong to the adapter
`copilot-cli`.

Its chats are `chatSessions` of each workspace, and the transcripts of Copilot's extension. A chat is one JSON object,
or a log of changes to one: `{kind, k, v, i}` with 0 the whole, 1 set, 2 append (after cutting the list to `i`), 3
delete, and `k` the path of keys.

Sources: code.visualstudio.com, "MCP configuration reference" and "Custom instructions"; the public repository
microsoft/vscode, `objectMutationLog.ts` and chat model; others' readers; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.copilotevents import RULES, as_hook, tell_events
from holdfast.hosts.sdk.files import (
    find_files,
    first_there,
    instant,
    parse_line,
    path_of_uri,
    read_json,
    read_lines,
    settings_folder,
    try_json,
    written_at,
)
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, as_it_is, failure
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import Host, HostMarks, HostProfile

BUILDS = ("Code", "Code - Insiders", "VSCodium")
TOOLS = {
    "bash": "Bash", "run_in_terminal": "Bash", "view": "Read", "read_file": "Read", "create": "Write",
    "create_file": "Write", "edit": "Edit", "replace_string_in_file": "Edit", "insert_edit_into_file": "Edit",
    "grep": "Grep", "grep_search": "Grep", "glob": "Glob", "file_search": "Glob", "list_dir": "LS",
    "apply_patch": PATCH_TOOL,
}  # fmt: skip
DEPTH = 64
LINE_LIMIT = 1_000_000
"""Characters of a first line that tells the form of a file."""
_FIELDS = (("file_path", "filePath"), ("old_string", "oldString"), ("new_string", "newString"), ("patch", "input"))


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return VsCode()


class VsCode(McpClient):
    """The adapter for Visual Studio Code; implements `ports.host.Host`."""

    name = "vscode"
    comments = True
    servers = ("servers",)

    @property
    def profile(self) -> HostProfile:
        """What Visual Studio Code can do and where."""
        return HostProfile(
            title="Visual Studio Code",
            mcp="mcp.json in its User folder",
            transcripts="chatSessions in its workspaceStorage",
            grows_by_lines=False,
            transcript_files=(
                "chatSessions/*.json",
                "chatSessions/*.jsonl",
                "GitHub.copilot-chat/transcripts/*.jsonl",
                "emptyWindowChatSessions/*.json*",
            ),
            transcript_marks=(
                ('{"kind":0,"v":{', '"sessionId":"', '"requests":['),
                ('"responderUsername":"', '"requests":['),
                ('"type":"session.start"', '"producer":"copilot-agent"', '"vscodeVersion":"'),
            ),
            rules=RULES,
            reads=("CLAUDE.md", ".claude/rules/*.md"),
            notes=(
                "No hooks here yet: lessons come through the MCP tools (agent mode only) and `holdfast rules sync`.",
            ),
            marks=HostMarks(client_names=("visual-studio-code",)),
            sources=("code.visualstudio.com/docs/copilot/reference/mcp-configuration, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its settings folder, or an empty string."""
        folder = os.path.dirname(self.servers_file(home))
        return folder if os.path.isdir(folder) else ""

    def servers_file(self, home: str) -> str:
        """Return `mcp.json` of the installed build: stable, then Insiders."""
        root = settings_folder(home)
        folder = first_there(tuple(os.path.join(root, name, "User") for name in ("Code", "Code - Insiders")))
        return os.path.join(folder, "mcp.json")

    def entry(self, words: Sequence[str]) -> Any:
        """Return the entry in VS Code's form, which names the transport."""
        return {"type": "stdio", "command": words[0], "args": list(words[1:])}

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return chats, with and without a folder, and transcripts of the extension."""
        root = settings_folder(home)
        endings = (".json", ".jsonl")
        paths = []
        for build in BUILDS:
            user = os.path.join(root, build, "User")
            paths += find_files(os.path.join(user, "workspaceStorage"), endings)
            paths += find_files(os.path.join(user, "globalStorage", "emptyWindowChatSessions"), endings)
        chats = ("chatSessions", "emptyWindowChatSessions", "transcripts")
        return [path for path in paths if os.path.basename(os.path.dirname(path)) in chats]

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a chat. Raises OSError or HostConfigError."""
        name = os.path.splitext(os.path.basename(path))[0]
        is_extensions = _is_extensions(path)
        telling = TranscriptReplay(self, name, new_id, as_hook(_as_claude) if is_extensions else as_it_is)
        telling.stand(at=written_at(path), cwd=_folder(path))
        if is_extensions:
            with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
                yield from tell_events(telling, lines)
            return
        chat = _replayed(read_lines(path)) if path.endswith(".jsonl") else fields_of(read_json(path))
        telling.stand(at=instant(chat.get("creationDate")), session=text_of(chat.get("sessionId")))
        requests = chat.get("requests")
        for request in map(fields_of, requests if isinstance(requests, list) else ()):
            yield from _request(telling, request)


def _is_extensions(path: str) -> bool:
    """Return whether it is a transcript of Copilot's extension, by its folder or, for a copy, its first line."""
    if os.path.basename(os.path.dirname(path)) == "transcripts":
        return True
    if not path.endswith(".jsonl"):
        return False
    with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
        start = parse_line(lines.readline(LINE_LIMIT))
    # Copilot's command line writes the same form without the editor's version.
    return start.get("type") == "session.start" and "vscodeVersion" in fields_of(start.get("data"))


def _replayed(lines: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the object after the last change."""
    session: Any = {}
    for change in lines:
        if change.get("kind") == 0:
            session = change.get("v")
        elif isinstance(change.get("k"), list) and change["k"]:
            _change(session, change)
    return fields_of(session)


def _change(node: Any, change: Mapping[str, Any]) -> None:
    """Apply one change; ignore one that does not fit."""
    *way, last = change["k"][:DEPTH]
    try:
        for key in way:
            node = node[key]
        if change.get("kind") == 1:
            node[last] = change.get("v")
        elif change.get("kind") == 3:
            del node[last]
        elif change.get("kind") == 2:
            elements = node.setdefault(last, []) if isinstance(node, dict) else node[last]
            if isinstance(change.get("i"), int):
                del elements[change["i"] :]
            elements += change.get("v") or []
    except (KeyError, IndexError, TypeError, AttributeError):
        return


def _request(telling: TranscriptReplay, request: Mapping[str, Any]) -> Iterator[Event]:
    telling.stand(at=instant(request.get("timestamp")), model=text_of(request.get("modelId")))
    yield from telling.prompt(text_of(fields_of(request.get("message")).get("text")))
    parts = request.get("response")
    reply: list[str] = []
    for part in map(fields_of, parts if isinstance(parts, list) else ()):
        kind = part.get("kind")
        if kind in (None, "markdownContent"):
            reply.append(text_of(part.get("value")) or text_of(fields_of(part.get("content")).get("value")))
        elif kind == "textEditGroup":
            yield from _edited(telling, part)
        elif kind == "toolInvocationSerialized":
            yield from _invoked(telling, part)
    yield from telling.reply("".join(reply))


def _edited(telling: TranscriptReplay, part: Mapping[str, Any]) -> Iterator[Event]:
    """Yield an edit, with the new text only: the chat does not have the old one."""
    groups = part.get("edits")
    edits = (edit for group in groups if isinstance(group, list) for edit in group) if isinstance(groups, list) else ()
    texts = [text_of(fields_of(edit).get("text")) for edit in edits]
    uri = fields_of(part.get("uri"))
    path = text_of(uri.get("fsPath")) or path_of_uri(text_of(uri.get("external"))) or text_of(uri.get("path"))
    if path and any(texts):
        yield from telling.call("Edit", {"file_path": path, "new_string": "\n".join(filter(None, texts))}, {})


def _invoked(telling: TranscriptReplay, part: Mapping[str, Any]) -> Iterator[Event]:
    """Yield commands; other tools are not in a readable form."""
    about = fields_of(part.get("toolSpecificData"))
    line = about.get("commandLine")
    command = text_of(fields_of(line).get("original")) or text_of(line) or text_of(about.get("command"))
    if about.get("kind") != "terminal" or not command:
        return
    output = text_of(fields_of(about.get("terminalCommandOutput")).get("text"))
    code = fields_of(about.get("terminalCommandState")).get("exitCode")
    response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
    yield from telling.call(
        "Bash", {"command": command}, response, text_of(part.get("toolCallId")), failure(code, output)
    )


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return calls of the extension's tools by Claude Code's names."""
    translated = dict(payload)
    arguments = with_usual_fields(fields_of(payload["tool_input"]))
    arguments |= {name: arguments[own] for name, own in _FIELDS if own in arguments}
    result = fields_of(payload["tool_result"])
    output = text_of(result.get("text_result_for_llm"))
    translated |= {"tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}
    if result.get("result_type") == "failure":
        return translated | {"hook_event_name": "PostToolUseFailure", "error": output}
    return translated | {"tool_response": {"stdout": output, "content": output}}


def _folder(path: str) -> str:
    """Return the window's open folder, from two levels up, or three for the extension's transcripts."""
    above = os.path.dirname(os.path.dirname(path))
    for folder in (above, os.path.dirname(above)):
        uri = text_of(try_json(os.path.join(folder, "workspace.json")).get("folder"))
        if uri:
            return path_of_uri(uri)
    return ""
