"""Where our hooks and MCP server are registered in Claude Code's files, as data; a surface applies it.

Scope `user` serves every project of the user: `settings.json` and `.claude.json` of the configuration folder. Scope
`project` serves one work tree of one person: `.claude/settings.local.json`, which is not shared, and the project's
private entry in `.claude.json`. The files a team commits are never touched: our commands name one machine's
interpreter by its absolute path, because a version manager's shim costs every hook hundreds of milliseconds.
"""

from __future__ import annotations

import os
import shlex

from holdfast.domain.errors import InvalidValueError
from holdfast.ports.host import InstallPlan, JsonEdit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ENTRY = "holdfast/surfaces/hooks/entry.py"
"""End of the hook program's path: how a hook of ours is known again, whatever interpreter it names."""

SERVER = "holdfast.surfaces.mcp"
SERVER_NAME = "holdfast"

HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "startup|resume|clear|compact|fork", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Read|Edit|Write|MultiEdit|NotebookEdit|Bash", {"timeout": 5}),
    ("PostToolUse", "*", {"timeout": 30, "async": True}),
    ("PostToolUseFailure", "*", {"timeout": 5}),
    ("PreCompact", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SubagentStart", "", {"timeout": 5}),
    ("SubagentStop", "", {"timeout": 10}),
    ("SessionEnd", "", {}),
)
"""Hook, matcher and handler keys; timeouts are seconds.

`async` only where nothing is delivered and more is sure to follow: a headless run ends at once after Stop and kills
what still runs in the background (seen with 2.1.329). SessionEnd states no timeout: one would stretch the 1.5 s that
Claude Code waits when it is closed.
"""


def plan_install(
    host: str, scope: str, folder: str, home: str, command: Sequence[str], config_dir: str = ""
) -> InstallPlan:
    """The edits for a scope. `command` is the interpreter and the package's folder, both absolute."""
    if scope not in ("user", "project"):
        raise InvalidValueError(f"no install scope {scope!r}", hint="use --user or --project")
    root = config_dir or os.path.join(home, ".claude")
    state = os.path.join(config_dir, ".claude.json") if config_dir else os.path.join(home, ".claude.json")
    settings = os.path.join(root, "settings.json")
    servers: tuple[str, ...] = ("mcpServers",)
    notes = ["Restart running Claude Code sessions: they read their hooks and servers when they start."]
    if scope == "project":
        settings = os.path.join(folder, ".claude", "settings.local.json")
        servers = ("projects", folder, "mcpServers")
        notes.append(f"Keep {settings} out of git: it names this machine's interpreter.")
    interpreter, package = command
    edits = [_hook_edit(settings, _hook_command(interpreter, package, host), hook) for hook in HOOKS]
    server = {"type": "stdio", "command": interpreter, "args": ["-m", SERVER]}
    edits.append(JsonEdit(file=state, path=servers, key=SERVER_NAME, value=server, ours=SERVER))
    return InstallPlan(host=host, scope=scope, edits=tuple(edits), notes=tuple(notes))


def _hook_command(interpreter: str, package: str, host: str) -> str:
    """One shell word after another: a string works in every version, `args` only since 2.1.139.

    -I and -S: neither the user's site folders nor PYTHON* variables nor `site` itself, which would double the start.
    """
    entry = "/".join((package.replace(os.sep, "/"), "surfaces", "hooks", "entry.py"))
    return shlex.join([interpreter.replace(os.sep, "/"), "-I", "-S", entry, host])


def _hook_edit(settings: str, command: str, hook: tuple[str, str, dict[str, Any]]) -> JsonEdit:
    name, matcher, keys = hook
    group: dict[str, Any] = {"matcher": matcher} if matcher else {}
    group["hooks"] = [{"type": "command", "command": command, **keys}]
    return JsonEdit(file=settings, path=("hooks", name), value=group, ours=ENTRY)
