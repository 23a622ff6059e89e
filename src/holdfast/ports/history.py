"""History: the code as it was, read from git. Read-only, bounded in time; an answer may be missing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.domain.commit import Commit, CommitPoint
else:
    Protocol = object


class History(Protocol):
    """A work tree's past. None, or nothing, when there is no git, it does not know, or does not answer in time."""

    def blob(self, blob: str) -> bytes | None:
        """The content with that id, e.g. `git1:4b825d…`."""
        ...

    def file(self, commit: str, path: str) -> bytes | None:
        """The file's content in that commit."""
        ...

    def holds(self, commit: str) -> bool | None:
        """Whether the commit is in the history of what is checked out; None when that cannot be told."""
        ...

    def touching(self, path: str, since: str, text: str = "") -> Sequence[str]:
        """The commits after `since` that changed the file, oldest first; at most the newest 1,000.

        With an empty `since`, all of what is checked out. With a text, only those that changed its number.
        """
        ...

    def changed(self, commit: str) -> Sequence[str]:
        """The files that the commit added, changed or deleted against its first parent; at most 1,000."""
        ...

    def renamed(self, commit: str, path: str) -> str:
        """The name that the commit gave to the file, by git's rename map; empty when it did not rename it."""
        ...

    def commits(self, revisions: str, skip: int, most: int) -> Sequence[Commit] | None:
        """At most that many commits, newest first, without merges; None when git cannot tell or takes too long.

        `revisions`: `HEAD`, a commit's id, or `ID..HEAD` for what came after that commit.
        """
        ...

    def points(self, since: str, until: str) -> Sequence[CommitPoint] | None:
        """The commits from `until` back to `since`, both included, along first parents, oldest first.

        Both are names as people give them to git: a branch, a tag, the beginning of an id. An empty `since` means the
        first commit. At most the newest 10,000; None when git does not know a name, or cannot tell in time.
        """
        ...

    def lines(self, commit: str, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """The lines that the commit removed from the file and those that it added to it, without outer blanks."""
        ...

    def own_address(self) -> str:
        """The user's e-mail address as git's configuration outside of the repository tells it; empty for none."""
        ...

    def is_main_line(self) -> bool:
        """Whether the branch that others start from is checked out; false when that cannot be told."""
        ...
