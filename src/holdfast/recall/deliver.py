"""Delivers a few lines to a host at a moment, within the moment's budget, or nothing, and logs the delivery.

`situation` reads what the session was told, `moments` chooses, and this module checks the chosen lessons, compiles
their lines, and logs each lesson under the rank of its line, with the other lessons of the line's group. A restored
checkpoint is logged like a lesson, under its own id. Begin with `prepare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from holdfast.capture.observe import redacted
from holdfast.curation.checkpoint import STATE_TOKENS
from holdfast.curation.checkpoint import render as render_task
from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.statefamilies import ASKED, BROUGHT_TOLD
from holdfast.domain.vocabulary import Freshness, LessonId
from holdfast.errors import HoldfastError, StoreError
from holdfast.freshness.notice import found_states, keep_states, may_have_news
from holdfast.lessons.brought import BROUGHT_REQUEST, brought_words, count_brought
from holdfast.outcomes.standing import withheld_outcomes
from holdfast.ports.services import Services
from holdfast.ports.store import damage_words
from holdfast.recall.briefline import STALE, title_of_lesson
from holdfast.recall.moments import CHOOSERS, REQUEST
from holdfast.recall.retrieve import RetrievedLesson, score_matches
from holdfast.recall.situation import TITLED, MomentChoice, Pick, Situation, read_situation
from holdfast.recall.tuning import FRAME_TOKENS, TRIGGER_LIMIT
from holdfast.rendering.lines import LINE_TOKENS, Line, add_line, compile_line, count_tokens, frame_tokens, render_block
from holdfast.text.occasions import group_keys

Scored = Sequence[tuple[Ranked, RetrievedLesson]]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A lesson whose code got worse during this session, and its line, which comes before the others."""

    ranked: Ranked
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """A prepared delivery, and the records to write when the host has received it."""

    briefing: Briefing
    situation: Situation | None = None
    """None where nothing was chosen, because the moment's channel is off."""
    choice: MomentChoice = field(default_factory=MomentChoice)
    states: Mapping[LessonId, Freshness] = field(default_factory=dict)
    """States of the lessons whose freshness was checked, where the stored ones may differ."""
    tells_brought: bool = False
    """Whether it says that the repository brings lessons."""

    def deliveries(self) -> list[Delivery]:
        """Return the log records of what is shown: lessons, and a restored checkpoint under its own id."""
        here = self.situation
        if here is None:
            return []
        restored = self.choice.checkpoint if self.briefing.checkpoint_text else None
        return _deliveries(here.services, here.location, here.call, here.now, self.briefing, restored)

    def note_asked(self) -> None:
        """Record that the agent was asked what the session taught, or told what the clone brings. Raises StoreError."""
        if self.situation is None:
            return
        store = self.situation.services.store
        if self.briefing.asks:
            store.set_state(ASKED, self.situation.call.session, "yes")
        if self.tells_brought:
            store.set_state(BROUGHT_TOLD, self.situation.location.project.id, "yes")

    def keep_states(self) -> None:
        """Store the states of the lessons that were read, and which were withheld. Raises StoreError."""
        here = self.situation
        if here is None:
            return
        if self.states:
            keep_states(here.services, here.location, self.states)
        if self.choice.withheld:
            trigger = _trigger(here.services, here.location, here.call)
            outcomes = withheld_outcomes(
                here.services, here.location, here.call, here.moment, self.choice.withheld, trigger
            )
            here.services.store.record(outcomes)


