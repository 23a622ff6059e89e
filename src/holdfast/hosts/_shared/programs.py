"""What hosts are given: the command lines of our hook program and our MCP server, by absolute paths, and the entries.

A version manager's shim costs every hook hundreds of milliseconds, and desktop programs have a short PATH.
"""

from __future__ import annotations

import os
import shlex

from holdfast.ports.host import ConfigEdit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Hook = tuple[str, str, Mapping[str, Any]]

ENTRY = "holdfast/surfaces/hooks/entry.py"
"""End of the hook program's path: how a hook of ours is known again, whatever interpreter it names."""

SERVER = "holdfast.surfaces.mcp"
"""How an MCP server of ours is known again."""
SERVER_NAME = "holdfast"


def hook_words(command: Sequence[str], host: str, *options: str) -> list[str]:
    """The hook program and its arguments. `command` is the interpreter and the package's folder, both absolute.

    -I and -S: neither the user's site folders nor PYTHON* variables nor `site` itself, which would double the start.
    Forward slashes: a backslash is lost in an unquoted word of a POSIX shell, also on Windows.
    """
    interpreter, package = command
    entry = "/".join((package.replace("\\", "/"), "surfaces", "hooks", "entry.py"))
    return [interpreter.replace("\\", "/") if os.name == "nt" else interpreter, "-I", "-S", entry, host, *options]


def hook_command(command: Sequence[str], host: str, *options: str) -> str:
    """The same as one simple shell command, of words that need no quotes where that can be helped."""
    return shlex.join(hook_words(command, host, *options))


def server_words(command: Sequence[str], host: str) -> list[str]:
    """The MCP server's program and arguments; it is told the host, since not every client says who it is."""
    return [command[0], "-m", SERVER, "--for", host]


def hook_edit(file: str, command: str, hook: Hook, path: tuple[str, ...] = ("hooks",)) -> ConfigEdit:
    """The entry of a hook (its name, matcher and handler's keys) in Claude Code's shape: a group with one handler."""
    name, matcher, keys = hook
    group: dict[str, Any] = {"matcher": matcher} if matcher else {}
    group["hooks"] = [{"type": "command", "command": command, **keys}]
    return ConfigEdit(file=file, path=(*path, name), value=group, ours=ENTRY)


def server_edit(
    file: str, command: Sequence[str], host: str, path: tuple[str, ...] = ("mcpServers",), **keys: Any
) -> ConfigEdit:
    """The MCP server's entry in the usual shape; `keys` come before `command` and `args`."""
    program, *arguments = server_words(command, host)
    value = {**keys, "command": program, "args": arguments}
    return ConfigEdit(file=file, path=path, key=SERVER_NAME, value=value, ours=SERVER)
