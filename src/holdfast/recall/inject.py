"""Delivers a few lines to a host at a moment, within the moment's budget, or nothing, and logs the delivery.

`moments` and `brief` choose the lessons. This module prepares the call and logs each lesson under the rank of its line,
with the other lessons of the line's group. A restored checkpoint is logged like a lesson, under its own id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import TEXT_LIMIT
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import LessonId, Moment
from holdfast.errors import HoldfastError, StoreError
from holdfast.freshness.states import keep_found
from holdfast.outcomes.holdout import withheld_outcomes
from holdfast.ports.services import Services
from holdfast.recall.moments.asking import REQUEST, note_asked
from holdfast.recall.moments.context import MomentContext
from holdfast.recall.tuning import HEAD_CHARACTERS, TAIL_CHARACTERS, TRIGGER_LIMIT
from holdfast.redaction import fold, redact_to
from holdfast.redaction.tables import BEGIN, END


def inject(
    services: Services,
    location: Location,
    call: HookCall,
    until_s: float | None = None,
    budget_tokens: int = 0,
) -> Briefing:
    """Return the delivery for the call's moment, and log it; empty when no lesson qualifies or the channel is off.

    Never raises for a broken retriever or store: `degraded` reports it. A delivery is made even if it cannot be logged.
    `budget_tokens` is for a host that accepts less than the moment's budget.
    """
    handover = prepare(services, location, call, until_s, budget_tokens)
    deliveries = handover.deliveries()
    try:
        if deliveries:
            services.store.record(deliveries)
        handover.note_asked()
        handover.keep_states()
    except StoreError as exc:
        return replace(handover.briefing, degraded=f"{handover.briefing.degraded} not logged: {exc}".strip())
    return handover.briefing


def prepare(
    services: Services,
    location: Location,
    call: HookCall,
    until_s: float | None = None,
    budget_tokens: int = 0,
    offer: Callable[[Handover], None] | None = None,
    earlier: Sequence[Delivery] | None = None,
) -> Handover:
    """Return what `inject` delivers, without logging it. For `offer` see `Memory.hand_over`.

    `earlier` replaces the log of what the session was told, newest first.
    """
    moment = call.moment
    if moment is None or moment == "on_demand" or moment not in services.deliver:
        return Handover(Briefing(moment=moment or "on_demand"))
    try:
        context = MomentContext(services, location, _spoken(call), moment, earlier)
        context.budget = min(context.budget, budget_tokens or context.budget)
        if offer is not None:
            context.offer = lambda early: offer(Handover(early, context))
        context.take_news()
        briefing = _with_request(context.with_news(_chooser(moment)(context)))
        if until_s is not None and services.clock.elapsed_s() > until_s:
            return Handover(Briefing(moment=moment), context)  # the hook has given up and answered alone
        return Handover(briefing, context)
    except HoldfastError as exc:
        return Handover(Briefing(moment=moment, degraded=str(exc)))


class Handover:
    """A prepared delivery, and the records to write when the host has received it."""

    def __init__(self, briefing: Briefing, context: MomentContext | None = None) -> None:
        self.briefing = briefing
        self._context = context

    def deliveries(self) -> list[Delivery]:
        """Return the log records of what is shown: lessons, and a restored checkpoint under its own id."""
        context = self._context
        if context is None:
            return []
        restored = context.checkpoint if self.briefing.checkpoint_text else None
        return _deliveries(context.services, context.location, context.call, self.briefing, restored)

    def note_asked(self) -> None:
        """Record that the agent was asked what the session taught, if it was. Raises StoreError."""
        if self.briefing.asks and self._context is not None:
            note_asked(self._context)

    def keep_states(self) -> None:
        """Store the states of the lessons that were read, and which were withheld. Raises StoreError."""
        context = self._context
        if context is None:
            return
        keep_found(context.services, context.location, context.read)
        if context.withheld:
            trigger = _trigger(context.services, context.location, context.call)
            outcomes = withheld_outcomes(
                context.services, context.location, context.call, context.moment, context.withheld, trigger
            )
            context.services.store.record(outcomes)


def _with_request(briefing: Briefing) -> Briefing:
    """Return the briefing with the question what the session taught, below its fence, if it asks that."""
    if not briefing.asks:
        return briefing
    return replace(briefing, text="\n".join(filter(None, (briefing.text, REQUEST))))


def _spoken(call: HookCall) -> HookCall:
    """Redact the call's words, because they become the logged trigger and reason of a delivery."""
    return replace(
        call,
        prompt=redact_to(_ends_of(call.prompt), TEXT_LIMIT),
        command=redact_to(_ends_of(call.command), TEXT_LIMIT),
        search=redact_to(_ends_of(call.search), TEXT_LIMIT),
        error=redact_to(_ends_of(call.error), TEXT_LIMIT),
    )


