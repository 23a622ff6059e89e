"""The package index knows `holdfast` as another product: what is printed and documented must install ours."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tests.test_plugin_packages import script  # noqa: F401  a fixture

ROOT = Path(__file__).parents[1]


def test_the_distribution_has_the_name_that_the_registry_entry_installs(script, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    script.build(tmp_path)
    entry = json.loads((tmp_path / "server.json").read_text("utf-8"))
    assert entry["packages"][0]["identifier"] == project["name"] == "holdfast-memory"
    # uvx starts the script that is called like the distribution
    assert project["scripts"]["holdfast-memory"] == project["scripts"]["holdfast"]
