"""What can be told here about Windows: nothing we import needs what it lacks, and hooks and commands work without.

Simulated: `os.name` says `nt`, and the modules and functions that Windows' Python lacks are gone when our modules are
loaded. Not simulated: the system itself, its shells, its paths (tests/workspace/test_paths.py has their rules), and
other people's packages, which are loaded before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from holdfast.ports.store import EventFilter
from tests.surfaces.hookcalls import ENTRY, Hooks

POOR = """
import ctypes, os, pathlib, select, signal, socket, subprocess, sys, tempfile

GONE = ("fcntl", "grp", "pwd", "termios", "tty", "pty", "resource", "syslog", "readline", "_posixsubprocess")
LACKING = (
    "chown", "fchmod", "fork", "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid",
    "getsid", "getuid", "killpg", "lchown", "mkfifo", "nice", "posix_spawn", "posix_spawnp", "sched_getaffinity",
    "setsid", "sysconf", "uname", "wait3", "wait4", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK",
    "POSIX_SPAWN_OPEN", "POSIX_SPAWN_CLOSE", "POSIX_SPAWN_DUP2",
)

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def become_poor():
    os.name = "nt"
    pathlib.WindowsPath = pathlib.PosixPath  # the other cannot be made here
    for name in LACKING:
        if hasattr(os, name):
            delattr(os, name)
    for name in ("poll", "epoll"):
        if hasattr(select, name):
            delattr(select, name)
    for place in (socket, sys.modules["_socket"]):
        if hasattr(place, "AF_UNIX"):
            del place.AF_UNIX
    for name in GONE:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Refuse())
"""

IMPORT_ALL = """
import importlib, pkgutil
import httpx2, markdown_it, mcp.client.stdio, mcp.server.stdio, numpy, rich.console, rich.progress, yaml
become_poor()
import holdfast
found = [one.name for one in pkgutil.walk_packages(holdfast.__path__, "holdfast.")]
for name in found:
    if not name.endswith(("__main__", "hooks.entry")):
        importlib.import_module(name)
print(len(found))
"""

HOOK = """
entry, host = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(entry)))))
become_poor()
from holdfast.lean.deadline import Deadline
Deadline.answer_by = property(lambda deadline: deadline.began_s + 60)
from holdfast.surfaces.hooks import client
client.main([host])
"""

COMMAND = """
import click
become_poor()
from holdfast.surfaces.cli.main import cli
cli.main(sys.argv[1:])
"""


HOMES = """
become_poor()
from holdfast.settings import load_settings
"""

BECOME = """
become_poor()
from holdfast.surfaces.cli.becoming import become
become([sys.executable, "-c", "print('here'); raise SystemExit(3)"])
"""


def poorly(hooks: Hooks, code: str, *arguments: str, stdin: str = "", ends: int = 0) -> str:
    """What that prints on a system that has only what Windows has."""
    ran = subprocess.run(
        [sys.executable, "-c", POOR + code, *arguments],
        cwd=hooks.project, env=hooks.env, input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == ends, ran.stderr
    return ran.stdout


def test_every_module_loads_without_what_windows_lacks(tmp_path: Path) -> None:
    assert int(poorly(Hooks(tmp_path), IMPORT_ALL)) > 250


def test_a_hook_captures_and_delivers_without_what_windows_lacks(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=hooks.project, env=hooks.env, check=True)
    poorly(hooks, COMMAND, "remember", "Round ledger amounts half to even.", "--file", "ledger.py")
    context = poorly(hooks, HOOK, ENTRY, "claude-code", stdin=json.dumps(hooks.payload("PreToolUse")))
    assert "half to even" in context
    assert poorly(hooks, HOOK, ENTRY, "claude-code", stdin=json.dumps(hooks.payload("PostToolUse"))) == "{}"
    assert hooks.log == ""
    with hooks.memory() as memory:
        assert [event.kind for _, event in memory.services.store.find_events(EventFilter())] == ["tool_result"]


def test_hosts_are_set_up_and_given_back_without_what_windows_lacks(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    (tmp_path / ".codex").mkdir()
    settings = tmp_path / ".codex" / "hooks.json"
    settings.write_bytes(b'{\r\n  "hooks": {}\r\n}\r\n')
    poorly(hooks, COMMAND, "setup", "codex")
    assert b"holdfast-launch.cmd codex" in settings.read_bytes()
    poorly(hooks, COMMAND, "uninstall")
    assert settings.read_bytes() == b'{\r\n  "hooks": {}\r\n}\r\n'


def test_a_command_that_goes_on_as_another_program_ends_when_that_does(tmp_path: Path) -> None:
    assert poorly(Hooks(tmp_path), BECOME, ends=3) == "here\n"


def test_the_home_on_windows_is_where_hosts_look_for_it(tmp_path: Path) -> None:
    code = HOMES + "print(load_settings({'HOME': '/h', 'USERPROFILE': '/u'}).user_home)"
    assert poorly(Hooks(tmp_path), code) == "/u\n"
