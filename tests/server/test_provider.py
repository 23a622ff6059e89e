"""Sign-in against the certified provider of npm (`oidc-provider`), which is installed where npm can do it."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx2 as httpx
import pytest

from holdfast.server.oidc import Provider
from holdfast.team.signin import IdentityClaims
from tests.server.identity import CLIENT, SECRET
from tests.server.serving import WAIT_S

HERE = Path(__file__).parent / "provider"
INSTALLED = Path(__file__).resolve().parents[2] / ".make" / "oidc-provider"
CALLBACK = "https://memory.example.org/signin/callback"


def install() -> str:
    """Why the provider cannot be run here; empty when it can."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "there is no npm"
    wanted = (HERE / "package.json").read_text()
    done = INSTALLED / "package.json"
    if not (done.exists() and done.read_text() == wanted and (INSTALLED / "node_modules").exists()):
        shutil.rmtree(INSTALLED, ignore_errors=True)
        INSTALLED.mkdir(parents=True)
        done.write_text(wanted)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"]
        if subprocess.run(command, cwd=INSTALLED, capture_output=True, check=False).returncode:
            done.unlink()
            return "npm could not install it"
    shutil.copy(HERE / "provider.mjs", INSTALLED)
    return ""


@contextmanager
def provider() -> Iterator[str]:
    """Run the provider; its issuer."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    command = ["node", "provider.mjs", str(port), CLIENT, SECRET, CALLBACK]
    with subprocess.Popen(
        command, cwd=INSTALLED, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        try:
            assert running.stdout.readline() == "listening\n"
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()


def walk(client: httpx.Client, url: str, login: str) -> dict[str, str]:
    """Go where the provider sends a browser, sign in, agree; what the browser brings back."""
    answer = client.get(url)
    while not answer.headers.get("location", "").startswith(CALLBACK):
        if answer.status_code == 303:
            answer = client.get(answer.url.join(answer.headers["location"]))
            continue
        action, prompt = (
            re.search(pattern, answer.text) for pattern in (r'action="([^"]+)"', r'"prompt" value="(\w+)"')
        )
        assert action
        assert prompt
        form = {"prompt": prompt[1], "login": login, "password": "any"}
        answer = client.post(answer.url.join(action[1]), data=form)
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


@pytest.mark.nightly("installs a package and starts node")
def test_a_person_signs_in_at_a_certified_provider() -> None:
    if missing := install():
        pytest.skip(missing)
    with provider() as issuer, httpx.Client(timeout=WAIT_S) as browser:
        ours = Provider(issuer, CLIENT, SECRET, CALLBACK)
        departure = ours.depart()
        back = walk(browser, departure.url, "ada")
        assert (back["state"], back["iss"]) == (departure.state, issuer)
        claims = ours.receive(back["code"], departure.nonce, departure.verifier)
    assert claims == IdentityClaims(
        issuer=issuer, subject="ada", email="ada@example.org", email_verified=True, name="ada"
    )
