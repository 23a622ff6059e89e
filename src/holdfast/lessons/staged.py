"""Returns which staged lessons are visible at a location. It is lean, because every hook asks.

The answer is stored as a state of the store, a line for each checkout: its commit, its branch, how closely it was
checked, and the visible lessons. It is computed again (`staging.find_seen`) when HEAD has moved, or when a lesson was
staged. So a hook asks git once a commit, and only where lessons are staged at all.
"""

from __future__ import annotations

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import STAGED_SEEN
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import StoreError
from holdfast.ports.services import Services

NONE = "none"
"""Stored where no lesson is staged; an empty value means that it is not known."""
CLOSE, GLANCE = "close", "glance"

CHECKOUTS_KEPT = 8
"""Checkouts of which the answer is kept which staged lessons they see."""


def seen_here(services: Services, location: Location) -> tuple[LessonId, ...] | None:
    """Return the staged lessons visible at the location; None: all of them, because nothing is checked out there."""
    if not (location.commit or location.branch):
        return None
    kept_answers = services.store.get_state(STAGED_SEEN, location.project.id)
    if kept_answers == NONE:
        return ()
    lines = kept_answers.splitlines()
    key = f"{location.commit or '-'} {location.branch or '-'}"
    wanted = (CLOSE, GLANCE) if services.low_latency else (CLOSE,)
    for line in lines:
        words = line.split(" ")
        if " ".join(words[:2]) == key and words[2:3] and words[2] in wanted:
            return tuple(words[3:])  # type: ignore[arg-type]
    from holdfast.lessons.staging import find_seen, find_staged

    lessons = find_staged(services, location)
    seen, is_sure = find_seen(services, location, lessons) if lessons else ((), True)
    if is_sure or services.low_latency:  # a hook that got no answer from git does not ask again before HEAD moves
        line = " ".join([key, GLANCE if services.low_latency else CLOSE, *seen])
        others = [line for line in lines if not line.startswith(key + " ")]
        _keep(services, location, "\n".join([line, *others][:CHECKOUTS_KEPT]) if lessons else NONE, lessons)
    return seen


def _keep(services: Services, location: Location, answers: str, lessons: list[Lesson]) -> None:
    """Store the answers, unless another lesson was staged meanwhile; ignore a store that cannot be written."""
    from holdfast.lessons.staging import find_staged

    try:
        services.store.set_state(STAGED_SEEN, location.project.id, answers)
        if (
            find_staged(services, location) != lessons
        ):  # another process may have cleared the answers before we wrote them
            forget_seen(services, location.project.id)
    except StoreError:
        return


def hidden_here(services: Services, location: Location) -> frozenset[LessonId]:
    """Return the staged lessons that are invisible at the location."""
    seen = seen_here(services, location)
    if seen is None or services.store.get_state(STAGED_SEEN, location.project.id) == NONE:
        return frozenset()
    from holdfast.lessons.staging import find_staged

    return frozenset(lesson.id for lesson in find_staged(services, location)) - frozenset(seen)


def forget_seen(services: Services, project: str) -> None:
    """Drop a project's stored answers, because a lesson was staged."""
    services.store.set_state(STAGED_SEEN, project, "")
