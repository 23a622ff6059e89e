"""Writes and removes hosts' rules files in a project: chooses the hosts, plans the changes, and makes them.

Owners in the manifest are `host:rules:root`. Hosts that the user named are stored as a state of the store, so that they
are known even while there is no lesson to write for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from glob import escape, glob
from typing import NamedTuple

from holdfast.bootstrap import Memory, all_hosts
from holdfast.domain.statefamilies import RULES_HOSTS
from holdfast.errors import HoldfastError, HostConfigError, InvalidValueError
from holdfast.home.runfiles import RunLock, note
from holdfast.installing import githooks
from holdfast.installing.hostfiles import SHARED_MODE, FileChange, HostFiles, followed_inside, set_up
from holdfast.ports.host import BlockEdit, Edit, Host, OwnFile, RulesTarget
from holdfast.publishing.rules import DEFAULT, MARK, Budget, Outlet, Rules, compile_rules, is_read
from holdfast.settings import Settings
from holdfast.wiring import load_host

SCOPE = "rules"
"""The second word of owners."""
LOCK_WAIT_S = 10.0
"""Seconds to wait for another process that changes hosts' files."""
NAME_ONE = "holdfast rules sync --host NAME"


class RulesRequest(NamedTuple):
    """For which hosts rules files are written, and how much goes into them."""

    hosts: tuple[str, ...] = ()
    """Hosts that the user named, in addition to those that need rules files."""
    budget: Budget = DEFAULT
    own: bool = False
    """Whether the user's own lessons for all projects are written too."""

    def words(self) -> list[str]:
        """Return the options that differ from the defaults, for the git hooks; hosts are known from the manifest."""
        always, scoped = self.budget.always, self.budget.scoped
        options = [f"--budget={always}"] if always != DEFAULT.always else []
        options += [f"--folder-budget={scoped}"] if scoped != DEFAULT.scoped else []
        return options + (["--own"] if self.own else [])


