"""What a branch's sessions taught: its confirmed lessons, as a digest that may stand in a public pull request."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LessonFilter
from holdfast.reports.changecheck import find_fork
from holdfast.reports.digest import SECTIONS, DigestSection, MemoryDigest, item_of


def branch_digest(services: Services, location: Location, base: str = "") -> MemoryDigest:
    """Return the active lessons that the branch taught since it left `base`, by default the main line, oldest first.

    Private lessons and the user's own are left out: a pull request is public. Raises InvalidValueError for a base that
    git does not know.
    """
    lessons = sorted(branch_lessons(services, location, base), key=lambda lesson: lesson.validity.valid_from)
    learnt = DigestSection(
        name="learnt",
        title=SECTIONS["learnt"],
        items=tuple(item_of(lesson, lesson.validity.valid_from) for lesson in lessons),
        total=len(lessons),
    )
    now = services.clock.now()
    return MemoryDigest(
        project=location.project.id,
        project_name=location.project.name,
        since=min((item.at for item in learnt.items), default=now),
        until=now,
        audience="team",
        branch=location.branch,
        sections=(learnt,),
        sessions=len({lesson.provenance.session for lesson in lessons} - {""}),
        people=tuple(sorted({lesson.provenance.person_name for lesson in lessons} - {""})),
    )


def branch_lessons(services: Services, location: Location, base: str = "") -> list[Lesson]:
    """Return these lessons, newest first. Raises as `branch_digest`."""
    branches, fork = services.workspace.branches(location), find_fork(services, location, base)
    if not location.branch or (not base and branches.is_main(location.branch)):
        return []
    # the earlier of both: a rebase moves the fork, but not the sessions
    begun = min(filter(None, (branches.time(fork), branches.read_created(location.branch))), default=None)
    where = LessonFilter(project=location.project.id, states=("active",), limit=EVERY_LESSON)
    return [
        lesson
        for lesson in services.store.find(where)
        if begun is not None
        and lesson.validity.valid_from >= begun - timedelta(seconds=1)  # git's times are whole seconds
        and not lesson.private
        and lesson.scope.project == location.project.id
        and not profile_of(lesson.kind).is_working_state
        and _is_of_branch(services, location, lesson)
    ]


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
