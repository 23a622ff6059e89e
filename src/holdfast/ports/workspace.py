"""Workspace: what is on the disk and in git, read-only."""

from __future__ import annotations

from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.domain.project import Person, Place
    from holdfast.ports.branches import Branches
    from holdfast.ports.history import History
else:
    Protocol = object


class Stamps(Frozen):
    """What differs from an earlier answer wherever something may have changed."""

    checkout: tuple[int, ...] = ()
    """Of what is checked out; empty when the work tree is gone."""
    files: tuple[tuple[int, ...], ...] = ()
    """Of each file asked about, in order; empty for none."""
    busy: bool = False
    """Git is at work: more is about to change."""


class Workspace(Protocol):
    """The code as it is now."""

    def locate(self, folder: str) -> Place:
        """The place of a folder: its project, work tree root, branch and commit.

        Raises ProjectUnknownError when identity cannot be told in time, InvalidValueError for a folder that is
        not there.
        """
        ...

    def accept_claim(self, folder: str) -> Place:
        """Let the id that the folder's `.holdfast/project.toml` declares count there; the place from now on.

        Raises InvalidValueError where none waits for that.
        """
        ...

    def release_claim(self, folder: str) -> Place:
        """Let the id that the folder's `.holdfast/project.toml` declares not count any more; the place from now on.

        Raises InvalidValueError where none counts.
        """
        ...

    def relative(self, place: Place, path: str, cwd: str = "") -> str:
        """The path relative to the project's root with forward slashes; empty for one outside of it."""
        ...

    def blob(self, place: Place, path: str) -> str:
        """`git1:` + git's blob id of the file as it is on the disk; empty when there is no readable file."""
        ...

    def read(self, place: Place, path: str) -> bytes | None:
        """The file's content; None when there is no readable file, or it is over 5 MB."""
        ...

    def history(self, place: Place) -> History:
        """The past of the place's work tree."""
        ...

    def branches(self, place: Place) -> Branches:
        """The branches of the place's clone."""
        ...

    def person(self, place: Place) -> Person:
        """Who works there, by git's configuration; nobody when git does not tell. Not for hooks: git is asked."""
        ...

    def exists(self, place: Place, path: str) -> bool:
        """Whether something is at that path in the work tree."""
        ...

    def foresee_dirty(self, place: Place) -> None:
        """`dirty` will be asked soon: it may be found out meanwhile. Returns at once and changes no answer."""
        ...

    def dirty(self, place: Place) -> Sequence[str]:
        """Files changed against HEAD, relative, at most 50; empty without git or when it takes too long."""
        ...

    def mentioning(self, place: Place, word: str) -> Sequence[str]:
        """Text files of the work tree that have the word, relative, at most 500; empty without git or in time."""
        ...

    def stamps(self, place: Place, paths: Sequence[str]) -> Stamps:
        """What tells, for a stat each and without reading, whether the files or the checkout may have changed."""
        ...
