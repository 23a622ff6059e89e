"""Plays the moments at which each confirmed lesson was learnt, as a new session, and reports whether it is told there.

Every session begins with the same brief, so that is made once; a lesson that stands in it counts as told at the start.
The others are played moment by moment, each with all other lessons in memory. Nothing is logged. A lesson that replaced
others has their moments, too: what was merged must still be told where its parts were needed.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.domain.hookcall import HookCall
from holdfast.domain.learningmoment import MOMENT_KINDS
from holdfast.domain.vocabulary import EventId, LessonId, SessionId
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.learningmoments import load_moments
from holdfast.ports.lessonstore import get_readable
from holdfast.recall.inject import prepare
from holdfast.text.shell import searched_pattern
from holdfast.upkeep.rehearsal import ANY_HOST, MOST_LESSONS, for_any_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.domain.briefing import Briefing
    from holdfast.domain.learningmoment import LearningMoment
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.records import Delivery
    from holdfast.service.memory import Memory

START, NEVER = "start", "no"
WHEN_TOLD = (START, *MOMENT_KINDS, NEVER)
"""Where a lesson is told first: at the start, at a moment of that kind, or not at all."""


class PlayedMoment(Frozen):
    """A moment, and whether the lesson was told there."""

    event: EventId
    kind: str
    is_told: bool


class RehearsedLesson(Frozen):
    """A lesson, and where it was told."""

    id: LessonId
    kind: str
    title: str
    told: str
    """One of WHEN_TOLD."""
    moments: tuple[PlayedMoment, ...] = ()
    """The lesson's moments; none of them is played if the start tells it."""
    replaces: tuple[LessonId, ...] = ()
    """Lessons that it superseded, whose moments it has."""


class LessonRehearsal(Frozen):
    """The result of a rehearsal."""

    lessons: tuple[RehearsedLesson, ...] = ()
    without_moments: int = 0
    """Confirmed lessons that were left out, because nothing is known of how they were learnt."""

    @property
    def untold(self) -> tuple[RehearsedLesson, ...]:
        """The lessons that are told at none of their moments."""
        return tuple(lesson for lesson in self.lessons if lesson.told == NEVER)


def rehearse_lessons(
    memory: Memory, host: str = "", sample: int = 0, progress: Callable[[int, int], None] | None = None
) -> LessonRehearsal:
    """Play the moments of every confirmed lesson that is visible here, or of `sample` of them.

    `progress` gets the number of lessons done and of all. `host` is the host of the sessions.
    """
    memory = for_any_host(memory)
    cast = list(_with_moments(memory))
    chosen = [entry for entry in cast if entry[1]]
    if sample:
        chosen = sorted(chosen, key=lambda entry: _draw(entry[0].id))[:sample]
    stage = _Stage(memory, host or ANY_HOST)
    lessons: list[RehearsedLesson] = []
    for number, (lesson, moments, replaced) in enumerate(chosen, start=1):
        lessons.append(replace(stage.play(lesson, moments), replaces=replaced))
        if progress:
            progress(number, len(chosen))
    return LessonRehearsal(lessons=tuple(lessons), without_moments=sum(not entry[1] for entry in cast))


class _Stage:
    """A session after its start, in which one moment after the other is tried."""

    def __init__(self, memory: Memory, host: str) -> None:
        self._memory = memory
        self._call = HookCall(
            host=host, name="rehearsal", session=SessionId(memory.services.clock.new_id()), cwd=memory.location.root
        )
        briefing, self._deliveries = self._tell(replace(self._call, moment="session_start"), ())
        self._brief = _lessons_in(briefing)

    def play(self, lesson: Lesson, moments: Sequence[LearningMoment]) -> RehearsedLesson:
        """Return where the lesson is told."""
        is_briefed = lesson.id in self._brief
        played = [
            PlayedMoment(
                event=moment.event, kind=moment.kind, is_told=not is_briefed and self._is_told(lesson.id, moment)
            )
            for moment in moments
        ]
        first = next((moment.kind for moment in played if moment.is_told), NEVER)
        return RehearsedLesson(
            id=lesson.id, kind=lesson.kind, title=lesson.title, told=START if is_briefed else first,
            moments=tuple(played),
        )  # fmt: skip

    def _is_told(self, lesson: LessonId, moment: LearningMoment) -> bool:
        return any(lesson in _lessons_in(self._tell(call, self._deliveries)[0]) for call in self._calls(moment))

    def _calls(self, moment: LearningMoment) -> Iterator[HookCall]:
        call, text = self._call, moment.text
        match moment.kind:
            case "prompt":
                yield replace(call, moment="prompt", prompt=text)
            case "file":
                yield replace(call, moment="before_file", paths=(f"{call.cwd}/{text}",), edits=moment.is_edit)
            case "search":
                yield replace(call, moment="before_file", search=text)
            case "command":
                yield replace(call, moment="before_command", command=text, search=searched_pattern(text))
                if moment.error:
                    yield replace(call, moment="after_failure", command=text, error=moment.error)

    def _tell(self, call: HookCall, earlier: Sequence[Delivery]) -> tuple[Briefing, tuple[Delivery, ...]]:
        handover = prepare(self._memory.services, self._memory.location, call, earlier=earlier)
        return handover.briefing, tuple(handover.deliveries())


def _lessons_in(briefing: Briefing) -> frozenset[LessonId]:
    """Return what the briefing tells, with the lessons for which a line stands."""
    items = [id_ for item in briefing.items for id_ in (item.lesson.id, *item.also)]
    return frozenset([*items, *(id_ for entry in briefing.entries for id_ in (entry.id, *entry.also))])


def _with_moments(memory: Memory) -> Iterator[tuple[Lesson, list[LearningMoment], tuple[LessonId, ...]]]:
    """Yield each confirmed lesson with its moments and those of the lessons that it superseded, and their ids."""
    store = memory.services.store
    for lesson in memory.lessons(limit=MOST_LESSONS):
        replaced = _superseded(memory, lesson)
        moments = {moment.event: moment for id_ in (lesson.id, *replaced) for moment in load_moments(store, id_)}
        yield lesson, list(moments.values()), replaced


def _superseded(memory: Memory, lesson: Lesson) -> tuple[LessonId, ...]:
    """Return every lesson that it superseded, directly or through others, the nearest first."""
    replaced: dict[LessonId, None] = {}
    waiting = [lesson]
    while waiting:
        targets = [x.target for each in waiting for x in each.links if x.kind == "supersedes"]
        new = [target for target in dict.fromkeys(targets) if target not in replaced and target != lesson.id]
        replaced.update(dict.fromkeys(new))
        waiting = get_readable(memory.services.store, new) if new else []
    return tuple(replaced)


def _draw(lesson: LessonId) -> bytes:
    """Return a sort key by which a sample stays the same when lessons are added."""
    return blake2b(lesson.encode(), digest_size=8).digest()
