"""OpenAI Codex (CLI, IDE extension and app share one configuration): hooks, MCP server, rules.

Its hooks have Claude Code's shape; edits are one `apply_patch` with the patch's text. An unknown key makes Codex drop a
hook's whole answer. It reads files through the shell, so there is no moment before a read.

Codex silently skips a hook until its user has approved that command. Codex itself reports a hook's digest and state
(`hooks/list` of its app-server). An approval is a table of its configuration with the digest; it is written only if the
user asked for it.

Sources: codex-cli 0.169.0 run with a mock model, its app-server's types, developers.openai.com/codex/hooks; 2026-11-21.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.errors import HostConfigError
from holdfast.hosts.codex.transcripts import find, parse
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import render_nested
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.toolcalls import UNKNOWN_EXIT, exited
from holdfast.ports.host import (
    Approvals,
    ConfigEdit,
    Headless,
    HookApproval,
    Host,
    HostMarks,
    HostPackage,
    HostProfile,
    InstallPlan,
    RulesTarget,
)

TAKES_CONTEXT = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"})

ASK = (
    "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "--ignore-rules", "--color", "never",
    "-c", "mcp_servers={}", "{model}", "-o", "{answer}", "-",
)  # fmt: skip
"""Arguments with which Codex answers one prompt."""
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "startup|resume|clear|compact|fork", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Bash|apply_patch", {"timeout": 5}),
    ("PostToolUse", "", {"timeout": 5}),
    ("SubagentStart", "", {"timeout": 5}),
    ("PreCompact", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 3}),
)
"""Hook, matcher and handler's keys. A SessionEnd of more than 3 s makes Codex warn at every start."""
EXIT_CODE = re.compile(rb'"exit_code": *-?(\d+)')
ROLLOUT_TAIL = 256 * 1024
"""Bytes of a rollout's end in which a command's outcome is looked for."""

