"""At a session's start: the task's state, the rules that hold for all work, and how many more lessons there are."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.domain.records import Outcome
from holdfast.ports.filters import LogFilter
from holdfast.ports.lessonstore import get_readable
from holdfast.ranking.threshold import is_sufficient_alone
from holdfast.recall.moments.context import Pick, as_found
from holdfast.recall.tuning import (
    COUNTED,
    OUTCOMES_READ,
    PROVEN_SESSIONS,
    RESTORED_LINES,
    STANDING_LINES,
)
from holdfast.text.occasions import group_keys, is_standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.vocabulary import LessonId, SessionId
    from holdfast.recall.moments.context import MomentContext

RULE, PINNED = "a standing rule", "pinned"
NEEDED = ("heeded", "helped")


def session_start(context: MomentContext) -> Briefing:
    """Deliver the checkpoint, a lesson about its files, the standing rules, and the number of further lessons."""
    context.checkpoint = context.restorable(own=True)
    count = len(context.services.store.list_recent(context.query(), COUNTED))
    return context.tell((_task_picks(context), RESTORED_LINES), (standing_picks(context), STANDING_LINES), extra=count)


def after_compaction(context: MomentContext) -> Briefing:
    """Deliver the task's state, a lesson about its files, and the standing rules, which the agent has lost too."""
    context.checkpoint = context.restorable(own=True)
    return context.tell((_task_picks(context), RESTORED_LINES), (standing_picks(context), STANDING_LINES))


def _task_picks(context: MomentContext) -> list[Pick]:
    """Pick lessons about the files of the restored task, those that match its goal first."""
    if context.checkpoint is None or not context.checkpoint.files:
        return []
    from holdfast.recall.retrieve import retrieve

    query = context.query(text=context.checkpoint.goal, paths=context.checkpoint.files)
    retrieval = retrieve(context.services, query, ("path", "text"))
    context.degraded = retrieval.degraded
    near = [match for match in retrieval.matches if any(map(is_sufficient_alone, match.shares))]
    return [Pick(found=match, reason="about a file of the task") for match in near]


def standing_picks(context: MomentContext) -> list[Pick]:
    """Pick the pinned lessons and the standing rules, most important first, each group once."""
    matches = context.services.store.list_pinned(context.query(), STANDING_LINES)
    pinned = get_readable(context.services.store, [match.id for match in matches])
    standing = context.of_occasions("standing")
    every = list({lesson.id: lesson for lesson in (*pinned, *standing)}.values())
    return grouped(_ordered(context, every), RULE)


def grouped(lessons: Sequence[Lesson], reason: str) -> list[Pick]:
    """Pick each lesson that says something no earlier lesson says, with the others of its group."""
    keys = {lesson.id: group_keys(lesson) for lesson in lessons}
    picks: list[Pick] = []
    delivered_keys: frozenset[str] = frozenset()
    for lesson, match in zip(lessons, as_found(lessons), strict=True):
        own = keys[lesson.id]
        if own <= delivered_keys:
            continue
        delivered_keys |= own
        also = tuple(other.id for other in lessons if other is not lesson and keys[other.id] <= own)
        general = is_standing(lesson) or not lesson.symbols  # the file in which a rule was learnt says nothing
        picks.append(Pick(found=match, reason=PINNED if lesson.pinned else reason, also=also, general=general))
    return picks


def _ordered(context: MomentContext, lessons: Iterable[Lesson]) -> list[Lesson]:
    """Sort: pinned lessons, then not those of other persons, then those that sessions needed, then the oldest."""
    lessons = list(lessons)
    needed = _needed(context, lessons)
    person = _present_person(context, lessons)

    def order(lesson: Lesson) -> tuple[bool, bool, int, object]:
        stated_by = lesson.provenance.person
        is_others = profile_of(lesson.kind).is_personal and bool(stated_by and person) and stated_by != person
        times = needed.get(lesson.id, 0)
        return (not lesson.pinned, is_others, -times if times >= PROVEN_SESSIONS else 0, lesson.validity.valid_from)

    return sorted(lessons, key=order)


def _needed(context: MomentContext, lessons: Sequence[Lesson]) -> dict[LessonId, int]:
    """Return in how many sessions each lesson was heeded or helped."""
    if not lessons:
        return {}
    where = LogFilter(project=context.location.project.id, limit=OUTCOMES_READ)
    sessions: dict[LessonId, set[SessionId]] = {}
    for outcome in context.services.store.find_records(Outcome, where):
        if outcome.verdict in NEEDED:
            sessions.setdefault(outcome.lesson, set()).add(outcome.session)
    return {lesson: len(session_ids) for lesson, session_ids in sessions.items()}


def _present_person(context: MomentContext, lessons: Sequence[Lesson]) -> str:
    """Return who works in this folder, only if a lesson names its author: asking git costs a process."""
    if not any(lesson.provenance.person for lesson in lessons):
        return ""
    return context.services.workspace.person(context.location).id
