"""Finds and reads the files under a path that an importer knows. It writes nothing.

A folder is walked without following links and up to a limit. Files that are not the project's own text (dependencies,
build output, plug-ins of agents) are left out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast import plugins
from holdfast.domain.kinds import profile_of
from holdfast.domain.vocabulary import TRUSTS
from holdfast.errors import InvalidValueError
from holdfast.ports.importer import HEAD_BYTES, NAMED, NO, Ground, Importer, Passage, Skipped, Source
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
        return _walk(os.path.abspath(path), importers, grounds)
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


def _walk(path: str, importers: Sequence[Importer], grounds: _Grounds) -> SourceSearch:
    chosen: list[MatchedSource] = []
    skipped: list[tuple[str, str]] = []
    seen = 0
    for seen, entry in enumerate(_files_under(path), 1):
        if seen > ENTRIES:
            break
        source = grounds.source(entry) if _may_be_one(entry) else None
        best = _best(source, importers, NAMED) if source else None
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