TIMEOUT_S = 20.0
"""Seconds until a Codex that does not answer is ended."""
BY_HAND = "type /hooks in Codex"


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of CODEX_HOME, instead of `~/.codex`."""
    return Codex(options.get("config_dir", ""))


class Codex(Adapter):
    """The adapter for Codex; implements `ports.host.Host`."""

    name = "codex"
    folders = (".codex",)

    @property
    def profile(self) -> HostProfile:
        """What Codex can do and where."""
        return HostProfile(
            title="OpenAI Codex",
            headless=Headless(program="codex", arguments=ASK),
            mcp="~/.codex/config.toml",
            hooks="~/.codex/hooks.json",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure", "after_compaction"),
            transcripts="~/.codex/sessions",
            transcript_files=("rollout-*.jsonl", "rollout-*.jsonl.zst"),
            transcript_marks=(
                ('"type":"session_meta"', '"payload":{'),
                ('{"id":"', '"timestamp":"', '"instructions":', '"git":'),
            ),
            rules=(RulesTarget(file="AGENTS.md", limit_chars=32 * 1024),),
            marks=HostMarks(folder="CODEX_HOME", is_unmarked=True),
            context_file="AGENTS.md",
            # Codex 0.169.0 has separate keys for Windows, which other hosts ignore (Claude Code 2.1.330 does).
            package=HostPackage(layout="plugin", manifest=".codex-plugin/plugin.json", hooks=HOOKS, hook_host="codex"),
            notes=("Codex skips a hook until it is trusted: type /hooks in Codex and approve Holdfast's.",),
            sources=("developers.openai.com/codex/hooks, 2026-11-21",),
        )

    def approvals(self, home: str) -> Approvals:
        """Return the approvals: Codex runs only approved hooks."""
        return CodexApprovals(self.root(home), home)

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with a patch as a patch, and a failed command as a failure."""
        translated = dict(fields_of(payload))
        if translated.get("tool_name") == PATCH_TOOL:
            arguments = fields_of(translated.get("tool_input"))
            translated["tool_input"] = {"patch": text_of(arguments.get("command")) or text_of(arguments.get("input"))}
        if translated.get("hook_event_name") == "PostToolUse":
            translated |= _finished(translated, text_of(translated.get("tool_response")))
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout: only the object that Codex's closed schema knows."""
        return render_nested(call, briefing, TAKES_CONTEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits for the user: `hooks.json` and a table of `config.toml`."""
        check_scope(self.name, scope)
        root = self.root(home)
        command_line = hook_command(command, self.name)
        edits = [hook_edit(os.path.join(root, "hooks.json"), command_line, hook) for hook in HOOKS]
        edits.append(
            server_edit(os.path.join(root, "config.toml"), command, self.name, ("mcp_servers",), startup_timeout_sec=30)
        )
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return rollouts, live and archived."""
        return find(self.root(home))

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a rollout. Raises HostConfigError for a compressed one that Python cannot unpack."""
        return parse(self, lines, session, new_id)


def _finished(payload: Mapping[str, Any], response: str) -> dict[str, Any]:
    """Return a command's outcome, from the head of the response or else from the rollout, which has it by then.

    The response of `exec_command` is the bare output. If the rollout has no code either, it is unknown; the end of the
    turn looks again.
    """
    head, _, rest = response.partition("\n")
    if head.startswith("Exit code: "):
        code, output = head.removeprefix("Exit code: "), rest.partition("Output:")[2].lstrip() or rest
    elif payload.get("tool_name") == "Bash":
        code = _code_in_rollout(text_of(payload.get("transcript_path")), text_of(payload.get("tool_use_id")))
        output = response
        if not code:
            return {"tool_response": {"stdout": response, **UNKNOWN_EXIT}}
    else:
        return {}
    error = exited(code, output)
    return {"hook_event_name": "PostToolUseFailure", "error": error} if error else {}


def _code_in_rollout(path: str, use: str) -> str:
    """Return the exit code of that call from the rollout's last lines; empty if it is not there.

    Quotes are escaped inside any output, so `"exit_code":` is always the item's own key.
    """
    try:
        if not use or not os.path.isfile(path):  # a pipe's opening would wait for its writer
            return ""
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - ROLLOUT_TAIL))
            lines = stream.read(ROLLOUT_TAIL).split(b"\n")
    except (OSError, ValueError):
        return ""
    mark = f'"id":"{use}"'.encode()
    for line in reversed(lines):
        if mark in line and b'"type":"CommandExecution"' in line:
            codes = EXIT_CODE.findall(line)
            return codes[-1].decode() if codes else ""
    return ""


class CodexApprovals:
    """Our hooks' approvals in Codex; implements `ports.host.Approvals`."""

    title = "Codex"
    by_hand = BY_HAND

    def __init__(self, folder: str, home: str) -> None:
        self._folder, self._home = folder, home

    def find(self) -> list[HookApproval]:
        """Return our hooks in the user's file, as Codex reports them.

        Raises HostConfigError if Codex is missing or does not answer.
        """
        program = shutil.which("codex")
        if program is None:
            raise HostConfigError("codex is not on the PATH", hint=f"{BY_HAND} and approve Holdfast's")
        file = os.path.join(self._folder, "hooks.json")
        listed = _ask([program, "app-server"], self._home)
        hooks = [hook for folder in listed.get("data", ()) for hook in folder.get("hooks", ())]
        return [
            HookApproval(key=str(hook["key"]), digest=str(hook["currentHash"]), state=str(hook["trustStatus"]))
            for hook in hooks
            if str(hook.get("key", "")).startswith(file + ":")
        ]

    def plan(self, hooks: Sequence[HookApproval]) -> list[ConfigEdit]:
        """Return the edits that approve these hooks, in the form that Codex itself writes."""
        file = os.path.join(self._folder, "config.toml")
        path = ("hooks", "state")
        return [
            ConfigEdit(file=file, path=path, key=hook.key, value={"trusted_hash": hook.digest}, ours="sha256:")
            for hook in hooks
        ]


def _ask(command: Sequence[str], folder: str) -> dict[str, Any]:
    """Return the answer to `hooks/list`."""
    try:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    except OSError as exc:
        raise HostConfigError(f"codex cannot be started: {exc}", hint="codex --version") from exc
    watch = threading.Timer(TIMEOUT_S, server.kill)
    watch.start()
    try:
        _call(server, 1, "initialize", {"clientInfo": {"name": "holdfast", "version": "1"}})
        _send(server, {"method": "initialized"})
        return _call(server, 2, "hooks/list", {"cwds": [folder]})
    finally:
        watch.cancel()
        server.kill()
        server.communicate()


def _call(server: subprocess.Popen[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(server, {"id": number, "method": method, "params": params})
    for line in server.stdout or ():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        if isinstance(answer, dict) and answer.get("id") == number and isinstance(answer.get("result"), dict):
            result: dict[str, Any] = answer["result"]
            return result
        if isinstance(answer, dict) and answer.get("id") == number:
            raise HostConfigError(f"codex does not know {method}: {answer.get('error')}", hint="update codex")
    raise HostConfigError("codex did not answer", hint=f"{BY_HAND} and approve Holdfast's")


def _send(server: subprocess.Popen[str], message: dict[str, Any]) -> None:
    try:
        if server.stdin:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
    except OSError as exc:
        raise HostConfigError(f"codex ended: {exc}", hint="codex --version") from exc