def inject(
    services: Services, location: Location, call: HookCall, until_s: float | None = None, budget_tokens: int = 0
) -> Briefing:
    """Return the delivery for the call's moment, and log it; empty when no lesson qualifies or the channel is off.

    Never raises for a broken retriever or store: `degraded` reports it. A delivery is made even if it cannot be logged.
    After `until_s` of the clock's elapsed seconds nobody waits: nothing is delivered or logged. `budget_tokens` is for
    a host that accepts less than the moment's budget.
    """
    handover = prepare(services, location, redacted(call), until_s, budget_tokens)
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
    """Return what to hand to the host at the moment of a redacted call, without logging it; see `inject`.

    `offer` is called with what could be delivered already, before lessons whose code changed are checked closely.
    `earlier` replaces the log of what the session was told, newest first.
    """
    moment = call.moment
    if moment is None or moment not in CHOOSERS or moment not in services.deliver:
        return Handover(briefing=Briefing(moment=moment or "on_demand"))
    try:
        with services.store.reading():
            here = read_situation(services, location, call, moment, earlier, budget_tokens)
            here, news = _with_news(here)
            handover = tell(here, CHOOSERS[moment](here), news, offer)
            if moment == "session_start":
                handover = _with_brought(here, handover)
    except HoldfastError as exc:
        return Handover(briefing=Briefing(moment=moment, degraded=str(exc)))
    if until_s is not None and services.clock.elapsed_s() > until_s:
        return replace(handover, briefing=Briefing(moment=moment))  # the hook has given up and answered alone
    return handover


def _with_news(here: Situation) -> tuple[Situation, News | None]:
    """Return the notice to begin with, if a lesson's code got worse in this session, and the rest of the budget."""
    try:
        if not may_have_news(here.services, here.location, here.call, here.log.told):
            return here, None
        from holdfast.freshness.notice import find_news

        ranked = find_news(here.services, here.location, here.call, here.log.told)
    except StoreError:
        return here, None  # the notice could not be recorded, but the other lessons are delivered
    if ranked is None:
        return here, None
    line = compile_line(ranked.lesson, ranked.caveat, min(LINE_TOKENS, here.budget - FRAME_TOKENS))
    rest = replace(here, budget=here.budget - line.tokens, shown=(*here.shown, ranked.lesson.id))
    return rest, News(ranked=ranked, line=line)


def _with_brought(here: Situation, handover: Handover) -> Handover:
    """Return the handover with a line on the lessons that a clone brings; only one session is told."""
    count = count_brought(here.services, here.location)
    if not count or here.services.store.get_state(BROUGHT_TOLD, here.location.project.id):
        return handover
    text = add_line(handover.briefing.text, f"- {brought_words(count).capitalize()}. {BROUGHT_REQUEST}")
    briefing = replace(handover.briefing, text=text, tokens=count_tokens(text))
    return replace(handover, briefing=briefing, situation=here, tells_brought=True)


def tell(
    here: Situation, choice: MomentChoice, news: News | None = None, offer: Callable[[Handover], None] | None = None
) -> Handover:
    """Return the choice as lines: what may be told and fits, checked against the code as it is now."""
    picks = _admitted(here, choice)

    def handover(scored: Scored) -> Handover:
        briefing = choice.brief or _compile(here, choice, picks, scored)
        if news is not None:
            items = (news.ranked, *(replace(item, rank=item.rank + 1) for item in briefing.items))
            text = add_line(briefing.text, news.line.text)
            briefing = replace(briefing, items=items, text=text, tokens=count_tokens(text))
        if choice.asks:
            text = "\n".join(filter(None, (briefing.text, REQUEST)))
            briefing = replace(briefing, asks=True, text=text)
        return Handover(briefing=briefing, situation=here, choice=choice)

    early = None if offer is None else lambda unverified: offer(handover(unverified))
    scored = score_matches(here.services, here.location, [pick.found for pick in picks], offer=early)
    return replace(handover(scored), states=_states(here, scored))


def _states(here: Situation, scored: Scored) -> Mapping[LessonId, Freshness]:
    try:
        return found_states(here.services, here.location, [ranked for ranked, _ in scored])
    except StoreError:
        return {}  # they are found again at the next delivery


def _admitted(here: Situation, choice: MomentChoice) -> list[Pick]:
    """Return the picks to tell: each group once, and nothing that was told in full or learnt here."""
    chosen: list[Pick] = []
    keys: frozenset[str] = frozenset()
    for pick in choice.picks:
        lesson = pick.found.lesson
        own = group_keys(lesson)
        if (lesson.id in here.shown and not pick.again) or own <= keys or not here.may_tell(lesson):
            continue
        keys |= own
        chosen.append(pick)
    return chosen[: choice.most]


