"""Sets up hosts and git's merge driver, and undoes it: chooses hosts, plans changes, writes the launcher and approvals.

Constructing a `Setup` or a `Removal` only plans the changes; `apply` writes them.
"""

from __future__ import annotations

import compileall
from collections.abc import Iterator, Sequence

from holdfast import plugins
from holdfast.bootstrap import all_hosts
from holdfast.errors import InvalidValueError, PluginNotFoundError
from holdfast.installing import githooks, launcher
from holdfast.installing.hostfiles import SHARED_MODE, FileChange, HostFiles, set_up
from holdfast.installing.hostsetup import HostInstaller
from holdfast.ports.host import Edit, Host
from holdfast.settings import Settings, package_folder, program_paths
from holdfast.wiring import load_host

GIT = "git"
"""The name in place of a host's that stands for git itself."""


class Setup:
    """Registers hooks and the MCP server with the hosts of those names, or with every host on this machine.

    `folder` is the work tree for the scope `project`. Raises PluginNotFoundError for an unknown name, or if no host is
    found.
    """

    def __init__(self, settings: Settings, names: Sequence[str] = (), scope: str = "user", folder: str = "") -> None:
        self._settings = settings
        self._files = HostFiles(settings.home)
        self._installer = HostInstaller(settings, self._files, scope, folder)
        self.host_setups = [self._installer.plan(host) for host in _chosen(names, settings)]
        self.launcher = launcher.plan(self._files, settings)

    @property
    def is_needed(self) -> bool:
        """Whether a file needs a change."""
        return any(change.needed for host_setup in self.host_setups for change in (self.launcher, *host_setup.changes))

    def apply(self) -> None:
        """Make the changes, the launcher first because hooks start it. `host_setups` then has the errors."""
        if set_up(self._files.manifest) or not all(host_setup.error for host_setup in self.host_setups):
            self._files.apply([self.launcher])
        self.host_setups = [
            host_setup if host_setup.error else self._installer.apply(host_setup) for host_setup in self.host_setups
        ]
        warm_up()

    def approve_hooks(self) -> Iterator[tuple[str, int]]:
        """Write the approvals that a host's user would give; they are removed together with the hooks.

        Yields the title and the number of hooks for each host that was set up and needs approvals.
        """
        for host_setup in self.host_setups:
            approvals = None if host_setup.error else load_host(host_setup.host, self._settings).approvals(self._home)
            if approvals is not None:
                hooks = approvals.find()
                self._files.apply(self._files.plan(f"{host_setup.host}:trust:", approvals.plan(hooks)))
                yield approvals.title, len(hooks)

    @property
    def _home(self) -> str:
        return self._settings.user_home


class Removal:
    """Undoes what setup changed for the hosts of those names, or for all hosts."""

    def __init__(self, settings: Settings, names: Sequence[str] = ()) -> None:
        self._files = HostFiles(settings.home)
        planned = self._files.plan_removal(list(_registered(settings, names)), names)
        start = launcher.plan_removal(self._files, settings)
        self.changes = [change for change in planned if change.file != start.file]
        wired = set_up(self._files.manifest)
        if start.held is not None and not wired - set(names or wired):
            self.changes.append(start)  # last, because hosts may start the launcher until then

    def apply(self) -> None:
        """Make the changes."""
        self._files.apply(self.changes)


def set_up_git(settings: Settings, root: str, hooked: bool = False, dry: bool = False) -> list[FileChange]:
    """Set up the work tree's git to merge lesson files, and with `hooked` to import them; return the changes."""
    files = HostFiles(settings.home, SHARED_MODE)
    wanted = {githooks.LESSONS_OWNER + root: githooks.merge_edits(root, hooked)}
    changes = [files.plan_file(file, wanted) for file in files.files_of(wanted)]
    if not dry:
        files.apply(changes)
    return changes


def warm_up() -> None:
    """Compile the package, so that the first hook need not; a folder without write permission is left as it is."""
    compileall.compile_dir(package_folder(), quiet=2)


def _chosen(names: Sequence[str], settings: Settings) -> list[Host]:
    if names:
        return [load_host(name, settings) for name in dict.fromkeys(names)]
    hosts_here = [host for host in all_hosts(settings) if host.find(settings.user_home)]
    if not hosts_here:
        missing = plugins.missing_hosts(settings.user_home)
        if missing:
            hint = f"pip install {plugins.HOSTS_PACKAGE}"
            raise PluginNotFoundError(f"{', '.join(missing)}: needs the package {plugins.HOSTS_PACKAGE}", hint=hint)
        hint = "holdfast setup --list shows the names; then for example: holdfast setup claude-code"
        raise PluginNotFoundError("no supported agent was found on this machine", hint=hint)
    return hosts_here


def _loadable(settings: Settings, names: Sequence[str]) -> Iterator[Host]:
    """Yield the hosts of those names, without one that the manifest knows and whose package is gone."""
    wired = set_up(HostFiles(settings.home).manifest)
    for name in names:
        if name == GIT:
            continue
        try:
            yield load_host(name, settings)
        except PluginNotFoundError:
            if name not in wired:
                raise


def _registered(settings: Settings, names: Sequence[str]) -> Iterator[Edit]:
    """Yield the edits that setup makes for a user, so that they are removed even if the manifest is gone."""
    command = program_paths(settings.home)
    for host in _loadable(settings, names) if names else all_hosts(settings):
        try:
            yield from host.plan_install("user", "", settings.user_home, command).edits
        except InvalidValueError:
            continue  # this host can only be set up for a project
