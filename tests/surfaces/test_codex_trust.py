"""Codex's approvals, against a stand-in for its app-server that answers as codex-cli 0.169 does."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, told

SERVER = """#!{python}
import hashlib, json, os, sys, tomllib
root = os.path.join(os.environ["HOME"], ".codex")
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        print(json.dumps({{"id": asked["id"], "result": {{}}}}), flush=True)
    if asked["method"] == "hooks/list":
        file = os.path.join(root, "hooks.json")
        state = tomllib.load(open(os.path.join(root, "config.toml"), "rb")).get("hooks", {{}}).get("state", {{}})
        hooks = []
        for name, groups in json.load(open(file))["hooks"].items():
            key = f"{{file}}:{{name.lower()}}:0:0"
            digest = "sha256:" + hashlib.sha256(json.dumps(groups).encode()).hexdigest()
            trusted = state.get(key, {{}}).get("trusted_hash")
            status = "trusted" if trusted == digest else "modified" if trusted else "untrusted"
            hooks.append({{"key": key, "currentHash": digest, "trustStatus": status}})
        print(json.dumps({{"method": "noise"}}), flush=True)
        print(json.dumps({{"id": asked["id"], "result": {{"data": [{{"hooks": hooks}}]}}}}), flush=True)
"""


@pytest.fixture
def root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Codex's folder, with a `codex` on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "codex").write_text(SERVER.format(python=sys.executable))
    (programs / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    folder = home.parent / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('model = "o"\n')
    return folder


def codex_finding() -> dict[str, str]:
    plain = json.loads(run("doctor", "--no-proof", "--json").stdout)
    (of_codex,) = [finding for finding in plain["findings"] if finding["name"] == "codex"]
    return of_codex


def test_hooks_are_approved_only_on_request_and_the_approvals_leave_with_them(root: Path) -> None:
    told("setup", "codex")
    assert codex_finding()["status"] == "bad"
    assert "--trust" in codex_finding()["mend"]
    told("setup", "codex", "--trust")
    assert codex_finding()["status"] == "ok"
    assert len(tomllib.loads((root / "config.toml").read_text())["hooks"]["state"]) == 8
    told("uninstall", "codex")
    assert (root / "config.toml").read_text() == 'model = "o"\n'


def test_a_hook_that_changed_since_is_skipped_and_reported(root: Path) -> None:
    told("setup", "codex", "--trust")
    hooks = root / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 2'))
    assert "modified" in codex_finding()["what"]


def test_without_codex_nothing_is_claimed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run("setup", "codex", "--trust").exit_code == 1
    assert codex_finding()["status"] == "note"
