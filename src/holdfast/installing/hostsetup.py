"""Sets up one host: plans the changes of its files, makes them, and says what to add by hand if that is impossible."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, HostConfigError
from holdfast.installing import forms
from holdfast.installing.githooks import run_git
from holdfast.installing.hostfiles import FileChange, HostFiles, followed_inside
from holdfast.ports.host import BlockEdit, Edit, Host, HostProfile
from holdfast.settings import Settings, program_paths


class HostSetup(NamedTuple):
    """The changes that set up one host, or why it cannot be set up."""

    host: str
    title: str
    scope: str
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    error: HoldfastError | None = None
    by_hand: str = ""
    """What the user can add to which file instead, in the file's format."""
    contents: str = ""
    """What Holdfast adds to the host, in words."""

    def plain(self) -> dict[str, Any]:
        """Return the wiring as `--json` prints it."""
        files = [{"file": change.file, "change": what_happens(change)} for change in self.changes]
        fields: dict[str, Any] = {"host": self.host, "scope": self.scope, "files": files, "notes": list(self.notes)}
        if self.error:
            fields |= {"error": str(self.error), "hint": self.error.hint, "by_hand": self.by_hand}
        return fields


class HostInstaller:
    """Sets up hosts, one after the other, for one Holdfast home."""

    def __init__(self, settings: Settings, files: HostFiles, scope: str = "user", folder: str = "") -> None:
        self._settings = settings
        self._files = files
        self._scope = scope
        self._folder = folder
        self._command = program_paths(settings.home)

    def plan(self, host: Host) -> HostSetup:
        """Plan the changes; for files that cannot take them, say why and what to add by hand."""
        edits: Sequence[Edit] = ()
        try:
            plan = host.plan_install(self._scope, self._folder, self._settings.user_home, self._command)
            edits = plan.edits
            self._refuse_links(edits)
            edits = [*edits, *self._exclusion(host.name, edits)]
            changes = self._files.plan(":".join((host.name, self._scope, self._folder)), edits)
            notes = plan.notes
            if has_package(host.profile, self._settings.user_home):
                notes = (*notes, f"{host.profile.title}: {TWICE}.")
            return HostSetup(host.name, host.profile.title, self._scope, tuple(changes), notes, contents=parts_of(host))
        except HoldfastError as exc:
            return HostSetup(host.name, host.profile.title, self._scope, error=exc, by_hand=by_hand(edits))

    def _refuse_links(self, edits: Sequence[Edit]) -> None:
        """Raise HostConfigError if a file of the project is a link that leads out of it."""
        for file in {edit.file for edit in edits} if self._folder else ():
            if os.path.normpath(file).startswith(os.path.join(self._folder, "")):
                followed_inside(self._folder, os.path.relpath(file, self._folder))

    def _exclusion(self, host: str, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Return the edit that makes git ignore the project's new files, which name programs of this machine."""
        inside = os.path.join(self._folder, "") if self._folder else "\0"
        names = sorted({os.path.relpath(edit.file, self._folder) for edit in edits if edit.file.startswith(inside)})
        question = ("rev-parse", "--path-format=absolute", "--git-common-dir")
        common = run_git(self._folder, *question) if names else ""
        if not common:
            return ()
        text = "\n".join("/" + name.replace(os.sep, "/") for name in names)
        file = os.path.join(common, "info", "exclude")
        return (BlockEdit(file=file, text=text, script=True, config=True, label=f"setup {host}"),)

    def apply(self, host_setup: HostSetup) -> HostSetup:
        """Make the changes; return the wiring, with an error if a file could not be written."""
        try:
            self._files.apply(host_setup.changes)
        except HostConfigError as exc:
            return host_setup._replace(changes=(), error=exc)
        return host_setup


def parts_of(host: Host) -> str:
    """Return in words what setup adds to the host: hooks with what they do, and the server."""
    profile = host.profile
    server = "the MCP server" if profile.mcp else ""
    if not profile.hooks:
        return f"{server}; without hooks, sessions are not captured while they run" if server else ""
    deliver = f" and deliver at {len(profile.moments)} moments" if profile.moments else ""
    return " and ".join(filter(None, (f"hooks that capture{deliver}", server)))


def by_hand(edits: Sequence[Edit]) -> str:
    """Return what to add to each file, in the file's format, as if the file were empty."""
    shown = []
    for file in dict.fromkeys(edit.file for edit in edits):
        text = forms.insert(file, "", [edit for edit in edits if edit.file == file])
        shown.append(f"add to {file}:\n{text.rstrip()}")
    return "\n".join(shown)


def what_happens(change: FileChange) -> str:
    """Return one word: created, changed, removed or unchanged."""
    if not change.needed:
        return "unchanged"
    if change.wanted is None:
        return "removed"
    return "created" if change.held is None else "changed"


def difference(change: FileChange) -> str:
    """Return the change of a file as a unified diff."""
    before, wanted = ((side or b"").decode("utf-8", "replace").splitlines() for side in (change.held, change.wanted))
    return "\n".join(difflib.unified_diff(before, wanted, change.file, change.file, lineterm="", n=1))


TWICE = "it has Holdfast's plug-in package too, so every hook runs twice; remove one of the two"


def has_package(profile: HostProfile, home: str) -> bool:
    """Return whether the host's own records name Holdfast's package."""
    for name, text in profile.package_records:
        try:
            with open(os.path.join(home, *name.split("/")), encoding="utf-8", errors="replace") as stream:
                if text in stream.read():
                    return True
        except OSError:
            continue  # the host or its record is missing, or the record cannot be read
    return False
