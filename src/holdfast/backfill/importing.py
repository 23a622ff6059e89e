"""What other tools keep, and whole lessons in JSON lines, into memory."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, NamedTuple

from holdfast.backfill.sources import find_sources, read_source
from holdfast.curation.adopt import Adopting, Reading
from holdfast.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.backfill.sources import Found, Search
    from holdfast.bootstrap import Memory
    from holdfast.curation.adopt import Step

LINE_BYTES = 4_000_000
"""No more of a line is read: a million characters of four bytes each, which is refused as too long anyway."""
FOREIGN_KEYS = (b'"entityType"', b'"relationType"', b'"memory"')
"""Keys in the first line of other tools' JSON lines."""


class ImportRequest(NamedTuple):
    """What is to be imported, and how."""

    path: str
    form: str = ""
    """The name of its form; empty where it is to be recognised."""
    project: str = ""
    """Its name in a store of several projects; `*` is all."""
    accept: bool = False
    """The user vouches for it."""
    dry: bool = False


class ImportOutcome(NamedTuple):
    """What an import of other tools' files did."""

    search: Search
    steps: tuple[Step, ...]
    failed: tuple[tuple[str, str], ...]
    """(source, reason) of what could not be read."""


class Import:
    """An import of other tools' files: made, it has found them; run, it has adopted them."""

    def __init__(self, memory: Memory, request: ImportRequest) -> None:
        """Raises InvalidValueError when there is nothing that can be imported."""
        self._memory, self._request = memory, request
        self.search = find_sources(request.path, memory.place.root, memory.settings.user_home, request.form)
        if not self.search.found:
            raise InvalidValueError(
                f"nothing under {request.path} can be imported", hint="holdfast import --help lists what can"
            )

    def run(
        self, on_read: Callable[[], None] | None = None, on_adopted: Callable[[int], None] | None = None
    ) -> ImportOutcome:
        """Read and adopt; `on_read` is told of every source, `on_adopted` how many passages are done.

        Raises InvalidValueError when none of the sources can be read.
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
    """A file's lines as text; remembers which ones were not UTF-8."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.mended: list[int] = []

    def __iter__(self) -> Iterator[str]:
        number = 0
        while raw := self._stream.readline(LINE_BYTES):
            number += 1
            while len(raw) >= LINE_BYTES and not raw.endswith(b"\n") and (rest := self._stream.readline(LINE_BYTES)):
                raw = raw[: LINE_BYTES - 1] + rest[-1:]  # the rest of a line that is refused is skipped, not kept
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError:
                self.mended.append(number)
                yield raw.decode("utf-8", "replace")


def holds_lessons(path: str) -> bool:
    """Whether a file looks like JSON lines of lessons, as `holdfast export` writes them."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        head = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    is_own = b'"insight"' in head or path.lower().endswith(".jsonl")
    return is_own and not any(key in head.split(b"\n", 1)[0] for key in FOREIGN_KEYS)


def _read_all(
    sources: Sequence[Found], on_read: Callable[[], None] | None
) -> tuple[list[Reading], list[tuple[str, str]]]:
    readings: list[Reading] = []
    failed: list[tuple[str, str]] = []
    for match in sources:
        source = match.source
        try:
            readings.append(Reading(label=source.label, importer=match.importer.id, parts=read_source(match)))
        except InvalidValueError as exc:
            failed.append((source.label, str(exc)))
        if on_read is not None:
            on_read()
    return readings, failed
