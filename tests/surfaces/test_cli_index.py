"""`holdfast index`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, told, told_json


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository, in which we are."""
    folder = tmp_path / "harbour"
    (folder / "port").mkdir(parents=True)
    (folder / "port" / "__init__.py").write_text("")
    (folder / "port" / "tides.py").write_text("def high():\n    return 4\n")
    (folder / "port" / "ships.py").write_text("from port.tides import high\n")
    (folder / "log.txt").write_text("calm\n")
    (folder / "vendor").mkdir()
    (folder / "vendor" / "x.py").write_text("1")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_index_is_built_once_and_then_only_followed(project: Path) -> None:
    assert told("index").startswith("4 files indexed: 4 files parsed, 1 definition")
    assert told("index").startswith("4 files indexed: 0 files parsed")
    (project / "port" / "ships.py").write_text("class Ship:\n    def sail(self): pass\n")
    answer = told_json("index")
    assert (answer["parsed"], answer["symbols"], answer["complete"]) == (1, 2, True)
    assert "seconds" in answer


def test_what_was_left_out_is_reported_with_its_reason() -> None:
    result = run("index")
    assert "skipped: 1 file; --skipped" in result.stderr
    assert "skipped  vendor/x.py  vendored" in told("index", "--skipped")


def test_a_home_folder_is_never_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "harbour"))
    result = run("index")
    assert result.exit_code == 1
    assert "not a project's folder" in result.stderr
