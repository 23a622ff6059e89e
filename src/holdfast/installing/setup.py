"""Setting up and taking back: which hosts, what changes for each, the launcher, approvals of hooks, git's merge driver.

Made, each of these has planned its changes and written nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.bootstrap import all_hosts
from holdfast.errors import InvalidValueError, PluginNotFoundError
from holdfast.installing import gitmerge, launcher
from holdfast.installing.hostfiles import SHARED_MODE, HostFiles, set_up
from holdfast.installing.wiring import Wirer
from holdfast.settings import package_folder, program_paths
from holdfast.wiring import load_host

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.installing.hostfiles import Change
    from holdfast.ports.host import Edit, Host
    from holdfast.settings import Settings

GIT = "git"
"""What is set up in a host's place for git itself."""


class Setup:
    """Registers hooks and the MCP server with the hosts of those names, or with every host on this machine.

    `folder` is the work tree for the scope `project`. Raises PluginNotFoundError for an unknown name, and where no
    host is found.
    """

    def __init__(self, settings: Settings, names: Sequence[str] = (), scope: str = "user", folder: str = "") -> None:
        self._settings = settings
        self._files = HostFiles(settings.home)
        self._wirer = Wirer(settings, self._files, scope, folder)
        self.wirings = [self._wirer.plan(host) for host in _chosen(names, settings)]
        self.launcher = launcher.plan(self._files, settings)

    @property
    def is_needed(self) -> bool:
        """Whether a file is not as it shall be."""
        return any(change.needed for wiring in self.wirings for change in (self.launcher, *wiring.changes))

    def apply(self) -> None:
        """Make the changes; the launcher first, for what is registered starts it. `wirings` tell what failed."""
        if set_up(self._files.manifest) or not all(wiring.error for wiring in self.wirings):
            self._files.apply([self.launcher])
        self.wirings = [wiring if wiring.error else self._wirer.apply(wiring) for wiring in self.wirings]
        warm_up()

    def approve_hooks(self) -> Iterator[tuple[str, int]]:
        """Write the approvals that a host's user would give; they are taken back with the hooks.

        A host's title and how many hooks, for each host that was set up and needs approvals.
        """
        for wiring in self.wirings:
            approvals = None if wiring.error else load_host(wiring.host, self._settings).approvals(self._home)
            if approvals is not None:
                hooks = approvals.find()
                self._files.apply(self._files.plan(f"{wiring.host}:trust:", approvals.plan(hooks)))
                yield approvals.title, len(hooks)

    @property
    def _home(self) -> str:
        return self._settings.user_home


class Removal:
    """Takes back what setup changed for the hosts of those names, or for all of them."""

    def __init__(self, settings: Settings, names: Sequence[str] = ()) -> None:
        self._files = HostFiles(settings.home)
        planned = self._files.plan_removal(list(_registered(settings, names)), names)
        start = launcher.plan_removal(self._files, settings)
        self.changes = [change for change in planned if change.file != start.file]
        wired = set_up(self._files.manifest)
        if start.held is not None and not wired - set(names or wired):
            self.changes.append(start)  # last: until then hosts may start it

    def apply(self) -> None:
        """Make the changes."""
        self._files.apply(self.changes)


def set_up_git(settings: Settings, root: str, hooked: bool = False, dry: bool = False) -> list[Change]:
    """Let the work tree's git merge lesson files, and with `hooked` take them in; what that changes."""
    files = HostFiles(settings.home, SHARED_MODE)
    wanted = {gitmerge.OWNER + root: gitmerge.edits(root, hooked)}
    changes = [files.plan_file(file, wanted) for file in files.files_of(wanted)]
    if not dry:
        files.apply(changes)
    return changes


def warm_up() -> None:
    """Compile the package, so that not even the first hook pays for it; a folder we may not write stays as it is."""
    import compileall

    compileall.compile_dir(package_folder(), quiet=2)


def _chosen(names: Sequence[str], settings: Settings) -> list[Host]:
    if names:
        return [load_host(name, settings) for name in dict.fromkeys(names)]
    hosts_here = [host for host in all_hosts(settings) if host.find(settings.user_home)]
    if not hosts_here:
        hint = "`holdfast setup --list` shows the names; then for example: holdfast setup claude-code"
        raise PluginNotFoundError("no agent that Holdfast knows was found on this machine", hint=hint)
    return hosts_here


def _registered(settings: Settings, names: Sequence[str]) -> Iterator[Edit]:
    """What setup registers for a user: taken back also when the manifest is gone."""
    command = program_paths(settings.home)
    chosen = [load_host(name, settings) for name in names if name != GIT]
    for host in chosen if names else all_hosts(settings):
        try:
            yield from host.plan_install("user", "", settings.user_home, command).edits
        except InvalidValueError:
            continue  # a host that is only set up for a project
