"""LocalHistory: the past of one work tree, from git's plumbing, which runs nothing that a repository names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from holdfast.domain.commit import Commit, CommitPoint
from holdfast.workspace.gitrun import Git

TIMEOUT_S = 0.15
WALK_TIMEOUT_S = 0.5
"""Seconds for a question that walks over commits."""

PAGE_TIMEOUT_S = 1.0
"""Seconds for a page of commits with their messages and files."""

LIMIT = 1_000
"""Commits of one answer, files of one commit, and answers kept by one object."""
MESSAGE_LIMIT = 20_000
"""Characters of a commit's message that are read."""

COMMIT_FORMAT = "--format=%x00%H%x00%an%x00%ae%x00%at%x00%B%x00"
"""No field and no file name can contain a NUL, and no file name is empty, so a message cannot imitate a commit."""
POINT_FORMAT = "--format=%H%x00%ct%x00%s%x00"
POINTS = 10_000
"""Commits that are asked for as points in time."""
CALM_DIFF = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-O/dev/null")
MAIN_LINES = ("main", "master", "trunk", "develop")
HEX = frozenset("0123456789abcdef")


class LocalHistory:
    """Git's history of the work tree at `root`; each answer is cached for the object's life."""

    def __init__(self, git: Git, root: str) -> None:
        self._git = git
        self._root = root
        self._kept: dict[tuple[str, ...], bytes | None] = {}

    def blob(self, blob: str) -> bytes | None:
        """Return the content with that id."""
        version, _, name = blob.partition(":")
        return self._ask("cat-file", "blob", name) if version == "git1" and _is_id(name) else None

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit; `^` after its id means its first parent."""
        if not _is_id(commit.removesuffix("^")) or "\0" in path:
            return None
        return self._ask("cat-file", "blob", f"{commit}:{path}")

    def holds(self, commit: str) -> bool | None:
        """Return whether the commit is in the history of HEAD; None if git does not know the commit."""
        if not _is_id(commit):
            return None
        output = self._ask("merge-base", commit, "HEAD", timeout_s=WALK_TIMEOUT_S)
        if output is None:  # unknown, or of another root
            return None if self._ask("cat-file", "-t", commit) is None else False
        return output.decode("ascii", "replace").strip() == commit

    def touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
        """Return commits after `since`, oldest first, that changed the file, or how often the text is in it."""
        if (since and not _is_id(since)) or "\0" in path:
            return ()
        how = ["--topo-order", "--format=%H", f"--max-count={LIMIT}", f"{since}..HEAD" if since else "HEAD"]
        if text:  # git must compare the bytes: a repository's configuration may name a program that converts them
            how = ["--no-textconv", "--no-ext-diff", f"-S{text}", *how]
        output = self._ask("log", *how, "--", path, timeout_s=WALK_TIMEOUT_S)
        if output == b"" and not text:
            # git omits a merge's side on which a file was added and removed, since the merge shows no trace of it
            output = self._ask("log", "--full-history", "--no-merges", *how, "--", path, timeout_s=WALK_TIMEOUT_S)
        return tuple(reversed((output or b"").decode("ascii", "replace").split()[:LIMIT]))

    def changed(self, commit: str) -> Sequence[str]:
        """Return the files that the commit added, changed or deleted against its first parent."""
        if not _is_id(commit):
            return ()
        how = ("-r", "-z", "--no-renames", "--diff-filter=AMD", "--name-only")
        output = self._ask("diff-tree", *how, commit + "^", commit, "--")
        return tuple(os.fsdecode(name) for name in (output or b"").split(b"\0")[:LIMIT] if name)

    def renamed(self, commit: str, path: str) -> str:
        """Return the name that the commit gave to the file, by git's rename detection."""
        if not _is_id(commit):
            return ""
        how = ("-r", "-z", "-M", "--diff-filter=R", "--name-status")
        output = self._ask("diff-tree", *how, commit + "^", commit, "--")
        names = [os.fsdecode(name) for name in (output or b"").split(b"\0")]
        pairs = dict(zip(names[1::3], names[2::3], strict=False))
        return pairs.get(path, "")

    def commits(self, revisions: str, skip: int, most: int) -> Sequence[Commit] | None:
        """Return at most that many commits, newest first, without merges; None if git fails or takes too long."""
        first = revisions.removesuffix("..HEAD")
        if first != "HEAD" and not _is_id(first):
            return None
        how = ["-z", "--no-merges", "--no-notes", "--encoding=UTF-8", "--name-only", *CALM_DIFF, COMMIT_FORMAT]
        span = [f"--skip={skip}", f"--max-count={most}", revisions, "--"]
        output = self._git.ask(self._root, ["log", *how, *span], PAGE_TIMEOUT_S, trusted=True)
        return None if output is None else tuple(_commits_in(output))

    def points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
        """Return the commits from `until` back to `since`, both included, along first parents, oldest first."""
        ends = [self._resolved(name) for name in (until, since) if name]
        if not ends or "" in ends:
            return None
        how = ["--first-parent", "--no-notes", "--encoding=UTF-8", POINT_FORMAT, f"--max-count={POINTS}"]
        span = [ends[0], *(f"^{end}" for end in ends[1:])]
        output = self._ask("log", *how, *span, "--", timeout_s=PAGE_TIMEOUT_S)
        first = self._ask("log", *how[:-1], "--max-count=1", *ends[1:], "--") if ends[1:] else b""
        if output is None or first is None:
            return None
        return tuple(reversed([*_points_in(output), *_points_in(first)]))

    def _resolved(self, name: str) -> str:
        """Return the id of the commit with that name; empty if git knows none."""
        if not name or name.startswith("-") or "\0" in name:
            return ""
        output = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        commit = (output or b"").decode("ascii", "replace").strip()
        return commit if _is_id(commit) else ""

    def lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the lines that the commit removed from the file and those that it added, without outer blanks."""
        output = None
        if _is_id(commit):
            how = ("-r", "-p", "-U0", *CALM_DIFF)
            output = self._ask("diff-tree", *how, commit + "^", commit, "--", path, timeout_s=WALK_TIMEOUT_S)
        signs: dict[str, set[str]] = {"-": set(), "+": set()}
        _, _, hunks = (output or b"").decode("utf-8", "replace").partition("\n@@")
        for line in hunks.split("\n"):
            if line[:1] in signs and line[1:].strip():
                signs[line[0]].add(line[1:].strip())
        return frozenset(signs["-"]), frozenset(signs["+"])

    def own_address(self) -> str:
        """Return the user's e-mail address from git's configuration outside the repository, which may bring its own."""
        output = self._ask("config", "--global", "--includes", "--get", "user.email")
        return (output or b"").decode("utf-8", "replace").strip()

    def is_main_line(self) -> bool:
        """Return whether the remote's default branch is checked out; without a remote, a branch with a usual name."""
        output = self._ask("symbolic-ref", "-q", "--short", "HEAD")
        branch = (output or b"").decode("utf-8", "replace").strip()
        output = self._ask("symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
        default = (output or b"").decode("utf-8", "replace").strip().partition("/")[2]
        return bool(branch) and (branch == default if default else branch in MAIN_LINES)

    def _ask(self, *arguments: str, timeout_s: float = TIMEOUT_S) -> bytes | None:
        if arguments not in self._kept:
            if len(self._kept) >= LIMIT:
                self._kept.clear()
            self._kept[arguments] = self._git.ask(self._root, arguments, timeout_s, trusted=True)
        return self._kept[arguments]


def _is_id(text: str) -> bool:
    return len(text) >= 7 and HEX.issuperset(text)


def _points_in(output: bytes) -> Iterator[CommitPoint]:
    """Yield the commits of `git log` in `POINT_FORMAT`, in git's order."""
    words = [word.decode("utf-8", "replace") for word in output.split(b"\0")]
    for name, seconds, subject in zip(words[0::3], words[1::3], words[2::3], strict=False):
        try:
            when = datetime.fromtimestamp(int(seconds), UTC)
        except (ValueError, OverflowError, OSError):
            when = datetime.fromtimestamp(0, UTC)  # a commit may state any number
        yield CommitPoint(id=name.strip(), at=when, subject=subject)


def _commits_in(output: bytes) -> Iterator[Commit]:
    """Yield the commits of `git log` in `COMMIT_FORMAT`, with a NUL after each file's name."""
    words = output.split(b"\0")
    at = 1  # each record begins with an empty word
    while at + 5 < len(words):
        name, author, email, seconds, message = (word.decode("utf-8", "replace") for word in words[at : at + 5])
        at += 6
        files: list[str] = []
        while at < len(words) and words[at]:
            files.append(os.fsdecode(words[at].lstrip(b"\n")))
            at += 1
        at += 1
        try:
            when = datetime.fromtimestamp(int(seconds), UTC)
        except (ValueError, OverflowError, OSError):
            when = datetime.fromtimestamp(0, UTC)  # a commit may state any number
        yield Commit(
            id=name.strip(), author=author, email=email, at=when, message=message[:MESSAGE_LIMIT],
            files=tuple(files[:LIMIT]),
        )  # fmt: skip
