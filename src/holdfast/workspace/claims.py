"""Claims: the ids that `.holdfast/project.toml` files declare, and whether one counts in the folder it is found in.

A file is written by whoever wrote the repository, so an id in it proves nothing. The first repository that declares an
id owns it on this machine. In any other one it counts only where the remote or the root commit is the owner's, or after
the user has accepted it for that folder (`accept`). Until then the folder has the id it would have without the file.

Kept values (`Store.mark`):
    declared:<id>           one line for each repository in which the id counts: remote, root commit, certificate
    claim:<folder>          the id that was refused there, and what that rests on; it is reported once
"""

from __future__ import annotations

from holdfast.lean.records import Frozen, replace
from holdfast.workspace.gitfiles import repository_mark
from holdfast.workspace.paths import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from holdfast.domain.project import Project

RESERVED = ("g1-", "p1-")
"""How the ids begin that we derive ourselves (`identity`). A file that declares one names somebody's project."""


class Repository(Frozen):
    """What tells one repository or folder from others."""

    remote: str = ""
    root_commit: str = ""
    certificate: str = ""
    """Digest of the folder's inode and time of birth."""

    def is_same(self, other: Repository) -> bool:
        """Whether remote, root commit or folder agree; what is not known agrees with nothing."""
        return (
            bool(self.remote and self.remote == other.remote)
            or bool(self.root_commit and self.root_commit == other.root_commit)
            or bool(self.certificate and self.certificate == other.certificate)
        )


UNKNOWN = Repository()
"""The owner of an id of which the store knows more than where it was declared: it agrees with no repository."""


def _never(project: str) -> str | None:
    return None


class _AtOnce:
    """A turn that is always ours; contextlib's would cost a hook its import."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *exc: object) -> None:
        return


def _silently(root: str, declared: str) -> None:
    return


class Claims:
    """The declared ids of this machine and the repositories in which they count."""

    def __init__(
        self,
        marks: Callable[..., str],
        first_folder: Callable[[str], str | None] = _never,
        turn: Callable[[], AbstractContextManager[bool]] = _AtOnce,
        report: Callable[[str, str], None] = _silently,
    ) -> None:
        """`first_folder` tells where a project was first heard of: None for never, empty for a place not known.

        `turn` lets one process at a time bind an id. `report(root, id)` is called once for each claim that waits.
        """
        self._marks = marks
        self._first_folder = first_folder
        self._turn = turn
        self._report = report

    def counts(self, declared: str, project: Project, folder: str, root: str) -> bool:
        """Whether the id counts in the folder; it is bound to it when nobody has declared it before.

        `project` is what the folder would be without the file. `folder` holds the repository's state: the common git
        folder, or the folder itself where there is no git. `root` is the work tree's root.
        """
        if is_reserved(declared):
            return False
        here = Repository(remote=project.remote, root_commit=project.root_commit)
        if self._agrees(declared, here):
            return True
        waiting = self._marks("claim:" + folder)
        if "\n" in waiting and waiting == self._state(declared, here, folder):
            return False
        # A folder that had the id before it became a repository is known by itself, not by its `.git`.
        known_as = [replace(here, certificate=_certificate(path)) for path in dict.fromkeys((folder, root))]
        if any(self._agrees(declared, each) for each in known_as) or self._bind(declared, known_as[0], root):
            return True
        self._marks("claim:" + folder, self._state(declared, here, folder))
        if waiting.partition("\n")[0] != declared:
            self._report(root, declared)
        return False

    def _state(self, declared: str, here: Repository, folder: str) -> str:
        """All that a refusal rests on: while it is the same, a hook need not ask for the folder's time of birth."""
        owners = self._marks("declared:" + declared)
        # Without an owner, another process is binding the id just now, and may be stopped before it has done so.
        return (
            "\n".join((declared, repository_mark(folder), here.remote, here.root_commit, owners))
            if owners
            else declared
        )

    def accept(self, declared: str, folder: str) -> None:
        """Let the id count in this very folder. Its remote and root commit vouch for no other one."""
        with self._turn():
            owners = [owner for owner in self._owners(declared) if owner != UNKNOWN]
            self._keep(declared, list(dict.fromkeys([*owners, Repository(certificate=_certificate(folder))])))

    def release(self, declared: str, project: Project, folder: str, root: str) -> bool:
        """Let the id not count any more in the repository that the folder is in; returns whether it did.

        An id that nobody has after that is bound to nobody by itself: the next repository has to be accepted.
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
        """The remote, or the root commit, of the repository that declared the id first; empty when neither is known."""
        first = next(iter(self._owners(declared)), Repository())
        return first.remote or first.root_commit

    def _agrees(self, declared: str, here: Repository) -> bool:
        """Whether the repository is one in which the id counts; what was not known of the owner is added."""
        owners = self._owners(declared)
        if not any(owner.is_same(here) for owner in owners):
            return False
        fuller = _completed(owners[0], here)
        if fuller != owners[0]:
            self._keep(declared, [fuller, *owners[1:]])
        return True

    def _bind(self, declared: str, here: Repository, root: str) -> bool:
        """Make the repository the owner of an id that has none yet; returns whether it is the owner now."""
        if self._owners(declared):
            return False
        with self._turn() as ours:  # of two repositories that are first seen at the same time only one is bound
            if ours and not self._owners(declared):
                self._keep(declared, [here if self._may_own(declared, root) else UNKNOWN])
            return any(owner.is_same(here) for owner in self._owners(declared))

    def _may_own(self, declared: str, root: str) -> bool:
        """Whether nothing is known of the project yet, or it was first heard of in this work tree.

        A store of an earlier version, or an import, may know the project though no owner was written down.
        """
        known_in = self._first_folder(declared)
        return known_in is None or (bool(known_in) and (known_in == root or bool(inside(root, known_in))))

    def _owners(self, declared: str) -> list[Repository]:
        lines = [line.rsplit("\t", 2) for line in self._marks("declared:" + declared).split("\n") if line]
        return [
            Repository(remote=line[0], root_commit=line[1], certificate=line[2]) for line in lines if len(line) == 3
        ]

    def _keep(self, declared: str, owners: list[Repository]) -> None:
        lines = ["\t".join((owner.remote, owner.root_commit, owner.certificate)) for owner in owners]
        self._marks("declared:" + declared, "\n".join(lines))


def is_reserved(declared: str) -> bool:
    """Whether the id looks like one that we derive, which no file may declare."""
    return declared.lower().startswith(RESERVED)


def _completed(owner: Repository, here: Repository) -> Repository:
    """The owner with the root commit or remote that it did not have yet.

    A remote is taken over from the same folder alone: a fork shares the root commit, and its remote is another's.
    """
    same_folder = bool(owner.certificate) and owner.certificate == here.certificate
    same_remote = bool(owner.remote) and owner.remote == here.remote
    root_commit = owner.root_commit or (here.root_commit if same_folder or same_remote else "")
    return replace(owner, root_commit=root_commit, remote=owner.remote or (here.remote if same_folder else ""))


def _certificate(folder: str) -> str:
    from hashlib import sha256

    from holdfast.workspace.gitfiles import inode
    from holdfast.workspace.identity import born

    birth = born(folder)
    # Without a time of birth an inode proves little, for it is used again: then the path must be the same as well.
    parts = (inode(folder), birth) if birth else (inode(folder), folder)
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
