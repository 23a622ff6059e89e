"""Imports other tools' files and JSON lines of whole lessons: finds the files that an importer knows, and reads them.

A folder is walked without following links and up to a limit. Files that are not the project's own text (dependencies,
build output, plug-ins of agents) are left out. Nothing is written to the files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import IO, NamedTuple

from holdfast import plugins
from holdfast.bootstrap import Memory
from holdfast.curation.adopt import Adopting, PassageOutcome, SourceContents
from holdfast.domain.kinds import profile_of
from holdfast.domain.openknowledge import is_own_concept
from holdfast.domain.vocabulary import TRUSTS
from holdfast.errors import InvalidValueError
from holdfast.ports.plugins import HEAD_BYTES, MAYBE, NAMED, NO, Ground, Importer, Passage, Skipped, Source
from holdfast.publishing.okf import CONCEPT_LIMIT, read_concept
from holdfast.text.kindwords import kind_of

ENTRIES = 200_000
"""Files and folders that are looked at under one path."""
LEFT_OUT = frozenset({
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox", ".cache",
    "dist", "build", "target", "out", "vendor", "third_party", ".holdfast",
})  # fmt: skip
OTHERS = frozenset({"plugins", "marketplaces", "cache", "extensions", "skills"})
"""Folders inside a hidden folder in which agents keep other people's files."""
ENDINGS = (".md", ".mdc", ".txt", ".json", ".jsonl", ".db", ".sqlite", ".sqlite3")
"""Suffixes of files that may be a source; a file without a suffix may be one too."""

LINE_BYTES = 4_000_000
"""No more of a line is read: a million characters of four bytes each, which is refused as too long anyway."""
FOREIGN_KEYS = (b'"entityType"', b'"relationType"', b'"memory"')
"""Keys in the first line of other tools' JSON lines."""


class MatchedSource(NamedTuple):
    """A source and the importer that is surest about it."""

    source: Source
    importer: Importer


