"""LocalHistory and LocalBranches: git's past of one work tree, and the branches of its clone.

They ask git's plumbing, which runs nothing that a repository names. Nothing is written, not even an object.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from holdfast.domain.project import Commit, CommitPoint
from holdfast.workspace.gitfiles import find_checkout
from holdfast.workspace.gitrun import Git

TIMEOUT_S = 0.15
"""Seconds for a question about one commit or tree, times git's patience."""
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

BRANCH_WALK_TIMEOUT_S = 0.25
"""Seconds for a question that walks over commits, times git's patience."""
COMMITS_LIMIT = 500
"""Most commits and paths that one question names."""
REFLOG_LIMIT = 1_000_000
"""Bytes of a reflog that are read, from its end."""
FILES_LIMIT = 1_000
"""Changed files of a branch that are told."""
PLAIN_NAMES = ("-c", "core.quotePath=false")
PATCH = ("-p", "-U0", "--src-prefix=a/", "--dst-prefix=b/", *CALM_DIFF)


class _Questions:
    """Questions to git about the work tree at `root`; each answer is cached for the object's life."""

    def __init__(self, git: Git, root: str) -> None:
        self._git = git
        self._root = root
        self._kept: dict[tuple[str, ...], bytes | None] = {}

    def _ask(self, *arguments: str, timeout_s: float = TIMEOUT_S) -> bytes | None:
        if arguments not in self._kept:
            if len(self._kept) >= LIMIT:
                self._kept.clear()
            self._kept[arguments] = self._git.ask(self._root, arguments, timeout_s, trusted=True)
        return self._kept[arguments]


class LocalHistory(_Questions):
    """Git's history of the work tree."""

    def blob(self, blob: str) -> bytes | None:
        """Return the content with that id."""
        version, _, name = blob.partition(":")
        return self._ask("cat-file", "blob", name) if version == "git1" and _is_id(name) else None

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit; `^` after its id means its first parent."""
        if not _is_id(commit.removesuffix("^")) or "\0" in path:
            return None
        return self._ask("cat-file", "blob", f"{commit}:{path}")

    def contains(self, commit: str) -> bool | None:
        """Return whether the commit is in the history of HEAD; None if git does not know the commit."""
        if not _is_id(commit):
            return None
        output = self._ask("merge-base", commit, "HEAD", timeout_s=WALK_TIMEOUT_S)
        if output is None:  # unknown, or of another root
            return None if self._ask("cat-file", "-t", commit) is None else False
        return output.decode("ascii", "replace").strip() == commit

    def list_touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
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

    def list_changed(self, commit: str) -> Sequence[str]:
        """Return the files that the commit added, changed or deleted against its first parent."""
        if not _is_id(commit):
            return ()
        how = ("-r", "-z", "--no-renames", "--diff-filter=AMD", "--name-only")
        output = self._ask("diff-tree", *how, commit + "^", commit, "--")
        return tuple(os.fsdecode(name) for name in (output or b"").split(b"\0")[:LIMIT] if name)

    def find_new_name(self, commit: str, path: str) -> str:
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

    def list_points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
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

    def read_changed_lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the lines that the commit removed from the file and those that it added, without outer blanks."""
        output = None
        if _is_id(commit):
            how = ("-r", "-p", "-U0", *CALM_DIFF)
            output = self._ask("diff-tree", *how, commit + "^", commit, "--", path, timeout_s=WALK_TIMEOUT_S)
        signs: dict[str, set[str]] = {"-": set(), "+": set()}
        _, _, hunks = (output or b"").decode("utf-8", "replace").partition("\nWALK_TIMEOUT_S")
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


def _is_id(text: str) -> bool:
    return len(text) >= 7 and HEX.issuperset(text)


def _instant(seconds: str) -> datetime:
    """Return the time that a commit states, or 1970: it may state any number."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _points_in(output: bytes) -> Iterator[CommitPoint]:
    """Yield the commits of `git log` in `POINT_FORMAT`, in git's order."""
    words = [word.decode("utf-8", "replace") for word in output.split(b"\0")]
    for name, seconds, subject in zip(words[0::3], words[1::3], words[2::3], strict=False):
        yield CommitPoint(id=name.strip(), at=_instant(seconds), subject=subject)


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
        yield Commit(
            id=name.strip(), author=author, email=email, at=_instant(seconds), message=message[:MESSAGE_LIMIT],
            files=tuple(files[:LIMIT]),
        )  # fmt: skip


