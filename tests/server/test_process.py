"""The server as a process: it answers, it is stopped, it reads its certificate again."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
from pathlib import Path

import httpx2 as httpx
import pytest

from holdfast._version import __version__
from tests.postgresql import Database
from tests.server.serving import WAIT_S, command, served

pytestmark = pytest.mark.usefixtures("home")


def test_probes_are_answered_and_counted() -> None:
    with served() as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.get("/v1/live").json() == {"status": "live"}
        assert server.get("/v1/ready").json() == {"status": "ready"}
        numbers = server.get("/v1/metrics").text
        assert f'holdfast_build{{version="{__version__}"}} 1.0' in numbers
        assert 'holdfast_requests_total{method="GET",route="/v1/live",status="200"} 1.0' in numbers
        assert server.get("/nothing").status_code == 404
        assert "server" not in server.get("/v1/live").headers


def test_numbers_are_for_this_machine_or_for_who_has_the_token() -> None:
    with served() as server:
        assert server.get("/v1/metrics", x_forwarded_for="127.0.0.1").status_code == 403
    with served(HOLDFAST_METRICS_TOKEN="marmalade") as server:
        assert server.get("/v1/metrics").status_code == 403
        assert server.get("/v1/metrics", authorization="Bearer wrong").status_code == 403
        assert server.get("/v1/metrics", authorization="Bearer marmalade").status_code == 200
        assert "marmalade" not in server.text


def test_forwarded_headers_are_believed_only_from_a_named_proxy() -> None:
    with served(["trusted_proxies=127.0.0.1"]) as server:
        assert server.get("/v1/metrics").status_code == 200
        assert server.get("/v1/metrics", x_forwarded_for="203.0.113.9").status_code == 403


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server(number: int) -> None:
    with served() as server:
        with httpx.Client(base_url=server.url) as client:
            client.get("/v1/live")
            code = server.stop(number)
        assert code in (0, -number)
        assert server.wait_for("stopped")
        with pytest.raises(httpx.ConnectError):
            server.get("/v1/live")


def test_an_address_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(command(f"port={port}"), capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert (
        done.stderr == f"error: 127.0.0.1:{port}: Address already in use\nhint: another port: --port, or [serve] port\n"
    )


def test_a_wrong_setting_is_said() -> None:
    done = subprocess.run(command("port=x"), capture_output=True, text=True, timeout=WAIT_S)
    assert (done.returncode, done.stderr) == (1, "error: --port must be a number, not 'x'\n")


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for this machine with that name, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def test_https_by_files_which_are_read_again(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, "first")
    with served([f"certificate={certificate}", f"certificate_key={key}"]) as server:
        assert server.url.startswith("https://")
        answer = httpx.get(f"{server.url}/v1/live", verify=trusting(certificate))
        assert answer.headers["strict-transport-security"]
        make_certificate(tmp_path, "second")
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/v1/live", verify=trusting(certificate))
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("reloaded")
        assert httpx.get(f"{server.url}/v1/live", verify=trusting(certificate)).status_code == 200


def test_no_process_of_the_server_runs_code_of_the_folder_it_stands_in(tmp_path: Path, database: Database) -> None:
    folder, mark = tmp_path / "clone", tmp_path / "mark"
    folder.mkdir()
    for name in ("anyio", "h11", "jinja2", "json", "logging", "multiprocessing", "psycopg", "starlette", "uvicorn"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\nraise ImportError('a trap')\n")
    url = database.cluster.url(database.name)
    traps = {"PYTHONPATH": str(folder), "PYTHONSTARTUP": str(folder / "json.py"), "HOLDFAST_STORE": url}
    with served(["workers=2"], folder=str(folder), **traps) as server:
        assert server.get("/v1/ready").is_success
        assert len(server.workers) == 2
    assert not mark.exists()
