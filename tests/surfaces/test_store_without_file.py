"""A plug-in's store that has no file, all over the command line: nothing looks for a file, or takes it for lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.settings import load_settings
from holdfast.wiring import Opened
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json

PLUGIN = """
from tests.contract.memorystore import MemoryStore
STORES = {}
def make(options):
    return STORES.setdefault(options["url"], MemoryStore())
"""


@pytest.fixture
def fileless(code: Codebase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, in a home whose memory is kept by an installed package's store."""
    packages = tmp_path / "packages"
    info = packages / "fileless-1.dist-info"
    info.mkdir(parents=True)
    (packages / "fileless.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fileless\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[holdfast.stores]\nfileless = fileless:make\n")
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setenv("HOLDFAST_STORE", f"fileless://{tmp_path.name}")
    monkeypatch.chdir(code.folder)
    told("remember", "Zeppelins need ballast before they rise")
    return code.folder


def test_what_is_remembered_is_found(fileless: Path, home: Path) -> None:
    assert "Zeppelins" in told("recall", "ballast of zeppelins")
    assert told_json("status")["store"]["bytes"] is None
    assert not (home / "memory.db").exists()


def test_doctor_finds_the_store_sound(fileless: Path) -> None:
    findings = told_findings()
    assert findings["database"] == [("ok", "the fileless store opens")]
    assert findings["integrity"] == [("ok", "rows and indexes agree")]
    assert "permissions" not in findings


def test_doctor_names_what_a_closed_store_says_and_no_file(fileless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STORE", "elsewhere://x")
    ((status, what),) = told_findings()["database"]
    assert status == "bad"
    assert "elsewhere" in what


def test_a_purge_names_the_files_that_hold_the_words(fileless: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    copy = home / "notes.txt"
    copy.write_text("Zeppelins need ballast before they rise")
    lesson = told_json("list")["lessons"][0]["id"]
    assert str(copy) in {entry["path"] for entry in told_json("forget", "--purge", lesson)["copies"]}


def test_what_needs_a_copy_says_that_there_is_none(fileless: Path, tmp_path: Path) -> None:
    (fileless / ".holdfast").mkdir()
    (fileless / ".holdfast" / "checks.yaml").write_text("checks:\n- prompt: ballast\n  nothing: true\n")
    for arguments in (["backup", str(tmp_path / "all.zip")], ["check"]):
        result = run(*arguments)
        assert (result.exit_code, "this store has no copies" in result.output) == (1, True), result.output


def test_a_restore_leaves_the_store_as_it_is(
    fileless: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.delenv("HOLDFAST_STORE")
        elsewhere.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
        told("remember", "Airships are moored at the mast")
        told("backup", str(tmp_path / "all.zip"))
    assert told_json("restore", str(tmp_path / "all.zip"), "--dry-run")["replaced_lessons"] == 1
    result = run("restore", str(tmp_path / "all.zip"), "--yes")
    assert (result.exit_code, "this store has no copies" in result.output) == (1, True), result.output
    assert [lesson["title"] for lesson in told_json("list")["lessons"]] == ["Zeppelins need ballast before they rise"]


def test_a_hook_takes_no_file_of_the_project_for_a_log(fileless: Path) -> None:
    (fileless / "-wal").write_bytes(b"x" * 1_000_001)
    calls: list[str] = []
    Opened(str(fileless), load_settings(), is_hook=True).bound_log(lambda: calls.append("closing"))
    assert calls == []


def told_findings() -> dict[str, list[tuple[str, str]]]:
    """What doctor says, by name."""
    import json

    findings: dict[str, list[tuple[str, str]]] = {}
    for finding in json.loads(run("doctor", "--no-proof", "--json").stdout)["findings"]:
        findings.setdefault(finding["name"], []).append((finding["status"], finding["what"]))
    return findings
