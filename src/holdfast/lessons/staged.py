"""Which of the lessons that are staged on branches are seen at a place. Lean: every hook asks.

The answer is kept as a state of the store, a line for each checkout: its commit, its branch, how closely it was looked
at, and the lessons that are seen. It is worked out anew (`staging.find_seen`) where HEAD has moved since, or where a
lesson was staged; so a hook asks git once a commit, and only where lessons are staged at all.
"""

from __future__ import annotations

from holdfast.domain.statefamilies import STAGED_SEEN
from holdfast.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.parts import Parts

NONE = "none"
"""Kept where no lesson is staged; an empty value: not known."""
CLOSE, GLANCE = "close", "glance"

CHECKOUTS_KEPT = 8
"""Checkouts of which the answer is kept which staged lessons they see."""


def seen_here(parts: Parts, place: Place) -> tuple[LessonId, ...] | None:
    """The staged lessons that are seen at the place; None: all of them, since nothing is checked out there."""
    if not (place.commit or place.branch):
        return None
    kept_answers = parts.store.get_state(STAGED_SEEN, place.project.id)
    if kept_answers == NONE:
        return ()
    lines = kept_answers.splitlines()
    key = f"{place.commit or '-'} {place.branch or '-'}"
    wanted = (CLOSE, GLANCE) if parts.hasty else (CLOSE,)
    for line in lines:
        words = line.split(" ")
        if " ".join(words[:2]) == key and words[2:3] and words[2] in wanted:
            return tuple(words[3:])  # type: ignore[arg-type]
    from holdfast.lessons.staging import find_seen, find_staged

    lessons = find_staged(parts, place)
    seen, is_sure = find_seen(parts, place, lessons) if lessons else ((), True)
    if is_sure or parts.hasty:  # a hook that git left without an answer does not ask again before HEAD moves
        line = " ".join([key, GLANCE if parts.hasty else CLOSE, *seen])
        others = [line for line in lines if not line.startswith(key + " ")]
        _keep(parts, place, "\n".join([line, *others][:CHECKOUTS_KEPT]) if lessons else NONE, lessons)
    return seen


def _keep(parts: Parts, place: Place, answers: str, lessons: list[Lesson]) -> None:
    """Write the answers down, unless another lesson was staged meanwhile; a store that is only read goes without."""
    from holdfast.lessons.staging import find_staged

    try:
        parts.store.set_state(STAGED_SEEN, place.project.id, answers)
        if find_staged(parts, place) != lessons:  # who staged it may have cleared them before we wrote them
            forget_seen(parts, place.project.id)
    except StoreError:
        return


def hidden_here(parts: Parts, place: Place) -> frozenset[LessonId]:
    """The staged lessons that are not seen at the place."""
    seen = seen_here(parts, place)
    if seen is None or parts.store.get_state(STAGED_SEEN, place.project.id) == NONE:
        return frozenset()
    from holdfast.lessons.staging import find_staged

    return frozenset(lesson.id for lesson in find_staged(parts, place)) - frozenset(seen)


def forget_seen(parts: Parts, project: str) -> None:
    """Have the answers of a project worked out anew: a lesson was staged."""
    parts.store.set_state(STAGED_SEEN, project, "")
