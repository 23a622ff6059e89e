"""Finds files whose failures come again and again, or whose edits are taken back, and about which no lesson is.

A failed command speaks of the files that its output names. An edit is taken back where a later edit of the session
restores the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import SessionId
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LessonFilter
from holdfast.reports.advice import Suggestion
from holdfast.reports.tuning import OUTPUT_LIMIT, TROUBLE_EVENTS, TROUBLE_SESSIONS
from holdfast.text.window import failed, refused

_PATH = re.compile(r"(?<![\w/.-])(?:\./)?((?:[\w.-]+/)+[\w.-]+\.\w{1,8})\b")
_NOT_OURS = re.compile(r"(?:^|/)(?:node_modules|vendor|site-packages|dist|build|target|\.[\w-]+)/")


@dataclass(slots=True)
class _Trouble:
    """What went wrong in a file: the sessions, and how often of each sort."""

    sessions: dict[SessionId, None] = field(default_factory=dict)
    failures: int = 0
    reverts: int = 0

    @property
    def words(self) -> str:
        """The counts in words."""
        failures = "a failed command names" if self.failures == 1 else f"{self.failures} failed commands name"
        reverts = "an edit of it was" if self.reverts == 1 else f"{self.reverts} edits of it were"
        parts = [f"{failures} it"] if self.failures else []
        parts += [f"{reverts} taken back"] if self.reverts else []
        return f"{' and '.join(parts)} in {len(self.sessions)} sessions, and no lesson is about it"


def find_trouble(services: Services, location: Location, lessons: Sequence[Lesson]) -> list[Suggestion]:
    """Return the advice to find out what goes wrong there, the file with trouble in most sessions first."""
    where = LessonFilter(project=location.project.id, states=("candidate",), limit=TROUBLE_EVENTS)
    about = {path for lesson in (*lessons, *services.store.find(where)) for path in lesson.paths}
    advice = []
    for path, trouble in _read(services, location).items():
        if len(trouble.sessions) < TROUBLE_SESSIONS or path in about or not services.workspace.exists(location, path):
            continue
        advice.append(
            Suggestion(
                kind="lesson",
                title=f"Find out what goes wrong in {path}, and save it",
                why=trouble.words,
                place=path,
                sessions=tuple(reversed(trouble.sessions)),
                weight=len(trouble.sessions) + trouble.reverts,
            )
        )
    return sorted(advice, key=lambda each: (-each.weight, each.place))


def _read(services: Services, location: Location) -> dict[str, _Trouble]:
    where = EventFilter(project=location.project.id, last=TROUBLE_EVENTS, limit=TROUBLE_EVENTS)
    by_session: dict[SessionId, list[Event]] = defaultdict(list)
    for _, event in services.store.find_events(where):
        by_session[event.session].append(event)
    trouble: dict[str, _Trouble] = defaultdict(_Trouble)
    for session, events in by_session.items():
        for event in events:
            for path in _blamed(event):
                trouble[path].failures += 1
                trouble[path].sessions[session] = None
        for path in _taken_back(events):
            trouble[path].reverts += 1
            trouble[path].sessions[session] = None
    return trouble


def _blamed(event: Event) -> Iterator[str]:
    """Yield the files that the output of a failed command names, each once."""
    if not event.command or not failed(event) or refused(event):
        return
    names = (match[1] for match in _PATH.finditer(event.text[:OUTPUT_LIMIT]))
    yield from dict.fromkeys(name for name in names if not _NOT_OURS.search(name))


def _taken_back(events: Iterable[Event]) -> Iterator[str]:
    """Yield the file of each edit that a later one of the session takes back."""
    made: set[tuple[str, str, str]] = set()
    for event in events:
        if event.kind != "file_edit" or not event.files or not (event.old and event.new):
            continue
        path = event.files[0]
        if (path, event.new, event.old) in made:
            made.discard((path, event.new, event.old))
            yield path
        else:
            made.add((path, event.old, event.new))
