"""Crossing: which projects' lessons may be seen from another project, and which lessons recur in several.

Nothing crosses by itself. A person asks for lessons of sibling projects, or promotes a lesson to all projects; of a
closed project neither happens.
"""

from __future__ import annotations

from holdfast.domain.lesson import Link, Scope, Validity, in_state, next_instant
from holdfast.domain.statefamilies import CLOSED_PROJECTS, PROJECT_NAME
from holdfast.domain.vocabulary import STATES, LessonId, ProjectId
from holdfast.errors import InvalidValueError, StoreError
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.lessons.tuning import CROSSING_MOST
from holdfast.ports.filters import LessonFilter
from holdfast.text.resemblance import find_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.ports.parts import Parts
    from holdfast.ports.store import Store


class Recurring(Frozen):
    """A lesson of this project and the ones of other projects that say the same."""

    lesson: Lesson
    twins: tuple[Lesson, ...]


def closed_projects(store: Store) -> frozenset[str]:
    """The projects that others do not see."""
    return _parse(store.get_state(CLOSED_PROJECTS))


def close_project(parts: Parts, place: Place) -> None:
    """Let no other project see this one's lessons."""
    _edit_closed(parts, add=place.project.id, remove="")


def open_project(parts: Parts, place: Place) -> None:
    """Let other projects see this one's lessons, where a person asks for it."""
    _edit_closed(parts, add="", remove=place.project.id)


def unseen_from(store: Store, project: str) -> frozenset[str]:
    """The projects whose lessons are not seen from that one."""
    return closed_projects(store) - {project}


def closed_lessons(store: Store, project: str) -> tuple[LessonId, ...]:
    """Ids of the lessons that are not seen from that project, of projects that are closed."""
    ids: list[LessonId] = []
    for closed in sorted(unseen_from(store, project)):
        where = LessonFilter(project=ProjectId(closed), states=STATES, limit=CROSSING_MOST)
        ids += [lesson.id for lesson in store.find(where) if lesson.scope.project == closed]
    return tuple(ids)


def siblings_of(store: Store, project: str) -> list[ProjectId]:
    """The other projects with lessons in use, but closed ones; none for a project that is closed itself."""
    closed = closed_projects(store)
    if project in closed:
        return []
    where = LessonFilter(all_projects=True, states=("active",), limit=CROSSING_MOST)
    projects = {lesson.scope.project for lesson in store.find(where)}
    return sorted(other for other in projects if other and other != project and other not in closed)


def name_of(store: Store, project: str) -> str:
    """What people call a project: the name it had when its lessons were last changed here, else its id's end."""
    return store.get_state(PROJECT_NAME, project) or f"project {project[-8:]}"


def find_recurring(parts: Parts, place: Place) -> list[Recurring]:
    """Active lessons of this project that other projects learnt, too, and that are about no project's code."""
    project = place.project.id
    unseen = closed_projects(parts.store)
    if project in unseen:
        return []
    where = LessonFilter(project=project, all_projects=True, states=("active",), limit=CROSSING_MOST)
    lessons = [
        lesson for lesson in parts.store.find(where) if _may_cross(lesson) and lesson.scope.project not in unseen
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


def promote(parts: Parts, place: Place, ref: str, *, author: str) -> Lesson:
    """The lesson as one of the user's own, for every project; it and its twins elsewhere are superseded by it.

    Raises InvalidValueError for one that is about the code of a project, and for one that is for all projects already.
    """
    return with_retries(lambda: _promote(parts, place, ref, author))


def _promote(parts: Parts, place: Place, ref: str, author: str) -> Lesson:
    lesson = resolve(parts, place, ref)
    if lesson.scope.level == "user":
        raise InvalidValueError(f"lesson {short_id(lesson.id)} is for all projects already")
    if lesson.state != "active" or not _may_cross(lesson):
        raise InvalidValueError(
            f"lesson {short_id(lesson.id)} is not active, or is about this project's files or a part of it",
            hint="holdfast remember '…' --scope user states it for all projects",
        )
    twins = next(
        (closed_lesson.twins for closed_lesson in find_recurring(parts, place) if closed_lesson.lesson.id == lesson.id),
        (),
    )
    closed = (lesson, *twins)
    at = parts.clock.now()
    for closed_lesson in closed:
        at = next_instant(closed_lesson.recorded_at, at)
    promoted = replace(
        lesson, id=LessonId(parts.clock.new_id()), scope=Scope(level="user", project=ProjectId("")), recorded_at=at,
        validity=Validity(valid_from=at), trust="person", topic_key="",
        provenance=replace(lesson.provenance, author=author or lesson.provenance.author),
        links=tuple(Link(kind="supersedes", target=closed_lesson.id) for closed_lesson in closed),
    )  # fmt: skip
    after = [*(in_state(closed_lesson, "superseded", at=at) for closed_lesson in closed), promoted]
    expected = {**{closed_lesson.id: closed_lesson.recorded_at for closed_lesson in closed}, promoted.id: None}
    summary = f"from {len({closed_lesson.scope.project for closed_lesson in closed})} projects to all"
    written = write_change(parts, place, "promote", after, expected, actor=author, summary=summary)
    return written.lessons[-1]


def _may_cross(lesson: Lesson) -> bool:
    """Whether it can be a lesson for every project: about no files, no branch, and not private."""
    scope = lesson.scope
    return not (lesson.paths or lesson.globs or scope.branch or scope.path_prefix or lesson.private)


def _edit_closed(parts: Parts, *, add: str, remove: str) -> None:
    def edit(text: str) -> str:
        return dumps(sorted((_parse(text) | ({add} if add else set())) - {remove}))

    parts.store.edit_state(CLOSED_PROJECTS, "", edit)


def _parse(text: str) -> frozenset[str]:
    """The projects. Raises StoreError where they cannot be read: nothing is to be opened by damage."""
    try:
        names = loads(text or "[]")
    except ValueError:
        names = None
    if not isinstance(names, list):
        raise StoreError("which projects are closed cannot be read", hint="holdfast doctor")
    return frozenset(map(str, names))
