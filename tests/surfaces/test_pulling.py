"""`holdfast embedder pull`, against a real server that speaks the hub's protocol, breaks off and lies when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from hashlib import new, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.home.runfiles import RunLock
from holdfast.installing import pulling
from holdfast.surfaces.cli.main import cli

COMMIT = "c0ffee" + "0" * 34
GRAPH = bytes(range(256)) * 12_000
FILES = {
    "onnx/model.onnx": GRAPH, "tokenizer.json": b'{"a": 1}', "tokenizer_config.json": b"{}",
    "config.json": b'{"hidden_size": 2}',
    "README.md": b"not wanted", "../outside.json": b"not wanted either",
}  # fmt: skip


class Hub(ThreadingHTTPServer):
    """A hub with one model. `breaks_after` cuts an answer off once; `lies` changes what files hold."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files = dict(FILES)
        self.breaks_after = 0
        self.lies: dict[str, bytes] = {}
        self.status = 200
        self.asked: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def tree(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = [{"type": "directory", "path": "onnx", "oid": "1", "size": 0}]
        for path, content in self.files.items():
            blob = new("sha1", b"blob %d\0" % len(content) + content).hexdigest()
            row = {"type": "file", "path": path, "oid": blob, "size": len(content)}
            if path.endswith(".onnx"):
                row["lfs"] = {"oid": sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
            rows.append(row)
        return rows


class _Answer(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append((self.path, wanted))
        if self.server.status != 200:
            return self.answer(self.server.status, b"")
        if self.path == "/api/models/acme/tiny/revision/main":
            return self.answer(200, json.dumps({"sha": COMMIT}).encode())
        if self.path == f"/api/models/acme/tiny/tree/{COMMIT}?recursive=true":
            return self.answer(200, json.dumps(self.server.tree()).encode())
        if self.path.startswith("/moved/"):
            return self.file(self.path.removeprefix("/moved/"), wanted)
        if self.path.startswith(f"/acme/tiny/resolve/{COMMIT}/"):
            return self.answer(302, b"", Location="/moved/" + self.path.partition(COMMIT + "/")[2])
        return self.answer(404, b"")

    def file(self, path: str, wanted: str) -> None:
        content = self.server.lies.get(path, self.server.files[path])
        start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        rest, cut = content[start:], self.server.breaks_after
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if wanted else {}
        self.send_response(206 if wanted else 200)
        for name, value in {"Content-Length": str(len(rest)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if cut and len(rest) > cut:
            self.server.breaks_after = 0
            self.wfile.write(rest[:cut])
            self.close_connection = True
            return
        self.wfile.write(rest)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def pull(hub: Hub, model: str = "acme/tiny", *arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(cli, ["embedder", "pull", model, "--hub", hub.url, *arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_a_model_is_pulled_checked_and_recorded(home: Path, hub: Hub) -> None:
    report = json.loads(pull(hub, "acme/tiny", "--json").stdout)
    folder = home / "models" / "acme--tiny"
    assert report == {"model": "acme/tiny", "folder": str(folder)}
    assert {path.name for path in folder.iterdir()} == {
        "model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json", "holdfast-model.json",
    }  # fmt: skip
    assert (folder / "model.onnx").read_bytes() == GRAPH
    record = json.loads((folder / "holdfast-model.json").read_text())
    assert (record["model"], record["revision"], record["from"]) == ("acme/tiny", COMMIT, "127.0.0.1")
    assert record["files"]["model.onnx"] == {"bytes": len(GRAPH), "sha256": sha256(GRAPH).hexdigest()}


def test_what_is_there_and_sound_is_not_downloaded_again(home: Path, hub: Hub) -> None:
    pull(hub)
    hub.asked.clear()
    pull(hub)
    assert [path for path, _ in hub.asked if "resolve" in path] == []
    graph = home / "models" / "acme--tiny" / "model.onnx"
    graph.write_bytes(GRAPH[:-1] + b"x")
    pull(hub)
    assert graph.read_bytes() == GRAPH


def test_a_download_that_broke_off_goes_on_where_it_stopped(home: Path, hub: Hub) -> None:
    hub.breaks_after = 1_500_000
    failed = pull(hub, code=1)
    assert "127.0.0.1: the server broke off" in failed.stderr
    assert "run it again" in failed.stderr
    assert not (home / "models" / "acme--tiny").exists()
    pull(hub)
    resumed = [wanted for path, wanted in hub.asked if path == "/moved/onnx/model.onnx" and wanted]
    assert len(resumed) == 1
    assert 0 < int(resumed[0].removeprefix("bytes=").rstrip("-")) <= 1_500_000
    assert (home / "models" / "acme--tiny" / "model.onnx").read_bytes() == GRAPH


@pytest.mark.parametrize(
    ("path", "message"), [("onnx/model.onnx", "wrong checksum"), ("tokenizer.json", "wrong checksum")]
)
def test_a_file_that_is_not_what_was_announced_is_refused(home: Path, hub: Hub, path: str, message: str) -> None:
    hub.lies = {path: hub.files[path][::-1]}
    assert message in pull(hub, code=1).stderr
    assert not (home / "models" / "acme--tiny").exists()
    hub.lies = {}
    pull(hub)


def test_a_file_longer_than_announced_is_not_read_to_its_end(home: Path, hub: Hub) -> None:
    hub.lies = {"onnx/model.onnx": GRAPH * 2}
    assert "sent more than it announced" in pull(hub, code=1).stderr


def test_the_model_we_know_is_checked_against_our_own_checksums(home: Path, hub: Hub) -> None:
    assert len(pulling.KNOWN[f"{pulling.DEFAULT}@{pulling.REVISION}"]) == 5
    assert "answered with status 404" in pull(hub, pulling.DEFAULT, code=1).stderr
    assert f"/resolve/{pulling.REVISION}/onnx/model.onnx" in hub.asked[0][0]


def test_a_model_without_an_onnx_file_is_refused(home: Path, hub: Hub) -> None:
    del hub.files["onnx/model.onnx"]
    assert "not published for ONNX" in pull(hub, code=1).stderr


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_hub_that_refuses_is_an_error(home: Path, hub: Hub, status: int) -> None:
    hub.status = status
    assert f"127.0.0.1 answered with status {status} for acme/tiny" in pull(hub, code=1).stderr


def test_offline_the_error_says_what_to_do(home: Path) -> None:
    done = CliRunner().invoke(cli, ["embedder", "pull", "--hub", "http://ann:word@127.0.0.1:9"])
    assert done.exit_code == 1
    assert "127.0.0.1: the connection was refused" in done.stderr
    assert "holdfast embedder use onnx path=DIR" in done.stderr
    assert "word" not in done.output


@pytest.mark.parametrize("model", ["tiny", "../../etc/passwd", "a/b/c", "acme/tiny@../x", "", "acme/..", "-x/y"])
def test_what_is_no_models_name_is_refused(home: Path, hub: Hub, model: str) -> None:
    done = CliRunner().invoke(cli, ["embedder", "pull", "--hub", hub.url, "--", model])
    assert (done.exit_code, "is not a model's name" in done.stderr) == (1, True)
    assert hub.asked == []


@pytest.mark.parametrize("address", ["ftp://x", "hub", "http://"])
def test_what_is_no_hubs_address_is_refused(home: Path, address: str) -> None:
    done = CliRunner().invoke(cli, ["embedder", "pull", "--hub", address])
    assert (done.exit_code, "hub's address" in done.stderr) == (1, True)


def test_two_pulls_at_once_do_not_mix(home: Path, hub: Hub) -> None:
    with RunLock(str(home / "run"), "pull") as ours:
        assert ours
        assert "another process is downloading" in pull(hub, code=1).stderr


def test_the_model_that_was_pulled_is_used_without_naming_its_folder(home: Path, hub: Hub, tmp_path: Path) -> None:
    pull(hub)
    refused = CliRunner().invoke(cli, ["-C", str(tmp_path), "embedder", "use", "onnx"])
    assert str(home / "models" / "acme--tiny") in refused.stderr  # it is no model, as it says
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(("seconds", "code"), [(0.05, 1), (60.0, 0)])
def test_a_hub_that_stays_silent_is_not_waited_for(
    home: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch, seconds: float, code: int
) -> None:
    """`pulling.TIMEOUT_S`."""
    listed = hub.tree

    def late() -> list[dict[str, Any]]:
        time.sleep(0.5)
        return listed()

    monkeypatch.setattr(hub, "tree", late)
    monkeypatch.setattr(pulling, "TIMEOUT_S", seconds)
    pull(hub, code=code)
