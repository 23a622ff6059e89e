"""Views: the files of one work tree, now and at earlier commits, parsed at most once."""

from __future__ import annotations

import re

from holdfast.codeindex.source import ParsedSource, blob_of, read_source
from holdfast.domain.project import Location
from holdfast.ports.history import History
from holdfast.ports.workspace import Workspace

_PARTS = re.compile(r"[^\W_]+")
"""A test's title is spelt differently from its name, but has the same words."""

KEPT_BYTES = 3_000_000
"""Bytes of source whose parsed form is kept in memory; what was used longest ago goes first."""


class ParsedFiles:
    """Sources by content, shared by all snapshots of a process."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], ParsedSource] = {}
        self._size = 0

    def read(self, path: str, content: bytes) -> ParsedSource | None:
        """Return the content as source; None when its language is not known."""
        key = (path, blob_of(content))
        source = self._kept.pop(key, None)
        if source is None:
            source = read_source(path, content)
            self._size += len(content) if source is not None else 0
        if source is not None:
            self._kept[key] = source
        while self._size > KEPT_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.pop(next(iter(self._kept))).content)
        return source


class SourceSnapshots:
    """One work tree's files, now and at earlier commits."""

    def __init__(self, workspace: Workspace, location: Location, parsed: ParsedFiles) -> None:
        self.workspace = workspace
        self.location = location
        self.history: History = workspace.history(location)
        self._parsed = parsed

    def current(self, path: str) -> ParsedSource | None:
        """Return the file as it is on the disk; None if it is missing or its language is unknown."""
        return self._source(path, self.workspace.read(self.location, path))

    def at_commit(self, commit: str, path: str) -> ParsedSource | None:
        """Return the file as it was in the commit; for an empty commit as it is in the work tree."""
        return self._source(path, self.history.file(commit, path)) if commit else self.current(path)

    def at_blob(self, path: str, blob: str) -> ParsedSource | None:
        """Return the file with that blob, if git has it."""
        return self._source(path, self.history.blob(blob)) if blob else None

    def mentions(self, commit: str, path: str, word: str) -> bool:
        """Return whether the word may be in the file then, by a search for its longest part. Cheaper than parsing."""
        part = max(_PARTS.findall(word), key=len, default=word)
        return part.encode() in (self.history.file(commit, path) or b"")

    def _source(self, path: str, content: bytes | None) -> ParsedSource | None:
        return None if content is None else self._parsed.read(path, content)
