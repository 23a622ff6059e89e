"""The doctor proves the loop, and names each thing that is wrong with the command that mends it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from holdfast.home.runfiles import DROPPED, LATE, SPOOLED, count
from holdfast.settings import load_settings
from holdfast.stores.sqlite.connection import Connection
from holdfast.surfaces.cli.proof import check_server, registered_servers
from tests.surfaces.terminal import run, start, told

BIN = "#!/bin/sh\n"


@pytest.fixture(autouse=True)
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with Holdfast set up for Claude Code and a `claude` on the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(BIN + "echo '2.1.329 (Claude Code)'\n")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    told("setup", "claude-code")
    told("remember", "Zeppelins need ballast")
    return tmp_path


def findings(*arguments: str) -> dict[str, list[dict[str, Any]]]:
    """What is not well, by name."""
    plain = json.loads(run("doctor", "--no-proof", "--json", *arguments).stdout)
    bad_findings: dict[str, list[dict[str, Any]]] = {}
    for finding in plain["findings"]:
        if finding["status"] == "bad":
            bad_findings.setdefault(finding["name"], []).append(finding)
    assert plain["sound"] == (not bad_findings)
    return bad_findings


def test_the_loop_is_proved_through_real_processes() -> None:
    done = start("doctor")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["ok"] * 4
    assert "was given the lesson" in lines[2]
    assert "no problem" in done.stderr
    assert "2.1.329" in done.stdout


def test_the_proof_leaves_the_real_memory_alone(home: Path) -> None:
    before = (home / "memory.db").read_bytes()
    start("doctor")
    assert "tide" not in told("list")
    assert before == (home / "memory.db").read_bytes()


def test_what_hooks_could_not_do_in_time_is_reported_by_host(home: Path) -> None:
    run_path = str(home / "run")
    for host, what in (("codex", LATE), ("codex", LATE), ("codex", SPOOLED), ("kiro", DROPPED)):
        count(run_path, host, what)
    (home / "run" / "spool").mkdir()
    (home / "run" / "spool" / "00000000000000000001-1-2.jsonl").write_text("{}")
    (home / "run" / "spool" / "00000000000000000000-1-2.jsonl.unreadable").write_text("{")
    lines = run("doctor", "--no-proof").stdout
    assert "note  answers      codex: 2 late, 1 spooled, 0 dropped in 7 days" in lines
    assert "bad   answers      kiro: 0 late, 0 spooled, 1 dropped in 7 days: events were lost" in lines
    assert "1 call of hooks waiting to be stored" in lines
    assert "cannot be read and was set aside" in lines


def test_a_command_puts_what_waits_into_the_store(home: Path) -> None:
    folder = home / "run" / "spool"
    folder.mkdir(parents=True)
    (folder / "00000000000000000001-1-2.jsonl").write_text('{"folder": "/", "events": [], "deliveries": []}')
    told("list")
    assert list(folder.iterdir()) == []


def test_a_sound_installation_has_no_problem() -> None:
    assert findings() == {}


def test_a_host_that_is_not_set_up_is_named() -> None:
    told("uninstall")
    (finding,) = findings()["hooks"]
    assert finding["mend"] == "holdfast setup"
    told("setup", "claude-code")
    assert findings() == {}


def test_a_host_that_is_here_and_not_set_up_is_noted(home: Path) -> None:
    (home.parent / ".cursor").mkdir()
    noted = json.loads(run("doctor", "--no-proof", "--json").stdout)["findings"]
    assert ("note", "holdfast setup cursor") in [(finding["status"], finding["mend"]) for finding in noted]
    assert findings() == {}


def test_files_of_every_form_are_checked(home: Path) -> None:
    pytest.importorskip("holdfast_hosts")
    (home.parent / ".config" / "goose").mkdir(parents=True)
    told("setup", "goose", "zed", "opencode")
    assert findings() == {}
    (home.parent / ".agents" / "plugins" / "holdfast" / "plugin.json").unlink()
    (finding,) = findings()["hooks"]
    assert finding["mend"] == "holdfast setup goose"


def test_an_entry_that_was_taken_out_is_named_and_setup_mends_it(machine: Path) -> None:
    settings = machine / ".claude" / "settings.json"
    document = json.loads(settings.read_text())
    del document["hooks"]["Stop"]
    settings.write_text(json.dumps(document))
    (finding,) = findings()["hooks"]
    assert "hooks.Stop" in finding["what"]
    told(*finding["mend"].split()[1:])
    assert findings() == {}


def test_a_launcher_of_another_interpreter_is_named_and_setup_mends_it(home: Path) -> None:
    launcher = home / "bin" / "holdfast-launch"
    launcher.write_text(launcher.read_text().replace("/bin/python", "/bin/gone-python"))
    (finding,) = findings()["launcher"]
    assert "another installation" in finding["what"]
    told(*finding["mend"].split()[1:])
    assert findings() == {}


def test_a_launcher_that_is_gone_is_named_and_setup_mends_it(home: Path) -> None:
    (home / "bin" / "holdfast-launch").unlink()
    (finding,) = findings()["launcher"]
    assert "is missing" in finding["what"]
    told(*finding["mend"].split()[1:])
    assert findings() == {}


def test_the_server_is_started_as_the_host_starts_it_where_the_user_is(machine: Path, home: Path) -> None:
    settings = load_settings()
    assert [finding.status for finding in check_server(settings)] == ["ok"]
    (command,) = registered_servers(settings)
    assert command[1:] == (str(home / "bin" / "holdfast-launch"), "--mcp")
    assert not list(machine.glob("**/run/*.sock"))


def test_a_server_that_does_not_start_is_named_with_its_last_words(machine: Path, home: Path) -> None:
    launcher = home / "bin" / "holdfast-launch"
    whole = launcher.read_text()
    launcher.write_text("echo the quay is flooded >&2\nexit 3\n")
    (finding,) = check_server(load_settings())
    assert finding.status == "bad"
    assert str(machine) in finding.what
    assert "the quay is flooded" in finding.what
    assert finding.mend.startswith("holdfast setup ")
    launcher.write_text(whole)
    assert [finding.status for finding in check_server(load_settings())] == ["ok"]


def test_a_damaged_settings_file_is_named(machine: Path) -> None:
    (machine / ".claude" / "settings.json").write_text("{ half")
    assert "settings.json cannot be read" in findings()["hooks"][0]["what"]


def test_a_corrupt_database_is_named_and_nothing_is_deleted(home: Path) -> None:
    (home / "memory.db").write_bytes(b"scrambled" * 1000)
    (finding,) = findings()["database"]
    assert finding["mend"] == f"mv {home}/memory.db {home}/memory.db.damaged && holdfast backfill"
    assert (home / "memory.db").read_bytes() == b"scrambled" * 1000


def test_a_locked_database_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = Connection.__init__
    monkeypatch.setattr(Connection, "__init__", lambda self, path, _, *more: patient(self, path, 0.1, *more))
    holder = sqlite3.connect(home / "memory.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        (finding,) = findings()["database"]
    finally:
        holder.close()
    assert finding["mend"].startswith("fuser -v ")


def test_a_database_of_a_newer_version_is_named(home: Path) -> None:
    with sqlite3.connect(home / "memory.db") as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    (finding,) = findings()["database"]
    assert finding["mend"]


def test_a_database_others_can_read_is_named(home: Path) -> None:
    (home / "memory.db").chmod(0o644)
    (finding,) = findings()["permissions"]
    assert finding["mend"] == f"chmod 600 {home}/memory.db"


def test_a_host_that_does_not_start_is_named(machine: Path) -> None:
    (machine / "bin" / "claude").write_text(BIN + "exit 3\n")
    assert "exit 3" in findings()["claude-code"][0]["what"]


def test_a_damaged_config_file_is_named(home: Path) -> None:
    (home / "config.toml").write_text("capture = maybe")
    assert "config.toml" in findings()["settings"][0]["what"]


def test_what_hooks_wrote_into_their_log_is_shown(home: Path) -> None:
    (home / "hooks.log").write_text("2026-11-21T09:00:00Z claude-code deadline: TimeoutError\n")
    result = run("doctor", "--no-proof")
    assert result.exit_code == 0
    assert "TimeoutError" in result.stdout


def test_a_report_names_nobody_and_tells_no_lesson(machine: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    (home / "hooks.log").write_text(f"{machine}/app {machine.name} {key}\n")
    report = run("doctor", "--no-proof", "--report").stdout
    for secret in (str(machine), machine.name, key, "Zeppelin"):
        assert secret not in report
    assert "~/.claude/settings.json" in report
    assert "SQLite" in report
