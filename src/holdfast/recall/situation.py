"""What a delivery is chosen from, and the choice: values, which reading the store once makes and nothing changes.

`SessionLog` is what the session was told. A session has a budget of tokens. A lesson is told in full once, unless the
agent lost its context; a lesson that was told as a title may come once in full. Nothing comes that the agent's own
session taught.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import LessonId, Moment
from holdfast.lessons.staging import seen_here
from holdfast.outcomes.standing import OrderEvidence, order_evidence
from holdfast.ports.host import HostProfile
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LogFilter, get_readable
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.recall.briefline import TOLD_STATES
from holdfast.recall.retrieve import RetrievedLesson
from holdfast.recall.tuning import DELIVERIES_READ, LATER_PROMPT_TOKENS, OCCASION_DEPTH, SUB_AGENT_TOKENS
from holdfast.text.globs import fits as fits_glob

TITLED = "title"
"""Beginning of the reason of a delivery that told no more than a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A lesson to be told, and the reason."""

    found: RetrievedLesson
    reason: str = ""
    """A few words; empty: derived from the match."""
    general: bool = False
    """It holds for all work, so its places and their state are not mentioned."""
    is_title: bool = False
    """Only its title is told."""
    again: bool = False
    """It is a reminder: it is told even if it or its group was told before."""
    note: str = ""
    """What the session left out, told behind the lesson."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentChoice:
    """What a moment tells: the first `most` picks that may be told and fit, in order, and a checkpoint."""

    picks: tuple[Pick, ...] = ()
    most: int = 0
    checkpoint: Checkpoint | None = None
    brief: Briefing | None = None
    """The whole answer, where it is a brief; it has the checkpoint's text already."""
    withheld: tuple[LessonId, ...] = ()
    """Lessons that chance withheld from the brief."""
    asks: bool = False
    """The agent is asked what the session taught."""
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLog:
    """What an agent was told in its session."""

    told: tuple[Delivery, ...] = ()
    """Everything, newest first."""
    known: tuple[Delivery, ...] = ()
    """What it still has in its context."""
    lessons: frozenset[LessonId] = frozenset()
    """The lessons that it still has in its context, at least as titles."""
    shown: tuple[LessonId, ...] = ()
    """Those of them that it was told in full."""

    def count(self, moment: str = "", reason: str = "", trigger: str = "") -> int:
        """Count the lines told at that moment, for that trigger, whose reason begins with `reason`."""
        return len({
            (delivery.at, delivery.rank)
            for delivery in self.told
            if delivery.rank and moment in ("", delivery.moment) and trigger in ("", delivery.trigger)
            if delivery.reason.startswith(reason)
        })  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """One call of a host at a moment, and what its agent was told before."""

    services: Services
    location: Location
    call: HookCall
    moment: Moment
    now: datetime
    log: SessionLog
    budget: int
    """Tokens of this delivery."""
    host: HostProfile
    """What the calling host supports; the defaults for a call of no host."""
    staged: tuple[LessonId, ...] | None
    """The staged lessons that are visible here; None for all."""
    evidence: OrderEvidence
    """What outcomes say of the order of the project's lessons."""
    shown: tuple[LessonId, ...] = ()
    """The lessons not to tell in full again: those of the log, and the notice that this delivery begins with."""

    @property
    def forgot(self) -> bool:
        """Whether the agent lacks what its session said: it is a sub-agent, or its context was compacted."""
        compacted = any(delivery.moment == "after_compaction" for delivery in self.log.told)
        return bool(self.call.agent) or self.moment == "after_compaction" or compacted

    def query(self, **fields: object) -> Query:
        """Return a query at this location that leaves out what was told in full."""
        return Query(
            project=self.location.project.id, staged=self.staged, prefix=self.location.prefix, exclude=self.shown,
            at=self.now, states=TOLD_STATES,
            **fields,  # type: ignore[arg-type]
        )  # fmt: skip

    def files(self) -> tuple[str, ...]:
        """Return the call's files, relative to the project."""
        relative = [self.services.workspace.relative(self.location, path, self.call.cwd) for path in self.call.paths]
        return tuple(dict.fromkeys(path for path in relative if path))

    def events(self, last: int) -> list[Event]:
        """Return the last events of this session, oldest first."""
        where = EventFilter(project=self.location.project.id, session=self.call.session, last=last)
        return [event for _, event in self.services.store.find_events(where)]

    def of_occasions(self, *names: str) -> list[Lesson]:
        """Return the lessons of those occasions that may be told, oldest first."""
        ids = self.services.store.match_occasions(self.query(occasions=names), OCCASION_DEPTH)
        return [lesson for lesson in get_readable(self.services.store, ids) if self.may_tell(lesson)]

    def may_tell(self, lesson: Lesson) -> bool:
        """Return False for a lesson that the agent still has from this session, or from a rules file the host reads."""
        session = self.call.session
        learnt_here = session == lesson.provenance.session or session in lesson.sessions_seen
        return not (learnt_here and not self.forgot) and not self._host_reads(lesson)

    def _host_reads(self, lesson: Lesson) -> bool:
        """Return whether an agent wrote the lesson into a rules file that the host reads itself."""
        path = lesson.provenance.origin.partition("#")[0].replace("%23", "#") if lesson.trust == "agent" else ""
        files = (*(target.file.replace("{slug}", "*") for target in self.host.rules), *self.host.reads)
        return bool(path) and any(fits_glob(path, file) for file in files)

    def favour(self, lesson: Lesson) -> float:
        """Return the factor of outcomes on the lesson's place in the order."""
        return self.evidence.factors.get(lesson.id, 1.0)