class LocalBranches(_Questions):
    """The branches of the work tree's clone. Questions that walk history run only if lessons are staged."""

    def __init__(self, git: Git, root: str) -> None:
        super().__init__(git, root)
        self._refs: dict[str, str] | None = None
        self._reflogs: dict[str, list[bytes]] = {}
        self._defaults: frozenset[str] = frozenset()

    def resolve(self, revision: str) -> str:
        """Return the commit that `git rev-parse` finds; empty for none and for what looks like an option."""
        if not revision or revision.startswith("-") or "\0" in revision:
            return ""
        output = self._ask("rev-parse", "-q", "--verify", "--end-of-options", revision + "^{commit}")
        return _commit((output or b"").decode("ascii", "replace").strip())

    def time(self, commit: str) -> datetime | None:
        """Return the committer's time; None if the commit does not exist."""
        output = self._ask("log", "-1", "--format=%ct", commit, "--") if _commit(commit) else None
        seconds = (output or b"").strip()
        return datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else None

    def is_main(self, branch: str) -> bool:
        """Return whether it is a remote's default branch, or has the name of one."""
        return branch in MAIN_LINES or (self._read_refs() is not None and branch in self._defaults)

    def main_commits(self) -> list[str] | None:
        """Return the commits of every main line, here and at remotes, each once; the remotes' default lines first."""
        refs = self._read_refs()
        if refs is None:
            return None
        names = self._defaults or {name for name in MAIN_LINES if self.tip(name)}
        return list(dict.fromkeys(commit for ref, commit in refs.items() if _branch_of(ref) in names))

    def tip(self, branch: str) -> str | None:
        """Return the branch's commit here, else at a remote; empty if it is gone."""
        refs = self._read_refs()
        if refs is None:
            return None
        here = refs.get("refs/heads/" + branch)
        return here or next((commit for ref, commit in refs.items() if _branch_of(ref) == branch), "")

    def last_tip(self, branch: str) -> str:
        """Return the branch's last commit here, from the work tree's reflog, which stays when a branch is deleted."""
        checkout = find_checkout(self._root)
        left = f"\tcheckout: moving from {branch} to ".encode()
        for line in reversed(_reflog(checkout.git, "HEAD") if checkout else ()):
            if left in line:
                return _commit(line.split(b" ", 1)[0].decode("ascii", "replace"))
        return ""

    def read_created(self, branch: str) -> datetime | None:
        """Return the time of the oldest entry in the branch's reflog."""
        first = self._reflog_of(branch)[:1]
        words = first[0].partition(b"\t")[0].split() if first else []
        seconds = words[-2] if len(words) > 3 else b""
        return datetime.fromtimestamp(int(seconds), UTC) if seconds.isdigit() else None

    def find_checked_out(self, at: datetime) -> tuple[str, str]:
        """Read the work tree's reflog: a clone keeps it for 90 days, also of branches that are gone."""
        checkout = find_checkout(self._root)
        before = ""
        for line in _reflog(checkout.git, "HEAD") if checkout else ():
            head, _, what = line.partition(b"\t")
            words = head.split()
            commit, seconds = (words[1], words[-2]) if len(words) > 3 else (b"", b"")
            if not seconds.isdigit():
                continue
            if int(seconds) <= at.timestamp():
                before = _commit(commit.decode("ascii", "replace"))
            elif before:
                return before, _commit(commit.decode("ascii", "replace")) if what.startswith(b"commit") else ""
        return before, ""

    def was_at(self, branch: str, commit: str) -> bool | None:
        """Return whether the branch's reflog has the commit; None without one (git deletes it with the branch)."""
        lines = self._reflog_of(branch)
        return any(commit.encode() in line[:130] for line in lines) if lines else None

    def find_missing(self, line: str, commits: Sequence[str]) -> frozenset[str] | None:
        """Return the commits that do not exist or that `line` lacks; two git calls, however many commits."""
        wanted = [commit for commit in commits if _commit(commit)][:COMMITS_LIMIT]
        if not wanted or not _commit(line):
            return frozenset(commits)
        lacks = self._ask("rev-list", "--ignore-missing", *wanted, "^" + line, "--", timeout_s=BRANCH_WALK_TIMEOUT_S)
        known = self._ask("rev-list", "--ignore-missing", "--no-walk=unsorted", *wanted, "--")
        if lacks is None or known is None:
            return None
        outside = set(lacks.decode("ascii", "replace").split())
        there = set(known.decode("ascii", "replace").split())
        return frozenset(commit for commit in commits if commit in outside or commit not in there)

    def find_fork(self, line: str, commit: str) -> str | None:
        """Return the merge base; empty if there is none, None if git cannot tell."""
        if not _commit(line) or not _commit(commit):
            return ""
        output = self._ask("merge-base", line, commit, timeout_s=BRANCH_WALK_TIMEOUT_S)
        if output is None:  # of another root, or unknown
            return "" if self._ask("cat-file", "-t", commit) is not None else None
        return output.decode("ascii", "replace").strip()

    def is_applied(self, line: str, commit: str) -> bool | None:
        """Compare patches: each commit has an equal on `line`, or one commit there has the changes of all."""
        base = self.find_fork(line, commit)
        if not base or base == commit:
            return None if base is None else False
        output = self._ask("cherry", line, commit, timeout_s=BRANCH_WALK_TIMEOUT_S)
        marks = {row[:1] for row in (output or b"").splitlines()}
        return True if marks == {b"-"} else self._is_squashed(line, base, commit)

    def blobs(self, commit: str, paths: Sequence[str]) -> dict[str, str] | None:
        """Return blob ids by path, with one git call for every 500 paths."""
        wanted = [path for path in paths if path and "\0" not in path]
        blobs: dict[str, str] = {}
        for start in range(0, len(wanted), COMMITS_LIMIT):
            some = wanted[start : start + COMMITS_LIMIT]
            output = self._ask("ls-tree", "-z", "--full-tree", commit, "--", *some) if _commit(commit) else None
            if output is None:
                return None
            for row in filter(None, output.split(b"\0")):
                head, _, name = row.partition(b"\t")
                blobs[os.fsdecode(name)] = "git1:" + head.split()[2].decode("ascii", "replace")
        return blobs

    def list_below(self, commit: str, folder: str) -> frozenset[str] | None:
        """Return the names of all files below the folder, with one git call."""
        how = ("-r", "-z", "--full-tree", "--name-only")
        output = self._ask("ls-tree", *how, commit, "--", folder + "/", timeout_s=BRANCH_WALK_TIMEOUT_S)
        return None if output is None else frozenset(os.fsdecode(name) for name in output.split(b"\0") if name)

    def list_changed(self, base: str, commit: str) -> list[str] | None:
        """Compare the two trees by name; a rename is a removed and an added file."""
        if not (_commit(base) and _commit(commit)):
            return None
        output = self._ask("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, commit, "--")
        return None if output is None else [os.fsdecode(name) for name in output.split(b"\0") if name][:FILES_LIMIT]

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit."""
        return self._ask("cat-file", "blob", f"{commit}:{path}") if _commit(commit) and "\0" not in path else None

    def _is_squashed(self, line: str, base: str, commit: str) -> bool | None:
        """Return whether one commit of base..line has, for every file, the same changed lines as base..commit."""
        output = self._ask(*PLAIN_NAMES, "diff-tree", "-r", *PATCH, base, commit, "--", timeout_s=BRANCH_WALK_TIMEOUT_S)
        if output is None:
            return None
        patches = dict(_each_patch(output))
        if not patches or len(patches) > COMMITS_LIMIT:
            return False
        span = ["--format=", "-m", "--first-parent", f"{base}..{line}", "--", *map(os.fsdecode, patches)]
        output = self._ask(*PLAIN_NAMES, "log", *PATCH, *span, timeout_s=BRANCH_WALK_TIMEOUT_S)
        if output is None:
            return None
        there = set(_each_patch(output))
        return all(patch in there for patch in patches.items())

    def _reflog_of(self, branch: str) -> list[bytes]:
        if branch not in self._reflogs:
            checkout = find_checkout(self._root)
            names = ("refs", "heads", *branch.split("/"))
            self._reflogs[branch] = _reflog(checkout.common, *names) if checkout else []
        return self._reflogs[branch]

    def _read_refs(self) -> dict[str, str] | None:
        if self._refs is None:
            form = "--format=%(refname) %(objectname) %(symref)"
            output = self._ask("for-each-ref", form, "refs/heads", "refs/remotes")
            if output is None:
                return None
            rows = [row.split(" ") for row in os.fsdecode(output).splitlines()]
            self._refs = {name: commit for name, commit, symref in rows if not symref}
            pointed = [symref for name, _, symref in rows if symref and name.endswith("/HEAD")]
            self._defaults = frozenset(map(_branch_of, pointed))
        return self._refs


def _branch_of(ref: str) -> str:
    """Return `feature/x` for `refs/heads/feature/x` and for `refs/remotes/origin/feature/x`."""
    if ref.startswith("refs/heads/"):
        return ref.removeprefix("refs/heads/")
    return ref.removeprefix("refs/remotes/").partition("/")[2]


def _commit(text: str) -> str:
    return text if len(text) in (40, 64) and HEX.issuperset(text) and text.strip("0") else ""


def _reflog(git: str, *names: str) -> list[bytes]:
    try:
        with open(os.path.join(git, "logs", *names), "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - REFLOG_LIMIT))
            return stream.read().splitlines()
    except OSError:
        return []


def _each_patch(output: bytes) -> list[tuple[bytes, bytes]]:
    """Return for each file the lines that a diff removes and adds, without their positions."""
    patches = []
    for part in (b"\n" + output).split(b"\ndiff --git ")[1:]:
        head, _, hunks = part.partition(b"\nBRANCH_WALK_TIMEOUT_S")
        name = next((row[6:] for row in head.split(b"\n") if row[:6] in (b"+++ b/", b"--- a/")), b"")
        name = next((row[6:] for row in head.split(b"\n") if row[:6] == b"+++ b/"), name)
        if name:
            patches.append((name, b"\n".join(row for row in hunks.split(b"\n") if row[:1] in (b"+", b"-"))))
    return patches
