"""Audit: lists lessons that a person should review, the most doubtful first, a few a day.

Looking changes nothing. A lesson that a person keeps is hidden for KEPT_DAYS, unless it is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from holdfast.compare.sameness import find_pairs
from holdfast.curation.review import WAITING, accept, confirm
from holdfast.curation.tuning import (
    AUDITED_MOST,
    DAILY,
    KEPT_DAYS,
    LATER_DAYS,
    LOW_CONFIDENCE,
    NEVER_TOLD_DAYS,
    OLD_DAYS,
    REASON_WEIGHTS,
)
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Delivery
from holdfast.domain.statefamilies import AUDIT_DIARY
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.lessons.crossing import find_recurring
from holdfast.lessons.lookup import resolve
from holdfast.outcomes.settle import for_review
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter

VOUCHING = ("remember", "accept", "confirm", "revise", "edit")
"""Verbs of changes by which somebody confirms that a lesson holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A lesson to review, and why."""

    lesson: Lesson
    reasons: tuple[tuple[str, str], ...]
    """(reason of REASON_WEIGHTS, its explanation), the weightiest first."""
    twins: tuple[LessonId, ...] = ()
    """Lessons of other projects that say the same; only with the reason `recurs`."""

    @property
    def weight(self) -> float:
        """How much it is worth a review."""
        return sum(REASON_WEIGHTS[reason] for reason, _ in self.reasons)

    @property
    def names(self) -> tuple[str, ...]:
        """The reasons without explanations."""
        return tuple(reason for reason, _ in self.reasons)


def audit(services: Services, location: Location, lessons: Sequence[Lesson] = ()) -> list[Finding]:
    """Return the findings, weightiest first, without those kept or put off recently.

    `lessons` are the active ones to look at, by default all of the project and the user.
    """
    diary = _Diary(services, location)
    where = LessonFilter(project=location.project.id, states=("active",), limit=AUDITED_MOST)
    findings = _find(services, location, lessons or services.store.find(where))
    return [finding for finding in findings if not diary.hides(finding.lesson)]


def left_today(services: Services, location: Location) -> int:
    """Return how many of a day's lessons are still to be decided."""
    return max(0, DAILY - _Diary(services, location).decided_today)


def hidden_by_diary(services: Services, location: Location) -> Callable[[Lesson, datetime | None], bool]:
    """Return the function that says whether a lesson was kept or put off of late, and has not changed since.

    Its second argument is when somebody doubted the lesson last: it is hidden only if it was kept after that.
    """
    return _Diary(services, location).hides


def keep(services: Services, location: Location, ref: str, *, author: str = "") -> Lesson:
    """Confirm that the lesson still holds, anchored to the present code; a waiting lesson is accepted.

    Raises InvalidValueError when nothing that it is about is left.
    """
    lesson = resolve(services, location, ref)
    settle = accept if lesson.state in WAITING else confirm
    confirmed = settle(services, location, lesson.id, author=author)
    _Diary(services, location).note(confirmed, KEPT_DAYS)
    return confirmed


def put_off(services: Services, location: Location, ref: str) -> Lesson:
    """Return the lesson, unchanged, and hide it for LATER_DAYS."""
    lesson = resolve(services, location, ref)
    _Diary(services, location).note(lesson, LATER_DAYS)
    return lesson


def bring_back(services: Services, location: Location, ref: str) -> Lesson:
    """Return the lesson, unchanged, and list it again after it was put off."""
    lesson = resolve(services, location, ref)
    _Diary(services, location).forget(lesson)
    return lesson


def note_decided(services: Services, location: Location) -> None:
    """Count a decision that ended or replaced a lesson."""
    _Diary(services, location).note(None, 0)


def _find(services: Services, location: Location, lessons: Sequence[Lesson]) -> list[Finding]:
    twins = {recurring.lesson.id: recurring.twins for recurring in find_recurring(services, location)}
    reasons: dict[LessonId, list[tuple[str, str]]] = {lesson.id: [] for lesson in lessons}
    for lesson, words in for_review(services, location):
        reasons.setdefault(lesson.id, []).append(("doubted", words))
    for newer, older in find_pairs(lessons):
        if newer.kind == older.kind or "user" in (newer.scope.level, older.scope.level):
            reasons[older.id].append(("duplicate", f"says the same as {short_id(newer.id)}"))
    last_told, vouched = _last_told(services), _last_vouched(services)
    check = FreshnessCheck(services, location)
    for lesson in lessons:
        lesson_reasons = reasons[lesson.id]
        lesson_reasons += _code_reasons(check, lesson)
        lesson_reasons += _use_reasons(lesson, vouched.get(lesson.id), last_told.get(lesson.id), services.clock.now())
        if lesson.id in twins:
            others = len({twin.scope.project for twin in twins[lesson.id]})
            projects = f"{others} other project{'s' * (others > 1)}"
            lesson_reasons.append(("recurs", f"learnt in {projects}, too: it may hold for all projects"))
    findings = [
        Finding(
            lesson=lesson,
            reasons=tuple(sorted(reasons[lesson.id], key=lambda reason: -REASON_WEIGHTS[reason[0]])),
            twins=tuple(twin.id for twin in twins.get(lesson.id, ())),
        )
        for lesson in lessons
        if reasons[lesson.id]
    ]
    return sorted(
        findings, key=lambda finding: (-finding.weight, finding.lesson.validity.valid_from, finding.lesson.id)
    )


