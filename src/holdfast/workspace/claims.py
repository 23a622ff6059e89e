"""Decides whether an id that a `.holdfast/project.toml` file declares is valid in its folder.

The repository's author wrote the file, so an id in it proves nothing. The first repository that declares an id owns it
on this machine. In another repository it is valid only if the remote or the root commit is the owner's, or after the
user has accepted it for that folder (`accept`). Until then the folder has the id that it would have without the file.
The stored states are `domain.statefamilies`, DECLARED and CLAIM.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256

from holdfast.domain.project import Project
from holdfast.domain.statefamilies import CLAIM, DECLARED
from holdfast.ports.store import StateCells
from holdfast.workspace.gitfiles import inode, repository_mark
from holdfast.workspace.identity import born
from holdfast.workspace.paths import inside

RESERVED = ("g1-", "p1-")
"""Prefixes of derived ids (`identity`). A file that declares one names somebody's project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What distinguishes a repository or folder from others."""

    remote: str = ""
    root_commit: str = ""
    certificate: str = ""
    """Digest of the folder's inode and time of birth."""

    def is_same(self, other: Repository) -> bool:
        """Return whether remote, root commit or folder agree; unknown values agree with nothing."""
        return (
            bool(self.remote and self.remote == other.remote)
            or bool(self.root_commit and self.root_commit == other.root_commit)
            or bool(self.certificate and self.certificate == other.certificate)
        )


UNKNOWN = Repository()
"""The owner of an id that the store knows without knowing where it was declared; it agrees with no repository."""


def _never(project: str) -> str | None:
    return None


