"""Holdfast is removed without `holdfast uninstall`: the agent goes on as if there had been none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import PYTHON, Machine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher there is a batch file")
WHERE = "import sysconfig, holdfast; print(holdfast.__file__, sysconfig.get_path('purelib'), sep='\\n')"


class Environment:
    """An environment of its own with a copy of the package; what the package needs comes from the installed one."""

    def __init__(self, folder: Path) -> None:
        ran = subprocess.run([PYTHON, "-I", "-c", WHERE], capture_output=True, text=True, check=True)
        package, libraries = ran.stdout.splitlines()
        self.folder = folder
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(folder)], check=True)
        (site,) = folder.glob("lib/python3*/site-packages")
        self.package = site / "holdfast"
        shutil.copytree(Path(package).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        (site / "libraries.pth").write_text(libraries + "\n")

    def holdfast(self, machine: Machine, *arguments: str) -> None:
        command = [str(self.folder / "bin" / "python"), "-P", "-m", "holdfast", *arguments]
        subprocess.run(command, cwd=machine.repository, env=machine.env, capture_output=True, check=True)


def prompt(machine: Machine, session: str) -> dict[str, Any]:
    return {
        "session_id": session, "cwd": str(machine.repository), "hook_event_name": "UserPromptSubmit",
        "prompt": "How are amounts rounded?", "transcript_path": "",
    }  # fmt: skip


def test_hooks_say_nothing_once_the_package_and_then_its_environment_is_gone(machine: Machine, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "env of ada")
    environment.holdfast(machine, "setup", "claude-code")
    machine.hook(prompt(machine, "s1"))  # asserts the exit code, and that what is printed is JSON or nothing
    shutil.rmtree(environment.package)
    assert machine.hook(prompt(machine, "s2")) == ""
    shutil.rmtree(environment.folder)
    assert machine.hook(prompt(machine, "s3")) == ""


def test_an_older_home_is_served_again_after_setup_from_a_new_environment(machine: Machine, tmp_path: Path) -> None:
    first = Environment(tmp_path / "first")
    first.holdfast(machine, "setup", "claude-code")
    shutil.rmtree(first.folder)
    second = Environment(tmp_path / "second")
    second.holdfast(machine, "setup", "claude-code")
    launcher = (machine.home / ".holdfast" / "bin" / "holdfast-launch").read_text("utf-8")
    assert str(second.package) in launcher
    assert str(first.folder) not in launcher
    machine.hook(prompt(machine, "s1"))
