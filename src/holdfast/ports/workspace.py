"""Workspace: the code on the disk and in git, read-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.domain.project import Location, Person
from holdfast.ports.branches import Branches
from holdfast.ports.history import History


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
