"""Branches: which lines of work a repository has, and what of one is on another."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Protocol
else:
    Protocol = object


class Branches(Protocol):
    """The branches of one clone, read-only. None wherever git does not know or does not answer in time."""

    def resolve(self, revision: str) -> str:
        """The commit that a person names; empty for none."""
        ...

    def time(self, commit: str) -> datetime | None:
        """When the commit was made."""
        ...

    def is_main(self, branch: str) -> bool:
        """Whether others start from that branch: it is the remote's default, or is called as such branches are."""
        ...

    def main_commits(self) -> Sequence[str] | None:
        """The newest commits of the main line, here and at the remote; empty where there is no main line."""
        ...

    def tip(self, branch: str) -> str | None:
        """The commit that the branch is at, here or at a remote; empty when there is no such branch."""
        ...

    def last_tip(self, branch: str) -> str:
        """Where a branch that is gone was when it was left for another one the last time; empty when not known."""
        ...

    def created(self, branch: str) -> datetime | None:
        """When this clone began the branch, rebased since or not."""
        ...

    def was_at(self, branch: str, commit: str) -> bool | None:
        """Whether the branch, as it is called now, has ever been at that commit, rebased since or not."""
        ...

    def missing(self, line: str, commits: Sequence[str]) -> frozenset[str] | None:
        """Those of the commits that are not in the history of `line`, among them those that nobody knows."""
        ...

    def fork(self, line: str, commit: str) -> str | None:
        """The newest commit that both have in their history; empty for none."""
        ...

    def is_applied(self, line: str, commit: str) -> bool | None:
        """Whether what the commit's own line changed is on `line` under other commits: rebased, picked or squashed."""
        ...

    def blobs(self, commit: str, paths: Sequence[str]) -> Mapping[str, str] | None:
        """The blobs, as `git1:…`, of those of the paths that the commit has."""
        ...

    def below(self, commit: str, folder: str) -> frozenset[str] | None:
        """The files that the commit has below the folder, relative to the project's root."""
        ...

    def changed(self, base: str, commit: str) -> Sequence[str] | None:
        """The files that differ between the two commits; at most 1,000."""
        ...

    def file(self, commit: str, path: str) -> bytes | None:
        """The file's content in that commit."""
        ...
