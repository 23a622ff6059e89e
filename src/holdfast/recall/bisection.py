"""Bisect: finds the commit since which memory gives its present answer, and its answer before.

A commit stands for the instant at which it was committed: memory at a commit is what was known then. Staged lessons
are visible as in a recall on the branch that is checked out.
"""

from __future__ import annotations

from holdfast.curation.lineage import Version, lineage
from holdfast.domain.commit import CommitPoint
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError, InvalidValueError, LessonNotFoundError
from holdfast.lean.records import Frozen
from holdfast.lessons.lookup import resolve
from holdfast.recall.ask import ask
from holdfast.recall.question import question
from holdfast.recall.tuning import BISECTION_TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

NOW = ""
"""The id that stands for the work tree as it is, after the last commit."""


class Bisection(Frozen, nested={"good": CommitPoint, "bad": CommitPoint, "before": Lesson, "after": Lesson}):
    """Two neighbouring commits between which memory's answer changed to that of the bad end, and both answers."""

    good: CommitPoint
    """The last commit at which memory gave another answer."""
    bad: CommitPoint
    """The first commit with the answer of the bad end; its id is empty for the work tree, now."""
    before: Lesson | None = None
    after: Lesson | None = None
    changed: bool = True
    """False: memory gives the same answer at both ends, and `good` and `bad` are these ends."""
    steps: int = 0
    """Number of instants at which memory was queried."""
    change: tuple[Version, ...] = ()
    """The version that made the difference, where it is known."""


def bisect(services: Services, location: Location, subject: str, good: str = "", bad: str = "") -> Bisection:
    """Find the commit since which memory answers as it does at `bad`. `subject` is a lesson's id or a question.

    `good` defaults to the first commit and `bad` to the work tree now. If the answer appeared and disappeared several
    times, one of the changes is found, as with git's bisect. Raises InvalidValueError where git does not know a commit.
    """
    points = _points(services, location, good, bad)
    answer = _answers(services, location, subject)
    first, last = answer(points[0].at), answer(points[-1].at)
    if _says(first) == _says(last):
        return Bisection(good=points[0], bad=points[-1], before=first, after=last, changed=False, steps=2)
    low, high, steps = 0, len(points) - 1, 2
    while high - low > 1:
        middle = (low + high) // 2
        middle_answer = answer(points[middle].at)
        steps += 1
        if _says(middle_answer) == _says(last):
            high, last = middle, middle_answer
        else:
            low = middle
    before = answer(points[low].at)
    change = _change(services, location, before, last, points[low].at, points[high].at)
    return Bisection(good=points[low], bad=points[high], before=before, after=last, steps=steps, change=change)


def instant_of(services: Services, location: Location, name: str) -> datetime | None:
    """Return when the commit of that name was committed; None when git does not know it."""
    points = services.workspace.history(location).points(name, name)
    return points[-1].at if points else None


def _points(services: Services, location: Location, good: str, bad: str) -> Sequence[CommitPoint]:
    points = services.workspace.history(location).points(good, bad or "HEAD")
    if points is None:
        named = " or ".join(filter(None, (good, bad))) or "HEAD"
        raise InvalidValueError(
            f"git knows no commit {named} in {location.root}", hint="holdfast history ID needs no git"
        )
    if not bad:
        points = [*points, CommitPoint(id=NOW, at=services.clock.now(), subject="the work tree, now")]
    if len(points) < 2:
        raise InvalidValueError("there is no commit between the two ends", hint="give --good and --bad")
    if points[0].at > points[-1].at:
        raise InvalidValueError(f"{good} was committed after {bad or 'now'}", hint="--good must be the older commit")
    return points


def _answers(services: Services, location: Location, subject: str) -> Callable[[datetime], Lesson | None]:
    """Return a function from an instant to memory's answer: the active lesson of the chain, or the best match."""
    try:
        chain = tuple(dict.fromkeys(version.lesson.id for version in lineage(services, location, subject)))
    except LessonNotFoundError:
        if not subject.strip():
            raise InvalidValueError("the question is empty", hint="give a lesson's id or a question") from None

        def best(at: datetime) -> Lesson | None:
            query = question(services, location, subject, as_of=at)
            items = ask(services, location, query, limit=1, budget_tokens=BISECTION_TOKENS, unconfirmed=()).items
            return items[0].lesson if items else None

        return best

    def active_version(at: datetime) -> Lesson | None:
        for lesson_id in reversed(chain):
            try:
                lesson = resolve(services, location, lesson_id, at)
            except HoldfastError:
                continue  # not known yet
            if lesson.state == "active":
                return lesson
        return None

    return active_version


def _says(lesson: Lesson | None) -> tuple[str, ...]:
    """Return the parts of a lesson that count as the answer; a sighting or a new anchor does not change it."""
    return (lesson.insight, lesson.why, lesson.how) if lesson else ()


def _change(
    services: Services, location: Location, before: Lesson | None, after: Lesson | None, start: datetime, end: datetime
) -> tuple[Version, ...]:
    """Return the first version between the two instants with the later answer; empty if there is none."""
    subject = after or before
    if subject is None:
        return ()
    between = [v for v in lineage(services, location, subject.id) if start < v.lesson.recorded_at <= end]
    if after is not None:
        fitting = [v for v in between if v.lesson.state == "active" and _says(v.lesson) == _says(after)]
    else:
        fitting = [v for v in between if v.lesson.state != "active"]
    return tuple(fitting[:1])
