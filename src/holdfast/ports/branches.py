"""Branches: the branches of a repository, and how the commits of one relate to those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol


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

    def created(self, branch: str) -> datetime | None:
        """Return when this clone created the branch; a later rebase does not change the answer."""

    def checked_out(self, at: datetime) -> tuple[str, str]:
        """Return the commit that the work tree had checked out then, and the next one that was made there.

        Each is empty where this clone does not know: it is younger, or git has dropped the record.
        """

    def was_at(self, branch: str, commit: str) -> bool | None:
        """Return whether the branch of that name ever pointed at the commit, even if it was rebased since."""

    def missing(self, line: str, commits: Sequence[str]) -> frozenset[str] | None:
        """Return those of the commits that `line` does not contain, including commits that git does not know."""

    def fork(self, line: str, commit: str) -> str | None:
        """Return the newest commit that both histories share; empty if there is none."""

    def is_applied(self, line: str, commit: str) -> bool | None:
        """Return whether `line` has the changes of the commit's branch in other commits: rebased, picked, squashed."""

    def blobs(self, commit: str, paths: Sequence[str]) -> Mapping[str, str] | None:
        """Return the blob id, as `git1:…`, of each of the paths that the commit has."""

    def below(self, commit: str, folder: str) -> frozenset[str] | None:
        """Return the commit's files below the folder, relative to the project's root."""

    def changed(self, base: str, commit: str) -> Sequence[str] | None:
        """Return the files that differ between the two commits; at most 1,000."""

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit."""
