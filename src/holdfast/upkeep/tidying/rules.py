"""Finds what can be consolidated without a model: equal rules, lessons about code that is gone, and weak titles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from math import ceil

from holdfast.compare.sameness import find_pairs
from holdfast.domain.kinds import family_of, profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LessonId
from holdfast.freshness.check import FreshnessCheck
from holdfast.ports.services import Services
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.written import without_written
from holdfast.text.meaning import read
from holdfast.text.occasions import linters_in
from holdfast.text.titles import is_weak, make_title
from holdfast.upkeep.tidying.checks import is_persons, loss
from holdfast.upkeep.tidying.proposal import Step

ALIKE = 0.6
"""Share of their telling stems that makes two lessons nearly equal, if they name the same things."""
LEAST_WORDS = 4
"""Telling stems of a lesson that is compared."""


def find_needless(
    services: Services, location: Location, lessons: Sequence[Lesson], shared: Container[LessonId]
) -> Iterator[Step]:
    """Yield the merges and retirements that rules find among the project's living lessons."""
    merged: set[LessonId] = set()
    for step in _merge_equal(lessons, shared):
        merged |= set(step.ids)
        yield step
    rest = [lesson for lesson in lessons if lesson.id not in merged and not is_persons(lesson)]
    unwritten = {lesson.id for lesson in without_written(services, location, rest, by_us=False)}
    is_gone = _GoneCode(services, location)
    for lesson in rest:
        if lesson.id not in unwritten:
            yield Step(verb="retire", lesson=lesson.id, reason="the README or a rules file says it")
        elif is_gone.has(lesson):
            yield Step(verb="retire", lesson=lesson.id, reason="the code that it is about is gone")


def find_weak_titles(lessons: Sequence[Lesson]) -> Iterator[Step]:
    """Yield a better title for each lesson whose own is too long, cut or only a topic, where its words give one."""
    for lesson in lessons:
        if is_weak(lesson.title) and (title := make_title(lesson.insight)) and not is_weak(title):
            yield Step(verb="retitle", lesson=lesson.id, title=title, reason="the title is long, cut or only a topic")


class _GoneCode:
    """Decides whether all code of a lesson is gone for good: from the main line, and not only from the work tree."""

    def __init__(self, services: Services, location: Location) -> None:
        self._check = FreshnessCheck(services, location)
        self._branches = services.workspace.branches(location)
        self._location = location
        self._is_main = not location.commit or self._branches.is_main(location.branch)

    def has(self, lesson: Lesson) -> bool:
        """Return whether the lesson is about code that is gone, and is none that tells why."""
        if not self._is_main or profile_of(lesson.kind).outlives_code:
            return False
        verdicts = self._check.anchor_verdicts(lesson)
        if not verdicts or any(verdict.freshness != "orphaned" for _, verdict in verdicts):
            return False
        if any(verdict.reason == "deleted_here" for _, verdict in verdicts):
            return False
        gone = [anchor.path for anchor, verdict in verdicts if verdict.reason == "file_gone"]
        return not (gone and self._location.commit and self._branches.blobs(self._location.commit, gone))


def _merge_equal(lessons: Sequence[Lesson], shared: Container[LessonId]) -> Iterator[Step]:
    """Yield a merge for each group of equal or nearly equal lessons, of those that lose nothing by it."""
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
        left = sorted(group, key=lambda lesson: (lesson.id in shared, *_worth(lesson)), reverse=True)
        while len(left) > 1:
            stays, *others = left
            gone = [lesson for lesson in others if _covers(stays, lesson)]
            if gone:
                replaces = tuple(lesson.id for lesson in gone)
                yield Step(verb="merge", lesson=stays.id, replaces=replaces, reason="they say the same")
            left = [lesson for lesson in others if lesson not in gone]


def _covers(stays: Lesson, gone: Lesson) -> bool:
    """Return whether the first lesson has every name of the second one, and replaces it without another loss."""
    words = "\n".join((stays.title, stays.insight, stays.why, stays.how, stays.command))
    return set(read(gone.insight).names) <= set(read(words).names) and not loss(gone, stays)


def _near_pairs(lessons: Sequence[Lesson]) -> Iterator[tuple[Lesson, Lesson]]:
    """Yield pairs for the same readers that share most telling words, name the same things and deny as often.

    Only lessons that share one of their rarest words are compared. Enough of these are looked at that no pair is
    missed.

    Source: prefix filtering (Chaudhuri, Ganti & Kaushik, ICDE 2006).
    """
    words = [_telling(lesson) for lesson in lessons]
    counts = Counter(stem for stems in words for stem in stems)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, stems in enumerate(words):
        if len(stems) < LEAST_WORDS:
            continue
        looked_at = len(stems) - ceil(ALIKE * len(stems)) + 1
        rarest = sorted(stems, key=lambda stem: (counts[stem], stem))[:looked_at]
        for other in sorted({other for stem in rarest for other in by_word[stem]}):
            shares_most = len(stems & words[other]) >= ALIKE * len(stems | words[other])
            if shares_most and _may_say_the_same(lessons[other], lessons[number]):
                yield lessons[other], lessons[number]
        for stem in rarest:
            by_word[stem].append(number)


def _may_say_the_same(first: Lesson, other: Lesson) -> bool:
    """Return whether two lessons are of one sort, for the same readers, about the same names and deny as often."""
    if family_of(first.kind) != family_of(other.kind):
        return False
    meaning, others_meaning = read(first.insight), read(other.insight)
    names, others_names = set(meaning.names), set(others_meaning.names)
    same_names = names <= others_names or others_names <= names
    same_denials = len(meaning.negations) == len(others_meaning.negations)
    same_linters = set(linters_in(first.title)) == set(linters_in(other.title))
    return first.scope == other.scope and same_names and same_denials and same_linters


def _telling(lesson: Lesson) -> frozenset[str]:
    return frozenset(stem for stem in stems_of(lesson.insight) if stem not in EVERYDAY and len(stem) > 2)


def _worth(lesson: Lesson) -> tuple[bool, int, bool, int, float]:
    """Return the sort key of the lesson that stays: a person's, with most names, with a reason, often seen, newest."""
    seen = len(lesson.sessions_seen)
    names = len(set(read(lesson.insight).names))
    return is_persons(lesson), names, bool(lesson.why), seen, lesson.validity.valid_from.timestamp()