class Plan(NamedTuple):
    """The wanted content of a project's rules files, the changes for it, and the problems."""

    rules: Rules
    hosts: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """The hosts that the user named, now or before."""
    changes: tuple[FileChange, ...] = ()
    problems: tuple[HoldfastError, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def needed(self) -> list[FileChange]:
        """The changes of files that are not up to date."""
        return [change for change in self.changes if change.needed]


class RulesPlanner:
    """Plans and writes the rules files of one project."""

    def __init__(self, settings: Settings, files: HostFiles, memory: Memory) -> None:
        self.root = root = memory.location.root
        self._memory = memory
        self._files = files
        self._hosts = {host.name: host for host in all_hosts(settings)}
        self._wired = set_up(files.manifest, root) & set(self._hosts)
        if os.path.realpath(root) == os.path.realpath(settings.user_home or os.sep):
            raise InvalidValueError(f"{root} is your home folder, not a project", hint="cd to a project, or -C FOLDER")

    def plan(self, request: RulesRequest) -> Plan:
        """Plan the files of the chosen hosts; nothing is written.

        Without a host to write for, the plan is empty and has a note. Raises PluginNotFoundError for an unknown name.
        """
        hosts_asked = self._asked(request.hosts)
        problems: list[HoldfastError] = []
        notes: list[str] = []
        outlets = list(self._outlets(hosts_asked, problems, notes))
        if not (outlets or problems or self.owners()):
            notes.append(f"no host that is set up needs rules files; to write them anyway: {NAME_ONE}")
        rules = compile_rules(self._memory.services, self._memory.location, outlets, request.budget, request.own)
        wanted: dict[str, list[Edit]] = {owner: [] for owner in self.owners()}
        for host, edit in self._edits(rules):
            wanted.setdefault(f"{host}:{SCOPE}:{self.root}", []).append(edit)
        changes = self._changes(wanted, problems)
        notes += _too_long(outlets, changes, self.root)
        hosts = tuple(outlet.host for outlet in outlets)
        return Plan(rules, hosts, hosts_asked, tuple(changes), tuple(problems), tuple(notes))

    def with_git_hooks(self, plan: Plan, request: RulesRequest) -> Plan:
        """Return the plan with lines in git's hooks that sync with the same options, or with the problem."""
        try:
            edits = githooks.edits(self.root, [*githooks.RULES, *request.words()])
        except HostConfigError as exc:
            return plan._replace(problems=(*plan.problems, exc))
        problems = list(plan.problems)
        changes = self._changes({githooks.OWNER + self.root: edits}, problems)
        return plan._replace(changes=(*plan.changes, *changes), problems=tuple(problems))

    def git_hooks(self) -> list[str]:
        """Return the names of git's hooks that have Holdfast's line for this work tree."""
        owner = githooks.OWNER + self.root
        entries = self._files.manifest.items()
        return [os.path.basename(file) for file, entry in entries if owner in (e["owner"] for e in entry["edits"])]

    def plan_removal(self, named: Sequence[str]) -> Plan:
        """Plan the removal of Holdfast's rules; without names also of rules that came with the project."""
        for name in named:
            self._known(name)
        owners = [owner for owner in self.owners() if not named or owner.partition(":")[0] in named]
        owners += [] if named else [githooks.OWNER + self.root]
        problems: list[HoldfastError] = []
        changes = self._changes({owner: [] for owner in owners}, problems)
        strays = {} if named else {edit.file: edit for edit in self._strays()}
        for edit in strays.values():  # problems are dropped: a file that cannot be read has nothing of Holdfast
            changes += [change for change in self._changes({}, [], [edit]) if change.needed]
        remaining = tuple(name for name in self._asked() if named and name not in named)
        return Plan(Rules(), asked=remaining, changes=tuple(changes), problems=tuple(problems))

    def path(self, file: str) -> str:
        """Return the absolute path of a file of the project."""
        return os.path.join(self.root, *file.split("/"))

    def owners(self) -> list[str]:
        """Return the manifest's owners of rules files in this project."""
        owner_names = dict.fromkeys(edit["owner"] for entry in self._files.manifest.values() for edit in entry["edits"])
        parts = {owner: owner.split(":", 2) for owner in owner_names}
        return [owner for owner, (_, scope, root) in parts.items() if scope == SCOPE and root == self.root]

    def apply(self, plan: Plan) -> Plan:
        """Make the changes; return the plan with the problems of files that could not be written."""
        problems = list(plan.problems)
        for change in plan.changes:
            try:
                self._files.apply([change])
            except (HoldfastError, OSError) as exc:
                problems.append(exc if isinstance(exc, HoldfastError) else HostConfigError(f"{change.file}: {exc}"))
        lines = (name if name in self._written_for() else f"{name} waits" for name in plan.asked)
        self._memory.services.store.set_state(RULES_HOSTS, self.root, "\n".join(lines))
        return plan._replace(problems=tuple(problems))

    def _written_for(self) -> set[str]:
        """Return the hosts with Holdfast's text in this project."""
        return {owner.partition(":")[0] for owner in self.owners()}

    def _known(self, name: str) -> str:
        """Return the name if it is a host that reads rules files. Raises InvalidValueError or PluginNotFoundError."""
        host = self._hosts.get(name) or load_host(name)
        if not host.profile.rules:
            raise InvalidValueError(f"{host.profile.title} does not read rules files in a project")
        return name

    def _asked(self, named: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the hosts that the user named, now or before, without those that were uninstalled since."""
        written = self._written_for()
        lines = [
            line.partition(" ") for line in self._memory.services.store.get_state(RULES_HOSTS, self.root).split("\n")
        ]
        known = [name for name, _, waits in lines if name in self._hosts and (waits or name in written)]
        return tuple(dict.fromkeys([*known, *map(self._known, named)]))

    def _chosen(self, named: Sequence[str]) -> list[str]:
        """Return the hosts to write for: the named ones, and those that are set up without hooks that deliver."""
        profiles = {name: self._hosts[name].profile for name in self._wired}
        silent = [name for name, profile in profiles.items() if profile.rules and not profile.moments]
        return sorted({*named, *silent})

    def _outlets(self, named: Sequence[str], problems: list[HoldfastError], notes: list[str]) -> Iterator[Outlet]:
        """Yield where to write for each host; add hosts without a file to `problems`, double deliveries to `notes`."""
        for name in self._chosen(named):
            try:
                outlet = self._outlet(self._hosts[name])
            except HostConfigError as exc:
                problems.append(exc)
                continue
            readers = self._told_by_hooks(name, outlet)
            if readers:
                notes.append(_twice(self._hosts[name], outlet.target.file, readers, name in named))
            if name in named or not readers:
                yield outlet

    def _outlet(self, host: Host) -> Outlet:
        """Return where the host's rules go. Raises HostConfigError for a link that leads out of the project."""
        targets = host.profile.rules
        target = next((target for target in targets if "{slug}" in target.file), targets[0])
        there = (name for name in target.first_of if os.path.isfile(os.path.join(self.root, name)))
        file = self._followed(next(there, target.file))
        return Outlet(host=host.name, target=replace(target, file=file), reads=tuple(self._reads(host)))

    def _reads(self, host: Host) -> Iterator[str]:
        """Yield all rules files that a host reads, with links followed; of alternatives, the one that it reads."""
        for target in host.profile.rules:
            there = (name for name in target.first_of if os.path.isfile(os.path.join(self.root, name)))
            yield self._followed_if_inside(next(there, target.file).replace("holdfast-{slug}", "*"))
        yield from map(self._followed_if_inside, host.profile.reads)

    def _followed_if_inside(self, name: str) -> str:
        try:
            return self._followed(name)
        except HostConfigError:
            return name

    def _followed(self, name: str) -> str:
        """Return the file's real name in the project. Raises HostConfigError for a link that leads out of it."""
        return followed_inside(self.root, name)

    def _told_by_hooks(self, name: str, outlet: Outlet) -> list[str]:
        """Return titles of hosts that are set up, have hooks that deliver, and read the file too."""
        hooked = [self._hosts[other] for other in sorted(self._wired) if self._hosts[other].profile.moments]
        return [
            host.profile.title for host in hooked if host.name == name or is_read(outlet.target.file, self._reads(host))
        ]

    def _edits(self, rules: Rules) -> Iterator[tuple[str, Edit]]:
        for made in rules.files:
            file = self.path(made.file)
            for host in made.hosts:
                if made.whole:
                    yield host, OwnFile(file=file, text=made.text, ours=MARK)
                else:
                    yield host, BlockEdit(file=file, text=made.text)

    def _changes(
        self, wanted: dict[str, list[Edit]], problems: list[HoldfastError], known: Sequence[Edit] = ()
    ) -> list[FileChange]:
        """Return a change for every file that can be changed; add the reason for every other to `problems`."""
        changes = []
        for file in dict.fromkeys([*self._files.files_of(wanted), *(edit.file for edit in known)]):
            try:
                changes.append(self._files.plan_file(file, wanted, known))
            except HostConfigError as exc:
                problems.append(exc)
        return changes

    def _strays(self) -> Iterator[Edit]:
        """Yield Holdfast's blocks and files that are not in the manifest, because they came with the project."""
        targets = [target for host in self._hosts.values() for target in host.profile.rules]
        for name in dict.fromkeys(name for target in targets for name in (target.file, *target.first_of)):
            paths = sorted(glob(os.path.join(escape(self.root), name.replace("{slug}", "*"))))
            for file in dict.fromkeys(map(os.path.realpath, paths)):
                if os.path.isfile(file) and file not in self._files.manifest:
                    whole = "{slug}" in name
                    yield OwnFile(file=file, text="", ours=MARK) if whole else BlockEdit(file=file, text="")


@contextmanager
def open_rules_planner(memory: Memory, wait_s: float = LOCK_WAIT_S) -> Iterator[RulesPlanner]:
    """Open the rules files of the memory's project under a lock. Raises HoldfastError if another process holds it."""
    settings = memory.settings
    with RunLock(settings.run_path, "hostfiles", wait_s) as is_ours:
        if not is_ours:
            raise HoldfastError("another holdfast process is changing hosts' files", hint="try again in a moment")
        yield RulesPlanner(settings, HostFiles(settings.home, SHARED_MODE), memory)


def rewrite_written(memory: Memory) -> list[str]:
    """Update the rules files that were written for this project; return those that changed. It creates no file.

    Files that cannot be written are left for `rules sync`; the caller checks the files afterwards.
    """
    try:
        with open_rules_planner(memory) as planner:
            if not planner.owners():
                return []
            plan = planner.plan(RulesRequest())
            changed = [change.file for change in plan.needed if change.held is not None]
            planner.apply(plan)
    except HoldfastError:
        return []
    return changed


def sync_for_git(memory: Memory, request: RulesRequest) -> None:
    """Sync in a git hook: do nothing during a rebase, and log problems."""
    with open_rules_planner(memory, wait_s=0.0) as planner:
        if not githooks.is_busy(planner.root):
            for problem in planner.apply(planner.plan(request)).problems:
                note(memory.settings.log_path, "rules sync", problem)


def _twice(host: Host, file: str, readers: Sequence[str], is_named: bool) -> str:
    """Return a note that hooks deliver the same to the file's readers, and what is done about it."""
    if list(readers) == [host.profile.title]:
        return f"{host.profile.title} already has hooks that deliver, so it gets the same lessons twice"
    others = ", ".join(title for title in readers if title != host.profile.title)
    if is_named:
        return f"{file} is also read by {others}, where hooks deliver the same lessons: they arrive twice there"
    return (
        f"{host.profile.title} is left out: {file} is also read by {others}, where hooks deliver the same lessons; "
        f"to write it anyway: holdfast rules sync --host {host.name}"
    )


def _too_long(outlets: Iterable[Outlet], changes: Iterable[FileChange], root: str) -> Iterator[str]:
    limits: dict[str, RulesTarget] = {outlet.target.file: outlet.target for outlet in outlets}
    for change in changes:
        name = os.path.relpath(change.file, root).replace(os.sep, "/")
        limit = limits[name].limit_chars if name in limits else 0
        if limit and len((change.wanted or b"").decode("utf-8", "replace")) > limit:
            yield f"{name} has more than the {limit:,} characters that its host reads"
