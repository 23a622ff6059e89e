"""Recommendations: few things that a person could do so that a lesson need not be told again.

- *rules file*: a rule that persons stated in three sessions and that no rules file of the work tree says.
- *lint rule*, *test*, *comment*: a lesson that is told again and again, and that the code itself could say or check.
- *lesson*: a file whose failures come again and again, and about which memory knows nothing.

Each names its evidence: lessons, sessions, counts. What a person dismisses is not recommended again, also when more
lessons say it. A lesson that contradicts another one is not recommended. Without a work tree, on a server, there are
none: only a clone has the rules files and the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.curation.conflicts import find_conflicts
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import RECOMMENDATIONS_DISMISSED
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.lessons.staging import hidden_here
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.rendering.lines import safe_title
from holdfast.reports.advice import ADVICE, AdviceKind, Suggestion
from holdfast.reports.codeadvice import advise_on_code
from holdfast.reports.digest import LessonRef
from holdfast.reports.keptcounts import kept_answer, kept_count, newest_judgement
from holdfast.reports.repeated import find_repeated_rules
from holdfast.reports.trouble import find_trouble
from holdfast.reports.tuning import ADVICE_LESSONS, ADVICE_MOST, ADVICE_READ, ADVICE_SESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Something to do, and why."""

    key: str
    """What `dismiss` takes."""
    kind: AdviceKind
    title: str
    """What to do."""
    why: str
    """The evidence, in words."""
    place: str = ""
    """The file, and the symbol behind `::`, that it is about."""
    rule: str = ""
    """The words to write down, in full."""
    lessons: tuple[LessonRef, ...] = ()
    sessions: tuple[SessionId, ...] = ()
    """Some of the sessions, the newest first."""
    session_count: int = 0
    is_dismissed: bool = False


def recommend(
    services: Services, location: Location, *, dismissed: bool = False, limit: int = 0, fresh: bool = True
) -> list[Recommendation]:
    """Return the recommendations, those with most evidence first of each sort; with `dismissed`, those too.

    `limit` is the most of one sort; 0 stands for a few. Unless `fresh`, they may be a minute old as far as
    the code and its rules files are concerned.
    """
    if not location.has_work_tree:
        return []
    if fresh:
        known, advice = _advise(services, location)
    else:
        what = "recommendations", location.root, location.branch, location.commit
        mark = newest_judgement(services, location)
        known, advice = kept_answer(services, location, what, mark, lambda: _advise(services, location))
    gone = _Dismissed.read(services, location)
    shown = [_recommendation(each, known, gone) for each in advice if dismissed or not gone.has(each)]
    return [each for kind in ADVICE for each in [row for row in shown if row.kind == kind][: limit or ADVICE_MOST]]


def _advise(services: Services, location: Location) -> tuple[dict[LessonId, Lesson], list[Suggestion]]:
    """Return all advice, dismissed or not, and the lessons that it names."""
    hidden = hidden_here(services, location)
    where = LessonFilter(project=location.project.id, states=("active",), limit=ADVICE_READ)
    lessons = [lesson for lesson in services.store.find(where) if lesson.id not in hidden]
    pairs = kept_count(services, location, "conflicts", lambda: find_conflicts(services, location))
    disputed = {lesson.id for pair in pairs for lesson in (pair.better, pair.worse)}
    undisputed = [lesson for lesson in lessons if lesson.id not in disputed]
    advice = [
        *find_repeated_rules(services, location, undisputed),
        *advise_on_code(services, location, undisputed),
        *find_trouble(services, location, lessons),
    ]
    subjects = {id_ for each in advice for id_ in each.lessons}
    return {lesson.id: lesson for lesson in lessons if lesson.id in subjects}, advice


def dismiss(services: Services, location: Location, key: str) -> Recommendation:
    """Do not show the recommendation again, whoever looks; return it. Raises NotFoundError."""
    row = _find(services, location, key)
    _Dismissed.edit(services, location, add=(row.kind, _subjects(row)))
    return replace(row, is_dismissed=True)


def restore(services: Services, location: Location, key: str) -> Recommendation:
    """Show a dismissed recommendation again; return it. Raises NotFoundError."""
    row = _find(services, location, key)
    _Dismissed.edit(services, location, remove=(row.kind, _subjects(row)))
    return replace(row, is_dismissed=False)


def _find(services: Services, location: Location, key: str) -> Recommendation:
    every = recommend(services, location, dismissed=True, limit=ADVICE_READ)
    named = [each for each in every if each.key == key.strip()]
    if not named:
        raise NotFoundError(f"there is no recommendation {key[:60]!r}", hint="holdfast recommend --all lists them")
    return named[0]


def _subjects(of: Recommendation) -> tuple[str, ...]:
    return tuple(ref.lesson for ref in of.lessons) or (of.place,)


def _recommendation(advice: Suggestion, known: dict[LessonId, Lesson], gone: _Dismissed) -> Recommendation:
    subject = short_id(min(advice.lessons)) if advice.lessons else advice.place
    lessons = [known[id_] for id_ in advice.lessons if id_ in known]
    return Recommendation(
        key=f"{advice.kind}:{subject}",
        kind=advice.kind,
        title=advice.title,
        why=advice.why,
        place=advice.place,
        rule=advice.rule,
        lessons=tuple(
            LessonRef(lesson=each.id, short_id=short_id(each.id), title=safe_title(each))
            for each in lessons[:ADVICE_LESSONS]
        ),
        sessions=advice.sessions[:ADVICE_SESSIONS],
        session_count=len(advice.sessions),
        is_dismissed=gone.has(advice),
    )


@dataclass(frozen=True, slots=True)
class _Dismissed:
    """The lessons and files of dismissed recommendations, by sort."""

    subjects: dict[str, frozenset[str]]

    @classmethod
    def read(cls, services: Services, location: Location) -> _Dismissed:
        plain = _parse(services.store.get_state(RECOMMENDATIONS_DISMISSED, location.project.id))
        return cls({kind: frozenset(subjects) for kind, subjects in plain.items()})

    @staticmethod
    def edit(
        services: Services,
        location: Location,
        add: tuple[str, Iterable[str]] = ("", ()),
        remove: tuple[str, Iterable[str]] = ("", ()),
    ) -> None:
        def change(text: str) -> str:
            plain = _parse(text)
            plain[add[0]] = sorted({*plain.get(add[0], ()), *add[1]})
            plain[remove[0]] = sorted({*plain.get(remove[0], ())} - {*remove[1]})
            left = {kind: subjects for kind, subjects in plain.items() if subjects}
            return dumps(left) if left else ""

        services.store.edit_state(RECOMMENDATIONS_DISMISSED, location.project.id, change)

    def has(self, advice: Suggestion) -> bool:
        """Return whether a person dismissed the advice: one that grew by a lesson is still the same."""
        return bool(self.subjects.get(advice.kind, frozenset()) & {*advice.lessons, advice.place})


def _parse(text: str) -> dict[str, Sequence[str]]:
    """Return the subjects of each sort; none where they cannot be read."""
    try:
        plain: Any = loads(text or "{}")
        return {str(kind): [str(each) for each in subjects] for kind, subjects in plain.items()}
    except (AttributeError, InvalidValueError, TypeError):
        return {}
