"""What a branch's sessions taught: its confirmed lessons, in words that may stand in a public pull request."""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.kinds import profile_of
from holdfast.errors import InvalidValueError
from holdfast.lean.records import replace
from holdfast.lessons.staging import fork_of
from holdfast.ports.filters import EventFilter, LessonFilter
from holdfast.publishing.publication import publishable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

LESSONS_AT_MOST = 5_000
"""Active lessons of the project, the newest, among which those of the branch are looked for."""
SECOND = timedelta(seconds=1)
"""By so much git's times may be before ours: they are whole seconds."""


def branch_lessons(services: Services, location: Location, base: str = "") -> list[Lesson]:
    """Return the active lessons that the branch taught since it left `base`, by default the main line.

    Private lessons and the user's own are left out: a pull request is public. Raises InvalidValueError for a base that
    git does not know.
    """
    branches = services.workspace.branches(location)
    lines = [branches.resolve(base)] if base else list(branches.main_commits() or ())
    fork = fork_of(branches, location.commit, lines) if location.commit and lines and all(lines) else ""
    if not fork:
        message = f"this branch has no commit in common with {base!r}" if base else "no main line in this repository"
        raise InvalidValueError(message, hint="name a base that this clone has: holdfast pr origin/main")
    if not location.branch or (not base and branches.is_main(location.branch)):
        return []
    # the earlier of both: a rebase moves the fork, but not the sessions
    begun = min(filter(None, (branches.time(fork), branches.created(location.branch))), default=None)
    where = LessonFilter(project=location.project.id, states=("active",), limit=LESSONS_AT_MOST)
    return [
        lesson
        for lesson in services.store.find(where)
        if begun is not None
        and lesson.validity.valid_from >= begun - SECOND
        and not lesson.private
        and lesson.scope.project == location.project.id
        and not profile_of(lesson.kind).is_working_state
        and _is_of_branch(services, location, lesson)
    ]


def markdown_line(lesson: Lesson) -> str:
    """Return the lesson as one item of a Markdown list: its rule, its reason and the code that it is about."""
    about = dict.fromkeys(f"`{anchor.path}`" for anchor in lesson.anchors if anchor.path)
    why = f" {publishable(lesson.why)}" if lesson.why else ""
    return f"- **{publishable(lesson.insight)}**{why}" + (f" ({', '.join(about)})" if about else "")


def _is_of_branch(services: Services, location: Location, lesson: Lesson) -> bool:
    """Return whether it is staged on the branch, anchored there, or seen in a session that began or ended on it."""
    if location.branch in (lesson.scope.branch, *(anchor.branch for anchor in lesson.anchors)):
        return True
    find = services.store.find_events
    for session in {lesson.provenance.session, *lesson.sessions_seen} - {""}:
        where = EventFilter(project=location.project.id, session=session, limit=1)
        ends = (*find(where), *find(replace(where, last=1)))
        if any(event.branch == location.branch for _, event in ends):
            return True
    return False
