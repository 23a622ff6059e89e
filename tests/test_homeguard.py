"""The check that no test touches the real home can fail, and tests start from a home that is not the user's."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.settings import load_settings
from tests.homeguard import IN_USE, SCRATCH_HOMES, HomeGuard

ROOT = Path(__file__).resolve().parent.parent
SUITE = """\
from pathlib import Path
import os, subprocess, sys

def test_something():
    real = Path(os.environ["REAL_HOME"])
    {action}
"""
CONFTEST = "from tests.homeguard import protect\n\ndef pytest_configure(config):\n    protect(config)\n"


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """A home in which a host has a file."""
    (tmp_path / "ada" / ".claude").mkdir(parents=True)
    (tmp_path / "ada" / ".claude" / "settings.json").write_text("{}\n")
    return tmp_path / "ada"


def run_suite(real: Path, action: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A run of one test that does that, for a user with that home."""
    suite = real.parent / "suite"
    suite.mkdir()
    (suite / "conftest.py").write_text(CONFTEST)
    (suite / "test_suite.py").write_text(SUITE.format(action=action))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", os.devnull, suite],
        cwd=ROOT, env={**os.environ, "HOME": str(real), "REAL_HOME": str(real), **env}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip


def test_a_run_whose_tests_pass_fails_when_one_touched_the_real_home(real: Path) -> None:
    (real / ".codex").mkdir()
    (real / ".codex" / "config.toml").write_text("")
    actions = [
        '(real / ".holdfast").mkdir()',
        '(real / ".config/goose").mkdir(parents=True)',
        """(real / ".claude/settings.json").write_text('{"hooks": {}}')""",
        '(real / ".codex/config.toml").unlink()',
    ]
    done = run_suite(real, "; ".join(actions))
    assert "1 passed" in done.stdout
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    changes = {"created: ~/.holdfast", "created: ~/.config/goose", "changed: ~/.claude/settings.json"}
    assert changes | {"removed: ~/.codex/config.toml"} <= set(done.stdout.splitlines())


def test_tests_and_the_processes_they_start_write_to_a_scratch_home(real: Path) -> None:
    command = "import pathlib; (pathlib.Path.home() / '.claude').mkdir(); pathlib.Path('~/.codex').expanduser().mkdir()"
    done = run_suite(real, f'subprocess.run([sys.executable, "-c", {command!r}], check=True)')
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert sorted(os.listdir(real)) == [".claude"]
    assert os.listdir(real / ".claude") == ["settings.json"]


def test_what_an_agent_beside_the_tests_writes_is_not_counted_against_them(real: Path) -> None:
    action = '(real / ".claude/projects").mkdir(), (real / ".codex").mkdir()'
    assert run_suite(real, action, **{IN_USE: ".gemini, .codex"}).returncode == pytest.ExitCode.OK


def test_an_untouched_home_has_no_changes(real: Path) -> None:
    guard = HomeGuard(real)
    (real / "notes.txt").write_text("the user's own affair")
    assert guard.changes() == []


def test_a_change_that_keeps_the_size_is_seen_by_its_stamp(real: Path) -> None:
    guard = HomeGuard(real)
    os.utime(real / ".claude" / "settings.json", (1, 1))
    assert guard.changes() == ["changed: ~/.claude/settings.json"]


@pytest.mark.parametrize("variable", SCRATCH_HOMES)
def test_this_run_has_a_scratch_home(variable: str) -> None:
    assert os.environ[variable].startswith(tempfile.gettempdir())
    assert load_settings().home.startswith(tempfile.gettempdir())
