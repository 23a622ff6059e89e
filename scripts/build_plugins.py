"""Builds the packages that hosts know from one source: `make plugins`, into dist/plugins.

    claude-code/     plug-in of Claude Code's layout; installs unmodified in Codex and Copilot CLI as well
    codex/, cursor/  the same with those hosts' own manifests and hooks
    gemini-cli/      extension
    server.json      entry for the MCP registry
    .claude-plugin/marketplace.json  a local marketplace with the first of them

Commands and skills are written once, in `plugins/`; hooks are those that `holdfast setup` registers, started by the
program's name, since a package does not know where it will lie. Install Holdfast itself first: it must be on the PATH.

    python scripts/build_plugins.py [FOLDER]
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from holdfast._version import __version__
from holdfast.hosts import codex, cursor, gemini_cli
from holdfast.hosts.claude_code import install

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

Hooks = Sequence[tuple[str, str, Mapping[str, Any]]]


def main() -> None:
    """Build everything into the folder given, or into dist/plugins."""
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "plugins")


def build(target: Path) -> None:
    """Every package, in a folder that is made anew."""
    shutil.rmtree(target, ignore_errors=True)
    _claude_like(target / "claude-code", ".claude-plugin", _nested(install.HOOKS, "any"))
    _claude_like(target / "codex", ".codex-plugin", _nested(codex.HOOKS, "codex"))
    _claude_like(target / "cursor", ".cursor-plugin", _flat(cursor.HOOKS, "cursor"))
    _gemini(target / "gemini-cli")
    _write(target / ".claude-plugin" / "marketplace.json", _marketplace())
    _write(target / "server.json", _registry_entry())


def _claude_like(folder: Path, manifest: str, hooks: dict[str, Any]) -> None:
    _write(folder / manifest / "plugin.json", MANIFEST)
    _write(folder / "hooks" / "hooks.json", hooks)
    _write(folder / ".mcp.json", {"mcpServers": {"holdfast": SERVER}})
    shutil.copytree(SOURCE / "skills", folder / "skills")
    shutil.copytree(SOURCE / "commands", folder / "commands")
    (folder / "README.md").write_text(_readme(), "utf-8")


def _gemini(folder: Path) -> None:
    extension = {"name": "holdfast", "version": __version__, "description": DESCRIPTION}
    _write(folder / "gemini-extension.json", extension | {"mcpServers": {"holdfast": SERVER}})
    _write(folder / "hooks" / "hooks.json", _nested(gemini_cli.HOOKS, "gemini-cli"))
    shutil.copytree(SOURCE / "skills", folder / "skills")
    for file in sorted((SOURCE / "commands").glob("*.md")):
        _, head, body = file.read_text("utf-8").split("---\n", 2)
        prompt = body.strip().replace("$ARGUMENTS", "{{args}}")
        told = f"description = {json.dumps(yaml.safe_load(head)['description'])}\nprompt = {json.dumps(prompt)}\n"
        command = folder / "commands" / "holdfast" / f"{file.stem}.toml"
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(told, "utf-8")
    (folder / "README.md").write_text(_readme(), "utf-8")


def _nested(hooks: Hooks, host: str) -> dict[str, Any]:
    """Hooks in Claude Code's shape, started by the program's name."""
    made: dict[str, list[dict[str, Any]]] = {}
    for name, matcher, keys in hooks:
        group: dict[str, Any] = {"matcher": matcher} if matcher else {}
        group["hooks"] = [{"type": "command", **_commands(host), **keys}]
        made[name] = [group]
    return {"hooks": made}


def _commands(host: str) -> dict[str, str]:
    """A hook's command by its keys: one that ends with 0 also when the program is gone, since hosts take 127 for "no".

    Codex and Copilot CLI have keys of their own for Windows, which others pass over (seen with Claude Code 2.1.330 and
    Codex 0.169.0). Gemini CLI has none, so its command must be one for sh and PowerShell alike.
    """
    plain = f"holdfast hook {host}"
    if host == "gemini-cli":
        return {"command": f"{plain}; exit 0"}
    return {"command": f"sh -c '{plain} 2>/dev/null; exit 0'", "commandWindows": plain, "powershell": plain}


def _flat(hooks: Sequence[tuple[str, Mapping[str, Any]]], host: str) -> dict[str, Any]:
    # Cursor goes on after any exit code but 2, and puts a here-document or a pipe around the command
    return {"version": 1, "hooks": {name: [{"command": f"holdfast hook {host}", **keys}] for name, keys in hooks}}


def _marketplace() -> dict[str, Any]:
    plugin = {"name": "holdfast", "source": "./claude-code", "description": DESCRIPTION}
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
