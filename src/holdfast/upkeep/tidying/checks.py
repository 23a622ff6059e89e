"""Refuses steps of a proposal that would lose a person's rule, or change a negation, a number or a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.text.contradiction import relation
from holdfast.text.meaning import read, reverses
from holdfast.text.titles import fault_of
from holdfast.upkeep.tidying.proposal import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.vocabulary import LessonId

LEAST_SHARED = 2
"""Telling stems that a lesson shares with the one that replaces it."""
ACCEPTED = 0.9
"""Confidence from which somebody has read and accepted a lesson."""


def is_persons(lesson: Lesson) -> bool:
    """Return whether a person said, pinned or accepted it, so that only a person may close it."""
    return lesson.trust == "person" or lesson.provenance.quotes_person or lesson.pinned or lesson.confidence >= ACCEPTED


def check(steps: Iterable[Step], lessons: Mapping[LessonId, Lesson]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps that lose nothing, and why the others were refused; a lesson is touched once."""
    accepted: list[Step] = []
    refused: list[str] = []
    touched: set[LessonId] = set()
    stays: set[LessonId] = set()
    for step in steps:
        ids = (step.lesson, *step.replaces)
        if any(id_ not in lessons for id_ in ids):
            refused.append(f"{step.verb}: it names a lesson that is not living")
        elif touched & set(ids) or stays & set(step.replaces) or (step.verb != "merge" and step.lesson in stays):
            refused.append(f"{step.verb}: another step is about the same lesson")
        elif fault := _fault(step, lessons):
            refused.append(f"{step.verb} {lessons[step.lesson].title!r}: {fault}")
        else:
            accepted.append(step)
            stays.add(step.lesson)
            touched |= set(step.replaces) | ({step.lesson} if step.verb != "merge" or step.title else set())
    return tuple(accepted), tuple(refused)


def _fault(step: Step, lessons: Mapping[LessonId, Lesson]) -> str:
    """Return what the step would lose or change; empty if nothing."""
    lesson = lessons[step.lesson]
    if step.verb == "retire":
        return "a person said it" if is_persons(lesson) else ""
    if step.title:
        words = "\n".join(
            (lesson.insight, lesson.why, lesson.how, *(span.quote for span in lesson.provenance.evidence))
        )
        if fault := fault_of(step.title, words):
            return fault
    if step.verb == "merge" and not step.replaces:
        return "it replaces nothing"
    return next((fault for id_ in step.replaces if (fault := _loss(lessons[id_], lesson))), "")


def _loss(gone: Lesson, stays: Lesson) -> str:
    """Return what is lost or turned when the first lesson is replaced by the second; empty if nothing is."""
    if gone.scope != stays.scope:
        return "they are for different readers"
    if is_persons(gone) and not is_persons(stays):
        return "a person said what would be replaced"
    if reverses(stays.insight, gone.insight) or relation(gone.insight, stays.insight).kind == "contradicts":
        return "they say opposite things"
    whole = read("\n".join((stays.title, stays.insight, stays.why, stays.how, stays.command)))
    if set(read(gone.insight).numbers) - set(whole.numbers):
        return "a number would be lost"
    if len(_telling(gone) & _telling(stays)) < LEAST_SHARED:
        return "they have too little in common"
    return ""


def _telling(lesson: Lesson) -> frozenset[str]:
    words = stems_of(f"{lesson.title} {lesson.insight} {lesson.why}")
    return frozenset(stem for stem in words if stem not in EVERYDAY and len(stem) > 2)
