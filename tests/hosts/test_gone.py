"""No host is disturbed when Holdfast is gone: every registered command is run as its host runs it, whatever is missing.

A host takes a hook's exit code 2 for "block", some take any other than 0, and some show what stands on stderr.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.installing.launcher import launcher_text
from holdfast.ports.store import EventFilter
from holdfast.settings import launcher_path, package_folder
from tests.hosts.registered import Registered, registered
from tests.hosts.test_install import HOSTS, Machine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher there is a batch file")
SITE = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")


class Installation(Machine):
    """A user's machine with every host set up, and an environment that can be taken away."""

    def __init__(self, user_home: Path) -> None:
        super().__init__(user_home)
        self.run("setup", *HOSTS)
        self.holdfast = user_home / ".holdfast"
        self.launcher = Path(launcher_path(str(self.holdfast)))
        self.environment = user_home / "its env"
        self.python = self.environment / "bin" / "python3"
        self.package = self.environment / SITE / "holdfast"
        self.python.parent.mkdir(parents=True)
        self.python.symlink_to(sys.executable)
        self.package.parent.mkdir(parents=True)
        self.package.symlink_to(package_folder())
        self.launcher.write_text(launcher_text(str(self.python), str(self.package)))
        self.commands = list(registered(self.holdfast))
        self.project = user_home / "shop"
        self.project.mkdir()

    def heard(self) -> set[str]:
        """The hosts whose hooks kept something."""
        with Memory(str(self.project)) as memory:
            return {event.host for _, event in memory.services.store.find_events(EventFilter())}

    def start(self, command: Registered, event: str = "Stop") -> subprocess.CompletedProcess[str]:
        payload = {
            "hook_event_name": event,
            "session_id": command.words[-1][-40:],
            "cwd": str(self.project),
            "prompt": "Remember that x.",
        }
        return subprocess.run(
            command.words, input=json.dumps(payload), capture_output=True, text=True, check=False, cwd=self.project,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip


@pytest.fixture
def installation(home: Path) -> Installation:
    return Installation(home.parent)


def remove_package(here: Installation) -> None:
    here.package.unlink()


def remove_half_of_the_package(here: Installation) -> None:
    here.package.unlink()
    shutil.copytree(Path(package_folder(), "surfaces", "hooks"), here.package / "surfaces" / "hooks")


def break_the_package(here: Installation) -> None:
    remove_half_of_the_package(here)
    (here.package / "surfaces" / "hooks" / "entry.py").write_text("print(")


def remove_interpreter(here: Installation) -> None:
    here.python.unlink()


def remove_base_interpreter(here: Installation) -> None:
    here.python.unlink()
    here.python.symlink_to("/nowhere/bin/python3.99")


def remove_environment(here: Installation) -> None:
    shutil.rmtree(here.environment)


def damage_interpreter(here: Installation) -> None:
    here.python.unlink()
    here.python.write_bytes(b"\x7fELF no program")
    here.python.chmod(0o755)


def cut_the_launcher_short(here: Installation) -> None:
    here.launcher.write_text(here.launcher.read_text()[:-40])


def empty_the_launcher(here: Installation) -> None:
    here.launcher.write_text("")


def scramble_the_launcher(here: Installation) -> None:
    here.launcher.write_bytes(bytes(range(256)) * 9)


def put_a_folder_in_its_place(here: Installation) -> None:
    here.launcher.unlink()
    here.launcher.mkdir()


def remove_the_launcher(here: Installation) -> None:
    here.launcher.unlink()


def remove_the_home(here: Installation) -> None:
    shutil.rmtree(here.holdfast)


WITH_A_LAUNCHER = [
    remove_package, remove_half_of_the_package, break_the_package, remove_interpreter, remove_base_interpreter,
    remove_environment, damage_interpreter,
]  # fmt: skip
WITHOUT = [
    cut_the_launcher_short, empty_the_launcher, scramble_the_launcher, put_a_folder_in_its_place, remove_the_launcher,
    remove_the_home,
]  # fmt: skip


def test_every_host_with_hooks_registers_a_command(installation: Installation) -> None:
    hooks = [command for command in installation.commands if command.kind == "hook"]
    shelled = [command for command in hooks if command.words[:2] == ("/bin/sh", "-c")]
    assert shelled
    assert len(hooks) >= len(shelled)
    assert [command for command in installation.commands if command.kind == "server"]


def test_the_commands_work_while_everything_is_there(installation: Installation) -> None:
    for command in installation.commands:
        if command.kind == "hook":
            ran = installation.start(command, "UserPromptSubmit")
            assert (ran.returncode, ran.stderr) == (0, ""), command
            assert ran.stdout.strip() in ("", "{}"), command
    assert installation.heard() <= set(HOSTS)
    assert installation.heard()  # on a busy machine a hook may be too late, but not each of them


def is_silent(ran: subprocess.CompletedProcess[str]) -> bool:
    """Whether the hook ended well and told the host nothing; the compiled program says so with an empty object."""
    return (ran.returncode, ran.stderr) == (0, "") and ran.stdout in ("", "{}")


@pytest.mark.parametrize("harm", WITH_A_LAUNCHER)
def test_a_hook_says_nothing_and_ends_well(installation: Installation, harm: Callable[[Installation], None]) -> None:
    harm(installation)
    for command in installation.commands:
        ran = installation.start(command)
        if command.kind == "hook":
            assert is_silent(ran), command
        else:
            assert ran.stdout == ""  # it ends by itself; a server that does not start is the host's to report


@pytest.mark.parametrize("harm", WITHOUT)
def test_so_it_does_when_even_our_home_is_damaged(
    installation: Installation, harm: Callable[[Installation], None]
) -> None:
    harm(installation)
    for command in installation.commands:
        if command.kind == "hook" and command.words[1] == "-c" and command.words[2].startswith(("/bin/sh -c", "exec")):
            ran = installation.start(command)
            assert is_silent(ran), command


def test_only_one_host_names_the_launcher_bare(installation: Installation) -> None:
    # Antigravity splits a command at blanks: no shell can be told to go on when the launcher is gone
    bare = {
        command.words[-1].split()[-1]
        for command in installation.commands
        if command.kind == "hook" and "exec 2>/dev/null" not in " ".join(command.words)
    }
    assert bare <= {"antigravity"}


def test_an_environment_made_anew_with_another_python_works_by_itself(installation: Installation) -> None:
    elsewhere = installation.environment / "lib" / "python3.99" / "site-packages"
    elsewhere.mkdir(parents=True)
    installation.package.rename(elsewhere / "holdfast")
    installation.launcher.write_text(launcher_text(f"{installation.python}.0", str(installation.package)))
    command = next(command for command in installation.commands if command.words[-1].endswith("claude-code"))
    assert installation.start(command, "UserPromptSubmit").stdout.strip() == "{}"


def test_uninstall_leaves_no_launcher(installation: Installation) -> None:
    installation.launcher.write_text(launcher_text("/somewhere/python", "/else"))  # another installation's
    installation.run("uninstall")
    assert not installation.launcher.parent.exists()
    assert not installation.commands or not registered(installation.holdfast)


def test_the_launcher_stays_while_a_host_needs_it(installation: Installation) -> None:
    installation.run("uninstall", *HOSTS[1:])
    assert installation.launcher.exists()
    installation.run("uninstall", HOSTS[0])
    assert not installation.launcher.exists()
