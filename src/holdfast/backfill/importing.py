"""Imports other tools' files and JSON lines of whole lessons into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

from holdfast.backfill.sources import MatchedSource, SourceSearch, find_sources, read_source
from holdfast.bootstrap import Memory
from holdfast.curation.adopt import Adopting, PassageOutcome, SourceContents
from holdfast.errors import InvalidValueError

LINE_BYTES = 4_000_000
"""No more of a line is read: a million characters of four bytes each, which is refused as too long anyway."""
FOREIGN_KEYS = (b'"entityType"', b'"relationType"', b'"memory"')
"""Keys in the first line of other tools' JSON lines."""


class ImportRequest(NamedTuple):
    """What to import, and how."""

    path: str
    form: str = ""
    """The name of the format; if empty, the format is recognised."""
    project: str = ""
    """The project's name in a store of several projects; `*` means all."""
    accept: bool = False
    """Whether the user vouches for the lessons."""
    dry: bool = False


class ImportOutcome(NamedTuple):
    """What an import of other tools' files did."""

    search: SourceSearch
    steps: tuple[PassageOutcome, ...]
    failed: tuple[tuple[str, str], ...]
    """(source, reason) for each source that could not be read."""


class ImportRun:
    """An import of other tools' files. The constructor finds the files, `run` imports them."""

    def __init__(self, memory: Memory, request: ImportRequest) -> None:
        """Find the sources. Raises InvalidValueError if there is nothing that can be imported."""
        self._memory, self._request = memory, request
        self.search = find_sources(request.path, memory.location.root, memory.settings.user_home, request.form)
        if not self.search.found:
            raise InvalidValueError(
                f"nothing under {request.path} can be imported", hint="holdfast import --help lists the formats"
            )

    def run(
        self, on_read: Callable[[], None] | None = None, on_adopted: Callable[[int], None] | None = None
    ) -> ImportOutcome:
        """Read the sources and import their passages.

        `on_read` is called for every source, `on_adopted` with the number of passages done. Raises InvalidValueError if
        none of the sources can be read.
        """
        request = self._request
        readings, failed = _read_all(self.search.found, on_read)
        if failed and not readings:
            raise InvalidValueError(failed[0][1], hint="nothing was imported")
        projects = (request.project,) if request.project else ()
        how = Adopting(accept=request.accept, dry=request.dry, projects=projects)
        steps = self._memory.adopt(readings, how, on_adopted)
        return ImportOutcome(self.search, tuple(steps), tuple(failed))


class TextLines:
    """A file's lines as text; `mended` has the numbers of lines that were not UTF-8."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.mended: list[int] = []

    def __iter__(self) -> Iterator[str]:
        number = 0
        while raw := self._stream.readline(LINE_BYTES):
            number += 1
            while len(raw) >= LINE_BYTES and not raw.endswith(b"\n") and (rest := self._stream.readline(LINE_BYTES)):
                raw = raw[: LINE_BYTES - 1] + rest[-1:]  # the line will be refused, so its rest is not kept in memory
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError:
                self.mended.append(number)
                yield raw.decode("utf-8", "replace")


def holds_lessons(path: str) -> bool:
    """Return whether a file looks like JSON lines of lessons, as `holdfast export` writes them."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        head = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    is_own = b'"insight"' in head or path.lower().endswith(".jsonl")
    return is_own and not any(key in head.split(b"\n", 1)[0] for key in FOREIGN_KEYS)


def _read_all(
    sources: Sequence[MatchedSource], on_read: Callable[[], None] | None
) -> tuple[list[SourceContents], list[tuple[str, str]]]:
    readings: list[SourceContents] = []
    failed: list[tuple[str, str]] = []
    for match in sources:
        source = match.source
        try:
            readings.append(SourceContents(label=source.label, importer=match.importer.id, parts=read_source(match)))
        except InvalidValueError as exc:
            failed.append((source.label, str(exc)))
        if on_read is not None:
            on_read()
    return readings, failed
