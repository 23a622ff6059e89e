"""Keeps the moments at which a lesson was learnt: a request, a file, and a command or a search, at most three.

`holdfast check --rehearse` plays them again. They are a state of the store under the lesson's id, beside the lesson:
hooks never read them, exports and shared files do not hold them, and dropping old texts of events leaves them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import LearningMoment, MomentKind
from holdfast.domain.statefamilies import LEARNING_MOMENTS
from holdfast.domain.vocabulary import LIVING, LessonId
from holdfast.errors import InvalidValueError, StoreError
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.material import OWN_COMMAND, recent_events
from holdfast.lessons.statement import clean
from holdfast.lessons.tuning import MOMENT_TEXT, MOMENTS_KEPT, STATED_WITHIN
from holdfast.ports.services import Services
from holdfast.ports.store import StateStore
from holdfast.text.signature import error_signature
from holdfast.text.speech import is_spoken

SEARCHES = ("Grep", "Glob")
"""Tools whose event begins with the pattern that they searched for."""


def keep_moments(services: Services, lessons: Iterable[Lesson], events: Sequence[Event]) -> None:
    """Store the moments of each lesson that rests on one of a session's events; they add to those of other sessions."""
    for lesson in lessons:
        if lesson.state in LIVING:
            _keep(services, lesson, find_moments(lesson, events))


def keep_stated_moments(services: Services, location: Location, lesson: Lesson) -> None:
    """Store the moments of a lesson that somebody has just stated: around its quote, else of the session at work."""
    events = recent_events(services, location)
    quoted = {span.event for span in lesson.provenance.evidence}
    since = services.clock.now() - timedelta(minutes=STATED_WITHIN)
    last = next((event for event in reversed(events) if event.id in quoted), None)
    last = last or next((event for event in events[-1:] if event.at >= since), None)
    if last is not None:
        own = [event for event in events if event.session == last.session]
        _keep(services, lesson, _moments_around(own, own.index(last)))


def _keep(services: Services, lesson: Lesson, moments: Sequence[LearningMoment]) -> None:
    """Add the moments to the lesson's. It is already written, so a store that fails costs a rehearsal, no lesson."""
    with suppress(StoreError):
        if moments:
            services.store.edit_state(LEARNING_MOMENTS, lesson.id, lambda value: _united(value, moments))


def load_moments(store: StateStore, lesson: LessonId) -> tuple[LearningMoment, ...]:
    """Return the lesson's own moments; empty if there are none, or none that this version can read."""
    return _read(store.get_state(LEARNING_MOMENTS, lesson))


def find_moments(lesson: Lesson, events: Sequence[Event]) -> tuple[LearningMoment, ...]:
    """Return the request, the nearest file, and the nearest command or search, around the lesson's first evidence.

    `events` are those of one session, in order. If the evidence is what a person typed, the request is the one before:
    a correction repeats its own rule, and the rule is needed before it is typed again.
    """
    places = {event.id: at for at, event in enumerate(events)}
    at = next((places[span.event] for span in lesson.provenance.evidence if span.event in places), None)
    return () if at is None else _moments_around(events, at)


def _moments_around(events: Sequence[Event], at: int) -> tuple[LearningMoment, ...]:
    prompts = [place for place, event in enumerate(events) if _is_request(event)]
    before, after = [place for place in prompts if place < at], [place for place in prompts if place > at]
    request = before[-1] if before else at
    turn = range(request if before else 0, after[0] if after else len(events))
    nearest = sorted(turn, key=lambda place: (abs(place - at), place > at))
    moments = [_request(events[request])]
    moments += [next(filter(None, (read(events[place]) for place in nearest)), None) for read in (_file, _act)]
    return tuple(moment for moment in moments if moment is not None)[:MOMENTS_KEPT]


def _is_request(event: Event) -> bool:
    return event.kind == "prompt" and not event.agent and event.trust != "tool" and is_spoken(event.text)


def _request(event: Event) -> LearningMoment | None:
    return _moment(event, "prompt", event.text) if _is_request(event) else None


def _file(event: Event) -> LearningMoment | None:
    is_file = event.kind == "file_edit" or (event.kind == "tool_result" and event.tool not in SEARCHES)
    if not is_file or event.command or not event.files:
        return None
    return _moment(event, "file", event.files[0], is_edit=event.kind == "file_edit")


def _act(event: Event) -> LearningMoment | None:
    """Return the moment of a command or a search; None for any other event."""
    if event.command and event.kind in ("tool_result", "tool_failure"):
        failed = event.kind == "tool_failure" or bool(event.exit_code)
        error = error_signature(event.text) if failed else ""
        is_own = event.command.startswith(OWN_COMMAND)
        return None if is_own else _moment(event, "command", event.command, error=clean(error)[:MOMENT_TEXT])
    if event.tool in SEARCHES and event.kind == "tool_result":
        return _moment(event, "search", event.text.partition("\n")[0])
    return None


def _moment(event: Event, kind: MomentKind, text: str, **fields: Any) -> LearningMoment | None:
    """Return the moment with its text redacted again and cut; None where nothing is left of it."""
    words = clean(text)[:MOMENT_TEXT].strip()
    if not words or words == "[private]":
        return None
    return LearningMoment(event=event.id, session=event.session, kind=kind, text=words, **fields)


def _united(value: str, new: Sequence[LearningMoment]) -> str:
    """Return the stored moments with the new ones added, each text once, as many as are kept."""
    moments: dict[tuple[str, str], LearningMoment] = {}
    for moment in (*_read(value), *new):
        moments.setdefault((moment.kind, moment.text), moment)
    return dumps([to_plain(moment) for moment in list(moments.values())[:MOMENTS_KEPT]])


def _read(value: str) -> tuple[LearningMoment, ...]:
    try:
        entries = loads(value) if value else []
        return tuple(from_plain(LearningMoment, entry) for entry in entries)
    except (InvalidValueError, KeyError, TypeError, ValueError):
        return ()  # another version wrote them, or they are damaged
