from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.errors import InvalidValueError
from holdfast.hosts.claude_code import make
from holdfast.surfaces.cli.main import cli

SETTINGS = b'{\r\n   "model": "opus",\r\n\t"hooks": { "Stop": [] }\r\n}'
EVENTS = {
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop",
    "SubagentStart", "SubagentStop", "InstructionsLoaded", "SessionEnd",
}  # fmt: skip


class Machine:
    """A user's home with Holdfast's own folder in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = home / ".claude" / "settings.json"
        self.state = home / ".claude.json"

    def run(self, *args: str) -> Result:
        return CliRunner().invoke(cli, args)

    def ok(self, *args: str) -> str:
        result = self.run(*args)
        assert result.exit_code == 0, result.output
        return result.stdout

    def write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def files(self) -> dict[str, bytes]:
        """Every file that is not Holdfast's own."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and ".holdfast" not in path.parts
        }


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home.parent)


def handlers(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {event: groups[-1]["hooks"][0] for event, groups in settings["hooks"].items()}


def test_setup_registers_every_hook_and_the_server(machine: Machine) -> None:
    machine.ok("setup", "claude-code")
    registered = handlers(json.loads(machine.settings.read_text()))
    assert set(registered) == EVENTS
    for handler in registered.values():
        shell, flag, guard, launcher, host = shlex.split(handler["command"])
        assert (shell, flag) == ("/bin/sh", "-c")
        assert '. "$0"' in guard
        assert launcher == str(machine.home / ".holdfast" / "bin" / "holdfast-launch")
        assert host == "claude-code"
    server = json.loads(machine.state.read_text())["mcpServers"]["holdfast"]
    assert server["command"] == "/bin/sh"
    assert server["args"] == [launcher, "--mcp", "--for", "claude-code"]


def test_hooks_that_deliver_are_waited_for_and_the_session_end_keeps_its_own_limit(machine: Machine) -> None:
    machine.ok("setup", "claude-code")
    registered = handlers(json.loads(machine.settings.read_text()))
    assert [event for event, handler in registered.items() if handler.get("async")] == [
        "PostToolUse",
        "InstructionsLoaded",
    ]
    assert "timeout" not in registered["SessionEnd"]


def test_setup_twice_is_setup_once(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.ok("setup", "claude-code")
    once = machine.files()
    assert "unchanged" in machine.ok("setup", "claude-code")
    assert machine.files() == once


def test_setup_replaces_what_another_installation_left(machine: Machine) -> None:
    machine.ok("setup", "claude-code")
    text = machine.settings.read_text()
    machine.write(machine.settings, text.replace("-I -S ", "-I -S /old/place/").encode())
    machine.ok("setup", "claude-code")
    assert machine.settings.read_text() == text


def test_uninstall_restores_every_byte(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.write(machine.state, b'\xef\xbb\xbf{"numStartups":3,"projects":{}}')
    before = machine.files()
    machine.ok("setup", "claude-code")
    assert machine.files() != before
    machine.ok("uninstall")
    assert machine.files() == before


def test_uninstall_removes_files_and_folders_that_setup_made(machine: Machine) -> None:
    machine.ok("setup", "claude-code")
    machine.ok("uninstall")
    assert machine.files() == {}
    assert not machine.settings.parent.exists()
    assert not (machine.home / ".holdfast" / "manifest.json").exists()


def test_uninstall_keeps_what_the_user_and_the_host_wrote_since(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.ok("setup", "claude-code")
    machine.write(machine.settings, machine.settings.read_bytes().replace(b"opus", b"sonnet"))
    state = json.loads(machine.state.read_text())
    machine.write(machine.state, json.dumps({"numStartups": 1, **state}).encode())
    machine.ok("uninstall")
    assert machine.settings.read_bytes() == SETTINGS.replace(b"opus", b"sonnet")
    assert json.loads(machine.state.read_text()) == {"numStartups": 1}


def test_setup_after_an_edit_still_comes_out_to_the_byte(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.ok("setup", "claude-code")
    machine.write(machine.settings, machine.settings.read_bytes().replace(b"opus", b"sonnet"))
    machine.ok("setup", "claude-code")
    machine.ok("uninstall")
    assert machine.settings.read_bytes() == SETTINGS.replace(b"opus", b"sonnet")


def test_project_scope_touches_nothing_that_a_team_shares(machine: Machine) -> None:
    shop = machine.home / "my shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "src").mkdir()
    machine.ok("setup", "claude-code", "--project", "-C", str(shop / "src"))
    assert set(machine.files()) == {".claude.json", "my shop/.claude/settings.local.json"}
    projects = json.loads(machine.state.read_text())["projects"]
    assert list(projects) == [str(shop)]
    assert "holdfast" in projects[str(shop)]["mcpServers"]


def test_both_scopes_share_a_file_and_leave_it_together(machine: Machine) -> None:
    machine.write(machine.state, b'{"numStartups": 3}\n')
    shop = machine.home / "shop"
    (shop / ".git").mkdir(parents=True)
    before = machine.files()
    machine.ok("setup", "claude-code", "-C", str(shop))
    machine.ok("setup", "claude-code", "--project", "-C", str(shop))
    state = json.loads(machine.state.read_text())
    assert "holdfast" in state["mcpServers"]
    assert "holdfast" in state["projects"][str(shop)]["mcpServers"]
    once = machine.files()
    machine.ok("setup", "claude-code", "-C", str(shop))
    assert machine.files() == once
    machine.ok("uninstall")
    assert machine.files() == before


@pytest.mark.parametrize("command", ["setup claude-code --dry-run", "uninstall --dry-run"])
def test_a_dry_run_changes_nothing(machine: Machine, command: str) -> None:
    machine.write(machine.settings, SETTINGS)
    if command.startswith("uninstall"):
        machine.ok("setup", "claude-code")
    before = machine.files()
    assert "settings.json" in machine.ok(*command.split())
    assert machine.files() == before


def test_a_settings_file_we_cannot_read_stops_setup_before_anything_is_written(machine: Machine) -> None:
    machine.write(machine.settings, b'{"model": "opus",}')
    before = machine.files()
    result = machine.run("setup", "claude-code")
    assert result.exit_code == 1
    assert "settings.json: not valid JSON" in result.stderr
    assert "hint:" in result.stderr
    assert machine.files() == before
    assert not (machine.home / ".holdfast" / "manifest.json").exists()


def test_a_linked_settings_file_stays_a_link_and_keeps_its_mode(machine: Machine) -> None:
    dotfiles = machine.home / "dotfiles" / "settings.json"
    machine.write(dotfiles, SETTINGS)
    dotfiles.chmod(0o640)
    machine.settings.parent.mkdir()
    machine.settings.symlink_to(dotfiles)
    machine.ok("setup", "claude-code")
    assert machine.settings.is_symlink()
    assert set(handlers(json.loads(dotfiles.read_text()))) == EVENTS
    assert stat.S_IMODE(dotfiles.stat().st_mode) == 0o640
    machine.ok("uninstall")
    assert machine.settings.is_symlink()
    assert dotfiles.read_bytes() == SETTINGS


def test_the_configured_folder_of_claude_code_is_respected(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(machine.home / "conf"))
    machine.ok("setup", "claude-code")
    assert set(machine.files()) == {"conf/settings.json", "conf/.claude.json"}


def test_a_file_the_user_deleted_is_not_brought_back(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.ok("setup", "claude-code")
    machine.settings.unlink()
    machine.ok("uninstall")
    assert machine.files() == {}
    assert "nothing to undo" in machine.run("uninstall").stderr


def test_json_tells_what_happened(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    report = json.loads(machine.ok("setup", "claude-code", "--json"))
    assert report["scope"] == "user"
    assert report["files"] == [
        {"file": str(machine.settings), "change": "changed"},
        {"file": str(machine.state), "change": "created"},
    ]
    assert report["launcher"]["change"] == "created"
    report = json.loads(machine.ok("uninstall", "--json"))
    assert [file["change"] for file in report["files"]] == ["changed", "removed", "removed"]


TOKEN = b"oauth-token-of-the-user"


def copies_of_the_token(machine: Machine) -> list[Path]:
    files = (path for path in (machine.home / ".holdfast").rglob("*") if path.is_file())
    return [path for path in files if TOKEN in path.read_bytes()]


def test_a_backup_is_for_its_owner_alone_and_goes_when_its_file_is_restored(machine: Machine) -> None:
    state = b'{"oauthAccount": "' + TOKEN + b'"}'
    machine.write(machine.state, state)
    machine.state.chmod(0o644)
    machine.ok("setup", "claude-code")
    (copy,) = copies_of_the_token(machine)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    result = machine.run("uninstall")
    assert "still set up" not in result.stderr
    assert machine.state.read_bytes() == state
    assert copies_of_the_token(machine) == []
    assert not (machine.home / ".holdfast" / "backups").exists()


def test_a_backup_that_a_later_setup_replaces_goes_too(machine: Machine) -> None:
    machine.write(machine.state, b'{"oauthAccount": "' + TOKEN + b'"}')
    machine.ok("setup", "claude-code")
    state = json.loads(machine.state.read_bytes())
    machine.state.write_text(json.dumps({**state, "oauthAccount": "none", "mcpServers": {}}))
    machine.ok("setup", "claude-code")
    assert copies_of_the_token(machine) == []
    machine.ok("uninstall")
    assert json.loads(machine.state.read_bytes())["oauthAccount"] == "none"


def test_what_is_still_set_up_keeps_its_backup_and_it_is_reported_where(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.write(machine.home / ".codex" / "config.toml", b'model = "x"\n')
    machine.ok("setup", "claude-code", "codex")
    result = machine.run("uninstall", "codex")
    assert f"still set up: 1 backup in {machine.home / '.holdfast' / 'backups'}" in result.stderr
    findings = json.loads(machine.run("doctor", "--no-proof", "--json").stdout)["findings"]
    (finding,) = [row for row in findings if row["name"] == "backups"]
    assert (finding["status"], str(machine.home / ".holdfast" / "backups") in finding["what"]) == ("ok", True)
    (machine.home / ".holdfast" / "backups" / os.listdir(machine.home / ".holdfast" / "backups")[0]).chmod(0o644)
    findings = json.loads(machine.run("doctor", "--no-proof", "--json").stdout)["findings"]
    assert [row["status"] for row in findings if row["name"] == "backups"] == ["bad"]
    assert machine.run("uninstall").exit_code == 0
    assert machine.settings.read_bytes() == SETTINGS


def test_a_lost_backup_is_an_error_and_not_a_loss(machine: Machine) -> None:
    machine.write(machine.settings, SETTINGS)
    machine.ok("setup", "claude-code")
    for backup in (machine.home / ".holdfast" / "backups").iterdir():
        backup.unlink()
    before = machine.files()
    result = machine.run("uninstall")
    assert result.exit_code == 1
    assert "backup" in result.stderr
    assert machine.files() == before


def test_a_damaged_manifest_is_named(machine: Machine) -> None:
    machine.write(machine.home / ".holdfast" / "manifest.json", b"{")
    result = machine.run("uninstall")
    assert result.exit_code == 1
    assert "manifest.json is damaged" in result.stderr


def test_our_entries_go_also_when_the_manifest_is_lost(machine: Machine) -> None:
    machine.write(machine.settings, b'{\n  "model": "opus"\n}\n')
    machine.write(machine.state, b'{"mcpServers": {"mine": {"command": "x"}}}')
    before = machine.files()
    machine.ok("setup", "claude-code")
    (machine.home / ".holdfast" / "manifest.json").unlink()
    machine.ok("uninstall")
    assert machine.files() == before


def test_a_home_with_blanks_and_quotes_is_quoted(machine: Machine) -> None:
    plan = make({}).plan_install("user", "", "/home/ada", ("p", "q", "/home/ada's own/bin/holdfast-launch"))
    command = plan.edits[0].value["hooks"][0]["command"]
    assert shlex.split(command)[3:] == ["/home/ada's own/bin/holdfast-launch", "claude-code"]
    assert plan.edits[0].ours in command


def test_setup_says_what_to_do_before_holdfast_is_removed(machine: Machine) -> None:
    assert "before you remove Holdfast, run holdfast uninstall" in machine.run("setup", "claude-code").stderr
    assert "before removing" not in machine.run("setup", "claude-code", "--dry-run").stderr


def test_setup_says_what_the_host_has_and_what_comes_next_once(machine: Machine) -> None:
    first = machine.run("setup", "claude-code").stderr
    assert "Claude Code has hooks that capture and deliver at 7 moments and the MCP server" in first
    assert "next: holdfast backfill" in first
    assert "next: " not in machine.run("setup", "claude-code").stderr
    assert "next: " not in machine.run("setup", "codex", "--dry-run").stderr


def test_a_moved_installation_changes_the_launcher_alone(machine: Machine) -> None:
    machine.ok("setup", "claude-code")
    before = machine.files()
    launcher = machine.home / ".holdfast" / "bin" / "holdfast-launch"
    sound = launcher.read_text()
    launcher.write_text(sound.replace("python=", "python=/gone"))
    report = json.loads(machine.ok("setup", "claude-code", "--json"))
    assert report["launcher"] == {"file": str(launcher), "change": "changed"}
    assert {file["change"] for file in report["files"]} == {"unchanged"}
    assert launcher.read_text() == sound
    assert os.access(launcher, os.X_OK)
    assert machine.files() == before


def test_a_strangers_file_in_the_launchers_place_is_not_written_over(machine: Machine) -> None:
    machine.write(machine.home / ".holdfast" / "bin" / "holdfast-launch", b"mine")
    result = machine.run("setup", "claude-code")
    assert result.exit_code == 1
    assert "already exists and is not Holdfast's" in result.stderr
    assert not machine.settings.exists()


@pytest.mark.parametrize("name", [".claude/settings.local.json", ".claude"])
def test_a_project_is_not_set_up_through_a_link_that_leads_out_of_it(machine: Machine, name: str) -> None:
    project = machine.home / "clone"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    private = machine.home / "private"
    machine.write(private / "settings.local.json", b"{}")
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).symlink_to(private if name == ".claude" else private / "settings.local.json")
    before = machine.files()
    result = machine.run("setup", "claude-code", "--project", "-C", str(project))
    assert result.exit_code == 1
    assert "is a link that leads out of the project" in result.stderr
    assert machine.files() == before


def test_a_link_within_the_project_is_followed(machine: Machine) -> None:
    project = machine.home / "clone"
    (project / "settings").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".claude").symlink_to("settings")
    machine.ok("setup", "claude-code", "--project", "-C", str(project))
    assert (project / "settings" / "settings.local.json").exists()


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="has no team set-up"):
        make({}).plan_install("team", "", "/home/ada", ("p", "q", "r"))


def test_project_scope_keeps_its_file_out_of_git_and_takes_that_back(machine: Machine) -> None:
    shop = machine.home / "shop"
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    exclude = shop / ".git" / "info" / "exclude"
    before = exclude.read_bytes() if exclude.exists() else None
    status = ["git", "-C", str(shop), "status", "--short"]
    machine.ok("setup", "claude-code", "--project", "-C", str(shop))
    assert (shop / ".claude" / "settings.local.json").exists()
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    assert "nothing to undo" not in machine.ok("uninstall")
    assert (exclude.read_bytes() if exclude.exists() else None) == before


def test_a_plug_in_package_beside_setup_is_reported_by_setup_its_list_and_doctor(machine: Machine) -> None:
    record = machine.home / ".claude" / "plugins" / "installed_plugins.json"
    machine.write(record, b'{"version": 2, "plugins": {"holdfast@holdfast-local": [{"scope": "user"}]}}')
    listed = json.loads(machine.ok("setup", "--list", "--json"))["hosts"]
    assert [row["host"] for row in listed if row["package"]] == ["claude-code"]
    alone = json.loads(machine.run("doctor", "--no-proof", "--json").stdout)["findings"]
    assert ("ok", "Claude Code has Holdfast's plug-in package") in [(row["status"], row["what"]) for row in alone]
    assert not [row for row in alone if "no host is set up" in row["what"]]
    assert "every hook runs twice" in machine.run("setup", "claude-code").output
    both = json.loads(machine.run("doctor", "--no-proof", "--json").stdout)["findings"]
    assert [row["status"] for row in both if "every hook runs twice" in row["what"]] == ["note"]
