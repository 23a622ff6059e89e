"""Finds the project of a folder if no stored state answers; the result is stored, and never guessed from a name.

The stored states are `domain.statefamilies`, PLACE to INODE. CLONE's owner is `<remote>#<root>`. No stored row is ever
re-labelled: a repository keeps its id when a remote is added or changed.
"""

from __future__ import annotations

import ctypes
import os
from hashlib import sha256

from holdfast.domain.project import Project
from holdfast.domain.statefamilies import CLONE, INODE, PLACE, REMOTE, ROOT_COMMIT
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import ProjectUnknownError
from holdfast.ports.store import StateCells
from holdfast.workspace.gitfiles import Checkout, inode, repository_mark
from holdfast.workspace.gitrun import Git
from holdfast.workspace.paths import project_roots
from holdfast.workspace.remotes import normalise_remote


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
    states.set_state(
        PLACE, checkout.common, "\n".join((project_id, name, remote, root, url, repository_mark(checkout.common)))
    )
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
    states.set_state(PLACE, root, "\n".join((project_id, name, "", "", "", inode(root))))
    states.set_state(INODE, inode(root), "\n".join((project_id, root, born(root))))
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
    fields = states.get_state(PLACE, checkout.common).split("\n")
    if len(fields) == 6 and _same_repository(fields[3], root, fields[5] == repository_mark(checkout.common)):
        return fields[0]
    before = states.get_state(PLACE, checkout.root).split("\n")
    return before[0] if len(before) == 6 and before[5] == inode(checkout.root) else ""


def _same_repository(kept_root: str, root: str, same_inode: bool) -> bool:
    return kept_root == root if kept_root and root else same_inode


def _kept_for_remote(states: StateCells, remote: str, root: str) -> str:
    """Return the id of another clone of the remote, if one of the two is shallow."""
    fields = states.get_state(REMOTE, remote).split("\n")
    return fields[0] if len(fields) == 2 and not (fields[1] and root) else ""


def _moved_repository(states: StateCells, checkout: Checkout, root: str) -> str:
    """Return the id of a repository without a remote that moved.

    That is the repository with this root commit whose folder is gone, or else a moved folder.
    """
    fields = states.get_state(ROOT_COMMIT, root).split("\n") if root else [""]
    if len(fields) == 2 and not os.path.exists(fields[1]):
        return fields[0]
    return _moved_folder(states, checkout.common)


def _moved_folder(states: StateCells, folder: str) -> str:
    """Return the id of the folder that had this inode and time of birth and is no longer at its old path."""
    fields = states.get_state(INODE, inode(folder)).split("\n")
    if len(fields) != 3 or not fields[2] or os.path.exists(fields[1]) or fields[2] != born(folder):
        return ""
    states.set_state(PLACE, fields[1], "")  # a new folder at the old path is another project
    return fields[0]


def _keep_ways_back(states: StateCells, checkout: Checkout, project_id: str, remote: str, root: str) -> None:
    if remote:
        states.set_state(CLONE, f"{remote}#{root}", project_id)
        if root or not states.get_state(REMOTE, remote):
            states.set_state(REMOTE, remote, f"{project_id}\n{root}")
        return
    states.set_state(INODE, inode(checkout.common), "\n".join((project_id, checkout.common, born(checkout.common))))
    if root:
        states.set_state(ROOT_COMMIT, root, f"{project_id}\n{checkout.common}")


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
    statx = getattr(ctypes.CDLL(None), "statx", None)
    answer = ctypes.create_string_buffer(256)
    if statx is None or statx(-100, os.fsencode(path), 0, 0x800, answer):
        return ""
    record = answer.raw
    mask = int.from_bytes(record[0:4], "little")
    seconds = int.from_bytes(record[80:88], "little")
    return f"{seconds}.{int.from_bytes(record[88:92], 'little'):09d}" if mask & 0x800 and seconds else ""
