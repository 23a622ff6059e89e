"""Notices that a lesson's code changed during a session, and tells the agent once.

The known states of lessons that are not fresh are stored as one value for each work tree: the state, since when, and
who observed the change. Hooks add what they find when a file is edited or a lesson is read; a watcher adds what it
observes. At its next call a session is told of a change that makes a shown lesson untrue, twice a session at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from holdfast.domain.briefing import Ranked, Why
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import PARTICULAR_MOMENTS
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.domain.vocabulary import FRESHNESSES, Freshness, LessonId
from holdfast.errors import LessonNotFoundError
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.tuning import JUDGED_S, LESSONS_A_FILE, NOTICES_TRIED, SAME_EDIT, SESSION_NOTICES, STATES_KEPT
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter

SOUND = ("unanchored", "fresh", "moved")
"""States that are not stored: a lesson without a stored state is in one of these."""

States = dict[LessonId, "KnownState"]
WORSE = ("drifted", "changed", "orphaned")
"""States of which an agent is told."""
FOUND, WATCHED, SWITCHED = "", "watch", "checkout"
"""Who observed a change, if it was no session: nobody, a watcher, a watcher while HEAD moved."""
NEWS = "its code has just"
"""Beginning of the reason of such a delivery."""
_BECAME: dict[Freshness, str] = {"orphaned": "gone"}


def load_plain(services: Services, location: Location) -> dict[LessonId, dict[str, Any]]:
    """Return the stored states as plain values: most hooks only ask whether there is one."""
    return parse_plain(services.store.get_state(LESSON_STATES, owner_of(location)))


def parse_plain(text: str) -> dict[LessonId, dict[str, Any]]:
    """Parse the stored states; empty when they cannot be read."""
    try:
        return {plain["lesson"]: plain for plain in loads(text or "[]")}
    except (KeyError, TypeError, ValueError):
        return {}


def found_states(services: Services, location: Location, read: Iterable[Ranked]) -> dict[LessonId, Freshness]:
    """Return the states of lessons that were read for a delivery, if the stored ones may differ; else none.

    Where a host waits, not every lesson is checked closely; then `unverified` does not replace a known state.
    """
    judged = {ranked.lesson.id: ranked.freshness for ranked in read}
    known = load_plain(services, location) if judged else {}
    judged = {lesson: state for lesson, state in judged.items() if state != "unverified" or lesson not in known}
    differ = any(lesson in known or state not in SOUND for lesson, state in judged.items())
    return judged if differ else {}


def owner_of(location: Location) -> str:
    """Return the owner of the states: each work tree has its own."""
    return f"{location.project.id}:{location.root}"


def may_have_news(services: Services, location: Location, call: HookCall, deliveries: Sequence[Delivery]) -> bool:
    """Return whether `find_news` has anything to check. A change that nobody observed is no news."""
    if call.moment not in PARTICULAR_MOMENTS or not deliveries:
        return False
    return call.moment == "before_file" or any(plain.get("by") for plain in load_plain(services, location).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownState:
    """A lesson that is not fresh in this work tree, since when, and who observed the change."""

    lesson: LessonId
    freshness: Freshness
    at: datetime
    by: str = FOUND
    """A session's id, or one of FOUND, WATCHED, SWITCHED."""
    agent: str = ""

    @property
    def reason(self) -> str:
        """The reason under which its delivery is logged: once for each state."""
        return f"{NEWS} {_BECAME.get(self.freshness, self.freshness)}"


def load_states(services: Services, location: Location) -> States:
    """Return the known states of this work tree's lessons; skip what cannot be read."""
    read = {lesson: _read(plain) for lesson, plain in load_plain(services, location).items()}
    return {lesson: known for lesson, known in read.items() if known is not None}


def keep_states(
    services: Services, location: Location, judged: Mapping[LessonId, Freshness], by: str = FOUND, agent: str = ""
) -> None:
    """Store the states that lessons were just found in; write only when something differs.

    Hooks of several agents call this at the same time, so the new value is computed from the value at that moment.
    """
    now = services.clock.now()
    news = [KnownState(lesson=lesson, freshness=state, at=now, by=by, agent=agent) for lesson, state in judged.items()]

    def edit(text: str) -> str:
        return _with_news(text, news)

    text = services.store.get_state(LESSON_STATES, owner_of(location))
    if edit(text) != text:
        services.store.edit_state(LESSON_STATES, owner_of(location), edit)


def _with_news(text: str, news: Iterable[KnownState]) -> str:
    """Return the stored states updated with the new ones; the same text when nothing differs.

    A store may have hundreds of states and every delivery calls this, so only the states concerned become records.
    """
    known = parse_plain(text)
    differs = False
    for state in news:
        if state.freshness in SOUND:
            differs = known.pop(state.lesson, None) is not None or differs
            continue
        before = _read(known.get(state.lesson))
        after = _follow(before, state)
        if after is not before:
            differs, known[state.lesson] = True, to_plain(after)
    if not differs:
        return text
    newest = sorted(known.values(), key=lambda plain: str(plain.get("at")))[-STATES_KEPT:]
    return dumps(newest) if newest else ""