def _ends_of(text: str) -> str:
    """Return the head and the tail of a long text, to bound later searches.

    A tail that would begin within a private span or a key block begins after it instead, because nothing marks the
    rest as private once its opening mark is cut away.
    """
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return text
    low, begin = fold(text), len(text) - TAIL_CHARACTERS
    for opening, closing in (("<private>", "</private>"), (BEGIN.lower(), END.lower())):
        if low.rfind(opening, 0, begin) > low.rfind(closing, 0, begin):
            close = low.find(closing, begin)
            begin = close + len(closing) if close >= 0 else len(text)
    return f"{text[:HEAD_CHARACTERS]}\n{text[begin:]}"


def preview(services: Services, location: Location, calls: Sequence[HookCall]) -> list[Briefing]:
    """Return what an agent would be told at each of the calls of one new session, in turn; nothing is logged."""
    briefings: list[Briefing] = []
    earlier: list[Delivery] = []
    for call in calls:
        handover = prepare(services, location, call, earlier=earlier)
        briefings.append(handover.briefing)
        earlier = [*reversed(handover.deliveries()), *earlier]
    return briefings


def log_recall(services: Services, location: Location, call: HookCall, briefing: Briefing) -> None:
    """Log what an explicit query showed to an agent; `call` has the host, the session and the question as prompt."""
    deliveries = _deliveries(services, location, _spoken(call), briefing)
    if deliveries:
        services.store.record(deliveries)


def _deliveries(
    services: Services, location: Location, call: HookCall, briefing: Briefing, restored: Checkpoint | None = None
) -> list[Delivery]:
    shown = [
        (lesson, item.rank, item.score, item.why.words)
        for item in briefing.items
        for lesson in (item.lesson.id, *item.also)
    ]
    shown += [
        (lesson, entry.rank, entry.score, entry.reason)
        for entry in briefing.entries
        for lesson in (entry.id, *entry.also)
    ]
    if restored is not None:
        shown.append((LessonId(restored.id), 0, 0.0, "the task's state was restored"))
    if not shown:
        return []
    at, trigger, cost = services.clock.now(), _trigger(services, location, call), briefing.tokens // len(shown)
    return [
        Delivery(
            id=services.clock.new_id(), at=at, project=location.project.id, session=call.session, host=call.host,
            moment=briefing.moment, lesson=lesson, rank=rank, score=score, reason=words, trigger=trigger,
            tokens=cost, agent=call.agent,
        )
        for lesson, rank, score, words in shown
    ]  # fmt: skip


def _chooser(moment: Moment) -> Callable[[MomentContext], Briefing]:
    """Return the function that chooses for a moment; its module is loaded for that moment only."""
    if moment == "prompt":
        from holdfast.recall.moments.prompt import prompt as choose
    elif moment == "before_file":
        from holdfast.recall.moments.act import before_file as choose
    elif moment == "before_command":
        from holdfast.recall.moments.act import before_command as choose
    elif moment == "after_failure":
        from holdfast.recall.moments.act import after_failure as choose
    elif moment == "before_end":
        from holdfast.recall.moments.end import before_end as choose
    else:
        from holdfast.recall.moments.start import session_start as choose
    return choose


def _trigger(services: Services, location: Location, call: HookCall) -> str:
    """Return the reason of the delivery: the first words of the error, command, search or prompt, or the file."""
    file = services.workspace.relative(location, call.paths[0], call.cwd) or call.paths[0] if call.paths else ""
    trigger = call.error or call.command or call.search or file or call.prompt or call.name
    return " ".join(trigger.split())[:TRIGGER_LIMIT]
