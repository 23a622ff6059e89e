"""The stored states of lessons that are not fresh in a work tree: the part that every delivery needs.

Most work trees have none. `notice` uses the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.domain.briefing import Ranked
from holdfast.domain.hookcall import HookCall
from holdfast.domain.moments import PARTICULAR_MOMENTS
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.texts import loads
from holdfast.ports.services import Services

SOUND = ("unanchored", "fresh", "moved")
"""States that are not stored: a lesson without a stored state is in one of these."""


def load_plain(services: Services, location: Location) -> dict[LessonId, dict[str, Any]]:
    """Return the stored states as plain values: most hooks only ask whether there is one."""
    return parse_plain(services.store.get_state(LESSON_STATES, owner_of(location)))


def parse_plain(text: str) -> dict[LessonId, dict[str, Any]]:
    """Parse the stored states; empty when they cannot be read."""
    try:
        return {plain["lesson"]: plain for plain in loads(text or "[]")}
    except (KeyError, TypeError, ValueError):
        return {}


def keep_found(services: Services, location: Location, read: Iterable[Ranked]) -> None:
    """Store the states of lessons that were read for a delivery: they hold before the session's next edit.

    Where a host waits, not every lesson is checked closely; then `unverified` does not replace a known state.
    """
    judged = {ranked.lesson.id: ranked.freshness for ranked in read}
    if not judged:
        return
    known = load_plain(services, location)
    judged = {lesson: state for lesson, state in judged.items() if state != "unverified" or lesson not in known}
    if any(lesson in known or state not in SOUND for lesson, state in judged.items()):
        from holdfast.freshness.notice import keep_states

        keep_states(services, location, judged)


def owner_of(location: Location) -> str:
    """Return the owner of the states: each work tree has its own."""
    return f"{location.project.id}:{location.root}"


def may_have_news(services: Services, location: Location, call: HookCall, deliveries: Sequence[Delivery]) -> bool:
    """Return whether `notice.find_news` has anything to check. A change that nobody observed is no news."""
    if call.moment not in PARTICULAR_MOMENTS or not deliveries:
        return False
    return call.moment == "before_file" or any(plain.get("by") for plain in load_plain(services, location).values())
