"""Junie, JetBrains' agent in the IDE and on the command line: hooks, MCP server, guidelines.

A hook's output reaches the model as plain text, on a prompt and before a tool. Any output of a Stop hook would keep the
task from ending, so silence is no output. The payload's `cwd` is Junie's own folder, `project_path` the project.

Sources: junie.jetbrains.com/docs/junie-cli-hooks.html, a third party's measurements of 3110.7; 2026-11-21. Not run
here.

Turns Junie's sessions into events: `~/.junie/sessions/<id>/events.jsonl`.

A step is written again under its id whenever it changes; the last form counts. Sources: others' measured notes on Junie
3110.7 and their readers' recordings; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, read_lines, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast.ports.host import Host, HostMarks, HostProfile, InstallPlan, RulesTarget
from holdfast_hosts._plain import render_plain

GUIDELINES = (".junie/AGENTS.md", "AGENTS.md", ".junie/guidelines.md")
"""Junie reads the first of these that exists."""
TAKES_TEXT = frozenset({"UserPromptSubmit", "PreToolUse"})
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Bash|Read|Edit|Write", {"timeout": 5}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 5}),
)
"""Hook, matcher and handler's keys; there is none after a tool or before a compaction."""

STEPS_LIMIT = 100_000
"""Steps of one session that are kept."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of JUNIE_HOME, instead of `~/.junie`."""
    return Junie(options.get("config_dir", ""))


class Junie(Adapter):
    """The adapter for Junie; implements `ports.host.Host`."""

    name = "junie"
    folders = (".junie",)

    @property
    def profile(self) -> HostProfile:
        """What Junie can do and where."""
        return HostProfile(
            title="JetBrains Junie",
            mcp="~/.junie/mcp/mcp.json",
            hooks="~/.junie/config.json",
            moments=("prompt", "before_file", "before_command"),
            transcripts="~/.junie/sessions",
            grows_by_lines=False,
            transcript_files=(".junie/sessions/*/events.jsonl",),
            transcript_marks=(('{"kind":"UserPromptEvent"', '"prompt":'),),
            rules=(RulesTarget(file=".junie/guidelines.md", first_of=GUIDELINES),),
            notes=("Junie's hooks get no results of tools: failures are read from its transcripts.",),
            marks=HostMarks(folder="JUNIE_HOME"),
            sources=("junie.jetbrains.com/docs/junie-cli-hooks.html, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with the project's folder."""
        translated = dict(fields_of(payload))
        return translated | {"cwd": translated.get("project_path") or translated.get("cwd")}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the briefing's text, or a blank line."""
        return render_plain(call, briefing, TAKES_TEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        check_scope(self.name, scope)
        root = self.root(home)
        command_line = hook_command(command, self.name, "--plain")
        edits = [hook_edit(os.path.join(root, "config.json"), command_line, hook) for hook in HOOKS]
        edits.append(server_edit(os.path.join(root, "mcp", "mcp.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions."""
        return find_files(os.path.join(self.root(home), "sessions"), ("/events.jsonl",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a session. Raises OSError."""
        folder = os.path.dirname(path)
        session = os.path.basename(folder)
        telling = TranscriptReplay(self, session, new_id)
        telling.stand(at=written_at(path), cwd=_folder(os.path.join(os.path.dirname(folder), "index.jsonl"), session))
        for entry in _folded(path):
            telling.stand(at=instant(entry.get("timestampMs")))
            if entry.get("kind") == "UserPromptEvent":
                yield from telling.prompt(text_of(entry.get("prompt")))
            else:
                yield from _step(telling, _agent(entry))


def _folded(path: str) -> list[Mapping[str, Any]]:
    """Return the lines, with those of one step merged at its first line."""
    steps: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(read_lines(path)):
        step = text_of(_agent(entry).get("stepId")) or f"#{number}"
        if step in steps:
            agent = {**_agent(steps[step]), **_agent(entry)}
            steps[step] |= {"timestampMs": entry.get("timestampMs"), "event": {"agentEvent": agent}}
        elif len(steps) < STEPS_LIMIT:
            steps[step] = dict(entry)
    return list(steps.values())


def _agent(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(fields_of(entry.get("event")).get("agentEvent"))


def _step(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    kind = text_of(step.get("kind")).rpartition(".")[2]
    if kind == "CurrentDirectoryUpdatedEvent":
        telling.stand(cwd="" if telling.cwd else text_of(step.get("currentDirectory")))
    elif kind == "TerminalBlockUpdatedEvent" and step.get("command"):
        yield from _command(telling, step)
    elif kind == "ViewFilesBlockUpdatedEvent":
        for file in _objects(step.get("files")):
            yield from telling.call("Read", {"file_path": text_of(file.get("relativePath"))}, {})
    elif kind == "FileChangesBlockUpdatedEvent":
        for change in _objects(step.get("changes")):
            yield from _changed(telling, change)
    elif kind == "MarkdownBlockUpdatedEvent":
        yield from telling.reply(text_of(step.get("text")) or text_of(step.get("markdown")))
    elif kind == "ResultBlockUpdatedEvent":
        yield from telling.reply(text_of(step.get("result")) or text_of(step.get("text")))


def _command(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    output = text_of(step.get("output")) or text_of(step.get("details"))
    code = step.get("exitCode")
    error = failure(code, output) or (output or "failed" if step.get("status") == "FAILED" else "")
    response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
    yield from telling.call("Bash", {"command": text_of(step.get("command"))}, response, "", error)


def _changed(telling: TranscriptReplay, change: Mapping[str, Any]) -> Iterator[Event]:
    path = next((text_of(change[name]) for name in ("afterRelativePath", "relativePath", "beforeRelativePath", "path")
                 if change.get(name)), "")  # fmt: skip
    arguments = {"file_path": path, "old_string": _content(change, "before"), "new_string": _content(change, "after")}
    if path:
        yield from telling.call("Edit", arguments, {})


def _content(change: Mapping[str, Any], when: str) -> str:
    content = change.get(f"{when}Content")
    return text_of(content) or text_of(fields_of(content).get("text"))


def _folder(index: str, session: str) -> str:
    """Return the project's folder from the list of sessions."""
    try:
        entries = [entry for entry in read_lines(index) if entry.get("sessionId") == session]
    except OSError:
        return ""
    return text_of(entries[-1].get("projectDir")) if entries else ""


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [fields_of(element) for element in value] if isinstance(value, list) else []
