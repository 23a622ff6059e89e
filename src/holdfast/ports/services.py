"""The ports that a use case may call, wired by bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.domain.vocabulary import Moment
from holdfast.errors import InvalidValueError
from holdfast.ports.host import Host

if TYPE_CHECKING:
    from holdfast.ports.codeindex import CodeIndex
    from holdfast.ports.plugins import Detector, Embedder
    from holdfast.ports.store import Store
    from holdfast.ports.workspace import LessonFiles, Workspace


class Clock(Protocol):
    """Tells the time and makes ids."""

    def now(self) -> datetime:
        """Return the time in aware UTC, at least a microsecond later than the last answer."""

    def elapsed_s(self) -> float:
        """Return monotonic seconds, for deadlines only."""

    def new_id(self) -> str:
        """Return a new UUID version 7."""


def no_lesson_files(location: Location) -> LessonFiles:
    """Raise InvalidValueError: only a bootstrapped memory has files."""
    raise InvalidValueError(f"no lesson files in {location.root}")


def learned_position(store: Store) -> int:
    """Return the position up to which events were learnt from.

    A damaged position counts as 0, so that all events are read again.
    """
    position = store.get_state(LEARNED_POSITION)
    return int(position) if position.isascii() and position.isdigit() else 0


class HasServices(Protocol):
    """A memory, or what a hook has opened: services for a folder."""

    @property
    def services(self) -> Services:
        """Return the services."""

    @property
    def folder(self) -> str:
        """Return the folder, absolute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything a use case works with. Callables load what a hook should not pay for."""

    store: Store
    workspace: Workspace
    clock: Clock
    host: Callable[[str], Host]
    """Returns the host adapter of that name; raises PluginNotFoundError."""
    detectors: Callable[[], Sequence[Detector]]
    embedder: Callable[[], Embedder | None]
    """Returns the configured embedder, made on first use; None without one or where it is too slow (a cold hook)."""
    codeindex: Callable[[], CodeIndex | None] = lambda: None
    """Returns the code index, made on first use; None where there is none: freshness then compares whole files."""
    former: Callable[[str], Embedder | None] = lambda embedder_id: None
    """Returns an embedder that was configured before, by id; None if it was another or can no longer be made."""
    export_key: Callable[[bool], bytes] = lambda make: b""
    """Returns this home's key for sealing exports, or empty bytes: then lines are not sealed, and none is recognised as
    ours. With True it makes a missing key."""
    lesson_files: Callable[[Location], LessonFiles] = no_lesson_files
    """Returns the folder of a work tree that holds shared lessons as files."""
    must_wait: Callable[[Lesson], str] = lambda lesson: ""
    """Returns why a lesson that is stated now has to wait for somebody else, whoever states it; empty if it need not. A
    team's rules decide (`team.review`)."""
    low_latency: bool = False
    """A host waits for a process that has just started: check only a few lessons closely."""
    serves_team: bool = False
    """On a server lessons are embedded where they are written (`recall.embed.embed_written`), never by a question."""
    capture: bool = True
    deliver: tuple[Moment, ...] = ()
    session_tokens: int = 4_000
    """Tokens that a session is told; a brief after a compaction counts anew."""
    asks_agent: Callable[[], bool] = lambda: False
    """Returns whether the agent may be asked, once a session after real work, what the session taught."""
    ignore: tuple[str, ...] = ()
    retention_days: int = 90
    holdout: float = 0.0
    """Share of deliveries that are withheld at random, to measure what happens without them."""