def _compile(here: Situation, choice: MomentChoice, picks: Sequence[Pick], scored: Scored) -> Briefing:
    by_id = {ranked.lesson.id: ranked for ranked, _ in scored}
    checkpoint = ""
    if choice.checkpoint is not None:  # within half of the budget when lessons share it
        checkpoint = render_task(
            choice.checkpoint, min(STATE_TOKENS, here.budget // 2 if picks else here.budget - FRAME_TOKENS)
        )
    room = here.budget - frame_tokens("", checkpoint)
    items: list[Ranked] = []
    lines: list[str] = []
    for pick in picks:
        ranked = here.evidence.apply(by_id[pick.found.lesson.id])
        line = _line_of(here, pick, ranked, room)
        if line.tokens > room:
            continue
        room -= line.tokens
        words = pick.reason or ranked.why.words
        why = replace(ranked.why, words=f"{TITLED}; {words}" if pick.is_title else words)
        items.append(replace(ranked, rank=len(items) + 1, why=why))
        lines.append(line.text)
    text = render_block(lines, "", checkpoint) if lines or checkpoint else ""
    degraded = "; ".join(filter(None, (choice.degraded, damage_words(here.services.store))))
    return Briefing(
        moment=here.moment, items=tuple(items), tokens=count_tokens(text), checkpoint_text=checkpoint, text=text,
        degraded=degraded,
    )  # fmt: skip


def _line_of(here: Situation, pick: Pick, ranked: Ranked, room: int) -> Line:
    if pick.is_title:
        title = title_of_lesson(ranked.lesson, ranked.freshness in STALE)
        return Line(text=title, tokens=count_tokens(title))
    worse = ranked.freshness in ("drifted", "changed", "orphaned") and ranked.caveat
    caveat = f"{ranked.caveat}: check before relying on it" if worse else ranked.caveat
    knows_place = here.moment == "before_file" or pick.general
    return compile_line(
        ranked.lesson,
        pick.note or ("" if pick.general else caveat),
        min(LINE_TOKENS, room),
        places=not knows_place,
        at=here.now,
    )


def preview(services: Services, location: Location, calls: Sequence[HookCall]) -> list[Briefing]:
    """Return what an agent would be told at each of the calls of one new session, in turn; nothing is logged."""
    briefings: list[Briefing] = []
    earlier: list[Delivery] = []
    for call in calls:
        handover = prepare(services, location, redacted(call), earlier=earlier)
        briefings.append(handover.briefing)
        earlier = [*reversed(handover.deliveries()), *earlier]
    return briefings


def log_recall(services: Services, location: Location, briefing: Briefing, call: HookCall) -> None:
    """Log what an explicit query showed to an agent; `call` has the host, the session and the question as prompt."""
    deliveries = _deliveries(services, location, redacted(call), services.clock.now(), briefing)
    if deliveries:
        services.store.record(deliveries)


def _deliveries(
    services: Services,
    location: Location,
    call: HookCall,
    at: datetime,
    briefing: Briefing,
    restored: Checkpoint | None = None,
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
    trigger, cost = _trigger(services, location, call), briefing.tokens // len(shown)
    return [
        Delivery(
            id=services.clock.new_id(), at=at, project=location.project.id, session=call.session, host=call.host,
            moment=briefing.moment, lesson=lesson, rank=rank, score=score, reason=words, trigger=trigger,
            tokens=cost, agent=call.agent,
        )
        for lesson, rank, score, words in shown
    ]  # fmt: skip


def _trigger(services: Services, location: Location, call: HookCall) -> str:
    """Return the reason of the delivery: the first words of the error, command, search or prompt, or the file."""
    file = services.workspace.relative(location, call.paths[0], call.cwd) or call.paths[0] if call.paths else ""
    trigger = call.error or call.command or call.search or file or call.prompt or call.name
    return " ".join(trigger.split())[:TRIGGER_LIMIT]
