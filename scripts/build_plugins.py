"""Builds the packages that hosts know from one source: `make plugins`, into dist/plugins.

    <host>/      for each host whose profile says how its package is made: a plug-in or an extension
    server.json  entry for the MCP registry
    and a local marketplace where a host's profile names its file

Commands and skills are written once, in `plugins/`; hooks are those that `holdfast setup` registers, started by the
program's name, since a package does not know where it will lie. Install Holdfast itself first: it must be on the PATH.

    python scripts/build_plugins.py [FOLDER]
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # its stubs are another package

from holdfast import plugins
from holdfast._version import __version__
from holdfast.ports.host import HostPackage

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "plugins"
DESCRIPTION = (
    "Memory of what earlier sessions learnt about your code, checked against the code and given when it matters."
)
SHORT = "Local memory of coding agents: lessons anchored to code, given when they matter"
AUTHOR = {"name": "Holdfast"}
# Who publishes puts their own namespace here; the README's `mcp-name` must say the same.
REGISTRY_NAME = "io.github.holdfast-memory/holdfast"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SERVER = {"command": "holdfast", "args": ["mcp", "--hooked"]}
MANIFEST = {
    "name": "holdfast", "version": __version__, "description": DESCRIPTION, "author": AUTHOR, "license": "Apache-2.0",
    "keywords": ["memory", "context", "lessons"],
}  # fmt: skip


def main() -> None:
    """Build everything into the folder given, or into dist/plugins."""
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "plugins")


def build(target: Path) -> None:
    """Every package, in a folder that is made anew."""
    shutil.rmtree(target, ignore_errors=True)
    for name in sorted(plugins.builtin_names("hosts")):
        host = plugins.load("hosts", name)
        package: HostPackage | None = host.profile.package
        if package is None:
            continue
        LAYOUTS[package.layout](target / host.name, package)
        if package.marketplace:
            _write(target / package.marketplace, _marketplace(host.name))
    _write(target / "server.json", _registry_entry())


def _plugin(folder: Path, package: HostPackage) -> None:
    _write(folder / package.manifest, MANIFEST)
    _write(folder / "hooks" / "hooks.json", _hooks(package))
    _write(folder / ".mcp.json", {"mcpServers": {"holdfast": SERVER}})
    shutil.copytree(SOURCE / "skills", folder / "skills")
    shutil.copytree(SOURCE / "commands", folder / "commands")
    (folder / "README.md").write_text(_readme(), "utf-8")


def _extension(folder: Path, package: HostPackage) -> None:
    extension = {"name": "holdfast", "version": __version__, "description": DESCRIPTION}
    _write(folder / package.manifest, extension | {"mcpServers": {"holdfast": SERVER}})
    _write(folder / "hooks" / "hooks.json", _hooks(package))
    shutil.copytree(SOURCE / "skills", folder / "skills")
    for file in sorted((SOURCE / "commands").glob("*.md")):
        _, head, body = file.read_text("utf-8").split("---\n", 2)
        prompt = body.strip().replace("$ARGUMENTS", "{{args}}")
        text = f"description = {json.dumps(yaml.safe_load(head)['description'])}\nprompt = {json.dumps(prompt)}\n"
        command = folder / "commands" / "holdfast" / f"{file.stem}.toml"
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(text, "utf-8")
    (folder / "README.md").write_text(_readme(), "utf-8")


LAYOUTS: dict[str, Callable[[Path, HostPackage], None]] = {"plugin": _plugin, "extension": _extension}


def _hooks(package: HostPackage) -> dict[str, Any]:
    """The hooks' file; each hook is started by the program's name."""
    plain = f"holdfast hook {package.hook_host}"
    if package.flat:  # a host of this shape may put a here-document or a pipe around the command
        return {"version": 1, "hooks": {name: [{"command": plain, **keys}] for name, keys in package.hooks}}
    made: dict[str, list[dict[str, Any]]] = {}
    for name, matcher, keys in package.hooks:
        group: dict[str, Any] = {"matcher": matcher} if matcher else {}
        group["hooks"] = [{"type": "command", **_commands(plain, package), **keys}]
        made[name] = [group]
    return {"hooks": made}


def _commands(plain: str, package: HostPackage) -> dict[str, str]:
    """A hook's command by its keys: one that ends with 0 also when the program is gone, since hosts take 127 for "no".

    Some hosts have keys of their own for Windows, which others pass over (seen in two of them).
    """
    if package.plain_exit:
        return {"command": f"{plain}; exit 0"}
    return {"command": f"sh -c '{plain} 2>/dev/null; exit 0'", "commandWindows": plain, "powershell": plain}


def _marketplace(folder: str) -> dict[str, Any]:
    plugin = {"name": "holdfast", "source": f"./{folder}", "description": DESCRIPTION}
    return {"name": "holdfast-local", "owner": AUTHOR, "plugins": [plugin]}


def _registry_entry() -> dict[str, Any]:
    package = {
        "registryType": "pypi", "identifier": "holdfast-memory", "version": __version__, "runtimeHint": "uvx",
        "transport": {"type": "stdio"}, "packageArguments": [{"type": "positional", "value": "mcp"}],
    }  # fmt: skip
    return {
        "$schema": SCHEMA, "name": REGISTRY_NAME, "title": "Holdfast", "description": SHORT, "version": __version__,
        "packages": [package],
    }  # fmt: skip


def _readme() -> str:
    return f"# Holdfast\n\n{DESCRIPTION}\n\nInstall the program first, so that `holdfast` is on the PATH.\n"


def _write(file: Path, value: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