class _AtOnce:
    """A turn that is always free; contextlib's null context would cost a hook its import."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *exc: object) -> None:
        return


def _silently(root: str, declared: str) -> None:
    return


class Claims:
    """The declared ids of this machine and the repositories in which they are valid."""

    def __init__(
        self,
        states: StateCells,
        first_folder: Callable[[str], str | None] = _never,
        turn: Callable[[], AbstractContextManager[bool]] = _AtOnce,
        report: Callable[[str, str], None] = _silently,
    ) -> None:
        """Make the claims of a store of states.

        `first_folder` returns where a project was first seen: None for never, empty for an unknown place. `turn` lets
        one process at a time bind an id. `report(root, id)` is called once for each claim that waits.
        """
        self._states = states
        self._first_folder = first_folder
        self._turn = turn
        self._report = report

    def counts(self, declared: str, project: Project, folder: str, root: str) -> bool:
        """Return whether the id is valid in the folder; an id without an owner is bound to it.

        `project` is what the folder would be without the file. `folder` holds the repository's state: the common git
        folder, or the folder itself if there is no git. `root` is the work tree's root.
        """
        if is_reserved(declared):
            return False
        here = Repository(remote=project.remote, root_commit=project.root_commit)
        if self._agrees(declared, here):
            return True
        waiting = self._states.get_state(CLAIM, folder)
        if "\n" in waiting and waiting == self._state(declared, here, folder):
            return False
        # A folder that had the id before it became a repository is identified by itself, not by its `.git`.
        known_as = [replace(here, certificate=_certificate(path)) for path in dict.fromkeys((folder, root))]
        if any(self._agrees(declared, each) for each in known_as) or self._bind(declared, known_as[0], root):
            return True
        self._states.set_state(CLAIM, folder, self._state(declared, here, folder))
        if waiting.partition("\n")[0] != declared:
            self._report(root, declared)
        return False

    def _state(self, declared: str, here: Repository, folder: str) -> str:
        """Return all that a refusal depends on.

        While it is unchanged, a hook need not look up the folder's time of birth.
        """
        owners = self._states.get_state(DECLARED, declared)
        # Without an owner another process may be binding the id now, and may fail.
        return (
            "\n".join((declared, repository_mark(folder), here.remote, here.root_commit, owners))
            if owners
            else declared
        )

    def accept(self, declared: str, folder: str) -> None:
        """Make the id valid in this very folder. Its remote and root commit do not make it valid elsewhere."""
        with self._turn():
            owners = [owner for owner in self._owners(declared) if owner != UNKNOWN]
            self._keep(declared, list(dict.fromkeys([*owners, Repository(certificate=_certificate(folder))])))

    def release(self, declared: str, project: Project, folder: str, root: str) -> bool:
        """Make the id invalid in the repository of the folder; return whether it was valid.

        If nobody has the id after that, it is not bound automatically again: the next repository has to be accepted.
        """
        known_as = [
            Repository(remote=project.remote, root_commit=project.root_commit, certificate=_certificate(path))
            for path in dict.fromkeys((folder, root))
        ]
        with self._turn():
            owners = self._owners(declared)
            others = [owner for owner in owners if not any(owner.is_same(here) for here in known_as)]
            if len(others) == len(owners):
                return False
            self._keep(declared, others or [UNKNOWN])
        return True

    def owner(self, declared: str) -> str:
        """Return the remote, or the root commit, of the repository that declared the id first; empty if unknown."""
        first = next(iter(self._owners(declared)), Repository())
        return first.remote or first.root_commit

    def _agrees(self, declared: str, here: Repository) -> bool:
        """Return whether the id is valid in the repository; facts that were unknown about the owner are added."""
        owners = self._owners(declared)
        if not any(owner.is_same(here) for owner in owners):
            return False
        fuller = _completed(owners[0], here)
        if fuller != owners[0]:
            self._keep(declared, [fuller, *owners[1:]])
        return True

    def _bind(self, declared: str, here: Repository, root: str) -> bool:
        """Make the repository the owner of an id without one; return whether it is the owner now."""
        if self._owners(declared):
            return False
        with self._turn() as ours:  # only one of two repositories that are first seen at the same time is bound
            if ours and not self._owners(declared):
                self._keep(declared, [here if self._may_own(declared, root) else UNKNOWN])
            return any(owner.is_same(here) for owner in self._owners(declared))

    def _may_own(self, declared: str, root: str) -> bool:
        """Return whether the project is unknown yet, or was first seen in this work tree.

        A store of an earlier version, or an import, may know the project without a recorded owner.
        """
        known_in = self._first_folder(declared)
        return known_in is None or (bool(known_in) and (known_in == root or bool(inside(root, known_in))))

    def _owners(self, declared: str) -> list[Repository]:
        lines = [line.rsplit("\t", 2) for line in self._states.get_state(DECLARED, declared).split("\n") if line]
        return [
            Repository(remote=line[0], root_commit=line[1], certificate=line[2]) for line in lines if len(line) == 3
        ]

    def _keep(self, declared: str, owners: list[Repository]) -> None:
        lines = ["\t".join((owner.remote, owner.root_commit, owner.certificate)) for owner in owners]
        self._states.set_state(DECLARED, declared, "\n".join(lines))


def is_reserved(declared: str) -> bool:
    """Return whether the id looks like a derived one, which no file may declare."""
    return declared.lower().startswith(RESERVED)


def _completed(owner: Repository, here: Repository) -> Repository:
    """Return the owner with a root commit or remote that it did not have yet.

    A remote is taken only from the same folder: a fork shares the root commit, but has another remote.
    """
    same_folder = bool(owner.certificate) and owner.certificate == here.certificate
    same_remote = bool(owner.remote) and owner.remote == here.remote
    root_commit = owner.root_commit or (here.root_commit if same_folder or same_remote else "")
    return replace(owner, root_commit=root_commit, remote=owner.remote or (here.remote if same_folder else ""))


def _certificate(folder: str) -> str:
    birth = born(folder)
    # Inodes are reused, so without a time of birth the path must be the same as well.
    parts = (inode(folder), birth) if birth else (inode(folder), folder)
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
