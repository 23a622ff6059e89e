"""What every data set is turned into: lessons by name, and questions with the names of those that answer them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from holdfast.domain.lesson import INSIGHT_LIMIT
from holdfast.text.titles import make_title

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


class MissingSetError(Exception):
    """The folder given has not that data set."""


@dataclass(frozen=True)
class Item:
    """One thing to store as a lesson. `anchors` are (path, symbol) pairs."""

    name: str
    insight: str
    title: str = ""
    why: str = ""
    snippets: tuple[str, ...] = ()
    at: datetime = LONG_AGO
    session: str = ""
    kind: str = "decision"
    anchors: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    topic_key: str = ""
    level: str = "project"
    state: str = "active"
    pinned: bool = False
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Everything it says, without where it is anchored: what the baselines see."""
        title = "" if self.insight.startswith(self.title.rstrip("…")) else self.title
        return "\n".join(filter(None, (title, self.insight, self.why, *self.snippets)))


@dataclass(frozen=True)
class Ask:
    """One question and the names that answer it: of items, or of their groups when `by_group`."""

    name: str
    text: str
    gold: frozenset[str]
    variant: str
    """Which way of asking it is; each is scored by itself."""
    category: str = ""
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    by_group: bool = False
    known: int | None = None
    """How many of the corpus' items, from its first, are known when it is asked; None: all."""
    at: datetime | None = None
    """When it is asked; None: when the corpus says."""


@dataclass(frozen=True)
class Corpus:
    """One project's lessons, oldest first, and the questions put to it at `at`."""

    name: str
    items: tuple[Item, ...]
    asks: tuple[Ask, ...]
    at: datetime = field(default=datetime(2026, 1, 1, tzinfo=UTC))
    groups: Mapping[str, str] = field(default_factory=dict)
    """The group of an item, for questions that are answered by groups."""
    prompts: tuple[str, ...] = ()
    """What people typed in this project about other things too: unrelated to the lessons of other projects."""


@dataclass(frozen=True)
class Trial:
    """One data set, ready to run; `hashes` of the files it was made from."""

    name: str
    corpora: tuple[Corpus, ...]
    hashes: Mapping[str, str]
    note: str = ""


def require(folder: Path, *names: str) -> list[Path]:
    """The files of a set; raises MissingSetError naming the first that is not there."""
    files = [folder / name for name in names]
    for file in files:
        if not file.is_file():
            raise MissingSetError(f"{file} is missing: nothing is downloaded, see docs/explanation/measurements.md")
    return files


def hashes_of(files: list[Path]) -> dict[str, str]:
    """SHA-256 of each file, by its name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def split_long(text: str) -> tuple[str, tuple[str, ...]]:
    """An insight within its limit and the rest as snippets."""
    head = text[:INSIGHT_LIMIT]
    rest = text[INSIGHT_LIMIT:]
    return head, tuple(rest[at : at + INSIGHT_LIMIT] for at in range(0, len(rest), INSIGHT_LIMIT))


def headline(text: str) -> str:
    """A title for a text without one."""
    return make_title(text)
