"""LocalWorkspace: the folders of this machine. `identity` finds identities, `gitfiles` reads git's small files.

A known folder costs a few stats, two or three small files and one state, without a child process. Only the first look
at a repository runs git (for its root commit), through `gitrun`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b, sha1

from holdfast.domain.project import Location, Person, Project
from holdfast.domain.statefamilies import PLACE
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError
from holdfast.lean.files import count_lesson_files
from holdfast.lean.gitsafety import without_filters
from holdfast.ports.services import Clock
from holdfast.ports.store import StateCells
from holdfast.ports.workspace import Stamps
from holdfast.workspace import gitfiles, identity
from holdfast.workspace.gitfiles import Checkout, find_checkout
from holdfast.workspace.gitrun import Git, GitObjects
from holdfast.workspace.history import LocalBranches, LocalHistory
from holdfast.workspace.identity import Claims, is_reserved
from holdfast.workspace.paths import inside, native, project_roots

Stamp = tuple[int, ...]

CHECKOUT_FILES = ("HEAD", "index", os.path.join("logs", "HEAD"), os.path.join("reftable", "tables.list"))
"""Files of a work tree's git folder. Every commit, switch, reset and rebase replaces at least one of them."""

BLOB_LIMIT = 5_000_000
"""Bytes of a file that are still hashed on read."""
DIRTY_LIMIT = 50
"""Changed and new files that are told."""
STATUS = (
    "--work-tree=.", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all",
    "--ignore-submodules=dirty",  # git would go into them, by their own configuration
)  # fmt: skip
HEAD_TIMEOUT_S = 0.1
"""Seconds for git to name HEAD or its options, times its timeout scale."""
STATUS_TIMEOUT_S = 0.15
"""Seconds for git to tell the changed files, times its timeout scale."""
ROOT_COMMIT_TIMEOUT_S = 0.3
"""Seconds for git to walk to the first commit, times its timeout scale."""
PERSON_TIMEOUT_S = 0.3
"""Seconds for git to tell the user's name and address, times its timeout scale."""
PERSON = ("config", "-z", "--get-regexp", r"^user\.(name|email)$")
GREP = ("--work-tree=.", "grep", "-lwzIF", "--untracked", "--no-textconv", "--no-recurse-submodules")
GREP_TIMEOUT_S = 1.0
"""Seconds for git to search the files, times its timeout scale: only whoever names a definition waits for it."""
MENTION_LIMIT = 500
"""Files with a word that are told."""


def stamps(root: str, paths: Sequence[str]) -> Stamps:
    """Return the stamps of a work tree and of files in it; never raises for the state of the disk."""
    own = _stamp(root)
    if not own:
        return Stamps(files=((),) * len(paths))
    checkout = find_checkout(root)
    git = checkout.git + os.sep if checkout and checkout.root == root else ""
    state = tuple(part for name in CHECKOUT_FILES for part in _stamp(git + name) or (0,)) if git else ()
    inside = root + os.sep  # joined by hand: `os.path.join` costs half as much as the stat
    return Stamps(
        checkout=(own[0], *state),  # not the folder's times: they change with any file in it
        files=tuple([_stamp(inside + path) for path in paths]),
        busy=bool(git) and os.path.lexists(git + "index.lock"),
    )


