"""`holdfast serve` as a person types it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from holdfast.surfaces.cli import serve
from holdfast.surfaces.cli.main import cli
from tests.server.serving import WAIT_S

pytestmark = pytest.mark.usefixtures("home")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)


def test_the_settings_are_checked_without_serving() -> None:
    done = run("serve", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "fine: http://127.0.0.1:7433, 1 worker(s)\n"


def test_options_become_settings() -> None:
    done = run("serve", "--port", "0", "--certificate", "/nowhere/c.pem", "--certificate-key", "/nowhere/k.pem")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: /nowhere/c.pem: No such file or directory\nhint: the server must be able to read it\n"


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "NEEDED_FOR_POSTGRESQL", ("no_such_driver",))
    monkeypatch.setattr(serve, "become", lambda command: pytest.fail("it started"))
    monkeypatch.setenv("HOLDFAST_STORE", "postgresql://holdfast@db/holdfast")
    done = CliRunner().invoke(cli, ["serve"])
    assert done.exit_code == 1
    assert "needs packages that are not installed: no_such_driver" in done.output
    assert "pip install 'holdfast-memory[server]'" in done.output


def test_the_command_line_loads_no_web_server() -> None:
    code = (
        "import sys, atexit, holdfast.surfaces.cli.serve, holdfast.surfaces.cli.main as main\n"
        "names = ('starlette', 'uvicorn', 'psycopg', 'mcp')\n"
        "atexit.register(lambda: print([name for name in names if name in sys.modules]))\n"
        "main.cli(['serve', '--help'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S)
    assert done.stdout.splitlines()[-1] == "[]"
