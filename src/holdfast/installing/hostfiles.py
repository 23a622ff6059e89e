"""Changes hosts' files so that every change can be undone: backup, manifest, atomic write, restoration.

The manifest (`manifest.json` in Holdfast's home) records for every changed file whether it existed, where its backup
is, which edits were made, and the digest of the result. An unchanged file is restored byte for byte. A file that was
edited since loses only Holdfast's edits.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.errors import HostConfigError
from holdfast.installing import forms
from holdfast.lean.files import write_whole
from holdfast.ports.host import Edit, OwnFile

BOM = b"\xef\xbb\xbf"
MANIFEST = "manifest.json"
BACKUPS = "backups"
"""Folder in Holdfast's home with the original contents of hosts' files, until they are restored."""
SETUP_SCOPES = ("user", "project")
"""The scope in the owners (`host:scope:folder`) of changes that setup made."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SHARED_MODE = 0o644
"""The mode of new files that people share: rules, skills and git's settings of a work tree."""


class FileChange(NamedTuple):
    """One file to change: its content now, its wanted content, and what uninstall restores. None means no file."""

    file: str
    held: bytes | None
    wanted: bytes | None
    before: bytes | None
    edits: tuple[dict[str, Any], ...]
    """The edits within `wanted`, as the manifest stores them, each with its owner."""
    folders: tuple[str, ...] = ()
    """Folders that were created for the file, innermost first."""

    @property
    def needed(self) -> bool:
        """Whether the file's content is to change."""
        return self.held != self.wanted


