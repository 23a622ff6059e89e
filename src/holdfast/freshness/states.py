"""The kept states of lessons that are not fresh in a work tree, as far as every delivery reads them.

Most work trees have none. What is made of them is in `notice`.
"""

from __future__ import annotations

from holdfast.domain.moments import PARTICULAR_MOMENTS
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.lean.texts import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.project import Place
    from holdfast.domain.records import Delivery
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.parts import Parts

SOUND = ("unanchored", "fresh", "moved")
"""States not worth keeping: what is not kept is one of these."""


def load_plain(parts: Parts, place: Place) -> dict[LessonId, dict[str, Any]]:
    """The kept states as they are written: most hooks only ask whether there is one."""
    return parse_plain(parts.store.get_state(LESSON_STATES, owner_of(place)))


def parse_plain(text: str) -> dict[LessonId, dict[str, Any]]:
    """The states in a state's text; none where it cannot be read."""
    try:
        return {plain["lesson"]: plain for plain in loads(text or "[]")}
    except (KeyError, TypeError, ValueError):
        return {}


def keep_found(parts: Parts, place: Place, read: Iterable[Ranked]) -> None:
    """Keep the states of lessons that were read for a delivery: what was so before the session's next edit.

    Where a host waits not every lesson is looked at closely; `unverified` then says no more than is known already.
    """
    judged = {ranked.lesson.id: ranked.freshness for ranked in read}
    if not judged:
        return
    known = load_plain(parts, place)
    judged = {lesson: state for lesson, state in judged.items() if state != "unverified" or lesson not in known}
    if any(lesson in known or state not in SOUND for lesson, state in judged.items()):
        from holdfast.freshness.notice import keep_states

        keep_states(parts, place, judged)


def owner_of(place: Place) -> str:
    """Whose states they are: each work tree has its own."""
    return f"{place.project.id}:{place.root}"


def may_have_news(parts: Parts, place: Place, call: HookCall, deliveries: Sequence[Delivery]) -> bool:
    """Whether `notice.find_news` has anything to look at. What nobody saw come about is no news."""
    if call.moment not in PARTICULAR_MOMENTS or not deliveries:
        return False
    return call.moment == "before_file" or any(plain.get("by") for plain in load_plain(parts, place).values())
