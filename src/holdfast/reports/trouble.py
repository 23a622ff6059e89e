"""Finds files whose failures come again and again, or whose edits are taken back, and about which no lesson is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.trouble import load_trouble
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.reports.advice import Suggestion
from holdfast.reports.tuning import ADVICE_READ, PATH_TAILS, TROUBLE_SESSIONS


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
    where = LessonFilter(project=location.project.id, states=("candidate",), limit=ADVICE_READ)
    about = {path for lesson in (*lessons, *services.store.find(where)) for path in lesson.paths}
    advice = [
        Suggestion(
            kind="lesson",
            title=f"Find out what goes wrong in {path}, and save it",
            why=trouble.words,
            place=path,
            sessions=tuple(trouble.sessions),
            weight=len(trouble.sessions) + trouble.reverts,
        )
        for path, trouble in _read(services, location).items()
        if len(trouble.sessions) >= TROUBLE_SESSIONS and path not in about
    ]
    return sorted(advice, key=lambda each: (-each.weight, each.place))


def _read(services: Services, location: Location) -> dict[str, _Trouble]:
    """Return the trouble of each file that is in the work tree; its sessions are the newest first."""
    by_file: dict[str, _Trouble] = defaultdict(_Trouble)
    paths: dict[str, str] = {}
    sessions = load_trouble(services.store, location.project.id)
    for session in sorted(sessions, key=lambda each: each.began_at, reverse=True):
        for name, trouble in session.files.items():
            if name not in paths:
                paths[name] = _path_of(services, location, name)
            if paths[name] and trouble.failures + trouble.reverted:
                of_file = by_file[paths[name]]
                of_file.sessions[session.session] = None
                of_file.failures += trouble.failures
                of_file.reverts += trouble.reverted
    return by_file


def _path_of(services: Services, location: Location, name: str) -> str:
    """Return the file of the work tree that a call or an output named, perhaps as a longer path; empty for none."""
    inside = services.workspace.relative(location, name)
    parts = (inside or name.replace("\\", "/")).strip("/").split("/")
    tails = ("/".join(parts[begin:]) for begin in range(max(min(len(parts) - 1, PATH_TAILS), 1)))
    return next((tail for tail in tails if services.workspace.exists(location, tail)), "")
