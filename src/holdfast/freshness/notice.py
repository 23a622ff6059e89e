"""Noticing that a lesson's code changed under a session, and telling the agent once.

What is known of lessons that are not fresh is kept as one state for each work tree: the state, since when, and who saw
it come about. Hooks add what they find out when a file is edited or a lesson is read; a watcher adds what it sees. At
its next call a session is told of a change that makes something it was shown untrue, twice at most. What
every delivery reads of it is in `states`.
"""

from __future__ import annotations

from datetime import datetime

from holdfast.domain.briefing import Ranked, Why
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.domain.vocabulary import FRESHNESSES, Freshness, LessonId
from holdfast.errors import LessonNotFoundError
from holdfast.freshness.states import SOUND, load_plain, owner_of, parse_plain
from holdfast.freshness.tuning import (
    JUDGED_S,
    LESSONS_A_FILE,
    NOTICES_TRIED,
    SAME_EDIT,
    SESSION_NOTICES,
    STATES_KEPT,
)
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import dumps
from holdfast.ports.filters import LessonFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.records import Delivery
    from holdfast.freshness.check import FreshnessCheck
    from holdfast.ports.parts import Parts

    States = dict[LessonId, "KnownState"]

WORSE = ("drifted", "changed", "orphaned")
"""States that an agent is told of."""

FOUND, WATCHED, SWITCHED = "", "watch", "checkout"
"""Who saw a state come about, where it was no session: nobody, a watcher, a watcher while HEAD moved."""

NEWS = "its code has just"
"""How the reason of such a delivery begins."""


class KnownState(Frozen):
    """A lesson that is not fresh in this work tree, since when, and who saw it come about."""

    lesson: LessonId
    freshness: Freshness
    at: datetime
    by: str = FOUND
    """A session's id, or one of FOUND, WATCHED, SWITCHED."""
    agent: str = ""

    @property
    def reason(self) -> str:
        """What a delivery of it is logged under: once for each state."""
        return f"{NEWS} {_BECAME.get(self.freshness, self.freshness)}"


_BECAME: dict[Freshness, str] = {"orphaned": "gone"}


def load_states(parts: Parts, place: Place) -> States:
    """What is known of this work tree's lessons; without what cannot be read."""
    read = {lesson: _read(plain) for lesson, plain in load_plain(parts, place).items()}
    return {lesson: known for lesson, known in read.items() if known is not None}


def keep_states(
    parts: Parts, place: Place, judged: Mapping[LessonId, Freshness], by: str = FOUND, agent: str = ""
) -> None:
    """Keep what lessons were just judged to be, written only when something differs.

    Hooks of several agents come here at once: what is written is made of what is kept at that moment.
    """
    now = parts.clock.now()
    news = [KnownState(lesson=lesson, freshness=state, at=now, by=by, agent=agent) for lesson, state in judged.items()]

    def edit(text: str) -> str:
        return _with_news(text, news)

    text = parts.store.get_state(LESSON_STATES, owner_of(place))
    if edit(text) != text:
        parts.store.edit_state(LESSON_STATES, owner_of(place), edit)


def _with_news(text: str, news: Iterable[KnownState]) -> str:
    """The kept states with what was just judged; the same text when nothing differs.

    A store may keep hundreds of states and every delivery comes here: only those judged become records.
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


def note_edits(parts: Parts, place: Place, call: HookCall) -> None:
    """Judge the lessons about the files that the call's events edited, and keep what became of them."""
    edited = [name for event in call.events if event.kind == "file_edit" for name in event.files]
    judged: dict[LessonId, Freshness] = {}
    check = _check(replace(parts, hasty=False), place)  # hosts do not wait for the hook after an edit
    for path in _relative(parts, place, call, edited):
        for lesson in _lessons_about(parts, place, path):
            judged[lesson.id] = check.judge(lesson)[0]
    if judged:
        keep_states(parts, place, judged, by=call.session, agent=call.agent)


def find_news(parts: Parts, place: Place, call: HookCall, deliveries: Sequence[Delivery]) -> Ranked | None:
    """The one lesson to tell this agent of because its code got worse in this session; None for no news.

    Asked only where there may be some: see `states.may_have_news`.

    Before a file, lessons about it that the agent was shown are judged again: they are not shown twice.
    """
    states = load_states(parts, place)
    if call.moment == "before_file":
        states = _look_again(parts, place, call, deliveries, states)
    if sum(delivery.reason.startswith(NEWS) for delivery in deliveries) >= SESSION_NOTICES:
        return None
    due = [known for known in states.values() if _is_news(known, call, deliveries)]
    return _first_true(parts, place, sorted(due, key=lambda known: known.at, reverse=True)[:NOTICES_TRIED])