def note_edits(services: Services, location: Location, call: HookCall) -> None:
    """Check the lessons about the files that the call's events edited, and store their states."""
    edited = [name for event in call.events if event.kind == "file_edit" for name in event.files]
    judged: dict[LessonId, Freshness] = {}
    patient = replace(services, low_latency=False)  # hosts do not wait for the hook after an edit
    check = FreshnessCheck(patient, location, within_s=JUDGED_S)
    for path in _relative(services, location, call, edited):
        for lesson in _lessons_about(services, location, path):
            judged[lesson.id] = check.judge(lesson)[0]
    if judged:
        keep_states(services, location, judged, by=call.session, agent=call.agent)


def find_news(services: Services, location: Location, call: HookCall, deliveries: Sequence[Delivery]) -> Ranked | None:
    """Return the lesson of which to tell this agent because its code got worse in this session; None for no news.

    Call it only if `may_have_news`.

    Before a file, lessons about it that the agent was shown are checked again, because they are not shown twice.
    """
    states = load_states(services, location)
    if call.moment == "before_file":
        states = _look_again(services, location, call, deliveries, states)
    if sum(delivery.reason.startswith(NEWS) for delivery in deliveries) >= SESSION_NOTICES:
        return None
    due = [known for known in states.values() if _is_news(known, call, deliveries)]
    return _first_true(services, location, sorted(due, key=lambda known: known.at, reverse=True)[:NOTICES_TRIED])


def _follow(known: KnownState | None, state: KnownState) -> KnownState:
    """Return the state to store after the known one. Only a change from a known state to a worse one is news."""
    if known is None:
        return state
    if known.freshness == state.freshness:
        quicker = known.by in (WATCHED, SWITCHED) and _is_session(state.by) and state.at - known.at < SAME_EDIT
        return replace(known, by=state.by, agent=state.agent) if quicker else known
    if known.freshness == "unverified":  # an edit was not checked for lack of time, or nothing was known
        return replace(state, by=known.by if _is_session(known.by) else FOUND, agent=known.agent)
    worse = FRESHNESSES.index(state.freshness) > FRESHNESSES.index(known.freshness)
    return state if worse else replace(state, by=FOUND, agent="")


def _read(plain: dict[str, Any] | None) -> KnownState | None:
    try:
        return None if plain is None else from_plain(KnownState, plain)
    except (AttributeError, TypeError, ValueError):
        return None  # not in our format: treated as unknown


def _is_session(by: str) -> bool:
    return by not in (FOUND, WATCHED, SWITCHED)


def _relative(services: Services, location: Location, call: HookCall, names: Iterable[str]) -> list[str]:
    paths = (services.workspace.relative(location, name, call.cwd) for name in names)
    return [path for path in dict.fromkeys(paths) if path]


def _lessons_about(services: Services, location: Location, path: str) -> list[Lesson]:
    return services.store.find(
        LessonFilter(project=location.project.id, states=("active",), path=path, limit=LESSONS_A_FILE)
    )


def _look_again(
    services: Services, location: Location, call: HookCall, deliveries: Sequence[Delivery], states: States
) -> States:
    """Check the lessons about the call's files that the agent was shown, and return the resulting states."""
    shown = {delivery.lesson for delivery in deliveries}
    check = FreshnessCheck(services, location, within_s=JUDGED_S)
    judged: dict[LessonId, Freshness] = {}
    for path in _relative(services, location, call, call.paths):
        for lesson in _lessons_about(services, location, path):
            if lesson.id in shown and (lesson.id in states or not check.is_untouched(lesson)):
                judged[lesson.id] = check.judge(lesson)[0]
    judged = {lesson: freshness for lesson, freshness in judged.items() if freshness != "unverified"}
    if not judged:
        return states
    keep_states(services, location, judged, by=WATCHED)
    return load_states(services, location)


def _is_news(known: KnownState, call: HookCall, deliveries: Sequence[Delivery]) -> bool:
    """Return whether to tell this agent: it was shown the lesson before the change, and not told of this state yet."""
    not_judged_yet = known.freshness == "unverified" and known.by == call.session
    if known.freshness not in WORSE and not not_judged_yet:
        return False
    shown = [delivery for delivery in deliveries if delivery.lesson == known.lesson]
    if not shown or any(delivery.at >= known.at or delivery.reason == known.reason for delivery in shown):
        return False  # a lesson that it was not shown cannot mislead it
    return known.by != FOUND and (known.by != call.session or call.agent in (known.agent, ""))


def _first_true(services: Services, location: Location, due: Sequence[KnownState]) -> Ranked | None:
    """Return the first of them that is still true, ready to be delivered."""
    check = FreshnessCheck(services, location, within_s=JUDGED_S)
    for known in due:
        try:
            (lesson,) = services.store.get([known.lesson])
        except LessonNotFoundError:
            continue
        freshness, words = check.judge(lesson) if lesson.state == "active" else ("fresh", "")
        if freshness == "drifted" and not lesson.symbols:
            continue  # the file differs somewhere, which says nothing about the lesson
        if freshness in WORSE:
            now = replace(known, freshness=freshness)
            note = f"the code it is about has just changed: {words}; confirm, revise or forget it"
            return Ranked(lesson=lesson, rank=1, score=0.0, why=Why(words=now.reason), freshness=freshness, caveat=note)
        if freshness != "unverified":  # else time was up: try at the next call
            keep_states(services, location, {lesson.id: freshness})
    return None
