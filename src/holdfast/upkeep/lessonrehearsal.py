"""Plays the moments at which each confirmed lesson was learnt, as a new session, and reports whether it is told there.

Every session begins with the same brief, so that is made once; a lesson that stands in it counts as told at the start.
The others are played moment by moment, each with all other lessons in memory. Nothing is logged. A title counts if it
says something of its lesson. A lesson that replaced others has their moments, too: what was merged must still be told
where its parts were needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import MOMENT_KINDS, Delivery, LearningMoment
from holdfast.domain.vocabulary import EventId, LessonId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lessons.learningmoments import load_moments
from holdfast.ports.store import get_readable
from holdfast.ranking.relevance import stems_of
from holdfast.recall.deliver import prepare
from holdfast.recall.situation import TITLED
from holdfast.text.shell import searched_pattern
from holdfast.upkeep.rehearsal import ANY_HOST, MOST_LESSONS, for_any_host

TITLE_SHARE = 0.4
"""Share of a title's words that a lesson's rule, reason and quotes have: of 213 lessons all had it, and 9 of them had
it under another lesson's title."""
SHORTEST_STEM = 3
"""Characters of a word that is compared."""
START, NEVER = "start", "no"
WHEN_TOLD = (START, *MOMENT_KINDS, NEVER)
"""Where a lesson is told first: at the start, at a moment of that kind, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMoment:
    """A moment, and whether the lesson was told there."""

    event: EventId
    kind: str
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedLesson:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonRehearsal:
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
    confirmed = list(_with_moments(memory))
    chosen = [entry for entry in confirmed if entry[1]]
    if sample:
        chosen = sorted(chosen, key=lambda entry: _draw(entry[0].id))[:sample]
    session = _RehearsedSession(memory, host or ANY_HOST)
    lessons: list[RehearsedLesson] = []
    for number, (lesson, moments, replaced) in enumerate(chosen, start=1):
        lessons.append(replace(session.play(lesson, moments), replaces=replaced))
        if progress:
            progress(number, len(chosen))
    return LessonRehearsal(lessons=tuple(lessons), without_moments=sum(not entry[1] for entry in confirmed))


class _RehearsedSession:
    """A session after its start, in which one moment after the other is tried."""

    def __init__(self, memory: Memory, host: str) -> None:
        self._memory = memory
        self._call = HookCall(
            host=host, name="rehearsal", session=SessionId(memory.services.clock.new_id()), cwd=memory.location.root
        )
        self._brief, self._deliveries = self._tell(replace(self._call, moment="session_start"), ())

    def play(self, lesson: Lesson, moments: Sequence[LearningMoment]) -> RehearsedLesson:
        """Return where the lesson is told."""
        is_briefed = _tells(self._brief, lesson)
        played = [
            PlayedMoment(event=moment.event, kind=moment.kind, is_told=not is_briefed and self._is_told(lesson, moment))
            for moment in moments
        ]
        first = next((moment.kind for moment in played if moment.is_told), NEVER)
        return RehearsedLesson(
            id=lesson.id, kind=lesson.kind, title=lesson.title, told=START if is_briefed else first,
            moments=tuple(played),
        )  # fmt: skip

    def _is_told(self, lesson: Lesson, moment: LearningMoment) -> bool:
        return any(_tells(self._tell(call, self._deliveries)[0], lesson) for call in self._calls(moment))

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


def _tells(briefing: Briefing, lesson: Lesson) -> bool:
    """Return whether the lesson is told: in full, by a title that says something of it, or by a line for several."""
    for item in briefing.items:
        if lesson.id == item.lesson.id:
            return not item.why.words.startswith(TITLED) or says(lesson.title, lesson)
    for entry in briefing.entries:
        if lesson.id == entry.id:
            return says(lesson.title if lesson.title in entry.text else entry.text, lesson)
    groups = [*(item.also for item in briefing.items), *(entry.also for entry in briefing.entries)]
    return any(lesson.id in group for group in groups)


def says(title: str, lesson: Lesson) -> bool:
    """Return whether enough of the title's words are the lesson's own: another lesson's title tells nothing of it."""
    quotes = (span.quote for span in lesson.provenance.evidence)
    own = stems_of("\n".join((lesson.insight, lesson.why, lesson.how, *quotes)))
    stems = [stem for stem in stems_of(title) if len(stem) >= SHORTEST_STEM]
    return sum(stem in own for stem in stems) >= TITLE_SHARE * len(stems)


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


