"""Keeping hosts' rules files in a project: for which hosts, what would change, doing it, and taking it back.

Owners in the manifest are `host:rules:root`. Hosts that somebody named are kept as a mark of the store, so that they
are known also while there is no lesson to write for them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from glob import escape, glob
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.statefamilies import RULES_HOSTS
from holdfast.errors import HoldfastError, HostConfigError, InvalidValueError
from holdfast.home.runfiles import Turn, note
from holdfast.installing import githooks
from holdfast.installing.hostfiles import SHARED_MODE, HostFiles, followed_inside, set_up
from holdfast.lean.records import replace
from holdfast.ports.host import BlockEdit, OwnFile
from holdfast.publishing.rules import DEFAULT, MARK, Budget, Outlet, Rules, compile_rules, is_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.bootstrap import Memory
    from holdfast.installing.hostfiles import Change
    from holdfast.ports.host import Edit, Host, RulesTarget
    from holdfast.settings import Settings

SCOPE = "rules"
"""The second word of owners."""
LOCK_WAIT_S = 10.0
"""Seconds to wait for another process that changes hosts' files."""
NAME_ONE = "holdfast rules sync --host NAME"


class RulesRequest(NamedTuple):
    """For whom rules files are written, and how much goes into them."""

    hosts: tuple[str, ...] = ()
    """Hosts that are named, beside those that need it."""
    budget: Budget = DEFAULT
    own: bool = False
    """Also what holds for the user in all projects."""

    def words(self) -> list[str]:
        """The options that are not as usual, for the git hooks to repeat; hosts are known from the manifest."""
        always, scoped = self.budget.always, self.budget.scoped
        options = [f"--budget={always}"] if always != DEFAULT.always else []
        options += [f"--folder-budget={scoped}"] if scoped != DEFAULT.scoped else []
        return options + (["--own"] if self.own else [])


