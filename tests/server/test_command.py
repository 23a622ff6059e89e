"""`holdfast serve` as a person types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from holdfast.surfaces.cli import serve
from holdfast.surfaces.cli.main import cli
from tests.server.people import caller_of, open_store
from tests.server.serving import WAIT_S

TOKEN = re.compile(r"hf_p[a-z2-7]{8}1_[\w-]{43}[0-9a-f]{8}")

pytestmark = pytest.mark.usefixtures("home")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)


def test_the_settings_are_checked_without_serving() -> None:
    done = run("serve", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "fine: http://127.0.0.1:7433, 1 worker(s)\n"


@pytest.mark.parametrize("place", ["127.0.0.1:9", ""])
def test_a_database_that_is_away_is_said_without_its_password(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("HOLDFAST_STORE", f"postgresql://holdfast:sesame@{place}/team?host=127.0.0.1&port=9")
    for arguments in (("serve", "check"), ("serve",), ("serve", "bootstrap", "--name", "Acme", "--admin", "Ada")):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: PostgreSQL at ")
        assert "hint: " in done.stderr
        assert "sesame" not in done.stderr


def test_options_become_settings_and_the_first_start_prints_the_token_once() -> None:
    arguments = ("serve", "--port", "0", "--certificate", "/nowhere/c.pem", "--certificate-key", "/nowhere/k.pem")
    first, second = run(*arguments), run(*arguments)
    error = "error: /nowhere/c.pem: No such file or directory\nhint: the server must be able to read it\n"
    assert (first.returncode, second.returncode) == (1, 1)
    assert first.stderr.endswith(error)
    assert TOKEN.fullmatch(first.stdout.strip())
    assert (second.stdout, second.stderr) == ("", error)


def test_bootstrap_makes_the_first_organisation_once() -> None:
    done = run("serve", "bootstrap", "--name", "Acme", "--admin", "Ada", "--json")
    made = json.loads(done.stdout)
    assert (made["organisation"], made["name"]) == (1, "Ada")
    with open_store() as backend:
        assert caller_of(backend, made["key"]).role == "admin"
    again = run("serve", "bootstrap", "--name", "Acme", "--admin", "Ada")
    assert (again.returncode, again.stdout) == (1, "")
    assert "this server has an organisation already" in again.stderr
    assert "holdfast serve bootstrap --new-key" in again.stderr
    key = run("serve", "bootstrap", "--new-key").stdout.strip()
    with open_store() as backend:
        assert caller_of(backend, key).member == made["member"]
    another = run("serve", "bootstrap", "--another", "--name", "Labs", "--admin", "Grace")
    assert (another.returncode, "has one organisation" in another.stderr) == (1, True)


@pytest.mark.parametrize("arguments", [(), ("--name", "Acme"), ("--name", "Acme", "--admin", "Ada", "--new-key")])
def test_bootstrap_says_what_it_needs(arguments: tuple[str, ...]) -> None:
    done = run("serve", "bootstrap", *arguments)
    assert (done.returncode, done.stdout) == (2, "")


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
