"""`holdfast ui` as a process, and its entrance."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from holdfast import Memory
from holdfast.surfaces.web.local import LocalEntrance, local_app
from tests.codebase import Codebase

from .process import running


def test_ui_prints_a_link_that_lets_one_browser_in(home: Path, tmp_path: Path) -> None:
    root = Codebase(tmp_path / "harbour").folder
    with running(root) as (process, link):
        base = link.partition("/enter/")[0]
        with httpx2.Client(follow_redirects=True, trust_env=False) as mine:
            page = mine.get(link, headers={"accept": "text/html"})
            assert page.status_code == 200
            assert "harbour" in page.text
        with httpx2.Client(follow_redirects=True, trust_env=False) as stranger:
            assert stranger.get(link).status_code == 401
            assert stranger.get(base).status_code == 401
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert process.stdout.read().strip().endswith("Ended.")


@pytest.mark.needs_file("the port is refused before the store is looked at")
def test_a_taken_port_is_said_in_words(home: Path, tmp_path: Path) -> None:
    root = Codebase(tmp_path / "harbour").folder
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        line.listen()
        command = [sys.executable, "-m", "holdfast", "ui", "-C", str(root), "--no-open", "--port", str(line.getsockname()[1])]  # fmt: skip # noqa: E501
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ), check=False)
    assert ended.returncode == 1
    assert re.search(r"error: port \d+ of this machine cannot be used", ended.stderr)
    assert "--port" in ended.stderr


def test_a_name_that_somebody_points_here_is_refused(memory: Memory) -> None:
    entrance = LocalEntrance(memory)
    with TestClient(local_app(entrance), base_url="http://127.0.0.1") as client:
        client.cookies.set(entrance.cookie, entrance.secret)
        assert client.get("/", headers={"host": "evil.example"}).status_code == 400
        assert client.get("/", headers={"host": "localhost:7400"}).status_code == 200


def test_the_command_line_and_hooks_load_no_web_server() -> None:
    script = (
        "import sys; import holdfast.surfaces.cli.main, holdfast.surfaces.cli.ui, holdfast.surfaces.cli.serve;"
        " import holdfast.surfaces.hooks.client, holdfast.surfaces.mcp.door, holdfast.bootstrap;"
        " print([name for name in ('jinja2', 'starlette', 'uvicorn', 'holdfast.pages') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"
