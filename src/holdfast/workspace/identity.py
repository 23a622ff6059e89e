"""Finds the project of a folder if no stored state answers; the result is stored, and never guessed from a name.

The stored states are `domain.statefamilies`, PLACE to INODE. CLONE's owner is `<remote>#<root>`. No stored row is ever
re-labelled: a repository keeps its id when a remote is added or changed.

`Claims` decides whether an id that `.holdfast/project.toml` declares is valid. The repository's author wrote the file,
so an id in it proves nothing: the first repository that declares an id owns it on this machine (DECLARED, CLAIM).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass, fields, replace
from hashlib import sha256
from typing import TypeVar

from holdfast.domain.project import ORGANISATION, Project
from holdfast.domain.statefamilies import CLAIM, CLONE, DECLARED, INODE, PLACE, REMOTE, ROOT_COMMIT, StateFamily
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import ProjectUnknownError
from holdfast.ports.store import StateCells
from holdfast.workspace.gitfiles import Checkout, inode, repository_mark
from holdfast.workspace.gitrun import Git
from holdfast.workspace.paths import inside, project_roots

CASELESS_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
"""Hosts that ignore case in a repository's path."""

_OTHER_NAMES = {"ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
_USUAL_PORTS = ("80", "443", "22", "9418")

RESERVED = ("g1-", "p1-")
"""Prefixes of derived ids (`identity`). A file that declares one names somebody's project."""


def normalise_remote(url: str, root: str = "") -> str:
    """Return `host/path` of a remote, without user, password, usual port and `.git`; `file:` + path for a local one.

    Relative local paths start at `root`. Empty for an empty URL.
    """
    url = url.strip()
    scheme, separator, rest = url.partition("://")
    if not url:
        return ""
    if separator and scheme.lower() != "file":
        return _named(scheme.lower(), *_split(rest))
    if not separator and _is_scp(url):
        host, _, path = url.rpartition("@")[2].partition(":") if "[" not in url else _bracketed(url)
        return _named("ssh", host, path)
    return "file:" + os.path.realpath(os.path.join(root, rest if separator else url)).removesuffix("/.git")


def _split(rest: str) -> tuple[str, str]:
    """Return host (with port) and path of the text after the scheme."""
    authority, _, path = rest.partition("/")
    return authority.rpartition("@")[2], path


def _is_scp(url: str) -> bool:
    """Return whether it is `user@host:path`: a colon before any slash, and no drive letter."""
    before = url.partition(":")[0]
    return ":" in url and "/" not in before and "\\" not in before and len(before) > 1


def _bracketed(url: str) -> tuple[str, str, str]:
    """Split `user@[host:port]:path`, git's form for a port or an IPv6 address without a scheme."""
    host, _, path = url.partition("[")[2].partition("]")
    return host.rpartition("@")[2], ":", path.lstrip(":")


def _named(scheme: str, authority: str, path: str) -> str:
    host, colon, port = authority.lower().rpartition(":")
    if not colon or not port.isdigit():
        host, port = authority.lower().rstrip(":"), ""
    if port and (scheme.endswith("ssh") or port in _USUAL_PORTS):
        port = ""  # ssh and https of one server differ in port, not in repositories
    host = _OTHER_NAMES.get(host, host)
    path = "/".join(part for part in path.partition("?")[0].split("/") if part).removesuffix(".git")
    if host in CASELESS_HOSTS:
        path = path.lower()
    return f"{host}:{port}/{path}" if port else f"{host}/{path}"


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """What is stored of a work tree or folder: its project, and what shows that it is still the same one."""

    id: str
    name: str
    remote: str
    root_commit: str
    url: str
    """The remote as git's configuration writes it."""
    mark: str
    """`repository_mark` of a git folder; the inode of a folder without git."""


@dataclass(frozen=True, slots=True)
class KnownRemote:
    """The project of a remote, by a clone whose root commit may be unknown."""

    id: str
    root_commit: str


@dataclass(frozen=True, slots=True)
class KnownRoot:
    """The project of a root commit without a remote, and the git folder in which it was seen."""

    id: str
    folder: str


@dataclass(frozen=True, slots=True)
class KnownInode:
    """The project of a folder's inode, its path, and its time of birth."""

    id: str
    folder: str
    born: str


Known = KnownPlace | KnownRemote | KnownRoot | KnownInode
K = TypeVar("K", KnownPlace, KnownRemote, KnownRoot, KnownInode)


def load(states: StateCells, family: StateFamily, owner: str, kind: type[K]) -> K | None:
    """Return the stored record; None if there is none. A record is stored as one line for each field."""
    lines = states.get_state(family, owner).split("\n")
    return kind(*lines) if len(lines) == len(fields(kind)) else None


def keep(states: StateCells, family: StateFamily, owner: str, record: Known) -> None:
    """Store the record."""
    states.set_state(family, owner, "\n".join(astuple(record)))


def identify_checkout(states: StateCells, checkout: Checkout, url: str, root: str) -> Project:
    """Return and store the identity of a repository. `root` is its root commit, empty while it is unknown."""
    remote = normalise_remote(url, checkout.root)
    project_id = (
        (remote and root and states.get_state(CLONE, f"{remote}#{root}"))
        or _kept_for_place(states, checkout, root)
        or (_kept_for_remote(states, remote, root) if remote else _moved_repository(states, checkout, root))
        or _new_id("g1-", f"{remote}\0{root}" if remote else _birth_certificate(checkout.common, root))
    )
    name = os.path.basename(remote or checkout.root).removesuffix(".git")
    place = KnownPlace(project_id, name, remote, root, url, repository_mark(checkout.common))
    keep(states, PLACE, checkout.common, place)
    _keep_ways_back(states, checkout, project_id, remote, root)
    return Project(id=project_id, name=name, source="git", remote=remote, root_commit=root)  # type: ignore[arg-type]


def identify_folder(states: StateCells, folder: str, alone: bool = False) -> tuple[str, Project]:
    """Return and store root and identity of a folder without git; a moved folder keeps its identity.

    `alone`: the folder is a root, whatever is known of the folders above.
    """
    for root in (folder,) if alone else project_roots(folder):
        project_id = _moved_folder(states, root)
        if project_id:
            break
    else:
        root, project_id = folder, _new_id("p1-", _birth_certificate(folder, ""))
    name = os.path.basename(root)
    keep(states, PLACE, root, KnownPlace(project_id, name, "", "", "", inode(root)))
    keep(states, INODE, inode(root), KnownInode(project_id, root, born(root)))
    return root, Project(id=project_id, name=name, source="path")  # type: ignore[arg-type]


def ask_root_commit(git: Git, checkout: Checkout, timeout_s: float) -> str:
    """Return the first commit of the first-parent line, which is the same in every clone, despite merged histories.

    Raises ProjectUnknownError if git does not answer in time.
    """
    question = ["rev-list", "--max-parents=0", "--first-parent", "HEAD", "--"]  # a file may be called HEAD
    output = git.ask(checkout.root, question, timeout_s, trusted=True)
    if not output:
        raise ProjectUnknownError(
            f"git did not tell the root commit of {checkout.root}", hint="run holdfast doctor in that folder"
        )
    return output.split()[0].decode()


def _kept_for_place(states: StateCells, checkout: Checkout, root: str) -> str:
    """Return the id that this very repository had before it got a remote, another remote, its first commit, or git."""
    place = load(states, PLACE, checkout.common, KnownPlace)
    is_marked = place is not None and place.mark == repository_mark(checkout.common)
    if place and (place.root_commit == root if place.root_commit and root else is_marked):
        return place.id
    before = load(states, PLACE, checkout.root, KnownPlace)
    return before.id if before and before.mark == inode(checkout.root) else ""


def _kept_for_remote(states: StateCells, remote: str, root: str) -> str:
    """Return the id of another clone of the remote, if one of the two is shallow."""
    clone = load(states, REMOTE, remote, KnownRemote)
    return clone.id if clone and not (clone.root_commit and root) else ""


def _moved_repository(states: StateCells, checkout: Checkout, root: str) -> str:
    """Return the id of a repository without a remote that moved.

    That is the repository with this root commit whose folder is gone, or else a moved folder.
    """
    before = load(states, ROOT_COMMIT, root, KnownRoot) if root else None
    if before and not os.path.exists(before.folder):
        return before.id
    return _moved_folder(states, checkout.common)


def _moved_folder(states: StateCells, folder: str) -> str:
    """Return the id of the folder that had this inode and time of birth and is no longer at its old path."""
    before = load(states, INODE, inode(folder), KnownInode)
    if not before or not before.born or os.path.exists(before.folder) or before.born != born(folder):
        return ""
    states.set_state(PLACE, before.folder, "")  # a new folder at the old path is another project
    return before.id


def _keep_ways_back(states: StateCells, checkout: Checkout, project_id: str, remote: str, root: str) -> None:
    if remote:
        states.set_state(CLONE, f"{remote}#{root}", project_id)
        if root or not states.get_state(REMOTE, remote):
            keep(states, REMOTE, remote, KnownRemote(project_id, root))
        return
    keep(states, INODE, inode(checkout.common), KnownInode(project_id, checkout.common, born(checkout.common)))
    if root:
        keep(states, ROOT_COMMIT, root, KnownRoot(project_id, checkout.common))


def _new_id(prefix: str, certificate: str) -> ProjectId:
    # A hash, not random bytes: two hooks at once on a folder's first sight must come to the same id.
    return prefix + sha256(certificate.encode("utf-8", "surrogateescape")).hexdigest()[:32]  # type: ignore[return-value]


def _birth_certificate(folder: str, root: str) -> str:
    return "\0".join((folder, inode(folder), born(folder), root))


def born(path: str) -> str:
    """Return the nanoseconds at which the folder was made; empty if the system does not say."""
    birth = getattr(os.stat(path), "st_birthtime", 0)
    return repr(birth) if birth else _linux_birth(path)


def _linux_birth(path: str) -> str:
    """Return the birth time from statx(2), which Python lacks.

    `stx_btime` is at byte 80; it is valid if mask bit 0x800 is set.
    """
    if os.name != "posix":
        return ""
    import ctypes  # late: only a folder that is new to the store is asked for its birth

    statx = getattr(ctypes.CDLL(None), "statx", None)
    answer = ctypes.create_string_buffer(256)
    if statx is None or statx(-100, os.fsencode(path), 0, 0x800, answer):
        return ""
    record = answer.raw
    mask = int.from_bytes(record[0:4], "little")
    seconds = int.from_bytes(record[80:88], "little")
    return f"{seconds}.{int.from_bytes(record[88:92], 'little'):09d}" if mask & 0x800 and seconds else ""


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


class Claims:
    """The declared ids of this machine and the repositories in which they are valid."""

    def __init__(
        self,
        states: StateCells,
        first_folder: Callable[[str], str | None] = lambda project: None,
        turn: Callable[[], AbstractContextManager[bool]] = lambda: nullcontext(True),
        report: Callable[[str, str], None] = lambda root, declared: None,
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
    """Return whether the id looks like a derived one, or is an organisation's: no file may declare it."""
    return declared.lower().startswith(RESERVED) or declared.strip().lower() == ORGANISATION


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
