"""Plays an expectation's moment as a new session would meet it, and compares what is delivered.

The caller passes a copy of the memory, because the session's events and deliveries are stored in it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from holdfast.bootstrap import Memory
from holdfast.capture.observe import redacted
from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import CHANNELS, MOMENT_PROFILES
from holdfast.domain.vocabulary import EventId, LessonId, SessionId, State
from holdfast.lean.texts import file_url, short_id
from holdfast.ports.host import Host, HostProfile
from holdfast.publishing.lessonfile import shared_id
from holdfast.recall.deliver import prepare
from holdfast.settings import Settings
from holdfast.upkeep.expectations import DEFAULT_TOP, MOMENTS, Expectation
from holdfast.wiring import open_store

ANY_HOST = "check"
"""The host's name if none is chosen."""
TOLD_STATES: tuple[State, ...] = ("active",)
MOST_LESSONS = 100_000
"""Newest lessons that a check can name."""


class AnyHost:
    """A host that takes deliveries at every moment and reads no rules files."""

    name = ANY_HOST
    profile = HostProfile(title="any host", moments=CHANNELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredLesson:
    """A lesson that was delivered, and its rank."""

    rank: int
    lesson: LessonId
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """The result of a check."""

    expectation: Expectation
    failures: tuple[str, ...] = ()
    delivered: tuple[DeliveredLesson, ...] = ()
    tokens: int = 0


class Names:
    """Finds lessons by their names in a checks file."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        self._lessons = lessons

    def find(self, ref: str) -> list[Lesson]:
        """Return lessons with that title, else those whose id, here or in the repository's files, ends with it."""
        title = " ".join(ref.casefold().split())
        titled = [lesson for lesson in self._lessons if " ".join(lesson.title.casefold().split()) == title]
        if titled or len(title) < 4 or title.strip("0123456789abcdef-"):
            return titled
        return [lesson for lesson in self._lessons if lesson.id.endswith(title) or _shared(lesson).endswith(title)]


def rehearse(memory: Memory, expectations: Sequence[Expectation], host: str = "") -> Iterator[Rehearsed]:
    """Play each expectation as a session of its own; yield the results in order.

    `host` is the host of the sessions. Lessons in a rules file that this host reads are then not delivered.
    """
    memory = for_any_host(memory)
    names = Names(memory.lessons(states=TOLD_STATES, limit=MOST_LESSONS))
    for expectation in expectations:
        briefing = _play(memory, expectation, host or ANY_HOST)
        yield Rehearsed(
            expectation=expectation,
            failures=tuple(_compare(expectation, briefing, names)),
            delivered=tuple(
                DeliveredLesson(rank=item.rank, lesson=item.lesson.id, title=item.lesson.title)
                for item in briefing.items
            ),
            tokens=briefing.tokens,
        )


def for_any_host(memory: Memory) -> Memory:
    """Return the memory for sessions of ANY_HOST, too."""
    return memory.with_services(replace(memory.services, host=_with_any_host(memory.services.host)))


def _play(memory: Memory, expectation: Expectation, host: str) -> Briefing:
    if MOMENTS[expectation.moment] == "on_demand":
        return memory.recall(expectation.subject, limit=max(expectation.top, DEFAULT_TOP))
    call = _call(memory, expectation, host)
    memory.observe(call)
    return prepare(memory.services, memory.location, redacted(call)).briefing


def _call(memory: Memory, expectation: Expectation, host: str) -> HookCall:
    clock, location = memory.services.clock, memory.location
    session = SessionId(clock.new_id())
    subject, name = expectation.subject, expectation.moment
    moment = MOMENTS[name]
    event_kind = MOMENT_PROFILES[moment].event_kind
    events: tuple[Event, ...] = ()
    if event_kind is not None:
        made = EventId(clock.new_id())
        events = (
            Event(
                id=made, session=session, host=host, kind=event_kind, at=clock.now(), key=made, cwd=location.root,
                text=subject, text_length=len(subject), trust="tool" if moment == "after_failure" else "person",
            ),
        )  # fmt: skip
    return HookCall(
        host=host,
        name=name,
        session=session,
        cwd=location.root,
        events=events,
        moment=moment,
        prompt=subject if moment == "prompt" else "",
        paths=(f"{location.root}/{subject}",) if moment == "before_file" else (),
        edits=name == "edit",
        excerpts=(expectation.replaces,) if expectation.replaces else (),
        command=subject if moment == "before_command" else "",
        error=subject if moment == "after_failure" else "",
    )


def _with_any_host(load: Callable[[str], Host]) -> Callable[[str], Host]:
    return lambda name: AnyHost() if name == ANY_HOST else load(name)  # type: ignore[return-value]


def _compare(expectation: Expectation, briefing: Briefing, names: Names) -> Iterator[str]:
    """Yield in words what is not as expected."""
    if briefing.degraded:
        yield f"the delivery failed: {briefing.degraded}"
    for refs, judge in ((expectation.deliver, _judge_wanted), (expectation.never, _judge_unwanted)):
        for ref in refs:
            lessons = names.find(ref)
            if len(lessons) != 1:
                yield _ambiguous(ref, lessons)
            elif failure := judge(lessons[0], _rank_of(lessons[0].id, briefing.items), expectation.top):
                yield failure
    if expectation.nothing and briefing.items:
        yield f"{len(briefing.items)} delivered, but nothing is expected"
    if expectation.tokens and briefing.tokens > expectation.tokens:
        yield f"the delivery costs {briefing.tokens} tokens, more than {expectation.tokens}"


def _judge_wanted(lesson: Lesson, rank: int | None, top: int) -> str:
    if rank is None:
        return f"{_named(lesson)} is not delivered"
    return f"{_named(lesson)} is at rank {rank}, not in the first {top}" if rank > top else ""


def _judge_unwanted(lesson: Lesson, rank: int | None, top: int) -> str:
    return "" if rank is None else f"{_named(lesson)} is delivered, at rank {rank}"


def _rank_of(lesson: LessonId, items: Sequence[Ranked]) -> int | None:
    return next((item.rank for item in items if lesson == item.lesson.id or lesson in item.also), None)


def _ambiguous(ref: str, lessons: Sequence[Lesson]) -> str:
    if not lessons:
        return f"no lesson has the title or id {ref!r}"
    return f"{ref!r} names {len(lessons)} lessons: {', '.join(map(_named, lessons[:3]))}"


def _named(lesson: Lesson) -> str:
    return f"{short_id(lesson.id)} {lesson.title!r}"


def _shared(lesson: Lesson) -> str:
    """Return the id that the lesson has, or would have, in a shared file."""
    return shared_id(lesson.kind, lesson.insight)


INDEX = "index"


@contextmanager
def scratch_memory(settings: Settings, folder: str, *, empty: bool) -> Iterator[Memory]:
    """Open a memory of the folder in a temporary home, with every delivery on and none withheld.

    It is a copy of the home's memory, or empty if `empty`. The home itself is only read. Raises StoreError for a store
    that cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-") as home:
        database = os.path.join(home, "memory.db")
        if not empty and (not settings.database_path or os.path.exists(settings.database_path)):
            with open_store(settings, frozen=True) as store:
                store.write_copy(database)
            if os.path.isdir(os.path.join(settings.home, INDEX)):
                shutil.copytree(os.path.join(settings.home, INDEX), os.path.join(home, INDEX))
        alone = replace(
            settings, home=home, store=file_url(database), deliver=CHANNELS, capture=True, holdout=0.0, ask_agent=False
        )
        with Memory(folder, settings=alone) as memory:
            yield memory
