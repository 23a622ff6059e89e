"""LessonRepository: lesson files in a git repository of their own, which several machines pull from and push to.

The copy in Holdfast's home has no work tree, and git reads and writes nothing but objects there. So no file of the
repository is ever checked out, and no hook, filter or setting of it runs. Two revisions of one file are joined by the
rule of `publishing.lessonfile`, which the caller passes as `join`. What was not pushed yet stays in the copy and is
joined with the next state that is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha1, sha256

from holdfast.domain.openknowledge import RESERVED
from holdfast.errors import InvalidValueError, RepositoryError, StaleWriteError
from holdfast.lean.gitsafety import UNSAFE_VARIABLES, git_program, shown
from holdfast.workspace.gitrun import GitObjects

NETWORK_S = 120.0
"""Seconds for one fetch or push."""
LOCAL_S = 60.0
PROTOCOLS = "file:git:http:https:ssh"
"""What git may reach a repository by; the others start programs."""
FIRST_BRANCH = "main"
"""The branch of a repository that has none yet."""
THEIRS, OURS, PUSHED = "refs/holdfast/theirs", "refs/holdfast/ours", "refs/holdfast/pushed"
"""The state fetched last; our commit on it; our commit that was pushed last."""
WRITER = "Holdfast <holdfast@localhost>"
"""Who commits where git knows no name of the user."""
README = "README.md"
WELCOME = b"""# Lessons

