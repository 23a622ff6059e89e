"""Builds what is registered with hosts: the command lines of our hooks and MCP server, and their entries.

They name, by absolute path, a small launcher in Holdfast's home, which outlives the package: a hook that cannot be
started would stop the host's user. The launcher knows the interpreter and the package. A version manager's shim costs
every hook hundreds of milliseconds, and desktop programs have a short PATH.

On Windows a host passes a hook's command to cmd, PowerShell or Git Bash, and not always to the same one (Codex uses the
session's shell, Claude Code Git Bash if installed). They agree on words without quotes and with forward slashes: a
quoted program is a mere string to PowerShell, and Git Bash drops backslashes. So a path that would need quotes is given
by its short name (`C:/PROGRA~1/...`), which Windows keeps on most disks. Source: reports on all three shells, looked up
2026-11-21; not run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.ports.host import ConfigEdit

Hook = tuple[str, str, Mapping[str, Any]]


LAUNCHER = "bin/holdfast-launch"
"""End of the launcher's path in Holdfast's home; it identifies what we registered."""
ENTRY = "holdfast/surfaces/hooks/entry.py"
"""End of the hook program's path, which older versions registered; plug-ins on Windows still name it."""
SERVER = "holdfast.surfaces.mcp"
"""The module of the MCP server, which older versions registered; on Windows it is still named."""
START = "surfaces/start.py"
"""The script in the package that starts one of our modules without the current folder on the module path."""
SERVER_NAME = "holdfast"

OUR_MARKS: dict[str, Any] = {"ours": LAUNCHER, "formerly": (ENTRY, SERVER)}
"""The fields of an edit that identify what we registered, in this and older versions."""

GUARD = 'exec 2>/dev/null; trap "exit 0" 0; . "$0"'
"""Makes the shell run the launcher and end silently with 0, even if the launcher is missing or damaged.

A host takes 2 for "block", and dash ends with 2 if a script is missing. It is one simple command for the host's own
shell, since Cursor puts a here-document after it.
"""

BARE = "-._/:~\\"
"""Characters that a word may contain beside letters and digits on Windows."""
PATH_LIMIT = 32_768
"""Characters of the longest path on Windows."""


def hook_words(command: Sequence[str], host: str, *options: str, windows: bool = os.name == "nt") -> list[str]:
    """Return a hook's program and arguments, for a plug-in that starts them without a shell.

    `command` is the interpreter, the package's folder and the launcher, all absolute. On Windows the hook program
    itself is named: a process without a shell cannot be a batch file there (Node refuses to start one).
    """
    interpreter, package, launcher = command
    if windows:
        return [_on_windows(interpreter), "-I", "-S", f"{_on_windows(package)}/surfaces/hooks/entry.py", host, *options]
    return ["/bin/sh", "-c", GUARD, launcher, host, *options]


def hook_command(command: Sequence[str], host: str, *options: str, windows: bool = os.name == "nt") -> str:
    """Return a hook as one simple shell command. On Windows it is the launcher alone, a batch file."""
    if windows:
        return shell_line([_on_windows(command[2]), host, *options], windows=True)
    return shell_line(hook_words(command, host, *options, windows=False), windows=False)


def launcher_words(command: Sequence[str], host: str, *options: str, windows: bool = os.name == "nt") -> list[str]:
    """Return the launcher's words, for a host that splits commands at blanks and knows no quotes."""
    return [_on_windows(command[2]) if windows else command[2], host, *options]


def shell_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """Return the words as one simple command; on Windows with quotes only if a path has no short name."""
    if not windows:
        from shlex import join  # late: only setup writes command lines

        return join(words)
    return " ".join(word if _is_bare(word) else f'"{word}"' for word in words)


def bare_path(path: str, short_name: Callable[[str], str]) -> str:
    """Return a Windows path with forward slashes, by its short name if it would need quotes."""
    slashed = path.replace("\\", "/")
    return slashed if _is_bare(slashed) else short_name(path).replace("\\", "/")


def _is_bare(word: str) -> bool:
    """Return whether cmd, PowerShell and Git Bash all take the word unchanged."""
    return bool(word) and all(char.isalnum() or char in BARE for char in word)


def _on_windows(path: str) -> str:
    return bare_path(path, _short_name)


def _short_name(path: str) -> str:
    """Return Windows' short name of a path, without blanks; the path itself on a disk without such names."""
    import ctypes

    ask = ctypes.windll.kernel32.GetShortPathNameW  # type: ignore[attr-defined]
    buffer = ctypes.create_unicode_buffer(PATH_LIMIT)
    return buffer.value if ask(path, buffer, PATH_LIMIT) else path


def server_words(command: Sequence[str], host: str) -> list[str]:
    """Return the MCP server's program and arguments; it gets the host, since not every client says who it is.

    -I: a host starts the server in a repository, and no module of that may replace one of ours.
    """
    interpreter, package, launcher = command
    if os.name == "nt":  # not every host starts a batch file
        return [interpreter, "-I", os.path.join(package, *START.split("/")), f"{SERVER}.__main__", "--for", host]
    return ["/bin/sh", launcher, "--mcp", "--for", host]


def hook_edit(file: str, command: str, hook: Hook, path: tuple[str, ...] = ("hooks",)) -> ConfigEdit:
    """Return a hook's entry (name, matcher and handler's keys) in Claude Code's shape: a group with one handler."""
    name, matcher, keys = hook
    group: dict[str, Any] = {"matcher": matcher} if matcher else {}
    group["hooks"] = [{"type": "command", "command": command, **keys}]
    return ConfigEdit(file=file, path=(*path, name), value=group, **OUR_MARKS)


def server_edit(
    file: str, command: Sequence[str], host: str, path: tuple[str, ...] = ("mcpServers",), **keys: Any
) -> ConfigEdit:
    """Return the MCP server's entry in the usual shape; `keys` come before `command` and `args`."""
    program, *arguments = server_words(command, host)
    value = {**keys, "command": program, "args": arguments}
    return ConfigEdit(file=file, path=path, key=SERVER_NAME, value=value, **OUR_MARKS)