def _follow(known: KnownState | None, state: KnownState) -> KnownState:
    """The state to keep after the one held. A step is news only if it is to a worse state, from one that was known."""
    if known is None:
        return state
    if known.freshness == state.freshness:
        quicker = known.by in (WATCHED, SWITCHED) and _is_session(state.by) and state.at - known.at < SAME_EDIT
        return replace(known, by=state.by, agent=state.agent) if quicker else known
    if known.freshness == "unverified":  # an edit that there was no time to judge, or nothing was known
        return replace(state, by=known.by if _is_session(known.by) else FOUND, agent=known.agent)
    worse = FRESHNESSES.index(state.freshness) > FRESHNESSES.index(known.freshness)
    return state if worse else replace(state, by=FOUND, agent="")


def _read(plain: dict[str, Any] | None) -> KnownState | None:
    try:
        return None if plain is None else from_plain(KnownState, plain)
    except (AttributeError, TypeError, ValueError):
        return None  # not as we write it: judged as if nothing were known


def _is_session(by: str) -> bool:
    return by not in (FOUND, WATCHED, SWITCHED)


def _check(parts: Parts, place: Place) -> FreshnessCheck:
    from holdfast.freshness.check import FreshnessCheck  # most deliveries have no news

    return FreshnessCheck(parts, place, within_s=JUDGED_S)


def _relative(parts: Parts, place: Place, call: HookCall, names: Iterable[str]) -> list[str]:
    paths = (parts.workspace.relative(place, name, call.cwd) for name in names)
    return [path for path in dict.fromkeys(paths) if path]


def _lessons_about(parts: Parts, place: Place, path: str) -> list[Lesson]:
    return parts.store.find(LessonFilter(project=place.project.id, states=("active",), path=path, limit=LESSONS_A_FILE))


def _look_again(parts: Parts, place: Place, call: HookCall, deliveries: Sequence[Delivery], states: States) -> States:
    """What is known after judging the lessons about the call's files that the agent was shown."""
    shown = {delivery.lesson for delivery in deliveries}
    check = _check(parts, place)
    judged: dict[LessonId, Freshness] = {}
    for path in _relative(parts, place, call, call.paths):
        for lesson in _lessons_about(parts, place, path):
            if lesson.id in shown and (lesson.id in states or not check.is_untouched(lesson)):
                judged[lesson.id] = check.judge(lesson)[0]
    judged = {lesson: freshness for lesson, freshness in judged.items() if freshness != "unverified"}
    if not judged:
        return states
    keep_states(parts, place, judged, by=WATCHED)
    return load_states(parts, place)


def _is_news(known: KnownState, call: HookCall, deliveries: Sequence[Delivery]) -> bool:
    """Whether this agent has to hear of it: not what it was told since, and each state of a lesson only once."""
    not_judged_yet = known.freshness == "unverified" and known.by == call.session
    if known.freshness not in WORSE and not not_judged_yet:
        return False
    shown = [delivery for delivery in deliveries if delivery.lesson == known.lesson]
    if not shown or any(delivery.at > known.at or delivery.reason == known.reason for delivery in shown):
        return False  # what it does not know of cannot mislead it
    return known.by != FOUND and (known.by != call.session or call.agent in (known.agent, ""))


def _first_true(parts: Parts, place: Place, due: Sequence[KnownState]) -> Ranked | None:
    """The first of them that still is so, as it is to be delivered."""
    check = _check(parts, place) if due else None
    for known in due:
        try:
            (lesson,) = parts.store.get([known.lesson])
        except LessonNotFoundError:
            continue
        freshness, words = check.judge(lesson) if check and lesson.state == "active" else ("fresh", "")
        if freshness == "drifted" and not lesson.symbols:
            continue  # somewhere in its file something differs: that is no news of the lesson
        if freshness in WORSE:
            now = replace(known, freshness=freshness)
            note = f"the code it is about has just changed: {words}; confirm, revise or forget it"
            return Ranked(lesson=lesson, rank=1, score=0.0, why=Why(words=now.reason), freshness=freshness, caveat=note)
        if freshness != "unverified":  # there was no time: at the next call
            keep_states(parts, place, {lesson.id: freshness})
    return None