def _code_reasons(check: FreshnessCheck, lesson: Lesson) -> Iterator[tuple[str, str]]:
    freshness, caveat = check.judge(lesson)
    if freshness == "orphaned":
        yield "orphaned", caveat or "its code is gone"
    elif freshness in ("drifted", "changed"):
        yield "drifted", caveat or "its code changed"


def _use_reasons(
    lesson: Lesson, vouched_at: datetime | None, told_at: datetime | None, now: datetime
) -> Iterator[tuple[str, str]]:
    if lesson.confidence < LOW_CONFIDENCE:
        yield "low confidence", f"true with a probability of {lesson.confidence:.2f}"
    if lesson.pinned:
        return
    # `recorded_at` does not fit: a version is also recorded when code moves, and when a change is taken back.
    begun = lesson.validity.valid_from
    age_days = (now - max(begun, vouched_at or begun)).days
    if told_at is None and age_days >= NEVER_TOLD_DAYS:
        yield "never told", f"no session received it in {age_days} days"
    unused_days = min(age_days, (now - told_at).days) if told_at else age_days
    if unused_days >= OLD_DAYS:
        last = f"told last {(now - told_at).days} days ago" if told_at else "never told"
        yield "old", f"learnt or vouched for {age_days} days ago, {last}"


def _last_vouched(services: Services) -> dict[LessonId, datetime]:
    """Return when somebody last vouched for each lesson, without changes that were taken back."""
    changes = services.store.find_records(Change, LogFilter(limit=AUDITED_MOST))
    undone = {change.undone for change in changes if change.verb == "undo"}
    last: dict[LessonId, datetime] = {}
    for change in changes:
        if change.verb in VOUCHING and change.id not in undone:
            for lesson in change.lessons:
                last[lesson] = max(change.at, last.get(lesson, change.at))
    return last


def _last_told(services: Services) -> dict[LessonId, datetime]:
    """Return when each lesson was last told, in any project."""
    last: dict[LessonId, datetime] = {}
    for delivery in services.store.find_records(Delivery, LogFilter(limit=AUDITED_MOST)):
        last[delivery.lesson] = max(delivery.at, last.get(delivery.lesson, delivery.at))
    return last


class _Diary:
    """The decisions of today, and the lessons hidden for a while: one state a project."""

    def __init__(self, services: Services, location: Location) -> None:
        self._services = services
        self._project = location.project.id
        self._today = services.clock.now().date().isoformat()
        plain = _parse(services.store.get_state(AUDIT_DIARY, self._project))
        self.decided_today = plain["decided"] if plain["day"] == self._today else 0
        self._hidden: dict[str, list[str]] = plain["hidden"]

    def hides(self, lesson: Lesson, doubted_at: datetime | None = None) -> bool:
        """Return whether it was kept or put off, and neither changed nor doubted since."""
        until, recorded_at, noted_at = (*self._hidden.get(lesson.id, ()), "", "", "")[:3]
        if recorded_at != render_instant(lesson.recorded_at):
            return False
        if doubted_at is not None and noted_at < render_instant(doubted_at):
            return False
        try:
            return parse_instant(until) > self._services.clock.now()
        except InvalidValueError:
            return False

    def note(self, lesson: Lesson | None, days: int) -> None:
        """Count one decision, and hide the lesson, if there is one, for that many days."""
        now = self._services.clock.now()
        entry: list[str] = []
        if lesson is not None:
            entry = [*map(render_instant, (now + timedelta(days=days), lesson.recorded_at, now))]

        def edit(text: str) -> str:
            plain = _parse(text)
            decided = plain["decided"] if plain["day"] == self._today else 0
            hidden = {key: value for key, value in plain["hidden"].items() if value and value[0] > render_instant(now)}
            if lesson is not None:
                hidden[lesson.id] = entry
            return dumps({"day": self._today, "decided": decided + 1, "hidden": hidden})

        self._services.store.edit_state(AUDIT_DIARY, self._project, edit)

    def forget(self, lesson: Lesson) -> None:
        """Hide the lesson no longer, and uncount the decision that hid it."""

        def edit(text: str) -> str:
            plain = _parse(text)
            is_counted = lesson.id in plain["hidden"] and plain["day"] == self._today
            hidden = {key: value for key, value in plain["hidden"].items() if key != lesson.id}
            return dumps({"day": plain["day"], "decided": max(0, plain["decided"] - is_counted), "hidden": hidden})

        self._services.store.edit_state(AUDIT_DIARY, self._project, edit)


def _parse(text: str) -> dict[str, Any]:
    """Return the diary's fields; those of an empty diary where it cannot be read."""
    try:
        plain = loads(text or "{}")
        hidden = {key: list(map(str, value)) for key, value in plain.get("hidden", {}).items()}
        return {"day": str(plain.get("day", "")), "decided": int(plain.get("decided", 0)), "hidden": hidden}
    except (ValueError, TypeError, AttributeError):
        return {"day": "", "decided": 0, "hidden": {}}
