"""A backup holds everything of a home, a restore brings all of it back, and a bad file changes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, start, told, told_json

CANONICAL = (
    "events", "lessons", "deliveries", "outcomes", "checkpoints", "changes", "change_lessons", "state", "set_aside",
    "migrations", "vectors", "sqlite_sequence",
)  # fmt: skip


@pytest.fixture
def full(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with something in every table that is canonical."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "tide.py").write_text("HOURS = 12\n")
    told("remember", "Tides are counted in whole hours", "--file", "tide.py")
    told("remember", "Only for me", "--private")
    told("remember", "Answer in Dutch", "--scope", "user", "--kind", "preference")
    lesson = told_json("remember", "The crane is slow")["id"]
    told("revise", lesson, "--insight", "The crane is fast")
    told("forget", told_json("remember", "The lamp is red")["id"])
    told("checkpoint", "save", "--goal", "Move the pilots")
    told("feedback", told_json("list")["lessons"][0]["id"], "helped")
    prompt = {"session_id": "s", "cwd": str(folder), "hook_event_name": "UserPromptSubmit",
              "prompt": "How are tides counted in hours?"}  # fmt: skip
    start("hook", "claude-code", typed=json.dumps(prompt).encode())
    (home / "config.toml").write_text("retention_days = 30\n")
    told("export")  # makes the key
    return home


def rows(home: Path) -> dict[str, list[tuple[object, ...]]]:
    sql = sqlite3.connect(home / "memory.db")
    tables = {table: sorted(sql.execute(f"SELECT * FROM {table}"), key=repr) for table in CANONICAL}
    sql.close()
    return tables


def state_of(home: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in home.iterdir() if file.is_file() and file.suffix != ".lock"}


def test_every_canonical_row_comes_back_in_another_home(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.zip"
    plain = told_json("backup", str(file))
    before = rows(full)
    assert all(before[table] for table in ("events", "lessons", "deliveries", "outcomes", "checkpoints", "changes"))
    assert plain["lessons"] == 5  # the superseded version of the crane's among them
    other = tmp_path / "other"
    monkeypatch.setenv("HOLDFAST_HOME", str(other))
    restored = told_json("restore", str(file))
    assert restored["backup"]["events"] == len(before["events"])
    assert rows(other) == before
    assert (other / "export.key").read_bytes() == (full / "export.key").read_bytes()
    assert restored["left"] == ["config.toml"]
    assert not (other / "config.toml").exists()
    assert "Only for me" in told("list")
    assert "lost" not in run("list").stderr


def test_settings_are_restored_where_they_are_requested(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told("backup", str(tmp_path / "all.zip"))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    told("restore", str(tmp_path / "all.zip"), "--settings")
    assert (tmp_path / "other" / "config.toml").read_text() == "retention_days = 30\n"


def test_settings_that_name_another_store_are_refused(full: Path, tmp_path: Path) -> None:
    (full / "config.toml").write_text(f'store = "sqlite://{full}/memory.db"\n')
    told("backup", str(tmp_path / "all.zip"))
    before = state_of(full)
    result = run("restore", str(tmp_path / "all.zip"), "--settings", "--yes")
    assert result.exit_code == 1
    assert "names another store" in result.stderr
    assert state_of(full) == before


def test_a_backup_is_the_owners_alone_and_is_not_written_over_unasked(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = file.read_bytes()
    result = run("backup", str(file))
    assert result.exit_code == 1
    assert file.read_bytes() == content
    told("backup", str(file), "--replace")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".holdfast", "all.zip", "harbour"]


def test_a_restore_into_a_home_that_holds_something_asks_and_keeps_what_it_replaces(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    told("remember", "A later lesson")
    refused = run("restore", str(file))
    assert refused.exit_code == 1
    assert "--yes" in refused.stderr
    assert "A later lesson" in told("list")
    restored = told_json("restore", str(file), "--yes")
    assert "A later lesson" not in told("list")
    told("restore", restored["kept_in"], "--yes")
    assert "A later lesson" in told("list")


def test_a_dry_run_checks_and_changes_nothing(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    told("remember", "A later lesson")
    before = state_of(full)
    plain = told_json("restore", str(file), "--dry-run")
    assert plain["dry_run"]
    assert state_of(full) == before


def test_a_home_with_a_damaged_database_is_restored_and_the_damaged_file_preserved(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    for ending in ("-wal", "-shm"):
        (full / f"memory.db{ending}").unlink(missing_ok=True)
    (full / "memory.db").write_bytes(b"no database at all, " * 500)
    restored = told_json("restore", str(file), "--yes")
    assert Path(restored["kept_in"]).read_bytes().startswith(b"no database")
    assert "whole hours" in told("list")


def break_bytes(file: Path, how: str) -> None:
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes({
        "truncated": content[:middle],
        "not a zip file": b"hello",
        "empty": b"",
        "a flipped byte": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
    }[how])  # fmt: skip


def break_members(file: Path, how: str) -> None:
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    if how == "a newer format":
        manifest |= {"format": 99, "holdfast": "9.9"}
    elif how == "another database":
        members["memory.db"] = members["memory.db"][::-1]
    elif how == "no database":
        manifest["members"] = []
    elif how == "a foreign file":
        manifest["members"].append({"name": "../../evil", "size": 0, "sha256": ""})
    elif how == "a broken manifest":
        manifest = {"format": "one"}
    pack(file, {**members, "manifest.json": json.dumps(manifest).encode()})


def pack(file: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)


BROKEN_BYTES = ("truncated", "not a zip file", "empty", "a flipped byte")
BROKEN_MEMBERS = ("a newer format", "another database", "no database", "a foreign file", "a broken manifest")


@pytest.mark.parametrize("how", [*BROKEN_BYTES, *BROKEN_MEMBERS])
def test_a_bad_file_is_refused_and_nothing_is_touched(full: Path, tmp_path: Path, how: str) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    (break_bytes if how in BROKEN_BYTES else break_members)(file, how)
    before = state_of(full)
    result = run("restore", str(file), "--yes")
    assert result.exit_code == 1, result.output
    assert str(file) in result.stderr
    assert state_of(full) == before
    assert not (full / "replaced").exists()


def test_a_database_of_a_newer_schema_is_refused(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    path = tmp_path / "newer.db"
    path.write_bytes(members["memory.db"])
    sql = sqlite3.connect(path)
    sql.execute("PRAGMA user_version=999")
    sql.close()
    members["memory.db"] = path.read_bytes()
    manifest = json.loads(members["manifest.json"])
    for member in manifest["members"]:
        content = members[member["name"]]
        member |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    pack(file, {**members, "manifest.json": json.dumps(manifest).encode()})
    before = state_of(full)
    result = run("restore", str(file), "--yes")
    assert result.exit_code == 1
    assert "upgrade" in result.stderr
    assert state_of(full) == before


def test_a_home_of_a_newer_version_is_not_restored_into(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    sql = sqlite3.connect(full / "memory.db")
    sql.execute("PRAGMA user_version=999")
    sql.close()
    before = state_of(full)
    result = run("restore", str(file), "--yes")
    assert result.exit_code == 1
    assert "upgrade" in result.stderr
    assert state_of(full) == before


def test_a_process_that_has_the_database_open_sees_the_restored_one(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    told("remember", "A later lesson")
    script = (
        "import sys\nfrom holdfast import Memory\n"
        "with Memory() as memory:\n"
        "    print(len(memory.lessons()), flush=True)\n"
        "    sys.stdin.readline()\n"
        "    print(len(memory.lessons()), flush=True)\n"
        "    memory.remember('Written after the restore')\n"
    )
    reader = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    first = int(reader.stdout.readline())
    told("restore", str(file), "--yes")
    second, _ = reader.communicate("\n")
    assert (first, int(second)) == (5, 4)
    assert reader.returncode == 0
    assert "Written after the restore" in told("list")


def test_a_purge_names_the_backup_that_a_restore_made(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    told("backup", str(file))
    kept_in = told_json("restore", str(file), "--yes")["kept_in"]
    lesson = next(row["id"] for row in told_json("list")["lessons"] if "Tides" in row["title"])
    copies = told_json("forget", "--purge", lesson)["copies"]
    assert kept_in in {copy["path"] for copy in copies}


def test_markdown_is_for_people_and_leaves_private_lessons_out(full: Path) -> None:
    text = told("export", "--format", "markdown")
    assert text.startswith("# Lessons of harbour\n")
    assert "### Tides are counted in whole hours" in text
    assert "about tide.py" in text
    assert "Only for me" not in text
