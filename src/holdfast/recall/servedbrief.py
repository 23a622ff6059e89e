"""The brief of a team's server: made once, kept in the process, and told again while its lessons are as they were.

A session's start on a person's machine reads the prepared lines and orders them for its branch and its host. A server
is asked for the same brief by many sessions, so it keeps what it made last for a project and a member. Two reads
say whether that still holds: the newest lesson of the project, and the current versions of the lessons in the brief. So
a new, revised, forgotten or purged lesson is noticed at once; what outcomes and checkpoints change of the order is
noticed after SERVED_S. The prepared lines themselves are made again when many lessons have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from holdfast.domain.briefing import Briefing
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LessonId, State
from holdfast.errors import StoreError
from holdfast.ports.services import Services
from holdfast.recall.brief import changed_since_prepared, prepare, query_of
from holdfast.recall.tuning import CHANGES_BEFORE_PREPARED, SERVED_KEPT, SERVED_S

Versions = Mapping[LessonId, tuple[State, datetime]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedBrief:
    """A brief, what it was made of, and until when it may be told, by the clock's elapsed seconds."""

    briefing: Briefing
    newest: tuple[LessonId, ...]
    versions: Versions
    until_s: float


class _ServedBriefs:
    """The briefs of this process; the threads of a server share them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._briefs: dict[Hashable, ServedBrief] = {}

    def get(self, key: Hashable) -> ServedBrief | None:
        return self._briefs.get(key)

    def put(self, key: Hashable, served: ServedBrief | None) -> None:
        with self._lock:
            self._briefs.pop(key, None)
            if served is not None:
                self._briefs[key] = served
            while len(self._briefs) > SERVED_KEPT:
                self._briefs.pop(next(iter(self._briefs)))


_SERVED = _ServedBriefs()


def served_brief(services: Services, location: Location, make: Callable[[], Briefing]) -> Briefing:
    """Return the brief of the project for who asks; `make` makes it anew."""
    person = services.workspace.person(location).id
    key = services.store.content(), location.project.id, location.prefix, person
    served = _SERVED.get(key)
    if served is not None and services.clock.elapsed_s() < served.until_s and _holds(services, location, served):
        return served.briefing
    _SERVED.put(key, None)  # what it says may have been purged
    if changed_since_prepared(services, location) > CHANGES_BEFORE_PREPARED:
        with suppress(StoreError):  # a replica, or a full disk: the lines are made for this answer
            prepare(services, location)
    with services.store.reading():
        briefing = make()
        newest, versions = _made_of(services, location, briefing)
    if not briefing.degraded:
        until_s = services.clock.elapsed_s() + SERVED_S
        _SERVED.put(key, ServedBrief(briefing=briefing, newest=newest, versions=versions, until_s=until_s))
    return briefing


def _holds(services: Services, location: Location, served: ServedBrief) -> bool:
    """Return whether no lesson is newer, and every lesson of the brief is as it was."""
    with services.store.reading():
        return _made_of(services, location, served.briefing) == (served.newest, served.versions)


def _made_of(services: Services, location: Location, briefing: Briefing) -> tuple[tuple[LessonId, ...], Versions]:
    newest = services.store.list_recent(query_of(services, location), 1)
    entries = [entry.id for entry in (*briefing.entries, *briefing.left_out)]
    return tuple(match.id for match in newest), services.store.current_versions(entries)