class Plan(NamedTuple):
    """What a project's rules files shall hold, what changes for that, and what stands in the way."""

    rules: Rules
    hosts: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """The hosts that somebody named, now or before."""
    changes: tuple[Change, ...] = ()
    problems: tuple[HoldfastError, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def needed(self) -> list[Change]:
        """The files that are not as they shall be."""
        return [change for change in self.changes if change.needed]


class RulesDesk:
    """Plans the rules files of one project."""

    def __init__(self, settings: Settings, files: HostFiles, memory: Memory) -> None:
        from holdfast.bootstrap import all_hosts

        self.root = root = memory.place.root
        self._memory = memory
        self._files = files
        self._hosts = {host.name: host for host in all_hosts(settings)}
        self._wired = set_up(files.manifest, root) & set(self._hosts)
        if os.path.realpath(root) == os.path.realpath(settings.user_home or os.sep):
            raise InvalidValueError(f"{root} is your home folder, not a project", hint="cd to a project, or -C FOLDER")

    def plan(self, request: RulesRequest) -> Plan:
        """What the files of the chosen hosts shall hold; nothing is written.

        Without a host to write for that is nothing, and a note says so. Raises PluginNotFoundError for an unknown name.
        """
        hosts_asked = self._asked(request.hosts)
        problems: list[HoldfastError] = []
        notes: list[str] = []
        outlets = list(self._outlets(hosts_asked, problems, notes))
        if not (outlets or problems or self.owners()):
            notes.append(f"no host that is set up needs rules files; for one all the same: {NAME_ONE}")
        rules = compile_rules(self._memory.parts, self._memory.place, outlets, request.budget, request.own)
        wanted: dict[str, list[Edit]] = {owner: [] for owner in self.owners()}
        for host, edit in self._edits(rules):
            wanted.setdefault(f"{host}:{SCOPE}:{self.root}", []).append(edit)
        changes = self._changes(wanted, problems)
        notes += _too_long(outlets, changes, self.root)
        hosts = tuple(outlet.host for outlet in outlets)
        return Plan(rules, hosts, hosts_asked, tuple(changes), tuple(problems), tuple(notes))

    def with_git_hooks(self, plan: Plan, request: RulesRequest) -> Plan:
        """The plan, and a line in git's hooks that syncs so; or why that cannot be."""
        try:
            edits = githooks.edits(self.root, [*githooks.RULES, *request.words()])
        except HostConfigError as exc:
            return plan._replace(problems=(*plan.problems, exc))
        problems = list(plan.problems)
        changes = self._changes({githooks.OWNER + self.root: edits}, problems)
        return plan._replace(changes=(*plan.changes, *changes), problems=tuple(problems))

    def git_hooks(self) -> list[str]:
        """Names of git's hooks that have our line for this work tree."""
        owner = githooks.OWNER + self.root
        entries = self._files.manifest.items()
        return [os.path.basename(file) for file, entry in entries if owner in (e["owner"] for e in entry["edits"])]

    def plan_removal(self, named: Sequence[str]) -> Plan:
        """What taking our rules back changes; of all hosts also what came with the project, from another machine."""
        for name in named:
            self._known(name)
        owners = [owner for owner in self.owners() if not named or owner.partition(":")[0] in named]
        owners += [] if named else [githooks.OWNER + self.root]
        problems: list[HoldfastError] = []
        changes = self._changes({owner: [] for owner in owners}, problems)
        strays = {} if named else {edit.file: edit for edit in self._strays()}
        for edit in strays.values():  # a file that cannot be read has nothing of ours
            changes += [change for change in self._changes({}, [], [edit]) if change.needed]
        remaining = tuple(name for name in self._asked() if named and name not in named)
        return Plan(Rules(), asked=remaining, changes=tuple(changes), problems=tuple(problems))

    def path(self, file: str) -> str:
        """The absolute path of a file of the project."""
        return os.path.join(self.root, *file.split("/"))

    def owners(self) -> list[str]:
        """Those on whose behalf rules files of this project were written."""
        owner_names = dict.fromkeys(edit["owner"] for entry in self._files.manifest.values() for edit in entry["edits"])
        parts = {owner: owner.split(":", 2) for owner in owner_names}
        return [owner for owner, (_, scope, root) in parts.items() if scope == SCOPE and root == self.root]

    def apply(self, plan: Plan) -> Plan:
        """Make the changes; the plan again, with what could not be written."""
        problems = list(plan.problems)
        for change in plan.changes:
            try:
                self._files.apply([change])
            except (HoldfastError, OSError) as exc:
                problems.append(exc if isinstance(exc, HoldfastError) else HostConfigError(f"{change.file}: {exc}"))
        lines = (name if name in self._written_for() else f"{name} waits" for name in plan.asked)
        self._memory.parts.store.set_state(RULES_HOSTS, self.root, "\n".join(lines))
        return plan._replace(problems=tuple(problems))

    def _written_for(self) -> set[str]:
        """The hosts with text of ours in this project."""
        return {owner.partition(":")[0] for owner in self.owners()}

    def _known(self, name: str) -> str:
        """The name of a host that reads rules files. Raises InvalidValueError, PluginNotFoundError."""
        from holdfast.wiring import load_host

        host = self._hosts.get(name) or load_host(name)
        if not host.profile.rules:
            raise InvalidValueError(f"{host.profile.title} reads no rules files in a project")
        return name

    def _asked(self, named: Sequence[str] = ()) -> tuple[str, ...]:
        """The hosts that somebody named, before and now; one whose files are gone from the manifest was uninstalled."""
        written = self._written_for()
        lines = [line.partition(" ") for line in self._memory.parts.store.get_state(RULES_HOSTS, self.root).split("\n")]
        known = [name for name, _, waits in lines if name in self._hosts and (waits or name in written)]
        return tuple(dict.fromkeys([*known, *map(self._known, named)]))

    def _chosen(self, named: Sequence[str]) -> list[str]:
        """The hosts to write for: those asked for, and those that setup wired and no hook delivers to."""
        profiles = {name: self._hosts[name].profile for name in self._wired}
        silent = [name for name, profile in profiles.items() if profile.rules and not profile.moments]
        return sorted({*named, *silent})

    def _outlets(self, named: Sequence[str], problems: list[HoldfastError], notes: list[str]) -> Iterator[Outlet]:
        """Where to write, for each host; why there is no place for one, and who would be told twice, in the lists."""
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
        """Where the host's rules go. Raises HostConfigError for a link that leads out of the project."""
        targets = host.profile.rules
        target = next((target for target in targets if "{slug}" in target.file), targets[0])
        there = (name for name in target.first_of if os.path.isfile(os.path.join(self.root, name)))
        file = self._followed(next(there, target.file))
        return Outlet(host=host.name, target=replace(target, file=file), reads=tuple(self._reads(host)))

    def _reads(self, host: Host) -> Iterator[str]:
        """All files with rules that a host reads, links followed; of several of which it reads one, that one."""
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
        """The file's own name in the project, links followed. Raises HostConfigError for one that leads out of it."""
        return followed_inside(self.root, name)

    def _told_by_hooks(self, name: str, outlet: Outlet) -> list[str]:
        """Titles of hosts that are set up, have hooks that deliver, and read the file too."""
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
    ) -> list[Change]:
        """A change for every file that can be changed; why the others cannot."""
        changes = []
        for file in dict.fromkeys([*self._files.files_of(wanted), *(edit.file for edit in known)]):
            try:
                changes.append(self._files.plan_file(file, wanted, known))
            except HostConfigError as exc:
                problems.append(exc)
        return changes

    def _strays(self) -> Iterator[Edit]:
        """Blocks and files of ours of which our manifest does not tell: they came with the project."""
        targets = [target for host in self._hosts.values() for target in host.profile.rules]
        for name in dict.fromkeys(name for target in targets for name in (target.file, *target.first_of)):
            paths = sorted(glob(os.path.join(escape(self.root), name.replace("{slug}", "*"))))
            for file in dict.fromkeys(map(os.path.realpath, paths)):
                if os.path.isfile(file) and file not in self._files.manifest:
                    whole = "{slug}" in name
                    yield OwnFile(file=file, text="", ours=MARK) if whole else BlockEdit(file=file, text="")