class SourceSearch(NamedTuple):
    """The sources under a path."""

    found: tuple[MatchedSource, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    """(label, reason) for each source that was recognised but left out."""
    cut: bool = False
    """Whether the limit was reached, so that some files were not read."""


def importer_names() -> list[str]:
    """Return the formats that can be imported, built-in and installed, sorted, with dashes as people type them."""
    return [name.replace("_", "-") for name in plugins.names("importers")]


def find_sources(path: str, root: str, user_home: str, name: str = "") -> SourceSearch:
    """Return the sources under a file or folder, sorted by path, each with one importer.

    `root` is the project's root, `user_home` the user's home folder; `name` selects one importer. One file may have
    any name. Raises InvalidValueError for a path that does not exist or that no importer knows.
    """
    importers = [plugins.load("importers", name)] if name else _importers()
    grounds = _Grounds(root, user_home)
    if os.path.isdir(path):
        return _walk(os.path.abspath(path), importers, grounds, MAYBE if name else NAMED)
    source = grounds.source(os.path.abspath(path))
    if source is None:
        raise InvalidValueError(f"{path} is not a file that can be read")
    best = _best(source, importers) or (MatchedSource(source, importers[0]) if name else None)
    if best is None:
        raise InvalidValueError(
            f"the format of {path} is not known",
            hint=f"give --from with one of {', '.join(importer_names())}; {plugins.HOSTS_PACKAGE} has more",
        )
    return SourceSearch((best,))


def read_source(chosen: MatchedSource) -> tuple[Passage | Skipped, ...]:
    """Return a source's passages, each with its kind. Raises InvalidValueError if it cannot be read completely."""
    try:
        parts = tuple(chosen.importer.read(chosen.source))
    except OSError as exc:
        raise InvalidValueError(f"{chosen.source.label}: {exc.strerror or exc}") from exc
    except RecursionError as exc:
        raise InvalidValueError(f"{chosen.source.label} is nested too deeply") from exc
    return tuple(_with_kind(_as_trusted(part, chosen.source)) if isinstance(part, Passage) else part for part in parts)


def _as_trusted(passage: Passage, source: Source) -> Passage:
    """Return the passage with no more trust than its location allows, whatever the file's format.

    Only files in hidden folders of the home belong to agents or the user. Every other file may have come with a clone
    or an archive: it is repository text and applies to the project only.
    """
    if source.ground == "home" and source.label.startswith("~/."):
        return passage
    trust = max(passage.trust, "repository", key=TRUSTS.index)
    return replace(passage, trust=trust, scope="project")


class _Grounds:
    """Finds out whether a file is in the project, in the home or elsewhere, and its label there."""

    def __init__(self, root: str, user_home: str) -> None:
        self._root = os.path.realpath(root)
        self._home = os.path.realpath(user_home) if user_home else ""

    def source(self, path: str) -> Source | None:
        """Return the file as a source with its head; None if it is not a file or cannot be read."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return None
            with open(path, "rb") as stream:
                head = stream.read(HEAD_BYTES)
        except OSError:
            return None
        label, ground = self._named(path)
        shown = os.fsencode(label).decode("utf-8", "replace")
        return Source(path=path, label=shown, ground=ground, head=head)

    def _named(self, path: str) -> tuple[str, Ground]:
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if _is_under(real, self._root):
            return os.path.relpath(real, self._root).replace(os.sep, "/"), "project"
        if self._home and _is_under(real, self._home):
            return "~/" + os.path.relpath(real, self._home).replace(os.sep, "/"), "home"
        return real.replace(os.sep, "/"), "elsewhere"


def _importers() -> list[Importer]:
    return [plugins.load("importers", name) for name in plugins.names("importers")]


def _best(source: Source, importers: Sequence[Importer], least: int = NO + 1) -> MatchedSource | None:
    """Return the source with the importer that is surest about it; by name among equals; None below `least`."""
    sure, _, importer = max(
        ((candidate.sureness(source), -at, candidate) for at, candidate in enumerate(importers)), key=lambda x: x[:2]
    )
    return MatchedSource(source, importer) if sure >= least else None


def _walk(path: str, importers: Sequence[Importer], grounds: _Grounds, least: int) -> SourceSearch:
    chosen: list[MatchedSource] = []
    skipped: list[tuple[str, str]] = []
    seen = 0
    for seen, entry in enumerate(_files_under(path), 1):
        if seen > ENTRIES:
            break
        source = grounds.source(entry) if _may_be_one(entry) else None
        best = _best(source, importers, least) if source else None
        if best is None:
            continue
        if os.path.islink(entry):
            skipped.append((best.source.label, "a link; the file that it leads to is imported from its own location"))
        else:
            chosen.append(best)
    return SourceSearch(tuple(chosen), tuple(skipped), seen > ENTRIES)


def _files_under(path: str) -> Iterator[str]:
    """Yield files sorted by path; folders that cannot be listed are skipped."""
    for folder, folders, files in os.walk(path):
        left_out = LEFT_OUT | OTHERS if os.path.basename(folder).startswith(".") else LEFT_OUT
        folders[:] = sorted(name for name in folders if name.lower() not in left_out)
        for name in sorted(files):
            yield os.path.join(folder, name)


def _may_be_one(path: str) -> bool:
    name = os.path.basename(path).lower()
    return name.endswith(ENDINGS) or "." not in name.lstrip(".")


def _is_under(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _with_kind(passage: Passage) -> Passage:
    """Return the passage with the kind that its words show clearly, else with the usual kind of its location.

    A text in a project's file never becomes a preference, because a preference belongs to a person.
    """
    if passage.kind:
        return passage
    kind = kind_of(passage.insight, passage.usual_kind)
    fits = passage.scope == "user" or not profile_of(kind).is_personal
    return replace(passage, kind=kind if fits else passage.usual_kind)


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


class ConceptLines:
    """The concepts that Holdfast exported, each as the line of its lesson; `reasons` has those that cannot be read."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.reasons: dict[int, str] = {}
        """By number, from 1."""

    def __iter__(self) -> Iterator[str]:
        for number, path in enumerate(self.paths, 1):
            try:
                with open(path, "rb") as stream:
                    yield read_concept(stream.read(CONCEPT_LIMIT * 4).decode("utf-8"))
            except (OSError, UnicodeDecodeError, InvalidValueError) as exc:
                self.reasons[number] = "not UTF-8" if isinstance(exc, UnicodeDecodeError) else str(exc)
                yield "{}"


def own_concepts(path: str) -> list[str]:
    """Return the concepts at or under a path that Holdfast exported, sorted; links are not followed."""
    if not os.path.isdir(path):
        return [path] if _is_own(path) else []
    return [entry for entry in _files_under(path) if not os.path.islink(entry) and _is_own(entry)]


def _is_own(path: str) -> bool:
    if not path.endswith(".md"):
        return False
    try:
        with open(path, "rb") as stream:
            return is_own_concept(stream.read(HEAD_BYTES).decode("utf-8", "replace"))
    except OSError:
        return False


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
