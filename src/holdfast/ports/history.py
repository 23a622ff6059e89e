"""History: past states of the code, read from git. Read-only, bounded in time; an answer may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.domain.commit import Commit, CommitPoint


class History(Protocol):
    """A work tree's past. Answers are None or empty when there is no git, it does not know, or it takes too long."""

    def blob(self, blob: str) -> bytes | None:
        """Return the content with that id, e.g. `git1:4b825d…`."""

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit."""

    def holds(self, commit: str) -> bool | None:
        """Return whether the commit is in the history of what is checked out; None when git cannot tell."""

    def touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
        """Return the commits after `since` that changed the file, oldest first; at most the newest 1,000.

        With an empty `since`, search the whole history of what is checked out. With a text, return only the commits
        that changed how often it occurs.
        """

    def changed(self, commit: str) -> Sequence[str]:
        """Return the files that the commit added, changed or deleted against its first parent; at most 1,000."""

    def renamed(self, commit: str, path: str) -> str:
        """Return the file's new name in that commit, by git's rename map; empty when the commit did not rename it."""

    def commits(self, revisions: str, skip: int, most: int) -> Sequence[Commit] | None:
        """Return up to `most` commits, newest first, without merges; None when git cannot tell or takes too long.

        `revisions` is `HEAD`, a commit's id, or `ID..HEAD` for the commits after that one.
        """

    def points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
        """Return the commits from `until` back to `since`, both included, along first parents, oldest first.

        Both are names as people give them to git: a branch, a tag, the beginning of an id. An empty `since` means the
        first commit. The answer has at most the newest 10,000 commits; it is None when git does not know a name or
        takes too long.
        """

    def lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the lines that the commit removed from the file and those that it added, without outer blanks."""

    def own_address(self) -> str:
        """Return the user's e-mail address from git's configuration outside the repository; empty if there is none."""

    def is_main_line(self) -> bool:
        """Return whether the main branch is checked out; False when git cannot tell."""
