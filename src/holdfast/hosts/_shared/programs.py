"""What hosts are given: the command lines of our hook program and our MCP server, by absolute paths, and the entries.

A version manager's shim costs every hook hundreds of milliseconds, and desktop programs have a short PATH.

On Windows a host hands a hook's command to cmd, PowerShell or Git Bash, and not always to the same one (Codex takes the
session's shell, Claude Code Git Bash where it is installed). They agree on words without quotes and with forward
slashes: a quoted program is a mere string to PowerShell, and Git Bash drops backslashes. So a path that would need
quotes is given by its short name (`C:/PROGRA~1/...`), which Windows keeps on most disks. Reports of all three shells,
looked up 2026-11-21; not run.
"""

from __future__ import annotations

import os
import shlex

from holdfast.ports.host import ConfigEdit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Hook = tuple[str, str, Mapping[str, Any]]

ENTRY = "holdfast/surfaces/hooks/entry.py"
"""End of the hook program's path: how a hook of ours is known again, whatever interpreter it names."""

SERVER = "holdfast.surfaces.mcp"
"""How an MCP server of ours is known again."""
SERVER_NAME = "holdfast"

BARE = "-._/:~\\"
"""What may stand in a word beside letters and digits on Windows."""
PATH_LIMIT = 32_768
"""Characters of the longest path on Windows."""


def hook_words(command: Sequence[str], host: str, *options: str) -> list[str]:
    """The hook program and its arguments. `command` is the interpreter and the package's folder, both absolute.

    -I and -S: neither the user's site folders nor PYTHON* variables nor `site` itself, which would double the start.
    """
    interpreter, package = map(_on_windows, command) if os.name == "nt" else command
    return [interpreter, "-I", "-S", f"{package}/surfaces/hooks/entry.py", host, *options]


def hook_command(command: Sequence[str], host: str, *options: str) -> str:
    """The same as one simple shell command."""
    return shell_line(hook_words(command, host, *options))


def shell_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """The words as one simple command; on Windows with quotes only where a path has no short name."""
    if not windows:
        return shlex.join(words)
    return " ".join(word if _is_bare(word) else f'"{word}"' for word in words)


def bare_path(path: str, short_name: Callable[[str], str]) -> str:
    """A path on Windows with forward slashes, by its short name where it would need quotes."""
    slashed = path.replace("\\", "/")
    return slashed if _is_bare(slashed) else short_name(path).replace("\\", "/")


def _is_bare(word: str) -> bool:
    """Whether cmd, PowerShell and Git Bash all take the word as it is."""
    return bool(word) and all(char.isalnum() or char in BARE for char in word)


def _on_windows(path: str) -> str:
    return bare_path(path, _short_name)


def _short_name(path: str) -> str:
    """What Windows calls a path without blanks and long names; the path itself on a disk that keeps no such names."""
    import ctypes

    ask = ctypes.windll.kernel32.GetShortPathNameW  # type: ignore[attr-defined]
    told = ctypes.create_unicode_buffer(PATH_LIMIT)
    return told.value if ask(path, told, PATH_LIMIT) else path


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
