"""Workspace: the code on the disk and in git, read-only; git's history and branches; the files of shared lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from holdfast.domain.project import Commit, CommitPoint, Location, Person


class History(Protocol):
    """A work tree's past. Answers are None or empty when there is no git, it does not know, or it takes too long."""

    def blob(self, blob: str) -> bytes | None:
        """Return the content with that id, e.g. `git1:4b825d…`."""

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit."""

    def contains(self, commit: str) -> bool | None:
        """Return whether the commit is in the history of what is checked out; None when git cannot tell."""

    def list_touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
        """Return the commits after `since` that changed the file, oldest first; at most the newest 1,000.

        With an empty `since`, search the whole history of what is checked out. With a text, return only the commits
        that changed how often it occurs.
        """

    def list_changed(self, commit: str) -> Sequence[str]:
        """Return the files that the commit added, changed or deleted against its first parent; at most 1,000."""

    def find_new_name(self, commit: str, path: str) -> str:
        """Return the file's new name in that commit, by git's rename map; empty when the commit did not rename it."""

    def commits(self, revisions: str, skip: int, most: int) -> Sequence[Commit] | None:
        """Return up to `most` commits, newest first, without merges; None when git cannot tell or takes too long.

        `revisions` is `HEAD`, a commit's id, or `ID..HEAD` for the commits after that one.
        """

    def list_points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
        """Return the commits from `until` back to `since`, both included, along first parents, oldest first.

        Both are names as people give them to git: a branch, a tag, the beginning of an id. An empty `since` means the
        first commit. The answer has at most the newest 10,000 commits; it is None when git does not know a name or
        takes too long.
        """

    def read_changed_lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the lines that the commit removed from the file and those that it added, without outer blanks."""

    def own_address(self) -> str:
        """Return the user's e-mail address from git's configuration outside the repository; empty if there is none."""

    def is_main_line(self) -> bool:
        """Return whether the main branch is checked out; False when git cannot tell."""


class Branches(Protocol):
    """The branches of one clone, read-only. A method returns None when git does not know or does not answer in time."""

    def resolve(self, revision: str) -> str:
        """Return the commit that a revision names; empty if there is none."""

    def time(self, commit: str) -> datetime | None:
        """Return when the commit was made."""

    def is_main(self, branch: str) -> bool:
        """Return whether this is a main branch: a remote's default branch, or a branch with a usual name for it."""

    def main_commits(self) -> Sequence[str] | None:
        """Return the newest commits of the main branches, local and remote; empty where there is no main branch."""

    def tip(self, branch: str) -> str | None:
        """Return the branch's newest commit, local or at a remote; empty when there is no such branch."""

    def last_tip(self, branch: str) -> str:
        """Return the commit of a deleted branch at the last checkout of another one; empty when it is not known."""

    def read_created(self, branch: str) -> datetime | None:
        """Return when this clone created the branch; a later rebase does not change the answer."""

    def find_checked_out(self, at: datetime) -> tuple[str, str]:
        """Return the commit that the work tree had checked out then, and the next one that was made there.

        Each is empty where this clone does not know: it is younger, or git has dropped the record.
        """

    def was_at(self, branch: str, commit: str) -> bool | None:
        """Return whether the branch of that name ever pointed at the commit, even if it was rebased since."""

    def find_missing(self, line: str, commits: Sequence[str]) -> frozenset[str] | None:
        """Return those of the commits that `line` does not contain, including commits that git does not know."""

    def find_fork(self, line: str, commit: str) -> str | None:
        """Return the newest commit that both histories share; empty if there is none."""

    def is_applied(self, line: str, commit: str) -> bool | None:
        """Return whether `line` has the changes of the commit's branch in other commits: rebased, picked, squashed."""

    def blobs(self, commit: str, paths: Sequence[str]) -> Mapping[str, str] | None:
        """Return the blob id, as `git1:…`, of each of the paths that the commit has."""

    def list_below(self, commit: str, folder: str) -> frozenset[str] | None:
        """Return the commit's files below the folder, relative to the project's root."""

    def list_changed(self, base: str, commit: str) -> Sequence[str] | None:
        """Return the files that differ between the two commits; at most 1,000."""

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit."""


class LessonFiles(Protocol):
    """The files of one work tree. Paths are relative to the folder of lessons, with forward slashes."""

    def find(self) -> Mapping[str, str]:
        """Return each Markdown file with a text that changes when the file may have; empty if it is no plain file."""

    def read(self, path: str) -> bytes | None:
        """Return the file's content; None when it cannot be read."""

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        """Write the content in one step and return the file's new mark, as `find` returns it.

        Raises StaleWriteError when the file no longer holds `before` (None: the file does not exist), and
        HostConfigError when it cannot be written.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamps:
    """Values that differ from those of an earlier answer wherever something may have changed."""

    checkout: tuple[int, ...] = ()
    """Stamp of the checkout; empty when the work tree is gone."""
    files: tuple[tuple[int, ...], ...] = ()
    """Stamp of each file, in the order of the paths; empty for a file that does not exist."""
    busy: bool = False
    """Git is running, so more is about to change."""


class Workspace(Protocol):
    """The code as it is now, or at `location.tree` as it was in that commit."""

    def locate(self, folder: str) -> Location:
        """Return the location of a folder: its project, work tree root, branch and commit.

        Raises ProjectUnknownError when the project cannot be identified in time, InvalidValueError for a folder that
        does not exist.
        """

    def accept_claim(self, folder: str) -> Location:
        """Accept the id that the folder's `.holdfast/project.toml` declares, and return the resulting location.

        Raises InvalidValueError where no id waits to be accepted.
        """

    def release_claim(self, folder: str) -> Location:
        """Stop accepting the id that the folder's `.holdfast/project.toml` declares; return the resulting location.

        Raises InvalidValueError where no declared id is accepted.
        """

    def relative(self, location: Location, path: str, cwd: str = "") -> str:
        """Return the path relative to the project's root with forward slashes; empty for a path outside it."""

    def count_lesson_files(self, location: Location) -> int:
        """Return how many files of shared lessons the work tree has."""

    def blob(self, location: Location, path: str) -> str:
        """Return `git1:` + git's blob id of the file on the disk; empty when there is no readable file."""

    def read(self, location: Location, path: str) -> bytes | None:
        """Return the file's content; None when there is no readable file, or it is over 5 MB."""

    def history(self, location: Location) -> History:
        """Return the git history of the location's work tree."""

    def branches(self, location: Location) -> Branches:
        """Return the branches of the location's clone."""

    def person(self, location: Location) -> Person:
        """Return who works there, by git's configuration; empty when git does not know. Too slow for hooks."""

    def exists(self, location: Location, path: str) -> bool:
        """Return whether something exists at that path in the work tree."""

    def foresee_dirty(self, location: Location) -> None:
        """Allow an early start on the answer of `dirty`, in the background. Returns at once and changes no answer."""

    def dirty(self, location: Location) -> Sequence[str]:
        """Return the files changed against HEAD, relative, at most 50; empty without git or when it takes too long."""

    def mentioning(self, location: Location, word: str) -> Sequence[str]:
        """Return the text files that contain the word, relative, at most 500; empty without git or when it is slow.

        The files of a commit (`location.tree`) are not searched: the answer is empty.
        """

    def stamps(self, location: Location, paths: Sequence[str]) -> Stamps:
        """Return stamps that show whether the files or the checkout may have changed: one stat each, no reading."""
