"""LocalLessonFiles: `.holdfast/lessons` of a work tree on this machine. Links are never followed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.domain.openknowledge import RESERVED
from holdfast.errors import HoldfastError, StaleWriteError
from holdfast.lean.files import write_whole

FOLDER = (".holdfast", "lessons")
READ_LIMIT = 250_000
"""Bytes of a file that are read; a lesson's file is smaller."""


class LocalLessonFiles:
    """The lesson files below a work tree's root."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folder = os.path.join(root, *FOLDER)

    def find(self) -> dict[str, str]:
        """Return every lesson's file with its size and times; an empty string for a link or what is no file.

        Indexes and logs (`openknowledge.RESERVED`) hold no lesson.
        """
        for depth in range(len(FOLDER)):
            if os.path.islink(os.path.join(self._root, *FOLDER[: depth + 1])):
                raise HoldfastError(f"{'/'.join(FOLDER[: depth + 1])} is a link", hint="make it a folder")
        return dict(self._walk(self._folder, ""))

    def read(self, path: str) -> bytes | None:
        """Return the file's first bytes, more than a lesson's file may have; None for a link or an unreadable file."""
        try:
            with open(os.open(self._whole(path), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as stream:
                return stream.read(READ_LIMIT)
        except OSError:
            return None

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        """Write the content in one step. Raises StaleWriteError or HoldfastError."""
        whole = self._whole(path)
        folder = os.path.dirname(whole)
        if os.path.islink(folder) or os.path.islink(whole):
            raise HoldfastError(f"{path} is reached through a link", hint="remove the link")
        if os.path.lexists(whole) != (before is not None) or (before is not None and self.read(path) != before):
            raise StaleWriteError(f"{path} was changed just now", hint="run the command again")
        try:
            os.makedirs(folder, exist_ok=True)
            write_whole(whole, content, mode=None)
        except OSError as exc:
            raise HoldfastError(f"{path} cannot be written: {exc.strerror}", hint="check its folder's rights") from exc
        return _mark(os.lstat(whole))

    def _whole(self, path: str) -> str:
        return os.path.join(self._folder, *path.split("/"))

    def _walk(self, folder: str, inner: str) -> Iterator[tuple[str, str]]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            path = inner + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(entry.path, path + "/")
            elif entry.name.endswith(".md") and entry.name not in RESERVED:
                yield path, _mark(entry.stat(follow_symlinks=False)) if entry.is_file(follow_symlinks=False) else ""


def _mark(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"
