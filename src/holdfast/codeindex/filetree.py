"""Answers import rules' questions about a project's files: paths by name, ending and folder, and settings.

Paths are relative to the project's root, with forward slashes; the root itself is the empty string.
"""

from __future__ import annotations

import json
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

PACKAGE_LIMIT = 12
"""An import of a whole package leads to its files, if they are no more than these: else it says too little."""


class FileTree:
    """The files of a project."""

    def __init__(self, paths: Collection[str], read: Callable[[str], bytes]) -> None:
        self.paths = paths if isinstance(paths, (set, frozenset)) else frozenset(paths)
        self.read = read
        self.kept: dict[Any, Any] = {}
        """Results of rules for the whole tree."""

    @cached_property
    def by_file(self) -> dict[str, list[str]]:
        """Paths by the file's name."""
        paths: dict[str, list[str]] = {}
        for path in self.paths:
            paths.setdefault(path.rpartition("/")[2], []).append(path)
        return paths

    @cached_property
    def by_folder(self) -> dict[str, list[str]]:
        """Paths by their folder, sorted."""
        paths: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            paths.setdefault(path.rpartition("/")[0], []).append(path)
        return paths

    @cached_property
    def folders_by_name(self) -> dict[str, list[str]]:
        """Folders that hold files, by their last part."""
        folders: dict[str, list[str]] = {}
        for folder in self.by_folder:
            folders.setdefault(folder.rpartition("/")[2], []).append(folder)
        return folders

    def first(self, candidates: Iterable[str]) -> str:
        """Return the first candidate that is a file; empty if none is."""
        return next((path for path in candidates if path in self.paths), "")

    def unique_end(self, end: str) -> str:
        """Return the only file whose path ends in those parts; empty if there is none or more than one."""
        return _one(end, self.by_file)

    def unique_folder(self, end: str) -> str:
        """Return the only folder whose path ends in those parts; empty if there is none or more than one."""
        return _one(end, self.folders_by_name)

    def package(self, folder: str, suffixes: tuple[str, ...]) -> list[str]:
        """Return the files directly in a folder with one of the endings; none if there are more than PACKAGE_LIMIT."""
        files = [path for path in self.by_folder.get(folder, ()) if path.endswith(suffixes)]
        return files if len(files) <= PACKAGE_LIMIT else []

    def nearest(self, path: str, file: str) -> str:
        """Return the path of the file of that name in the nearest folder at or above the path's; empty if none."""
        return self.first(join(folder, file) for folder in above(path))

    def json(self, path: str) -> dict[str, Any]:
        """Return a configuration file's object; comments and trailing commas are allowed. Empty if it is none."""
        key = "json", path
        if key not in self.kept:
            try:
                document = json.loads(plain_json(self.read(path).decode("utf-8-sig", "replace")))
            except (ValueError, RecursionError):
                document = None
            self.kept[key] = document if isinstance(document, dict) else {}
        table: dict[str, Any] = self.kept[key]
        return table


def join(folder: str, rest: str) -> str:
    """Return the path of `rest` relative to the folder, with `.` and `..` resolved; empty if it leaves the project."""
    parts = folder.split("/") if folder else []
    for part in rest.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folder_of(path: str) -> str:
    """Return the folder a path is in."""
    return path.rpartition("/")[0]


def above(path: str) -> Iterator[str]:
    """Yield the path's folder and all folders above it, nearest first, the root last."""
    folder = folder_of(path)
    while folder:
        yield folder
        folder = folder_of(folder)
    yield ""


def plain_json(text: str) -> str:
    """Return the text without comments and trailing commas, which configuration files have and JSON forbids."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == '"':
            end = _string_end(text, at)
            out.append(text[at:end])
            at = end
        elif text.startswith("//", at):
            at = _index(text, "\n", at)
        elif text.startswith("/*", at):
            at = _index(text, "*/", at) + 2
        else:
            if char in "]}":
                _drop_comma(out)
            out.append(char)
            at += 1
    return "".join(out)


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _index(text: str, what: str, at: int) -> int:
    position = text.find(what, at)
    return len(text) if position < 0 else position


def _drop_comma(out: list[str]) -> None:
    for index in range(len(out) - 1, -1, -1):
        if out[index] == ",":
            out[index] = ""
            return
        if out[index].strip():
            return


def _one(end: str, by_last: dict[str, list[str]]) -> str:
    parts = [part for part in end.split("/") if part not in ("", ".", "..")]
    if not parts:
        return ""
    whole = "/".join(parts)
    matches = [path for path in by_last.get(parts[-1], ()) if path == whole or path.endswith("/" + whole)]
    return matches[0] if len(matches) == 1 else ""
