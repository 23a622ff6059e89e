"""The command lines a host is given: our hook program and our MCP server, by absolute paths.

A version manager's shim costs every hook hundreds of milliseconds, and desktop programs have a short PATH.
"""

from __future__ import annotations

import os
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def server_words(command: Sequence[str]) -> list[str]:
    """The MCP server's program and arguments."""
    return [command[0], "-m", SERVER]
