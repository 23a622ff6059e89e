"""The package index knows `holdfast` as another product: what is printed and documented must install ours."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.test_plugin_packages import script  # noqa: F401  a fixture

ROOT = Path(__file__).parents[1]
INSTALLS = re.compile(
    r"(?:pip3?|pipx|uv tool|uv pip) (?:install|run|upgrade|uninstall)\b"
    r"[^\n#;|]*?[ '\"]holdfast(?!-memory)(?=[\s'\"\[=<>`]|$)"
    r"|\bholdfast\[[a-z]+\]|\buvx (?:--\S+ )*holdfast(?!-memory)\b"
)
FOLDERS = ("src", "docs", "plugins", "scripts", "examples", "benchmarks", ".github")
FILES = ("README.md", "ARCHITECTURE.md", "Makefile", "pyproject.toml")


def texts() -> list[Path]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".yml")]
    return [*files, *(ROOT / name for name in FILES)]


def test_nothing_tells_a_user_to_install_the_other_product() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in texts()
        for match in INSTALLS.finditer(path.read_text("utf-8"))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("pip install holdfast", True),
        ("uv tool install --compile-bytecode holdfast     # or", True),
        ("pip install 'holdfast[onnx]'", True),
        ("`pip install -U holdfast`", True),
        ("uvx holdfast mcp", True),
        ("pip install holdfast-memory", False),
        ("pip install 'holdfast-memory[onnx]'", False),
        ("claude plugin install holdfast@holdfast-local", False),
        ("pip install click; holdfast setup", False),
    ],
)
def test_the_pattern_tells_the_two_apart(line: str, wrong: bool) -> None:
    assert bool(INSTALLS.search(line)) is wrong


def test_the_distribution_has_the_name_that_the_registry_entry_installs(script, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    script.build(tmp_path)
    entry = json.loads((tmp_path / "server.json").read_text("utf-8"))
    assert entry["packages"][0]["identifier"] == project["name"] == "holdfast-memory"
    # uvx starts the script that is called like the distribution
    assert project["scripts"]["holdfast-memory"] == project["scripts"]["holdfast"]
