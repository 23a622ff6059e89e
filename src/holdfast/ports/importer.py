"""Importer: reads what people keep in another tool's files or database, passage by passage, and never writes there."""

from __future__ import annotations

from datetime import datetime

from holdfast.domain.vocabulary import LessonKind, LinkKind, ScopeLevel, State, Trust
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, Protocol

    Ground = Literal["project", "home", "elsewhere"]
else:
    Protocol = object
    Ground = str

NO, LAST_RESORT, MAYBE, NAMED, CERTAIN = range(5)
"""How sure an importer is of a file. The two below `NAMED` (by its name) hold only when somebody points at the file:
nothing says no (`LAST_RESORT`), its content could be (`MAYBE`). `CERTAIN`: by its place or its content."""

HEAD_BYTES = 4096


class Source(Frozen):
    """One file that may be imported."""

    path: str
    """Absolute."""
    label: str
    """How provenance and people name it: relative to the project, else `~/…`, else absolute; forward slashes."""
    ground: Ground
    """Where it lies: in the project, in the person's home, or anywhere else."""
    head: bytes = b""
    """Its first `HEAD_BYTES` bytes."""

    @property
    def name(self) -> str:
        """The file's name in lower case."""
        return self.label.rsplit("/", 1)[-1].lower()


class Passage(Frozen):
    """A part of a source that stands alone: it becomes one lesson."""

    section: str
    """Where in the source, the same on every run: headings joined by ` > `, or a row's id."""
    insight: str = ""
    """What it says; never empty in what `Importer.read` gives."""
    kind: LessonKind | Literal[""] = ""
    """Empty: told by the words, else `usual_kind`."""
    usual_kind: LessonKind = "convention"
    title: str = ""
    why: str = ""
    how: str = ""
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files it is about, as the source names them; those the project does not have are dropped."""
    globs: tuple[str, ...] = ()
    """Relative to the project's root."""
    tags: tuple[str, ...] = ()
    trust: Trust = "repository"
    scope: ScopeLevel = "project"
    path_prefix: str = ""
    state: State = "active"
    """What the source says of it: active, candidate (proposed there), superseded or retired."""
    said_at: datetime | None = None
    author: str = ""
    """Who wrote it, where the source names somebody."""
    confidence: float | None = None
    """How sure the reader is of it, 0 to 1; None: as sure as its trust allows."""
    project: str = ""
    """The name of its project in a store that holds several; empty in one that does not."""
    names: tuple[str, ...] = ()
    """What links in the source call it."""
    links: tuple[tuple[LinkKind, str], ...] = ()
    """(kind, name of the other passage)."""


class Skipped(Frozen):
    """A part of a source that is no lesson, and why."""

    section: str
    reason: str


class Importer(Protocol):
    """One foreign format."""

    id: str
    """`name/version`; it is written into the provenance of what it read."""

    def sureness(self, source: Source) -> int:
        """`NO` to `CERTAIN` that the file is of this format; cheap, never raises for odd content."""
        ...

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """What the file holds, in order. Raises InvalidValueError for one that cannot be read whole."""
        ...