def _stamp(path: str) -> Stamp:
    """Return inode, size and times; empty if the file cannot be examined.

    It includes the inode's change time, so an edit that restores the modification time is noticed too.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class LocalWorkspace:
    """The code on this machine's disk.

    `states` stores identities. `timeout_scale` multiplies git's time limits; a process that nobody waits for passes
    more. `claims` makes the object that decides whether a declared id is valid.
    """

    def __init__(
        self, states: StateCells, clock: Clock, timeout_scale: float = 1.0, claims: Callable[[], Claims] | None = None
    ) -> None:
        self._states = states
        self._clock = clock
        self._timeout_scale = timeout_scale
        self._make_claims = claims
        self._objects: dict[str, GitObjects] = {}
        self._status: dict[str, tuple[int, int]] = {}
        """Running git processes that look for a root's dirty files."""
        self._places: dict[str, identity.KnownPlace] = {}
        """What this process knows of repositories, by their common folder; used while nothing contradicts it."""

    def locate(self, folder: str) -> Location:
        """Return a folder's location: by the declared id if valid, else by git, else by the path's stored id.

        In git the remote and the root commit decide. Raises ProjectUnknownError if git does not answer in time,
        InvalidValueError for a missing folder.
        """
        folder = _real_folder(folder)
        checkout = gitfiles.find_checkout(folder)
        branch, commit = self._head(checkout) if checkout else ("", "")
        declared, above = gitfiles.find_declared_id(folder, checkout.root if checkout else "") or ("", "")
        if checkout:
            root, project = checkout.root, self._of_checkout(checkout, commit)
        else:
            root, project = self._of_folder(above or folder, alone=bool(above))
        location = Location(project=project, root=root, prefix=inside(root, folder), branch=branch, commit=commit)
        return self._as_declared(location, declared, checkout.common if checkout else above) if declared else location

    def accept_claim(self, folder: str) -> Location:
        """Make the id that `.holdfast/project.toml` declares valid in this folder; return the new location.

        Raises InvalidValueError if no id waits for that, or if it has the form of a derived id.
        """
        location = self.locate(folder)
        if not location.claim:
            raise InvalidValueError(f"no declared id waits in {location.root}", hint="holdfast project show")
        if is_reserved(location.claim):
            raise InvalidValueError(
                f"{location.claim} is an id that Holdfast derives, which no file can declare",
                hint=f"write another id into {gitfiles.PROJECT_FILE}",
            )
        checkout = gitfiles.find_checkout(_real_folder(folder))
        self._claims().accept(location.claim, checkout.common if checkout else location.root)
        return self.locate(folder)

    def release_claim(self, folder: str) -> Location:
        """Make the id that `.holdfast/project.toml` declares invalid here; return the new location.

        Raises InvalidValueError if no declared id is valid here.
        """
        location = self.locate(folder)
        checkout = gitfiles.find_checkout(_real_folder(folder))
        project = self._of_checkout(checkout, location.commit) if checkout else location.project
        held_in = checkout.common if checkout else location.root
        if location.project.source != "file" or not self._claims().release(
            location.project.id, project, held_in, location.root
        ):
            raise InvalidValueError(f"no declared id counts in {location.root}", hint="holdfast project show")
        return self.locate(folder)

    def relative(self, location: Location, path: str, cwd: str = "") -> str:
        """Return the path relative to the project's root with forward slashes; empty for the root and paths outside.

        A relative path starts at `cwd`, which defaults to the root. A path of another system is outside.
        """
        here, there = native(cwd), native(path)
        if not there or "\0" in there or bool(here) != bool(cwd):
            return ""
        whole = os.path.normpath(os.path.join(location.root, here, there))
        return inside(location.root, whole) or inside(location.root, _real(whole))

    def count_lesson_files(self, location: Location) -> int:
        """Return how many files of shared lessons the work tree has."""
        return count_lesson_files(location.root)

    def blob(self, location: Location, path: str) -> str:
        """Return `git1:` + git's blob id of the raw bytes on the disk; empty for no file, or one over 5 MB."""
        content = self.read(location, path)
        return "" if content is None else "git1:" + _blob_id(content)

    def read(self, location: Location, path: str) -> bytes | None:
        """Return the file's raw bytes; None for no file, or one over 5 MB."""
        if location.tree:
            return self._objects_of(location.root).file(location.tree, path)
        whole = _join(location.root, path)
        try:
            if not whole or not os.path.isfile(whole) or os.path.getsize(whole) > BLOB_LIMIT:
                return None
            with open(whole, "rb") as stream:
                content = stream.read(BLOB_LIMIT + 1)
        except OSError:
            return None
        return content if len(content) <= BLOB_LIMIT else None

    def history(self, location: Location) -> LocalHistory:
        """Return git's history of the location's work tree; its answers are cached for the object's life."""
        return LocalHistory(self._git(), location.root)

    def branches(self, location: Location) -> LocalBranches:
        """Return the branches of the location's clone; its answers are cached for the object's life."""
        return LocalBranches(self._git(), location.root)

    def person(self, location: Location) -> Person:
        """Return who works in the work tree, by `user.email` and `user.name` of git's configuration.

        In another user's repository git is not run: its configuration would name that user.
        """
        if not _ours(location.root):
            return Person()
        answer = self._git().ask(location.root, PERSON, PERSON_TIMEOUT_S) or b""
        entries = (entry.decode("utf-8", "replace").partition("\n") for entry in answer.split(b"\0"))
        stated = {key: " ".join(value.split()) for key, _, value in entries}
        name, mail = stated.get("user.name", ""), stated.get("user.email", "").lower()
        return Person(id=_digest(mail or name), name=name) if mail or name else Person()

    def exists(self, location: Location, path: str) -> bool:
        """Return whether something is at that path in the work tree; a dangling link counts."""
        if location.tree:
            return self.read(location, path) is not None
        whole = _join(location.root, path)
        return bool(whole) and os.path.lexists(whole)

    def dirty(self, location: Location) -> Sequence[str]:
        """Return changed and new files, relative, at most 50; empty without git or if it takes too long.

        In another user's repository git is not run, since its configuration may name programs to run.
        """
        if location.tree or not location.commit or not _ours(location.root):
            return ()
        running = self._status.pop(location.root, None)
        if running:
            answer = self._git().collect(running, STATUS_TIMEOUT_S)
        else:
            question = self._status_question(location.root)
            answer = self._git().ask(location.root, question, STATUS_TIMEOUT_S) if question else None
        names = [os.fsdecode(line[3:]) for line in (answer or b"").split(b"\0") if len(line) > 3]
        return tuple(name for name in names if not name.endswith("/"))[:DIRTY_LIMIT]

    def mentioning(self, location: Location, word: str) -> Sequence[str]:
        """Return text files of the work tree that have the word, relative, at most 500; ignored files are left out.

        Empty without git, in a repository of another user, and if it takes too long.
        """
        if location.tree or not location.commit or not word or "\0" in word or "\n" in word or not _ours(location.root):
            return ()
        question = [*GREP, "-e", word, "--"]
        answer = self._git().ask(location.root, question, GREP_TIMEOUT_S)
        return tuple(os.fsdecode(name) for name in (answer or b"").split(b"\0") if name)[:MENTION_LIMIT]

    def stamps(self, location: Location, paths: Sequence[str]) -> Stamps:
        """Return stamps, at the cost of a stat each, that show whether the files or the checkout may have changed."""
        return stamps(location.root, paths)

    def foresee_dirty(self, location: Location) -> None:
        """Start git's search for dirty files in the background; only in a hook, which asks only once."""
        if self._timeout_scale > 1 or not location.commit or location.root in self._status or not _ours(location.root):
            return
        question = self._status_question(location.root)
        running = self._git().start(location.root, question) if question else None
        if running:
            self._status[location.root] = running

    def _status_question(self, root: str) -> Sequence[str]:
        """Return git's arguments for finding dirty files without the repository's filters; empty if uncertain."""
        checkout = gitfiles.find_checkout(root)
        if checkout is None:
            return ()
        if not gitfiles.may_filter(checkout):
            return STATUS
        output = self._git().ask(root, ["config", "-z", "--list", "--name-only"], HEAD_TIMEOUT_S)
        options = None if output is None else without_filters(list(map(os.fsdecode, output.split(b"\0"))))
        return () if options is None else (*options, *STATUS)

    def _objects_of(self, root: str) -> GitObjects:
        if root not in self._objects:
            self._objects[root] = GitObjects(root, self._timeout_scale)
        return self._objects[root]

    def _git(self) -> Git:
        return Git(self._clock, self._timeout_scale)

    def _head(self, checkout: Checkout) -> tuple[str, str]:
        if not gitfiles.uses_reftable(checkout):
            return gitfiles.read_head(checkout)
        name = self._git().ask(checkout.root, ["symbolic-ref", "-q", "--short", "HEAD"], HEAD_TIMEOUT_S, trusted=True)
        commit = self._git().ask(checkout.root, ["rev-parse", "-q", "--verify", "HEAD"], HEAD_TIMEOUT_S, trusted=True)
        return os.fsdecode((name or b"").strip()), gitfiles.parse_commit((commit or b"").strip())

    def _of_checkout(self, checkout: Checkout, commit: str) -> Project:
        """Return the stored identity of a git repository while nothing contradicts it, otherwise find it again."""
        url, mark = gitfiles.read_remote(checkout), gitfiles.repository_mark(checkout.common)
        has_root = bool(commit) and not gitfiles.is_shallow(checkout)

        def is_settled(place: identity.KnownPlace | None) -> bool:
            same = place is not None and (place.url, place.mark) == (url, mark)
            return same and place is not None and bool(place.root_commit or not has_root)

        place = self._places.get(checkout.common)
        if not is_settled(place):
            place = identity.load(self._states, PLACE, checkout.common, identity.KnownPlace)
        if place is not None and is_settled(place):
            self._places[checkout.common] = place
            known = ProjectId(place.id)
            return Project(id=known, name=place.name, source="git", remote=place.remote, root_commit=place.root_commit)
        root = identity.ask_root_commit(self._git(), checkout, ROOT_COMMIT_TIMEOUT_S) if has_root else ""
        return identity.identify_checkout(self._states, checkout, url, root)

    def _as_declared(self, location: Location, declared: str, folder: str) -> Location:
        """Return the location under its declared id if that is valid, otherwise with the claim recorded."""
        project, claims = location.project, self._claims()
        if declared == project.id:
            return location
        if claims.counts(declared, project, folder, location.root):
            name = os.path.basename(location.root)
            return replace(location, project=Project(id=declared, name=name, source="file"))  # type: ignore[arg-type]
        return replace(location, claim=declared, claim_owner=claims.owner(declared))

    def _claims(self) -> Claims:
        if self._make_claims is not None:
            return self._make_claims()
        return Claims(self._states)

    def _of_folder(self, folder: str, alone: bool = False) -> tuple[str, Project]:
        """Return root and identity of a folder without git: its own, or the nearest one of a folder above.

        `alone`: only its own.
        """
        for root in (folder,) if alone else project_roots(folder):
            place = identity.load(self._states, PLACE, root, identity.KnownPlace)
            if place:
                return root, Project(id=ProjectId(place.id), name=os.path.basename(root), source="path")
        return identity.identify_folder(self._states, folder, alone)


def _real_folder(folder: str) -> str:
    try:
        real = os.path.realpath(native(folder))
        there = os.path.isdir(real)
    except (OSError, ValueError):
        there = False
    if not native(folder) or not there:
        raise InvalidValueError(f"no folder {folder!r}", hint="name a folder that exists")
    return real


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def _join(root: str, path: str) -> str:
    """Return the absolute path of a relative one; empty if it would leave the root."""
    if not path or "\0" in path:
        return ""
    whole = os.path.normpath(os.path.join(root, path))
    return whole if inside(root, whole) else ""


def _ours(path: str) -> bool:
    try:
        return not hasattr(os, "getuid") or os.stat(path).st_uid == os.getuid()
    except OSError:
        return False


def _blob_id(content: bytes) -> str:
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
