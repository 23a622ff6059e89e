"""LessonFiles: the folder of a repository that holds shared lessons as files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


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