class HostFiles:
    """The hosts' files of a user, and the manifest of changes in one Holdfast home."""

    def __init__(self, home: str, new_mode: int = 0o600) -> None:
        self.home = home
        self.new_mode = new_mode
        """The mode of new files."""
        self.manifest: dict[str, dict[str, Any]] = _load_manifest(os.path.join(home, MANIFEST))

    def plan(self, owner: str, edits: Sequence[Edit]) -> list[FileChange]:
        """Plan the changes that leave exactly these edits of the owner in place, and every other owner's."""
        return [self.plan_file(file, {owner: edits}) for file in dict.fromkeys(edit.file for edit in edits)]

    def files_of(self, wanted: Mapping[str, Sequence[Edit]]) -> list[str]:
        """Return the files of the owners' edits, and the files in which the manifest has edits of these owners."""
        known = [edit.file for edits in wanted.values() for edit in edits]
        edited = [file for file, entry in self.manifest.items() if any(e["owner"] in wanted for e in entry["edits"])]
        return list(dict.fromkeys([*known, *edited]))

    def plan_file(self, file: str, wanted: Mapping[str, Sequence[Edit]], known: Sequence[Edit] = ()) -> FileChange:
        """Plan the change that leaves exactly these edits of each given owner in the file.

        `known` are edits of Holdfast that may be in the file but are not in the manifest.
        """
        held_edits = self.manifest.get(file, {}).get("edits", ())
        by_owner: dict[str, list[dict[str, Any]]] = {}
        for edit in held_edits:
            by_owner.setdefault(edit["owner"], []).append(edit)
        for owner, edits in wanted.items():
            by_owner[owner] = [forms.keep(edit, owner) for edit in edits if edit.file == file]
        ours = [edit for edits in (*wanted.values(), known) for edit in edits if edit.file == file]
        return self._plan_kept(file, tuple(edit for mine in by_owner.values() for edit in mine), ours)

    def plan_removal(self, known: Sequence[Edit] = (), hosts: Sequence[str] = ()) -> list[FileChange]:
        """Plan the changes that undo everything in the manifest, and `known` edits that are not in it.

        With `hosts`, only edits for these hosts are undone.
        """
        lost = [edit for edit in known if edit.file not in self.manifest]
        changes = []
        for file in dict.fromkeys([*self.manifest, *(edit.file for edit in lost)]):
            held_edits = self.manifest.get(file, {}).get("edits", ())
            remaining = tuple(edit for edit in held_edits if hosts and edit["owner"].partition(":")[0] not in hosts)
            if remaining and len(remaining) == len(held_edits):
                continue
            try:
                change = self._plan_kept(file, remaining, [edit for edit in lost if edit.file == file])
            except HostConfigError:
                if file in self.manifest:
                    raise
                continue  # nothing shows that Holdfast ever changed this file
            if file in self.manifest or change.needed:
                changes.append(change)
        return changes

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Write the needed changes, each after its backup and its entry in the manifest."""
        for change in changes:
            if change.needed:
                self._write(change)
            elif not change.edits:
                self._forget(change.file)
            elif list(change.edits) != self.manifest.get(change.file, {}).get("edits"):
                self._remember(change)  # the content is there already; only the owners changed

    def _plan_kept(self, file: str, remaining: tuple[dict[str, Any], ...], known: Sequence[Edit]) -> FileChange:
        """Plan the change that leaves just these edits of Holdfast in the file."""
        content = _read(file)
        before = self._pristine(file, content, known)
        if not remaining:
            return FileChange(file, content, before, None, ())
        edits = [forms.parse_edit(file, edit) for edit in remaining]
        prefix, text = _decode(file, (content if forms.keeps_place(edits) else before) or b"")
        change = FileChange(file, content, prefix + forms.insert(file, text, edits).encode(), before, remaining)
        if change.needed and content is not None and not os.stat(file).st_mode & stat.S_IWUSR:
            raise HostConfigError(f"{file} is read-only", hint="make it writable, or add to it by hand")
        return change

    def _pristine(self, file: str, content: bytes | None, edits: Sequence[Edit] = ()) -> bytes | None:
        """Return the file's content without Holdfast's edits; None for no file."""
        entry = self.manifest.get(file)
        before = self._backup(entry) if entry else None
        if entry and content is not None and _digest(content) == entry["after"]:
            return before
        if content is None or (entry and content == before):
            return content
        prefix, text = _decode(file, content)
        ours = [*edits, *(forms.parse_edit(file, edit) for edit in (entry or {}).get("edits", ()))]
        bare = forms.remove(file, text, ours, _decode(file, before or b"")[1])
        if entry and before is None and bare.split() in ([], ["{", "}"], ["{}"]):
            return None
        if not entry and text.strip() and not bare.strip() and all(isinstance(edit, OwnFile) for edit in ours):
            return None  # a whole file of Holdfast that came with the project
        return prefix + bare.encode()

    def _backup(self, entry: dict[str, Any]) -> bytes | None:
        if not entry["backup"]:
            return None
        path = os.path.join(self.home, BACKUPS, entry["backup"])
        content = _read(path)
        if content is None:
            raise HostConfigError(f"the backup {path} is missing", hint="correct the original file by hand")
        return content

    def _write(self, change: FileChange) -> None:
        if _read(change.file) != change.held:
            raise HostConfigError(f"{change.file} was changed just now", hint="run the command again")
        if change.edits:
            folders = self._own_folders(os.path.dirname(change.file))
            self._remember(change._replace(folders=tuple(folders)))
            os.makedirs(os.path.dirname(change.file), exist_ok=True)
        if change.wanted is None:
            os.remove(change.file)
            _remove_empty(self.manifest.get(change.file, {}).get("folders", ()))
        else:
            script = any(edit.get("script") and not edit.get("config") for edit in change.edits)
            replace_file(change.file, change.wanted, self.new_mode | 0o111 if script else self.new_mode)
        if not change.edits:
            self._forget(change.file)

    def _own_folders(self, folder: str) -> list[str]:
        """Return the folders, innermost first, that are missing or that were created for another file."""
        made = {name for entry in self.manifest.values() for name in entry["folders"]}
        own = []
        while folder and (folder in made or not os.path.isdir(folder)):
            own.append(folder)
            folder = os.path.dirname(folder)
        return own

    def _remember(self, change: FileChange) -> None:
        entry = self.manifest.get(change.file)
        self.manifest[change.file] = {
            "backup": self._keep_backup(change) if change.before is not None else "",
            "after": _digest(change.wanted or b""),
            "folders": list(change.folders) or (entry or {}).get("folders", []),
            "edits": list(change.edits),
        }
        self._save(change.file)
        self._drop_backups(change.file, self.manifest[change.file]["backup"])

    def _keep_backup(self, change: FileChange) -> str:
        content = change.before or b""
        name = f"{_backup_stem(change.file)}{_digest(content)[:8]}"
        folder = os.path.join(self.home, BACKUPS)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        replace_file(os.path.join(folder, name), content)
        return name

    def _forget(self, file: str) -> None:
        if self.manifest.pop(file, None) is not None:
            self._save(file)
        self._drop_backups(file)

    def _drop_backups(self, file: str, but: str = "") -> None:
        """Remove the file's backups except the one in the manifest: a host's file may hold plain-text tokens."""
        for name in backups(self.home):
            if name.startswith(_backup_stem(file)) and name != but:
                os.remove(os.path.join(self.home, BACKUPS, name))
        _remove_empty([os.path.join(self.home, BACKUPS)])

    def _save(self, file: str) -> None:
        """Save this file's entry, and keep what another process may have written about other files."""
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        path = os.path.join(self.home, MANIFEST)
        others = {name: entry for name, entry in _load_manifest(path).items() if name != file}
        self.manifest = others | ({file: self.manifest[file]} if file in self.manifest else {})
        if not self.manifest:
            if os.path.exists(path):
                os.remove(path)
            return
        manifest = {"version": 1, "files": self.manifest}
        replace_file(path, json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n")


def backups(home: str) -> list[str]:
    """Return the names of the backups of hosts' files, each for a file that is still set up."""
    folder = os.path.join(home, BACKUPS)
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def _backup_stem(file: str) -> str:
    return f"{os.path.basename(file)}-{_digest(file.encode())[:8]}-"


def set_up(manifest: Mapping[str, dict[str, Any]], folder: str = "") -> set[str]:
    """Return the names of the hosts that are set up; with a folder, for it or for all projects."""
    owners = {edit["owner"] for entry in manifest.values() for edit in entry["edits"]}
    parts = [owner.split(":", 2) for owner in owners]
    return {host for host, scope, root in parts if scope in SETUP_SCOPES and (root == folder or not (folder and root))}


def _load_manifest(path: str) -> dict[str, dict[str, Any]]:
    content = _read(path)
    if content is None:
        return {}
    try:
        files: dict[str, dict[str, Any]] = json.loads(content)["files"]
    except (ValueError, KeyError, TypeError) as exc:
        raise HostConfigError(f"{path} is damaged: {exc}", hint=f"correct {path}; the backups are beside it") from exc
    return files


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise HostConfigError(f"{path} cannot be read: {exc.strerror}", hint=f"look at {path}") from exc


def _decode(file: str, content: bytes) -> tuple[bytes, str]:
    """Return the byte order mark, if there is one, and the text."""
    prefix = BOM if content.startswith(BOM) else b""
    try:
        return prefix, content[len(prefix) :].decode("utf-8")
    except UnicodeDecodeError as exc:
        raise HostConfigError(f"{file} is not UTF-8: {exc}", hint="save the file as UTF-8") from exc


def followed_inside(root: str, name: str) -> str:
    """Return the file's real name in a project, with links followed and forward slashes.

    A last part with `*` or `{` is a pattern and is not followed. Raises HostConfigError for a link out of the project:
    a clone may bring a link to any file of the user.
    """
    folder, last = os.path.split(os.path.join(root, name))
    whole = os.path.join(os.path.realpath(folder), last)
    real = whole if "*" in last or "{" in last else os.path.realpath(whole)
    inside = os.path.join(os.path.realpath(root), "")
    if not real.startswith(inside):
        raise HostConfigError(
            f"{name} is a link that leads out of the project, to {real}", hint="other projects may read that file"
        )
    return real[len(inside) :].replace(os.sep, "/")


def replace_file(path: str, content: bytes, new_mode: int = 0o600) -> None:
    """Write the file atomically, keeping links and the mode. Raises HostConfigError."""
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else new_mode
        write_whole(target, content, mode, durable=True)
    except OSError as exc:
        hint = "free some space on the disk" if exc.errno in NO_ROOM else "check its folder's permissions"
        raise HostConfigError(f"{path} cannot be written: {exc.strerror}", hint=hint) from exc


def _remove_empty(folders: Sequence[str]) -> None:
    for folder in folders:
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
