"""Reads and plans Codex's approvals of hooks: Codex silently skips a hook until its user has approved that command.

Codex itself reports a hook's digest and state (`hooks/list` of its app-server). An approval is a table of its
configuration with the digest; it is written only if the user asked for it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

from holdfast.errors import HostConfigError
from holdfast.ports.host import ConfigEdit, HookApproval

TIMEOUT_S = 20.0
"""Seconds until a Codex that does not answer is ended."""
BY_HAND = "type /hooks in Codex"


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
