"""What setup registered with hosts, read from their files: every command, as the host would run it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.installing.hostfiles import HostFiles
from holdfast.ports.host import ConfigEdit, OwnFile
from holdfast.settings import interpreter, package_folder, program_paths
from holdfast.surfaces.cli.proof import server_words
from holdfast.wiring import load_host

LAUNCHER = "bin/holdfast-launch"
PROGRAM = re.compile(r"^const PROGRAM = (\[.*\])$", re.MULTILINE)


class Registered(NamedTuple):
    """A command of ours in a host's file."""

    kind: str
    """`hook` or `server`."""
    words: tuple[str, ...]
    """As the host starts it: a shell with a string, or a program with arguments."""


def registered(home: Path) -> dict[Registered, None]:
    """Every different command in the files of the manifest, of all hosts that are set up."""
    entries: dict[Registered, None] = {}
    for file, entry in HostFiles(str(home)).manifest.items():
        for edit in entry["edits"]:
            if "value" in edit:
                entries |= dict.fromkeys(_in_value(edit["value"]))
            elif file.endswith((".json", ".yaml")):
                entries |= dict.fromkeys(_in_value(json.loads(edit["text"])))
            elif file.endswith((".js", ".ts", ".mjs")):
                for words in PROGRAM.findall(edit["text"]):
                    entries[Registered("hook", tuple(json.loads(words)))] = None
    return entries


def _in_value(value: Any) -> Iterator[Registered]:
    if isinstance(value, list):
        for item in value:
            yield from _in_value(item)
    if not isinstance(value, dict):
        return
    words = server_words(value)
    if any("mcp" in word for word in words[1:]):
        yield Registered("server", tuple(words))
        return
    for key, item in value.items():
        if key == "command" and isinstance(item, str):
            yield Registered("hook", ("/bin/sh", "-c", item))
            if item.startswith("/") and '"' not in item:  # Antigravity splits it at blanks
                yield Registered("hook", tuple(item.split()))
        else:
            yield from _in_value(item)


def set_up_by_an_older_version(home: Path, user_home: Path, host: str) -> None:
    """Leave the files as the version left them that registered the hook program and the server's module itself."""
    files = HostFiles(str(home))
    plan = load_host(host).plan_install("user", "", str(user_home), program_paths(str(home)))
    edits = [_older(edit, host) for edit in plan.edits]
    files.apply(files.plan(f"{host}:user:", edits))


def _older(edit: Any, host: str) -> Any:
    if not edit.formerly:
        return edit
    hook = f"{interpreter()} -I -S {package_folder()}/surfaces/hooks/entry.py {host}"
    if isinstance(edit, OwnFile):
        mark = "holdfast.surfaces.mcp" if '"mcpServers"' in edit.text else "holdfast/surfaces/hooks/entry.py"
        text = PROGRAM.sub(lambda _: f"const PROGRAM = {json.dumps(hook.split())}", edit.text)
        if text == edit.text:
            text = json.dumps(_older_value(json.loads(text), hook, host), indent=2) + "\n"
        return replace(edit, text=text, ours=mark, formerly=())
    assert isinstance(edit, ConfigEdit)
    mark = "holdfast.surfaces.mcp" if edit.key == "holdfast" and not _has_hook(edit.value) else (
        "holdfast/surfaces/hooks/entry.py"
    )  # fmt: skip
    return replace(edit, value=_older_value(edit.value, hook, host), ours=mark, formerly=())


def _has_hook(value: Any) -> bool:
    return any(entry.kind == "hook" for entry in _in_value(value))


def _older_value(node: Any, hook: str, host: str) -> Any:
    server = [interpreter(), "-m", "holdfast.surfaces.mcp", "--for", host]
    if isinstance(node, list):
        return [_older_value(item, hook, host) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("command"), list):
        return node | {"command": server}
    for key in ("command", "cmd"):
        if isinstance(node.get(key), str):
            return node | ({key: server[0], "args": server[1:]} if "args" in node else {key: hook})
    return {key: _older_value(value, hook, host) for key, value in node.items()}
