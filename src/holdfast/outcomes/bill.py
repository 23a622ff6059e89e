"""A session's bill: what it was told and how that ended, what it missed, what it taught."""

from __future__ import annotations

from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import STATES, SessionId
from holdfast.errors import LessonNotFoundError
from holdfast.lean.records import Frozen
from holdfast.outcomes.tuning import BILLED_MOST
from holdfast.ports.filters import LessonFilter, LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services


class Bill(Frozen):
    """The sums of one session. A lesson that was told twice counts once."""

    session: SessionId
    told: int = 0
    heeded: int = 0
    ignored: int = 0
    overridden: int = 0
    failed: int = 0
    missed: int = 0
    withheld: int = 0
    learnt: int = 0
    tokens: int = 0
    judged: int = 0
    """How many of the lessons told were judged; the others wait for the session's end."""

    @property
    def words(self) -> str:
        """The bill in one line: `told 4 (2 heeded), missed 1, learnt 3`."""
        followed = [f"{count} {word}" for word, count in self._verdicts() if count]
        followed += [f"{self.told - self.judged} not judged yet"] if self.judged < self.told else []
        came_to = f" ({', '.join(followed)})" if followed else ""
        held_back = f", withheld {self.withheld}" if self.withheld else ""
        return f"told {self.told}{came_to}, missed {self.missed}{held_back}, learnt {self.learnt}"

    def _verdicts(self) -> list[tuple[str, int]]:
        return [(word, getattr(self, word)) for word in ("heeded", "ignored", "overridden", "failed")]


def bill_of(services: Services, location: Location, session: SessionId) -> Bill | None:
    """Return the bill of a session of the project, by default of the latest with an entry; None without any."""
    session = session or _latest(services, location)
    if not session:
        return None
    where = LogFilter(project=location.project.id, session=session, limit=BILLED_MOST)
    deliveries = [record for record in services.store.find_records(Delivery, where) if _is_lesson(services, record)]
    outcomes = services.store.find_records(Outcome, where)
    judged = [record for record in outcomes if record.id.startswith("judged:") and not record.withheld]
    lessons = services.store.find(LessonFilter(project=location.project.id, states=STATES, limit=BILLED_MOST))
    learnt = sum(lesson.provenance.session == session for lesson in lessons)
    if not (deliveries or outcomes or learnt):
        return None  # the session is unknown
    return Bill(
        session=session,
        told=len({delivery.lesson for delivery in deliveries}),
        judged=len(judged),
        missed=sum(outcome.verdict == "missed" for outcome in outcomes),
        withheld=sum(outcome.verdict == "withheld" for outcome in outcomes),
        learnt=learnt,
        tokens=sum(delivery.tokens for delivery in deliveries),
        **{
            word: sum(record.verdict == word for record in judged)
            for word in ("heeded", "ignored", "overridden", "failed")
        },
    )


def _latest(services: Services, location: Location) -> SessionId:
    """Return the session of the newest delivery, outcome or lesson of the project."""
    where = LogFilter(project=location.project.id, limit=1)
    dated = [(outcome.at, outcome.session) for outcome in services.store.find_records(Delivery, where)]
    dated += [
        (outcome.at, outcome.session) for outcome in services.store.find_records(Outcome, where) if outcome.session
    ]
    for lesson in services.store.find(LessonFilter(project=location.project.id, states=STATES, limit=50)):
        if lesson.provenance.session:
            dated.append((lesson.recorded_at, lesson.provenance.session))
            break
    return max(dated)[1] if dated else SessionId("")


def _is_lesson(services: Services, delivery: Delivery) -> bool:
    """Return False for a restored checkpoint, which is logged under its own id."""
    try:
        return bool(services.store.get([delivery.lesson]))
    except LessonNotFoundError:
        return False
