"""Keeps the test run out of the user's real home, and fails the run when something got there all the same.

`protect` points HOME and its relatives at a scratch folder for the whole run, so that every test and every process
a test starts inherits it. What Holdfast or a host could write in the real home is listed before and after the run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

WATCHED = (
    ".holdfast", ".agents", ".ai", ".aider.chat.history.md", ".aider.conf.yml", ".claude", ".claude.json", ".cline",
    ".codeium", ".codex", ".config/amp", ".config/crush", ".config/devin", ".config/goose", ".config/opencode",
    ".config/zed", ".continue", ".copilot", ".cursor", ".gemini", ".gitconfig", ".junie", ".kiro",
    ".local/share/devin", ".local/share/goose", ".local/share/holdfast", ".local/share/opencode", ".openhands", ".pi",
    ".windsurf",
)  # fmt: skip
"""Paths of a home that belong to Holdfast, or to a host whose files Holdfast edits."""

RUNNING_STATE = (".claude/projects", ".claude/todos", ".claude/shell-snapshots", ".codex/sessions", ".gemini/tmp")
"""What an agent that works on this machine beside the tests writes all the time. Holdfast only reads it."""

IN_USE = "HOLDFAST_TESTS_IN_USE"
"""Variable with further paths, comma-separated, that something else may change during the run."""

SCRATCH_HOMES = {
    "HOME": "", "HOLDFAST_HOME": ".holdfast", "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state",
}  # fmt: skip
HOST_VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CONTINUE_GLOBAL_DIR", "COPILOT_HOME", "JUNIE_HOME", "HOLDFAST_OFF",
    "HOLDFAST_STORE",
)  # fmt: skip
TOOL_HOMES = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "npm_config_cache": ".npm"}
"""Where tools that tests start keep themselves, which is below the home unless a variable says otherwise."""

Snapshot = dict[str, tuple[int, int, int]]


class HomeGuard:
    """The real home as it was when the run began."""

    def __init__(self, home: Path, in_use: str = "") -> None:
        self.home = home
        self._excluded = (*RUNNING_STATE, *filter(None, (path.strip() for path in in_use.split(","))))
        self._before = self._list()

    def changes(self) -> list[str]:
        """One line for each watched path that was made, changed or removed since the run began."""
        before, after = self._before, self._list()
        lines = [f"created: ~/{path}" for path in after if path not in before]
        lines += [f"removed: ~/{path}" for path in before if path not in after]
        lines += [f"changed: ~/{path}" for path in after if path in before and after[path] != before[path]]
        return sorted(lines)

    def _list(self) -> Snapshot:
        snapshot: Snapshot = {}
        for name in WATCHED:
            self._add(self.home / name, snapshot)
        return snapshot

    def _add(self, path: Path, snapshot: Snapshot) -> None:
        name = path.relative_to(self.home).as_posix()
        if any(name == excluded or name.startswith(f"{excluded}/") for excluded in self._excluded):
            return
        try:
            status = path.lstat()
        except OSError:
            return
        is_folder = path.is_dir() and not path.is_symlink()
        # A folder's stamp also changes for what is excluded below it; what is listed below it tells enough.
        snapshot[name] = (status.st_mode, 0, 0) if is_folder else (status.st_mode, status.st_mtime_ns, status.st_size)
        if is_folder:
            for entry in sorted(os.listdir(path)):
                self._add(path / entry, snapshot)


class HomeGuardPlugin:
    """The guard as a plug-in of pytest's: reports what changed and makes the run fail."""

    def __init__(self) -> None:
        self._guard = HomeGuard(Path.home(), os.environ.get(IN_USE, ""))
        self._scratch = tempfile.mkdtemp(prefix="holdfast-home-")
        self._changes: list[str] = []
        _move_home(Path.home(), Path(self._scratch))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._changes = self._guard.changes()
        if self._changes:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._changes:
            terminalreporter.section(f"the tests touched the real home {self._guard.home}", red=True)
            terminalreporter.write_line("\n".join(self._changes))
            terminalreporter.write_line(f"(paths that another program uses meanwhile: {IN_USE}=path,path)")

    def pytest_unconfigure(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)


def _move_home(real: Path, scratch: Path) -> None:
    for variable, folder in TOOL_HOMES.items():
        if variable not in os.environ and (real / folder).is_dir():
            os.environ[variable] = str(real / folder)
    for variable, folder in SCRATCH_HOMES.items():
        os.environ[variable] = str(scratch / folder)
    if "USERPROFILE" in os.environ:  # Windows' name of the home; elsewhere tests expect that HOME alone tells it
        os.environ["USERPROFILE"] = str(scratch)
    for variable in HOST_VARIABLES:
        os.environ.pop(variable, None)


def protect(config: pytest.Config) -> None:
    """Move the home for the rest of this process and guard the real one; to be called once a run."""
    if not config.pluginmanager.has_plugin("home-guard"):
        config.pluginmanager.register(HomeGuardPlugin(), "home-guard")
