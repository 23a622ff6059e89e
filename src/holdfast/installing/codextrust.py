"""Codex's approvals of hooks: it silently skips a hook until its user has approved that very command.

Codex itself tells a hook's digest and state (`hooks/list` of its app-server). An approval is a table of its
configuration that holds the digest; it is written only when the user asked for it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HostConfigError
from holdfast.ports.host import ConfigEdit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.settings import Settings

TIMEOUT_S = 20.0
OWNER = "codex:trust:"


class Hook(NamedTuple):
    """One of our hooks as Codex sees it."""

    key: str
    digest: str
    state: str
    """trusted, untrusted or modified."""


def codex_folder(settings: Settings) -> str:
    """Where Codex keeps its files."""
    return dict(settings.host_folders).get("codex") or os.path.join(settings.user_home, ".codex")


def our_hooks(settings: Settings) -> list[Hook]:
    """Our hooks in the user's file, asked of Codex. Raises HostConfigError when it is not there or does not answer."""
    program = shutil.which("codex")
    if program is None:
        raise HostConfigError("codex is not on the PATH", hint="type /hooks in Codex and approve Holdfast's")
    file = os.path.join(codex_folder(settings), "hooks.json")
    listed = _ask([program, "app-server"], settings.user_home)
    hooks = [hook for folder in listed.get("data", ()) for hook in folder.get("hooks", ())]
    return [
        Hook(str(hook["key"]), str(hook["currentHash"]), str(hook["trustStatus"]))
        for hook in hooks
        if str(hook.get("key", "")).startswith(file + ":")
    ]


def approvals(settings: Settings, hooks: Sequence[Hook]) -> list[ConfigEdit]:
    """The edits that approve these hooks, as Codex writes them when its user does."""
    file = os.path.join(codex_folder(settings), "config.toml")
    return [
        ConfigEdit(
            file=file, path=("hooks", "state"), key=hook.key, value={"trusted_hash": hook.digest}, ours="sha256:"
        )
        for hook in hooks
    ]


def _ask(command: Sequence[str], folder: str) -> dict[str, Any]:
    """The answer to `hooks/list`."""
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
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and message.get("id") == number and isinstance(message.get("result"), dict):
            result: dict[str, Any] = message["result"]
            return result
        if isinstance(message, dict) and message.get("id") == number:
            raise HostConfigError(f"codex does not know {method}: {message.get('error')}", hint="update codex")
    raise HostConfigError("codex did not answer", hint="type /hooks in Codex and approve Holdfast's")


def _send(server: subprocess.Popen[str], message: dict[str, Any]) -> None:
    try:
        if server.stdin:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
    except OSError as exc:
        raise HostConfigError(f"codex ended: {exc}", hint="codex --version") from exc
