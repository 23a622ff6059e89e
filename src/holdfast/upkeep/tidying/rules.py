"""Finds what can be consolidated without a model: equal rules, lessons about code that is gone, and weak titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.written import without_written
from holdfast.text.contradiction import relation
from holdfast.text.meaning import read
from holdfast.text.occasions import linters_in
from holdfast.text.resemblance import find_pairs
from holdfast.text.titles import is_weak, make_title
from holdfast.upkeep.tidying.checks import is_persons
from holdfast.upkeep.tidying.proposal import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import Freshness, LessonId
    from holdfast.ports.services import Services

ALIKE = 0.6
"""Share of their telling stems that makes two lessons nearly equal, if they name the same things."""
LEAST_WORDS = 4
"""Telling stems of a lesson that is compared."""


def propose_by_rules(
    services: Services, location: Location, lessons: Sequence[Lesson], freshness: dict[LessonId, Freshness]
) -> Iterator[Step]:
    """Yield the steps that rules find among the project's living lessons."""
    yield from _merge_equal(lessons)
    unwritten = {lesson.id for lesson in without_written(services, location, lessons)}
    for lesson in lessons:
        if lesson.id not in unwritten:
            yield Step(verb="retire", lesson=lesson.id, reason="the README or a rules file says it")
        elif freshness.get(lesson.id) == "orphaned":
            yield Step(verb="retire", lesson=lesson.id, reason="the code that it is about is gone")
        elif is_weak(lesson.title) and (title := make_title(lesson.insight)) and not is_weak(title):
            yield Step(verb="retitle", lesson=lesson.id, title=title, reason="the title is long, cut or only a topic")


def _merge_equal(lessons: Sequence[Lesson]) -> Iterator[Step]:
    """Yield a merge for each group of equal or nearly equal lessons."""
    leader = {lesson.id: lesson.id for lesson in lessons}

    def find(id_: LessonId) -> LessonId:
        while leader[id_] != id_:
            id_ = leader[id_]
        return id_

    for first, other in (*find_pairs(lessons), *_near_pairs(lessons)):
        leader[find(other.id)] = find(first.id)
    groups: dict[LessonId, list[Lesson]] = {}
    for lesson in lessons:
        groups.setdefault(find(lesson.id), []).append(lesson)
    for group in groups.values():
        if len(group) > 1:
            stays, *others = sorted(group, key=_worth, reverse=True)
            replaces = tuple(lesson.id for lesson in others)
            yield Step(verb="merge", lesson=stays.id, replaces=replaces, reason="they say the same")


def _near_pairs(lessons: Sequence[Lesson]) -> Iterator[tuple[Lesson, Lesson]]:
    """Yield pairs of one kind of subject that share most telling words and name the same things."""
    described = [(lesson, _telling(lesson), frozenset(read(lesson.insight).names)) for lesson in lessons]
    for at, (first, words, names) in enumerate(described):
        for other, others_words, others_names in described[at + 1 :]:
            if first.scope != other.scope or min(len(words), len(others_words)) < LEAST_WORDS:
                continue
            if len(words & others_words) < ALIKE * len(words | others_words):
                continue
            same_names = names <= others_names or others_names <= names
            same_linters = set(linters_in(first.title)) == set(linters_in(other.title))
            if same_names and same_linters and relation(first.insight, other.insight).kind != "contradicts":
                yield first, other


def _telling(lesson: Lesson) -> frozenset[str]:
    return frozenset(stem for stem in stems_of(lesson.insight) if stem not in EVERYDAY and len(stem) > 2)


def _worth(lesson: Lesson) -> tuple[bool, bool, bool, int, float]:
    """Return the sort key of the lesson that stays: a person's, a confirmed one, with a reason, often seen, newest."""
    seen = len(lesson.sessions_seen)
    return is_persons(lesson), lesson.state == "active", bool(lesson.why), seen, lesson.validity.valid_from.timestamp()