FORMAT = 1
BASELINE_LIMIT = 50_000_000
"""Bytes of a baseline that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLesson:
    """Where a lesson was told, and its moments."""

    told: str
    moments: tuple[EventId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A lesson that was told and is not any more, or whose successor is not told where it was needed."""

    id: LessonId
    now: RehearsedLesson
    """The lesson now, or the one that superseded it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """What became of the baseline's lessons."""

    lost: tuple[Lost, ...] = ()
    gone: int = 0
    """Lessons that are not confirmed any more, and that no confirmed one superseded."""
    new: int = 0
    """Confirmed lessons that the baseline does not have."""


def write_baseline(path: str, rehearsal: LessonRehearsal) -> None:
    """Write the rehearsal as a baseline. Raises OSError."""
    lessons = {
        lesson.id: {"told": lesson.told, "moments": [moment.event for moment in lesson.moments]}
        for lesson in sorted(rehearsal.lessons, key=lambda lesson: lesson.id)
    }
    Path(path).write_text(json.dumps({"format": FORMAT, "lessons": lessons}, indent=1) + "\n", encoding="utf-8")


def read_baseline(path: str) -> dict[LessonId, KnownLesson] | None:
    """Return the baseline's lessons; None if there is no such file. Raises InvalidValueError for another file."""
    try:
        with open(path, "rb") as stream:
            document = json.loads(stream.read(BASELINE_LIMIT))
        if document["format"] != FORMAT:
            raise ValueError
        return {LessonId(id_): _known(entry) for id_, entry in document["lessons"].items()}
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        hint = "name a file that does not exist, to write a new one"
        raise InvalidValueError(f"{path} is no baseline of this version", hint=hint) from None


def _known(entry: Any) -> KnownLesson:
    moments = entry["moments"]
    if entry["told"] not in WHEN_TOLD or not all(isinstance(event, str) for event in moments):
        raise ValueError
    return KnownLesson(told=entry["told"], moments=tuple(moments))


def as_lost(lessons: Iterable[RehearsedLesson]) -> tuple[Lost, ...]:
    """Return the lessons as lost, where there is no baseline to compare with."""
    return tuple(Lost(id=lesson.id, now=lesson) for lesson in lessons)


def compare(known: Mapping[LessonId, KnownLesson], rehearsal: LessonRehearsal, *, sampled: bool) -> BaselineComparison:
    """Return what got worse since the baseline; of a sample, nothing counts as gone."""
    now = {replaced: lesson for lesson in rehearsal.lessons for replaced in lesson.replaces}
    now |= {lesson.id: lesson for lesson in rehearsal.lessons}
    lost = [Lost(id=id_, now=now[id_]) for id_, entry in known.items() if id_ in now and _is_lost(id_, entry, now[id_])]
    return BaselineComparison(
        lost=tuple(lost),
        gone=0 if sampled else sum(id_ not in now for id_ in known),
        new=sum(lesson.id not in known for lesson in rehearsal.lessons),
    )


def _is_lost(id_: LessonId, before: KnownLesson, now: RehearsedLesson) -> bool:
    """Return whether the lesson was told and is told nowhere now; a successor has to be told where the lesson was."""
    if before.told == NEVER or now.told == START:
        return False
    own = [moment for moment in now.moments if now.id == id_ or moment.event in before.moments]
    return not any(moment.is_told for moment in own)
