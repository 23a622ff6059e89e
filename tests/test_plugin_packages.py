"""The packages that hosts know: built from one source, and held to the hosts' own schemas by an offline linter."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_plugins", ROOT / "scripts" / "build_plugins.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def packages(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plugins")
    script.build(target)
    return target


def test_the_linter_finds_nothing(packages: Path) -> None:
    folders = [str(packages), *(str(path) for path in sorted(packages.iterdir()) if path.is_dir())]
    ran = subprocess.run(
        [sys.executable, "-m", "skillsaw", "lint", "--strict", "--no-progress", "--no-plugins", *folders],
        capture_output=True, text=True, check=False, cwd=packages,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini-cli"])
def test_every_package_starts_our_hook_and_our_server_by_name(packages: Path, host: str) -> None:
    hooks = json.loads((packages / host / "hooks" / "hooks.json").read_text())["hooks"]
    text = json.dumps(hooks)
    assert len(re.findall(r'"command": "(?:sh -c \')?holdfast hook ', text)) == sum(map(len, hooks.values()))
    manifest = "gemini-extension.json" if host == "gemini-cli" else ".mcp.json"
    server = json.loads((packages / host / manifest).read_text())["mcpServers"]["holdfast"]
    assert server == {"command": "holdfast", "args": ["mcp", "--hooked"]}


@pytest.mark.skipif(os.name == "nt", reason="commands for a POSIX shell")
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli"])
def test_a_package_without_the_program_disturbs_no_host(packages: Path, host: str, tmp_path: Path) -> None:
    hooks = json.loads((packages / host / "hooks" / "hooks.json").read_text())["hooks"]
    commands = {handler["command"] for groups in hooks.values() for group in groups for handler in group["hooks"]}
    assert len(commands) == 1
    for command in commands:
        ran = subprocess.run(
            ["/bin/sh", "-c", command], env={"PATH": "/usr/bin:/bin"}, input="{}", capture_output=True, text=True,
            check=False, cwd=tmp_path,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (0, "")
        assert ran.stderr == "" or host == "gemini-cli"  # its one command must be PowerShell's, too


def test_commands_are_the_same_in_every_form(packages: Path) -> None:
    names = sorted(path.stem for path in (packages / "claude-code" / "commands").glob("*.md"))
    assert names == ["checkpoint", "recall", "remember"]
    for name in names:
        made = tomllib.loads((packages / "gemini-cli" / "commands" / "holdfast" / f"{name}.toml").read_text())
        assert "{{args}}" in made["prompt"]
        assert "$ARGUMENTS" in (packages / "cursor" / "commands" / f"{name}.md").read_text()


def test_building_twice_gives_the_same(script: ModuleType, packages: Path, tmp_path: Path) -> None:
    script.build(tmp_path / "again")
    first, second = (
        {p.relative_to(r): p.read_bytes() for p in r.rglob("*") if p.is_file()} for r in (packages, tmp_path / "again")
    )
    assert first == second


def test_the_readme_names_the_registry_entry(script: ModuleType) -> None:
    assert f"mcp-name: {script.REGISTRY_NAME}" in (ROOT / "README.md").read_text("utf-8")
