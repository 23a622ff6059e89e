"""Ports of plug-ins: detectors, embedders, language models and importers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import LessonKind, LinkKind, ScopeLevel, State, Trust


class Detector(Protocol):
    """One way of finding lessons."""

    id: str
    """`name/version`; raise the version whenever the detector would judge the same window differently."""

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return candidates from a session's events, oldest first. Files in events are relative to the project's root.

        The detector need not remember anything: `learning/learn` passes the whole session so far and drops candidates
        that it decided on before.
        """


class Embedder(Protocol):
    """A model that places texts in a space. Vectors of different `id`s are never compared.

    Set `is_local = True` on the class of an embedder that answers on this machine within milliseconds: hooks use it.
    """

    id: str
    """Model + revision + dimension."""
    dimension: int

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector for each text to be searched, in order, however long that takes.

        Raises EmbedderError; its message never holds a key.
        """

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question. Somebody is waiting, so try once and give up soon.

        It is comparable with the vectors of `embed_documents`. Raises EmbedderError; its message never holds a key.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer and its cost, as far as the model reports it."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the model does not report it."""


class LanguageModel(Protocol):
    """A model behind an endpoint, or the user's own agent in headless mode."""

    id: str
    """Provider or host, and model."""

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the answer to the prompt, which is at most 1 MB long.

        Raises ModelError when there is no answer in time; its message never holds a key or the prompt.
        """


Ground = Literal["project", "home", "elsewhere"]

NO, LAST_RESORT, MAYBE, NAMED, CERTAIN = range(5)
"""How sure an importer is of a file. The two below `NAMED` (by its name) hold only when somebody points at the file:
nothing says no (`LAST_RESORT`), its content could be (`MAYBE`). `CERTAIN`: by its place or its content."""

HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that may be imported."""

    path: str
    """Absolute."""
    label: str
    """Its name in provenance and messages: relative to the project, else `~/…`, else absolute; forward slashes."""
    ground: Ground
    """Where the file is: in the project, in the person's home, or anywhere else."""
    head: bytes = b""
    """Its first `HEAD_BYTES` bytes."""

    @property
    def name(self) -> str:
        """Return the file's name in lower case."""
        return self.label.rsplit("/", 1)[-1].lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a source that makes sense alone: it becomes one lesson."""

    section: str
    """Position in the source, the same on every run: headings joined by ` > `, or a row's id."""
    insight: str = ""
    """The passage's words; never empty in what `Importer.read` yields."""
    kind: LessonKind | Literal[""] = ""
    """Empty: derived from the words, else `usual_kind`."""
    usual_kind: LessonKind = "convention"
    title: str = ""
    why: str = ""
    how: str = ""
    snippets: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files it is about, as the source names them; files that the project does not have are dropped."""
    globs: tuple[str, ...] = ()
    """Relative to the project's root."""
    tags: tuple[str, ...] = ()
    trust: Trust = "repository"
    scope: ScopeLevel = "project"
    path_prefix: str = ""
    state: State = "active"
    """Its state in the source: active, candidate (proposed there), superseded or retired."""
    said_at: datetime | None = None
    holds_until: datetime | None = None
    """When the source itself says that it is stale; such a passage is left out from then on."""
    commit: str = ""
    """The commit in which it was said, where the source is git's history."""
    author: str = ""
    """The author, where the source names one."""
    confidence: float | None = None
    """Probability that it is true, by the reader's estimate, 0 to 1; None: it follows from the trust."""
    project: str = ""
    """The name of its project in a store that holds several projects; empty in other stores."""
    names: tuple[str, ...] = ()
    """Names by which links in the source refer to it."""
    links: tuple[tuple[LinkKind, str], ...] = ()
    """(kind, name of the other passage)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of a source that is no lesson, with the reason."""

    section: str
    reason: str


class Importer(Protocol):
    """A reader of one foreign format."""

    id: str
    """`name/version`; the provenance of each imported lesson names it."""

    def sureness(self, source: Source) -> int:
        """Return how sure it is, `NO` to `CERTAIN`, that the file is of this format.

        It is cheap and never raises for odd content.
        """

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the file's passages in order. Raises InvalidValueError for a file that cannot be read whole."""
