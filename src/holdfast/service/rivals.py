"""Rivals: active lessons that say the opposite of one lesson, so that whoever saves it hears of them at once."""

from __future__ import annotations

from holdfast.ports.store import LessonFilter
from holdfast.ranking.sameness import disagree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.service.parts import Parts

LOOKED_AT = 2_000
"""Newest active lessons of the project that are compared."""
NAMED = 5
"""Most rivals that are named: whoever saved the lesson shall read them."""


def find_rivals(parts: Parts, place: Place, lesson: Lesson) -> list[Lesson]:
    """The active lessons of the project and the user that are opposed to the lesson, newest first, at most NAMED.

    The lesson itself, and what it supersedes or would revise, are not among them.
    """
    relatives = {lesson.id, *(link.target for link in lesson.links if link.kind in ("supersedes", "refines"))}
    active = parts.store.find(LessonFilter(project=place.project.id, states=("active",), limit=LOOKED_AT))
    rivals = [other for other in active if other.id not in relatives and disagree(other.insight, lesson.insight)]
    return rivals[:NAMED]
