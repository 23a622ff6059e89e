"""Set-up of several hosts at once: what is found is wired, what cannot be changed is told with what to do by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast import plugins
from holdfast.settings import load_settings
from holdfast.surfaces.cli.hostcheck import check_heard
from tests.surfaces.test_setup import Machine


@pytest.fixture
def machine(home: Path) -> Machine:
    machine = Machine(home.parent)
    machine.write(home.parent / ".codex" / "config.toml", b'model = "o"\n')
    machine.write(home.parent / ".config" / "Code" / "User" / "mcp.json", b"{ /* none */ }\n")
    (home.parent / ".claude").mkdir()
    return machine


def test_without_a_name_every_host_that_is_found_is_set_up(machine: Machine) -> None:
    before = machine.files()
    output = machine.ok("setup", "--yes")
    titles = ("Claude Code", "OpenAI Codex", "Visual Studio Code", "Gemini CLI")
    assert [title for title in titles if title in output] == list(titles[:3])
    assert set(machine.files()) == {
        ".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json",
        ".config/Code/User/mcp.json",
    }  # fmt: skip
    machine.ok("uninstall")
    assert machine.files() == before


def test_one_host_leaves_and_the_others_stay(machine: Machine) -> None:
    machine.ok("setup", "codex", "vscode")
    machine.ok("uninstall", "codex")
    assert b"holdfast" not in machine.files()[".codex/config.toml"]
    assert b"holdfast" in machine.files()[".config/Code/User/mcp.json"]


def test_a_file_that_cannot_be_changed_is_reported_with_what_to_add_and_the_others_go_on(machine: Machine) -> None:
    broken = machine.home / ".codex" / "config.toml"
    machine.write(broken, b"model = \n")
    result = machine.run("setup", "codex", "vscode")
    assert result.exit_code == 1
    assert "config.toml: not valid TOML" in result.stderr
    assert f"add to {broken}:\n[mcp_servers.holdfast]\n" in result.stderr
    assert broken.read_bytes() == b"model = \n"
    assert not (machine.home / ".codex" / "hooks.json").exists()
    assert b"holdfast" in machine.files()[".config/Code/User/mcp.json"]


def test_a_folder_in_a_files_place_is_reported(machine: Machine) -> None:
    (machine.home / ".codex" / "hooks.json").mkdir()
    result = machine.run("setup", "codex")
    assert result.exit_code == 1
    assert "hooks.json cannot be read" in result.stderr


def test_a_broken_file_of_a_host_that_was_never_set_up_does_not_stop_uninstall(machine: Machine) -> None:
    machine.ok("setup", "vscode")
    machine.write(machine.home / ".codex" / "config.toml", b"model = \n")
    machine.ok("uninstall")
    assert b"holdfast" not in machine.files()[".config/Code/User/mcp.json"]


def test_the_list_tells_what_each_host_can_do(machine: Machine) -> None:
    machine.ok("setup", "codex")
    by_host = {row["host"]: row for row in json.loads(machine.ok("setup", "--list", "--json"))["hosts"]}
    assert by_host["codex"]["set_up"]
    assert by_host["codex"]["found"] == str(machine.home / ".codex")
    assert "prompt" in by_host["codex"]["deliveries"]
    assert not by_host["vscode"]["set_up"]
    assert by_host["gemini-cli"]["found"] == ""
    assert "codex" in machine.ok("setup", "--list")


def test_a_machine_without_hosts_is_reported(home: Path) -> None:
    result = Machine(home.parent).run("setup")
    assert result.exit_code == 1
    assert "no supported agent was found" in result.stderr


def test_an_unknown_host_is_refused_with_those_there_are(machine: Machine) -> None:
    result = machine.run("setup", "emacs")
    assert result.exit_code != 0
    assert "codex" in result.stderr


def test_a_host_of_another_package_tells_what_to_install(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda kind: {})
    (machine.home / ".config" / "zed").mkdir()
    assert "hint: pip install holdfast-hosts" in machine.run("setup", "zed").stderr
    assert "also on this machine: zed; to set these up: pip install holdfast-hosts" in machine.run("setup").stderr


def test_a_machine_with_nothing_but_a_host_of_another_package_is_told_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda kind: {})
    (home.parent / ".config" / "goose").mkdir(parents=True)
    result = Machine(home.parent).run("setup")
    assert result.exit_code == 1
    assert "goose: needs the package holdfast-hosts\nhint: pip install holdfast-hosts" in result.stderr


def test_a_host_whose_package_is_gone_can_be_uninstalled(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("holdfast_hosts")
    before = machine.files()
    machine.ok("setup", "zed")
    monkeypatch.setattr(plugins, "_entry_points", lambda kind: {})
    assert "hint: pip install holdfast-hosts" in machine.run("setup", "zed").stderr
    assert [finding.mend for finding in check_heard(load_settings(), {})] == ["pip install holdfast-hosts"]
    machine.ok("uninstall", "zed")
    assert machine.files() == before