def read_situation(
    services: Services,
    location: Location,
    call: HookCall,
    moment: Moment,
    earlier: Sequence[Delivery] | None = None,
    budget_tokens: int = 0,
) -> Situation:
    """Return the call with what the store knows of its session. For `earlier` and `budget_tokens` see `deliver`."""
    if earlier is None:
        where = LogFilter(project=location.project.id, session=call.session, limit=DELIVERIES_READ)
        earlier = services.store.find_records(Delivery, where)
    log = log_of(earlier, call.agent, is_lost=moment == "after_compaction")
    budget = _budget(services, call, moment, log)
    return Situation(
        services=services, location=location, call=call, moment=moment, now=services.clock.now(), log=log,
        budget=min(budget, budget_tokens or budget), shown=log.shown,
        host=services.host(call.host).profile if call.host else HostProfile(title=""),
        staged=seen_here(services, location), evidence=order_evidence(services.store, location.project.id),
    )  # fmt: skip


def log_of(deliveries: Iterable[Delivery], agent: str, is_lost: bool = False) -> SessionLog:
    """Return the log of that agent from its session's deliveries, newest first; `is_lost`: its context is gone."""
    own = tuple(delivery for delivery in deliveries if delivery.agent == agent)
    known = () if is_lost else since_compaction(own)
    shown = dict.fromkeys(delivery.lesson for delivery in known if not delivery.reason.startswith(TITLED))
    return SessionLog(
        told=own, known=known, lessons=frozenset(delivery.lesson for delivery in known), shown=tuple(shown)
    )


def since_compaction(deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
    """Return the deliveries (newest first) since the last compaction, which the agent still has in its context."""
    known: list[Delivery] = []
    restored = None
    for delivery in deliveries:
        if restored is not None and delivery.at < restored:
            break
        known.append(delivery)
        if delivery.moment == "after_compaction" and restored is None:
            restored = delivery.at
    return tuple(known)


def _budget(services: Services, call: HookCall, moment: Moment, log: SessionLog) -> int:
    """Return the tokens for this delivery: the moment's, within what is left of the session's."""
    profile = MOMENT_PROFILES[moment]
    if profile.restores_task:
        return SUB_AGENT_TOKENS if call.agent else profile.budget_tokens
    budget = LATER_PROMPT_TOKENS if moment == "prompt" and log.count("prompt") else profile.budget_tokens
    return max(0, min(budget, services.session_tokens - sum(delivery.tokens for delivery in log.known)))


def as_found(lessons: Iterable[Lesson]) -> list[RetrievedLesson]:
    """Wrap lessons that no retriever found."""
    return [
        RetrievedLesson(lesson=lesson, shares=(), overlap=LexicalOverlap(), stems=frozenset()) for lesson in lessons
    ]