@contextmanager
def rules_desk(memory: Memory, wait_s: float = LOCK_WAIT_S) -> Iterator[RulesDesk]:
    """The desk for the memory's project, alone with the manifest. Raises HoldfastError where another keeps it."""
    settings = memory.settings
    with Turn(settings.run_path, "hostfiles", wait_s) as is_ours:
        if not is_ours:
            raise HoldfastError("another holdfast is changing hosts' files", hint="try again in a moment")
        yield RulesDesk(settings, HostFiles(settings.home, SHARED_MODE), memory)


def rewrite_written(memory: Memory) -> list[str]:
    """Bring the rules files that were written for this project up to date; those that changed.

    What cannot be written is left for `rules sync`: whoever calls this looks at the files afterwards.
    """
    try:
        with rules_desk(memory) as desk:
            if not desk.owners():
                return []
            plan = desk.plan(RulesRequest())
            changed = [change.file for change in plan.needed if change.held is not None]
            desk.apply(plan)
    except HoldfastError:
        return []
    return changed


def sync_for_git(memory: Memory, request: RulesRequest) -> None:
    """Sync in a git hook: leave the files alone in the middle of a rebase, and write down what went wrong."""
    with rules_desk(memory, wait_s=0.0) as desk:
        if not githooks.is_busy(desk.root):
            for problem in desk.apply(desk.plan(request)).problems:
                note(memory.settings.log_path, "rules sync", problem)


def _twice(host: Host, file: str, readers: Sequence[str], is_named: bool) -> str:
    """That others hear the same from hooks, and what is done about it."""
    if list(readers) == [host.profile.title]:
        return f"{host.profile.title} has hooks that deliver already: it is told the same twice"
    others = ", ".join(title for title in readers if title != host.profile.title)
    if is_named:
        return f"{file} is read by {others} too, where hooks deliver the same: told twice there"
    return (
        f"{host.profile.title} is left out: {file} is read by {others} too, where hooks deliver the same; "
        f"holdfast rules sync --host {host.name} writes it all the same"
    )


def _too_long(outlets: Iterable[Outlet], changes: Iterable[Change], root: str) -> Iterator[str]:
    limits: dict[str, RulesTarget] = {outlet.target.file: outlet.target for outlet in outlets}
    for change in changes:
        name = os.path.relpath(change.file, root).replace(os.sep, "/")
        limit = limits[name].limit_chars if name in limits else 0
        if limit and len((change.wanted or b"").decode("utf-8", "replace")) > limit:
            yield f"{name} has more than the {limit:,} characters that its host reads"
