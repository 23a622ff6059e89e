"""LessonFiles: the folder of a repository in which shared lessons are files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol
else:
    Protocol = object


class LessonFiles(Protocol):
    """The files of one work tree. Paths are relative to the folder of lessons, with forward slashes."""

    def find(self) -> Mapping[str, str]:
        """Every Markdown file and a text that differs once it may have changed; empty for what is no plain file."""
        ...

    def read(self, path: str) -> bytes | None:
        """The file's content; None when it cannot be read."""
        ...

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        """Put the content there in one step and return the file's new mark, as `find` tells it.

        Raises StaleWriteError when the file does not hold `before` any more (None: there is none), and
        HostConfigError when it cannot be written.
        """
        ...

    def by_user(self) -> frozenset[str]:
        """Files that the user committed last, by the address in git's configuration outside of the repository."""
        ...
