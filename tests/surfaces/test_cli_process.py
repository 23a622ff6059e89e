"""The command line as a process: exit codes, bad homes, pipes, and what it does not load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.terminal import start

HEAVY = ("mcp", "rich", "httpx2", "asyncio", "fastembed", "pydantic")
VECTORS = "numpy"
"""Loaded by a question that is also answered by meaning, and by nothing else."""


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_one_process_remembers_and_the_next_one_knows(home: Path) -> None:
    assert start("remember", "Seed the clock first").returncode == 0
    ran = start("recall", "clock", "--json")
    assert json.loads(ran.stdout)["items"][0]["lesson"]["insight"] == "Seed the clock first"
    assert oct((home / "memory.db").stat().st_mode)[-3:] == "600"


@pytest.mark.parametrize("command", [["recall", "clock"], ["list"], ["remember", "x y"], ["--help"], ["status"]])
def test_nothing_heavy_is_loaded(command: list[str]) -> None:
    heavy = HEAVY if command[0] == "recall" else (*HEAVY, VECTORS)
    code = (
        "import sys\n"
        "from holdfast.surfaces.cli.main import cli\n"
        f"try: cli.main({command!r})\n"
        "except SystemExit: pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_loads_no_command() -> None:
    code = (
        "import sys\n"
        "from holdfast.surfaces.cli.main import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('holdfast.surfaces.cli.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert "recall" not in done.stderr


def test_a_corrupt_database_is_one_error_and_stays_as_it_is(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "memory.db").write_bytes(b"not a database, nor was it ever one" * 100)
    content = (home / "memory.db").read_bytes()
    done = start("list")
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = done.stderr.splitlines()
    assert "not a database" in error
    assert hint.startswith("hint: ")
    assert (home / "memory.db").read_bytes() == content


@pytest.mark.parametrize("place", ["/dev/null/home", "/proc/holdfast"])
def test_a_home_that_cannot_be_made_is_one_error(place: str) -> None:
    done = start("list", HOLDFAST_HOME=place)
    assert (done.returncode, done.stdout) == (1, "")
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_home_is_one_error(home: Path) -> None:
    home.mkdir(mode=0o500)
    done = start("remember", "Seed the clock first")
    assert (done.returncode, done.stdout) == (1, "")
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


def test_no_home_at_all_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USERPROFILE", "HOLDFAST_HOME"):
        monkeypatch.delenv(name, raising=False)
    done = start("list")
    assert done.returncode == 1
    assert done.stderr == "error: no home folder\nhint: set HOME or HOLDFAST_HOME\n"


def test_a_damaged_config_file_is_named(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text("capture = maybe\n")
    done = start("list")
    assert done.returncode == 1
    assert "config.toml" in done.stderr


def test_a_reader_that_goes_away_hears_nothing_more(tmp_path: Path) -> None:
    stated = "".join(f'{{"kind": "fix", "insight": "Rule number {n} {"x" * 300}"}}\n' for n in range(2000))
    assert start("import", "-", "--accept", typed=stated.encode()).returncode == 0
    for command in ("export", "list --limit 2000"):
        line = f"{sys.executable} -m holdfast {command} 2>{tmp_path}/err | head -n 1"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, timeout=180)
        assert done.stdout.count("\n") == 1
        assert "Traceback" not in (tmp_path / "err").read_text()
        assert "error" not in (tmp_path / "err").read_text()


def test_a_bug_of_ours_is_exit_70_with_the_way_to_report_it() -> None:
    code = (
        "from holdfast.surfaces.cli.main import cli\n"
        "import click\n"
        "broken = click.Command('broken', callback=lambda: 1 / 0)\n"
        "cli.get_command = lambda ctx, name: broken\n"
        "cli.main(['list'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("holdfast doctor --report")


def test_ctrl_c_is_exit_130_without_a_word() -> None:
    code = (
        "from holdfast.surfaces.cli.main import cli\n"
        "import click\n"
        "def stop(): raise KeyboardInterrupt\n"
        "broken = click.Command('broken', callback=stop)\n"
        "cli.get_command = lambda ctx, name: broken\n"
        "cli.main(['list'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=180)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_hook_becomes_the_hook_program(project: Path) -> None:
    payload = {"session_id": "s1", "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    done = start("hook", "claude-code", typed=json.dumps({**payload, "transcript_path": ""}).encode())
    assert done.returncode == 0
    assert json.loads(done.stdout) == {}
    assert start("hook", "claude-code", typed=b"not json").returncode == 0


def test_mcp_becomes_the_server() -> None:
    ask = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = start("mcp", typed=json.dumps(ask).encode() + b"\n")
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "holdfast"
