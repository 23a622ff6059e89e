"""Every host: set up in a scratch home, its hooks run as the host would run them, and every byte given back.

`tests/golden/hosts/<host>/home/` holds a user's files before, with other tools' entries; `<case>/payload.json` what the
host sends, `<case>/expected.json` what it is answered when there is something to say.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.bootstrap import Memory, all_hosts
from holdfast.ports.host import ConfigEdit, OwnFile
from holdfast.recall.moments import REQUEST
from holdfast.settings import load_settings, program_paths
from holdfast.surfaces.cli.main import cli
from holdfast.wiring import load_host
from tests.hosts.golden import ROOT, cases, folder_of

HOSTS = sorted(host.name for host in all_hosts(load_settings()))
TRIES = 100
LAUNCHER = "bin/holdfast-launch "
SHELLED = [case for case in cases() if (case / "payload.json").exists() and ROOT in case.parents]
"""Recorded payloads of built-in hosts: each is sent to the command that set-up registered. A hook finds an adapter of
another distribution only beside the package itself, which is not so for sources."""


class Machine:
    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *args: str) -> str:
        result = CliRunner().invoke(cli, args)
        assert result.exit_code == 0, result.output
        return result.output

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


def furnish(machine: Machine, host: str) -> None:
    """The user's files before: those of the golden folder, where it has some."""
    before = folder_of(host.replace("-", "_")) / "home"
    if before.is_dir():
        shutil.copytree(before, machine.home, dirs_exist_ok=True)


def commands_in(entry: Any) -> set[str]:
    """Every shell command in a configuration that runs our hook program."""
    if isinstance(entry, dict):
        return {command for value in entry.values() for command in commands_in(value)}
    if isinstance(entry, list):
        return {command for value in entry for command in commands_in(value)}
    return {entry} if isinstance(entry, str) and LAUNCHER in entry else set()


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_set_up_and_gives_every_byte_back(machine: Machine, host: str) -> None:
    furnish(machine, host)
    before = machine.files()
    machine.run("setup", host)
    after = machine.files()
    assert after != before
    assert "unchanged" in machine.run("setup", host)
    assert machine.files() == after
    machine.run("uninstall", host)
    assert machine.files() == before


@pytest.mark.parametrize("host", sorted({case.parent.name for case in SHELLED}))
def test_the_registered_command_answers_in_the_hosts_own_form(machine: Machine, host: str) -> None:
    machine.run("setup", host.replace("_", "-"))
    command = registered(machine, host.replace("_", "-"))
    if not command:
        pytest.skip("its hooks are a plug-in in the host's own language, tested with it")
    project = machine.home / "my shop"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    teach(project)
    entry = {"type": "USER_INPUT", "content": "<USER_REQUEST>may amounts be floats, or whole cents?</USER_REQUEST>"}
    (project / "transcript.jsonl").write_text(json.dumps(entry) + "\n")  # where a host tells the prompt by its file
    talked = False
    for case in (case for case in SHELLED if case.parent.name == host):
        answer = answer_in_time(machine, command, case, project)
        expected = json.loads((case / "expected.json").read_text("utf-8"))["answer"]
        if "<holdfast-memory>" in answer:
            talked = True
            assert without_briefing(answer) == expected, case.name
        elif REQUEST in answer:  # the cases together are one session with an edit and a failure
            assert expected["hookSpecificOutput"]["hookEventName"] == "Stop"
        else:
            assert answer == ("{}" if "--plain" not in command else ""), case.name
    assert talked or not load_host(host.replace("_", "-")).profile.moments


def teach(project: Path) -> None:
    with Memory(str(project)) as memory:
        memory.remember("Amounts are whole cents, never floats.", kind="constraint", pinned=True)


def answer_in_time(machine: Machine, command: str, case: Path, project: Path) -> str:
    """What the hook says. When a busy machine makes it miss its deadline it is asked again, with a new memory."""
    log = Path(load_settings().log_path)
    for _ in range(TRIES):
        answer = run_hook(machine, command, case, str(project))
        late = log.exists() and "deadline" in log.read_text("utf-8")
        if not late and (answer or "--plain" in command):
            break
        shutil.rmtree(load_settings().home)  # the launcher too, which setup writes again
        machine.run("setup", case.parent.name.replace("_", "-"))
        teach(project)
    return answer


def registered(machine: Machine, host: str) -> str:
    """The one shell command that set-up registers with a host for its hooks."""
    command = program_paths(str(machine.home / ".holdfast"))
    edits = load_host(host).plan_install("user", "", str(machine.home), command).edits
    values = [edit.value for edit in edits if isinstance(edit, ConfigEdit)]
    values += [json.loads(edit.text) for edit in edits if isinstance(edit, OwnFile) and edit.file.endswith(".json")]
    commands = {command for value in values for command in commands_in(value)}
    assert len(commands) < 2
    return next(iter(commands), "")


def run_hook(machine: Machine, command: str, case: Path, folder: str) -> str:
    """What the host reads from the command when it sends the recorded payload from that folder."""
    payload = (case / "payload.json").read_text("utf-8")
    for recorded in ("/home/ada/shop", "/home/ada/ledger", "/home/ada/parcels"):
        payload = payload.replace(recorded, json.dumps(folder)[1:-1])
    ran = subprocess.run(
        ["/bin/sh", "-c", command], input=payload, capture_output=True, text=True, check=False, cwd=machine.home
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def without_briefing(answer: str) -> Any:
    """An answer with the recorded words in the place of the briefing."""
    parsed = json.loads(answer) if answer.startswith("{") else answer
    return _replaced(parsed)


def _replaced(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _replaced(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_replaced(value) for value in node]
    return "what was learnt" if isinstance(node, str) and node.startswith("<holdfast-memory>") else node
