"""Crossing: which projects' lessons are visible from another project, and which lessons recur in several.

Nothing crosses by itself. A person asks for lessons of sibling projects, or promotes a lesson to all projects; neither
is possible with a closed project.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.compare.sameness import find_pairs
from holdfast.domain.lesson import Lesson, Link, Scope, Validity, in_state, next_instant
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import CLOSED_PROJECTS, PROJECT_NAME
from holdfast.domain.vocabulary import STATES, LessonId, ProjectId
from holdfast.errors import InvalidValueError, StoreError
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.lessons.tuning import CROSSING_MOST
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """A lesson of this project, with lessons of other projects that say the same."""

    lesson: Lesson
    twins: tuple[Lesson, ...]


def closed_projects(store: Store) -> frozenset[str]:
    """Return the projects whose lessons are invisible to other projects."""
    return _parse(store.get_state(CLOSED_PROJECTS))


def close_project(services: Services, location: Location) -> None:
    """Hide this project's lessons from other projects."""
    _edit_closed(services, add=location.project.id, remove="")


def open_project(services: Services, location: Location) -> None:
    """Show this project's lessons to other projects, where a person asks for them."""
    _edit_closed(services, add="", remove=location.project.id)


def unseen_from(store: Store, project: str) -> frozenset[str]:
    """Return the projects whose lessons are invisible from that one."""
    return closed_projects(store) - {project}


def closed_lessons(store: Store, project: str) -> tuple[LessonId, ...]:
    """Return the ids of lessons that are invisible from that project because their project is closed."""
    ids: list[LessonId] = []
    for closed in sorted(unseen_from(store, project)):
        where = LessonFilter(project=ProjectId(closed), states=STATES, limit=CROSSING_MOST)
        ids += [lesson.id for lesson in store.find(where) if lesson.scope.project == closed]
    return tuple(ids)


def siblings_of(store: Store, project: str) -> list[ProjectId]:
    """Return the other open projects with active lessons; none for a project that is closed itself."""
    closed = closed_projects(store)
    if project in closed:
        return []
    where = LessonFilter(all_projects=True, states=("active",), limit=CROSSING_MOST)
    projects = {lesson.scope.project for lesson in store.find(where)}
    return sorted(other for other in projects if other and other != project and other not in closed)


def name_of(store: Store, project: str) -> str:
    """Return a project's name at the last change of its lessons here, else the end of its id."""
    return store.get_state(PROJECT_NAME, project) or f"project {project[-8:]}"


def find_recurring(services: Services, location: Location) -> list[Recurring]:
    """Return active lessons of this project that other projects learnt, too, and that are about no project's code."""
    project = location.project.id
    unseen = closed_projects(services.store)
    if project in unseen:
        return []
    where = LessonFilter(project=project, all_projects=True, states=("active",), limit=CROSSING_MOST)
    lessons = [
        lesson for lesson in services.store.find(where) if _may_cross(lesson) and lesson.scope.project not in unseen
    ]
    everywhere = {lesson.id for lesson in lessons if lesson.scope.level == "user"}
    twins: dict[LessonId, list[Lesson]] = {}
    known: set[LessonId] = set()
    for pair in find_pairs(lessons):
        for lesson, twin in (pair, pair[::-1]):
            if lesson.scope.project == project and twin.id in everywhere:
                known.add(lesson.id)
            elif lesson.scope.project == project and twin.scope.project != project and lesson.kind == twin.kind:
                twins.setdefault(lesson.id, []).append(twin)
    return [
        Recurring(lesson=lesson, twins=tuple(twins[lesson.id]))
        for lesson in lessons
        if lesson.id in twins and lesson.id not in known
    ]


def promote(services: Services, location: Location, ref: str, *, author: str = "") -> Lesson:
    """Make the lesson one of the user's own, for every project; it supersedes the original and its twins elsewhere.

    Raises InvalidValueError for a lesson about a project's code, and for one that is for all projects already.
    """
    return with_retries(lambda: _promote(services, location, ref, author))


def _promote(services: Services, location: Location, ref: str, author: str) -> Lesson:
    lesson = resolve(services, location, ref)
    if lesson.scope.level == "user":
        raise InvalidValueError(f"lesson {short_id(lesson.id)} is for all projects already")
    if lesson.state != "active" or not _may_cross(lesson):
        raise InvalidValueError(
            f"lesson {short_id(lesson.id)} is not active, or is about this project's files or a part of it",
            hint="holdfast remember '…' --scope user states it for all projects",
        )
    twins = next(
        (
            closed_lesson.twins
            for closed_lesson in find_recurring(services, location)
            if closed_lesson.lesson.id == lesson.id
        ),
        (),
    )
    closed = (lesson, *twins)
    at = services.clock.now()
    for closed_lesson in closed:
        at = next_instant(closed_lesson.recorded_at, at)
    promoted = replace(
        lesson, id=LessonId(services.clock.new_id()), scope=Scope(level="user", project=ProjectId("")), recorded_at=at,
        validity=Validity(valid_from=at), trust="person", topic_key="",
        provenance=replace(lesson.provenance, author=author or lesson.provenance.author),
        links=tuple(Link(kind="supersedes", target=closed_lesson.id) for closed_lesson in closed),
    )  # fmt: skip
    after = [*(in_state(closed_lesson, "superseded", at=at) for closed_lesson in closed), promoted]
    expected = {**{closed_lesson.id: closed_lesson.recorded_at for closed_lesson in closed}, promoted.id: None}
    summary = f"from {len({closed_lesson.scope.project for closed_lesson in closed})} projects to all"
    written = write_change(services, location, "promote", after, expected, actor=author, summary=summary)
    return written.lessons[-1]


def _may_cross(lesson: Lesson) -> bool:
    """Return whether it can be a lesson for every project: about no files, not staged, and not private."""
    scope = lesson.scope
    return not (lesson.paths or lesson.globs or scope.branch or scope.path_prefix or lesson.private)


def _edit_closed(services: Services, *, add: str, remove: str) -> None:
    def edit(text: str) -> str:
        return dumps(sorted((_parse(text) | ({add} if add else set())) - {remove}))

    services.store.edit_state(CLOSED_PROJECTS, "", edit)


def _parse(text: str) -> frozenset[str]:
    """Return the projects. Raises StoreError where they cannot be read, because damage must not open a project."""
    try:
        names = loads(text or "[]")
    except ValueError:
        names = None
    if not isinstance(names, list):
        raise StoreError("the list of closed projects cannot be read", hint="holdfast doctor")
    return frozenset(map(str, names))