Holdfast keeps lessons here, one file each, and merges them by itself: `holdfast sync --remote` with this repository's
address, on each machine. You may edit a file; leave `id` and `sync` as they are. `state: forgotten` ends a lesson,
deleting its file does not.
"""

Join = Callable[[str, bytes, bytes, bytes], "str | None"]
"""Merges two revisions of a file: its path, their common ancestor or nothing, ours, theirs; None if it cannot."""
_RACE = re.compile(r"fetch first|non-fast-forward|cannot lock ref|incorrect old value|failed to update ref|stale info")


@dataclass(frozen=True, slots=True)
class _Answer:
    ok: bool
    out: bytes
    err: str


class LessonRepository:
    """One repository, by its address, with its copy in `folder`. Use it in a `with` statement."""

    def __init__(self, url: str, folder: str, join: Join) -> None:
        if url.startswith("-") or "\n" in url or "\0" in url:
            raise InvalidValueError(f"{shown(url)!r} is no address of a git repository")
        self.url = url
        self._folder = folder
        self._join = join
        self._branch = FIRST_BRANCH
        self._theirs = ""
        self._blobs: dict[str, str] = {}
        """By path, the blob of each file in the state fetched last."""
        self._changes: dict[str, bytes] = {}
        """By path, what is to be pushed."""
        self._objects: GitObjects | None = None

    def fetch(self) -> None:
        """Get the repository's state, and join what was not pushed yet. Raises RepositoryError."""
        heads = self._network("ls-remote", "--symref", "--", self.url, "HEAD", "refs/heads/*")
        self._branch, is_there, length = _branch_in(heads.out.decode("utf-8", "replace"))
        self._make(length)
        if is_there:
            ref = f"+refs/heads/{self._branch}:{THEIRS}"
            self._network("fetch", "--no-tags", "--quiet", "--", self.url, ref)
        else:
            self._run("update-ref", "-d", THEIRS)
        self._theirs = self._commit_of(THEIRS)
        self._objects = GitObjects(self._folder, LOCAL_S)
        self._blobs = self._files_of(self._theirs)
        self._changes = {}
        ours = self._commit_of(OURS)
        if ours and ours != self._commit_of(PUSHED):
            self._join_unpushed(ours)
        if not self._theirs and README not in self._changes:
            self._changes[README] = WELCOME

    def files(self, folder: str) -> RepositoryFiles:
        """Return the lesson files below that folder of the repository."""
        return RepositoryFiles(self, folder.strip("/") + "/")

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to push but the first words of a new repository."""
        return bool(self._changes.keys() - {README})

    def push(self, subject: str) -> bool:
        """Commit what changed and push it; return False if somebody else pushed first: then fetch again.

        Raises RepositoryError. Whatever happens, the commit stays in the copy until it was pushed.
        """
        if not self.has_changes:
            return True
        self._commit(subject)
        target = f"{OURS}:refs/heads/{self._branch}"
        answer = self._call("push", "--porcelain", "--quiet", "--", self.url, target, network=True)
        answered = answer.out.decode("utf-8", "replace") + answer.err
        if answer.ok:
            self._run("update-ref", PUSHED, OURS)
            self._changes = {}
        elif not _RACE.search(answered):
            raise RepositoryError(
                f"{shown(self.url)} did not take what was pushed: {_reason(answered, self.url)}",
                hint="nothing is lost: it is pushed with the next sync",
            )
        return answer.ok

    def marks(self, folder: str) -> dict[str, str]:
        """Return the blob of each Markdown file below the folder, as it will be after the next push."""
        lessons = (path for path in self._blobs if path.startswith(folder) and path.endswith(".md"))
        marks = {path: self._blobs[path] for path in lessons if path.rpartition("/")[2] not in RESERVED}
        length = len(self._theirs) or 40
        changed = {path: text for path, text in self._changes.items() if path.startswith(folder)}
        marks |= {path: _blob_of(content, length) for path, content in changed.items()}
        return {path.removeprefix(folder): mark for path, mark in sorted(marks.items())}

    def read(self, path: str) -> bytes | None:
        """Return the file's content; None if there is none."""
        if path in self._changes:
            return self._changes[path]
        return self._content(self._theirs, path) if path in self._blobs else None

    def write(self, path: str, content: bytes) -> str:
        """Keep the content for the next push; return the file's mark."""
        self._changes[path] = content
        return _blob_of(content, len(self._theirs) or 40)

    def __enter__(self) -> LessonRepository:
        return self

    def __exit__(self, *exc: object) -> None:
        self._objects = None

    def _join_unpushed(self, ours: str) -> None:
        """Join the files of our last commit, which nobody has seen, with those fetched."""
        for path, blob in self._files_of(ours).items():
            if self._blobs.get(path) == blob:
                continue
            mine = self._content(ours, path)
            theirs = self._content(self._theirs, path) if path in self._blobs else None
            if mine is None:
                continue
            joined = mine.decode("utf-8", "replace") if theirs is None else self._join(path, b"", mine, theirs)
            if joined is not None and joined.encode() != theirs:
                self._changes[path] = joined.encode()

    def _commit(self, subject: str) -> None:
        """Write one commit upon the state fetched, by one process that reads everything from its input."""
        lines = [b"commit " + OURS.encode(), b"committer " + self._writer().encode() + b" now", _data(subject.encode())]
        lines += [b"from " + self._theirs.encode()] if self._theirs else []
        for path, content in sorted(self._changes.items()):
            lines += [b"M 100644 inline " + _quoted(path), _data(content)]
        if not self._theirs:
            self._run("update-ref", "-d", OURS)
        self._run(
            "fast-import",
            "--quiet",
            "--force",
            "--date-format=now",
            stdin=b"\n".join(lines) + b"\n\n",
            timeout_s=LOCAL_S,
        )

    def _writer(self) -> str:
        answer = self._call("var", "GIT_COMMITTER_IDENT")
        named = re.fullmatch(r"([^<>\n]+ <[^<>\n]*>) \d+ [-+]\d+\s*", answer.out.decode("utf-8", "replace"))
        return named[1] if answer.ok and named else WRITER

    def _make(self, length: int) -> None:
        if not os.path.exists(os.path.join(self._folder, "HEAD")):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            form = ("--object-format=sha256",) if length == 64 else ()
            self._run("init", "--bare", "--quiet", *form, ".")

    def _files_of(self, commit: str) -> dict[str, str]:
        if not commit:
            return {}
        listing = self._run("ls-tree", "-r", "-z", "--full-tree", commit).decode("utf-8", "surrogateescape")
        entries = [entry.partition("\t") for entry in listing.split("\0") if entry]
        return {path: head.split()[2] for head, _, path in entries if head.startswith(("100644 ", "100755 "))}

    def _content(self, commit: str, path: str) -> bytes | None:
        return self._objects.file(commit, path) if self._objects is not None else None

    def _commit_of(self, ref: str) -> str:
        answer = self._call("rev-parse", "--verify", "--quiet", ref + "^{commit}")
        return answer.out.decode().strip() if answer.ok else ""

    def _network(self, *arguments: str) -> _Answer:
        answer = self._call(*arguments, network=True)
        if not answer.ok:
            raise RepositoryError(
                f"{shown(self.url)} cannot be reached: {_reason(answer.err, self.url)}",
                hint="nothing is lost: memory stays as it is, and the next sync goes on from here",
            )
        return answer

    def _run(self, *arguments: str, stdin: bytes = b"", timeout_s: float = LOCAL_S) -> bytes:
        answer = self._call(*arguments, stdin=stdin, timeout_s=timeout_s)
        if not answer.ok:
            raise RepositoryError(f"git {arguments[0]} failed in {self._folder}: {_reason(answer.err, self.url)}")
        return answer.out

    def _call(self, *arguments: str, stdin: bytes = b"", timeout_s: float = LOCAL_S, network: bool = False) -> _Answer:
        program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
        is_made = os.path.exists(os.path.join(self._folder, "HEAD"))
        where = ("--git-dir", self._folder) if is_made else ()
        command = [program, "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "--no-pager", *where, *arguments]
        environment = {name: value for name, value in os.environ.items() if name not in UNSAFE_VARIABLES}
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS, "LC_ALL": "C"}
        folder = self._folder if os.path.isdir(self._folder) else os.path.expanduser("~")
        try:
            done = subprocess.run(
                command, input=stdin, capture_output=True, env=environment, cwd=folder, check=False,
                timeout=NETWORK_S if network else timeout_s,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return _Answer(False, b"", "git took too long")
        except OSError as exc:
            return _Answer(False, b"", f"git cannot be started: {exc.strerror}")
        return _Answer(done.returncode == 0, done.stdout, done.stderr.decode("utf-8", "replace"))


class RepositoryFiles:
    """The lesson files below one folder of the repository: `ports.workspace.LessonFiles`."""

    def __init__(self, repository: LessonRepository, folder: str) -> None:
        self._repository = repository
        self._folder = folder

    def find(self) -> Mapping[str, str]:
        """Return each Markdown file with the digest of its content."""
        return self._repository.marks(self._folder)

    def read(self, path: str) -> bytes | None:
        """Return the file's content, or None."""
        return self._repository.read(self._folder + path)

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        """Keep the content for the next push. Raises StaleWriteError if the file is not `before` any more."""
        if self.read(path) != before:
            raise StaleWriteError(f"{path} was changed just now", hint="run the command again")
        return self._repository.write(self._folder + path, content)


def _branch_in(answer: str) -> tuple[str, bool, int]:
    """Return the branch to use, whether it exists, and the length of an id, from what `ls-remote --symref` says."""
    head, ids = "", {}
    for line in answer.splitlines():
        left, _, name = line.partition("\t")
        if left.startswith("ref: refs/heads/"):
            head = left.removeprefix("ref: refs/heads/")
        elif name.startswith("refs/heads/"):
            ids[name.removeprefix("refs/heads/")] = left
    length = len(next(iter(ids.values()), ""))
    if head not in ids:
        head = FIRST_BRANCH if FIRST_BRANCH in ids or not ids else min(ids)
    return head, head in ids, length


def _reason(answered: str, url: str) -> str:
    """Return the line that says why, without a login."""
    lines = [line.strip() for line in answered.replace(url, shown(url)).splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error|remote|ssh|!)", line)]
    return shown((telling or lines or ["git says nothing"])[0])[:200]


def _blob_of(content: bytes, length: int) -> str:
    digest = sha256 if length == 64 else sha1
    return digest(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
