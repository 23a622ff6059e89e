"""Refuses steps of a proposal that would lose a person's rule, or change a negation, a number or a name."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from holdfast.compare.contradiction import relation
from holdfast.compare.sameness import same
from holdfast.curation.tuning import ACCEPTED_CONFIDENCE
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.texts import short_id
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.text.meaning import read, reverses
from holdfast.text.titles import fault_of
from holdfast.upkeep.tidying.proposal import RULE, Step, words_of

MERGED_LIMIT = 3_000
"""Characters of the rules that a model may merge into one, which keeps all their words."""
LEAST_SHARED = 2
"""Telling stems that a lesson shares with the one that replaces it."""

OPPOSITES = ({"true", "false"}, {"enabled", "disabled"}, {"enable", "disable"})
"""Values of which two lessons that say the same have not one each."""


def is_persons(lesson: Lesson) -> bool:
    """Return whether it says what a person said, pinned or accepted: nothing else may take its place."""
    return lesson.provenance.quotes_person or is_stated(lesson)


def is_stated(lesson: Lesson) -> bool:
    """Return whether a person stated, pinned or accepted it in these words, so that only a person may close it."""
    return lesson.trust == "person" or lesson.pinned or lesson.confidence >= ACCEPTED_CONFIDENCE


def check(
    steps: Iterable[Step], lessons: Mapping[LessonId, Lesson], shared: Container[LessonId] = ()
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps that lose nothing, and why the others were refused, naming their lessons.

    A lesson is closed or retitled once at most. `shared` are the lessons that have a file in the repository.
    """
    accepted: list[Step] = []
    refused: list[str] = []
    closed: set[LessonId] = set()
    stays: set[LessonId] = set()
    titled: set[LessonId] = set()
    for step in steps:
        missing = [id_ for id_ in step.ids if id_ not in lessons]
        if not missing and step.by != RULE and is_stated(lessons[step.lesson]):
            step = replace(step, title="")  # how a person's rule is told is the person's matter
        if missing:
            refused.append(f"{step.verb}: lesson {short_id(missing[0])} is no longer confirmed and living")
        elif closed & set(step.ids) or stays & set(step.closes) or (step.title and step.lesson in titled):
            refused.append(f"{_name(step, lessons)}: another step is about the same lesson")
        elif fault := _fault(step, lessons, shared):
            refused.append(f"{_name(step, lessons)}: {fault}")
        else:
            accepted.append(replace(step, words=words_of(step, lessons)))
            closed |= set(step.closes)
            stays |= {step.lesson} - closed
            titled |= {step.lesson} if step.title else set()
    return tuple(accepted), tuple(refused)


def _name(step: Step, lessons: Mapping[LessonId, Lesson]) -> str:
    return f"{step.verb} {short_id(step.lesson)} {lessons[step.lesson].title!r}"


def _fault(step: Step, lessons: Mapping[LessonId, Lesson], shared: Container[LessonId]) -> str:
    """Return what the step would lose or change; empty if nothing."""
    lesson = lessons[step.lesson]
    if step.words and step.words != words_of(step, lessons):
        return "its words changed since it was proposed"
    if step.verb == "retire":
        return "a person said it" if is_persons(lesson) else ""
    joins = joins_words(step, lesson)
    sources = [lesson, *(lessons[id_] for id_ in step.replaces if joins)]
    if step.title and (fault := fault_of(step.title, "\n".join(map(_said, sources)))):
        return fault
    if step.verb == "merge" and not step.replaces:
        return "it replaces nothing"
    for id_ in step.replaces:
        if id_ in shared and step.lesson not in shared:
            return "a lesson that is not shared would replace a shared one"
        if fault := loss(lessons[id_], lesson, keeps_words=joins):
            return fault
    if joins and sum(len(each.insight) for each in sources) > MERGED_LIMIT:
        return f"together they have more than {MERGED_LIMIT:,} characters"
    return ""


def joins_words(step: Step, stays: Lesson) -> bool:
    """Return whether the lesson that stays takes over the words of the others: what a model merges need not be equal.

    A lesson that a person stated stays as it is.
    """
    return step.by != RULE and not is_stated(stays)


def with_words(insight: str, other: str) -> str:
    """Return the insight with the other one as a further line, unless it says that already."""
    return insight if other in insight or same(insight, other) else f"{insight}\n- {other}"


def loss(gone: Lesson, stays: Lesson, *, keeps_words: bool = False) -> str:
    """Return what is lost or turned when the first lesson is replaced by the second; empty if nothing is.

    `keeps_words`: the second one takes over the words of the first.
    """
    if gone.scope != stays.scope:
        return "they are for different readers"
    if gone.private != stays.private:
        return "only one of them is private"
    if is_persons(gone) and not is_persons(stays):
        return "a person said what would be replaced"
    if gone.error_signature and stays.error_signature and gone.error_signature != stays.error_signature:
        return "they are about different failures"
    if _are_opposite(gone.insight, stays.insight):
        return "they say opposite things"
    if keeps_words:
        return "" if _stems(gone) & _stems(stays) else "they have nothing in common"
    whole = read("\n".join((stays.title, stays.insight, stays.why, stays.how, stays.command)))
    if lost := sorted(set(read(gone.insight).numbers) - set(whole.numbers)):
        return f"a number would be lost: {lost[0]}"
    return "" if len(_telling(gone) & _telling(stays)) >= LEAST_SHARED else "they have too little in common"


def _said(lesson: Lesson) -> str:
    quotes = (span.quote for span in lesson.provenance.evidence)
    return "\n".join((lesson.title, lesson.insight, lesson.why, lesson.how, lesson.command, *quotes))


def _are_opposite(text: str, other: str) -> bool:
    if reverses(text, other) or reverses(other, text) or relation(text, other).kind == "contradicts":
        return True
    words, others = set(read(text).words), set(read(other).words)
    return any(pair <= words ^ others and len(pair & words) == 1 for pair in OPPOSITES)


def _telling(lesson: Lesson) -> frozenset[str]:
    return _stems(lesson) - EVERYDAY


def _stems(lesson: Lesson) -> frozenset[str]:
    words = stems_of(f"{lesson.title} {lesson.insight} {lesson.why}")
    return frozenset(stem for stem in words if len(stem) > 2)
