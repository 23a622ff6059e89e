"""One call of a host with its session's deliveries: decides which lessons may still be told, and compiles their lines.

A session has a budget of tokens. A lesson is told in full once, unless the agent lost its context; a lesson that was
told as a title may come once in full. Nothing comes that the agent's own session taught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from holdfast.curation.taskstate import STATE_TOKENS, answers_where_left_off, render, saved
from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import LessonId, Moment
from holdfast.errors import StoreError
from holdfast.freshness.states import may_have_news
from holdfast.lessons.staged import seen_here
from holdfast.outcomes.standing import OrderEvidence, order_evidence
from holdfast.ports.host import HostProfile
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LogFilter, damage_words, get_readable
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.recall.briefline import STALE, TOLD_STATES, title_of_lesson
from holdfast.recall.score import RetrievedLesson, score_matches
from holdfast.recall.tuning import (
    DELIVERIES_READ,
    FRAME_TOKENS,
    LATER_PROMPT_TOKENS,
    OCCASION_DEPTH,
    SUB_AGENT_TOKENS,
)
from holdfast.rendering.budget import count_tokens
from holdfast.rendering.lines import LINE_TOKENS, Line, add_line, compile_line, frame_tokens, render_block
from holdfast.text.globs import fits as fits_glob
from holdfast.text.occasions import group_keys


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


class MomentContext:
    """A call, its session's log, and the delivery that results from them."""

    def __init__(
        self,
        services: Services,
        location: Location,
        call: HookCall,
        moment: Moment,
        earlier: Sequence[Delivery] | None = None,
    ) -> None:
        self.services, self.location, self.call, self.moment = services, location, call, moment
        self.profile = MOMENT_PROFILES[moment]
        if earlier is None:
            where = LogFilter(project=location.project.id, session=call.session, limit=DELIVERIES_READ)
            earlier = services.store.find_records(Delivery, where)
        self.told = [delivery for delivery in earlier if delivery.agent == call.agent]
        """Everything this agent was told in this session, newest first."""
        self.known = () if moment == "after_compaction" else _since_compaction(self.told)
        """What it was told and still has in its context."""
        self.known_lessons = frozenset(delivery.lesson for delivery in self.known)
        self.shown = tuple(dict.fromkeys(delivery.lesson for delivery in self.known if not is_title(delivery)))
        """The lessons that it was told in full."""
        self.budget = self._budget()
        self.checkpoint: Checkpoint | None = None
        self.news: Ranked | None = None
        self.offer: Callable[[Briefing], None] | None = None
        self.read: list[Ranked] = []
        """Every lesson whose freshness was checked."""
        self.withheld: tuple[LessonId, ...] = ()
        """Lessons that chance withheld from the brief."""
        self.degraded = ""
        self._evidence: OrderEvidence | None = None
        self._line = ""
        self._seen: list[tuple[LessonId, ...] | None] = []

    def _budget(self) -> int:
        """Return the tokens for this delivery: the moment's, within what is left of the session's."""
        budget = self.profile.budget_tokens
        if self.profile.restores_task:
            return SUB_AGENT_TOKENS if self.call.agent else budget
        if self.moment == "prompt" and self.count("prompt"):
            budget = LATER_PROMPT_TOKENS
        spent = sum(delivery.tokens for delivery in self.known)
        return max(0, min(budget, self.services.session_tokens - spent))

    @property
    def host_profile(self) -> HostProfile:
        """What the calling host supports; the defaults for a call of no host."""
        return self.services.host(self.call.host).profile if self.call.host else HostProfile(title="")

    @property
    def forgot(self) -> bool:
        """Return whether the agent lacks what its session said: it is a sub-agent, or its context was compacted."""
        compacted = any(delivery.moment == "after_compaction" for delivery in self.told)
        return bool(self.call.agent) or self.moment == "after_compaction" or compacted

    def count(self, moment: str = "", reason: str = "", trigger: str = "") -> int:
        """Count the lines told at that moment, for that trigger, whose reason begins with `reason`."""
        return len({
            (delivery.at, delivery.rank)
            for delivery in self.told
            if delivery.rank and moment in ("", delivery.moment) and trigger in ("", delivery.trigger)
            if delivery.reason.startswith(reason)
        })  # fmt: skip

    def events(self, last: int) -> list[Event]:
        """Return the last events of this session, oldest first."""
        where = EventFilter(project=self.location.project.id, session=self.call.session, last=last)
        return [event for _, event in self.services.store.find_events(where)]

    # Queries

    def query(self, **fields: object) -> Query:
        """Return a query at this location that leaves out what was told in full."""
        return Query(
            project=self.location.project.id,
            staged=self._seen_here(),
            prefix=self.location.prefix,
            exclude=self.shown,
            at=self.services.clock.now(),
            states=TOLD_STATES,
            **fields,  # type: ignore[arg-type]
        )

    def _seen_here(self) -> tuple[LessonId, ...] | None:
        """Return the staged lessons that are visible here, looked up once a turn."""
        if not self._seen:
            self._seen.append(seen_here(self.services, self.location))
        return self._seen[0]

    def files(self) -> tuple[str, ...]:
        """Return the call's files, relative to the project."""
        relative = [self.services.workspace.relative(self.location, path, self.call.cwd) for path in self.call.paths]
        return tuple(dict.fromkeys(path for path in relative if path))

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
        if not path:
            return False
        profile = self.host_profile
        files = (*(target.file.replace("{slug}", "*") for target in profile.rules), *profile.reads)
        return any(fits_glob(path, file) for file in files)

    def evidence(self) -> OrderEvidence:
        """Return what outcomes say of the order of the project's lessons."""
        if self._evidence is None:
            self._evidence = order_evidence(self.services.store, self.location.project.id)
        return self._evidence

    def favour(self, lesson: Lesson) -> float:
        """Return the factor of outcomes on the lesson's place in the order."""
        return self.evidence().factors.get(lesson.id, 1.0)

    # The delivery

    def take_news(self) -> None:
        """Reserve room for a lesson whose code got worse during this session, if there is one."""
        try:
            if not may_have_news(self.services, self.location, self.call, self.told):
                return
            from holdfast.freshness.notice import find_news

            self.news = find_news(self.services, self.location, self.call, self.told)
        except StoreError:
            return  # the notice could not be recorded, but the other lessons are delivered
        if self.news is None:
            return
        line = compile_line(self.news.lesson, self.news.caveat, min(LINE_TOKENS, self.budget - FRAME_TOKENS))
        self._line = line.text
        self.budget -= line.tokens
        self.shown = (*self.shown, self.news.lesson.id)

    def with_news(self, briefing: Briefing) -> Briefing:
        """Return the briefing with the notice about that lesson before the others."""
        if self.news is None:
            return briefing
        items = (self.news, *(replace(item, rank=item.rank + 1) for item in briefing.items))
        text = add_line(briefing.text, self._line)
        return replace(briefing, items=items, text=text, tokens=count_tokens(text))

    def tell(self, picks: Iterable[Pick], most: int) -> Briefing:
        """Deliver the first `most` picks that may be told and fit, in order, and the checkpoint if there is one."""
        chosen = self._choose(picks, most)

        def offer(unverified: list[tuple[Ranked, RetrievedLesson]]) -> None:
            if self.offer is not None:
                self.offer(self.with_news(self._compile(chosen, unverified)))

        matches = [pick.found for pick in chosen]
        scored = score_matches(self.services, self.location, matches, "", offer if self.offer else None)
        self.read += [ranked for ranked, _ in scored]
        return self._compile(chosen, scored)

    def _choose(self, picks: Iterable[Pick], most: int) -> list[Pick]:
        """Choose each group once, and nothing that was told in full or learnt here."""
        chosen: list[Pick] = []
        keys: frozenset[str] = frozenset()
        for pick in picks:
            lesson = pick.found.lesson
            own = group_keys(lesson)
            if (lesson.id in self.shown and not pick.again) or own <= keys or not self.may_tell(lesson):
                continue
            keys |= own
            chosen.append(pick)
        return chosen[:most]

    def _compile(self, chosen: Sequence[Pick], scored: Sequence[tuple[Ranked, RetrievedLesson]]) -> Briefing:
        by_id = {ranked.lesson.id: ranked for ranked, _ in scored}
        checkpoint = self._checkpoint_text(bool(chosen))
        room = self.budget - frame_tokens("", checkpoint)
        items: list[Ranked] = []
        lines: list[str] = []
        for pick in chosen:
            ranked = self.evidence().apply(by_id[pick.found.lesson.id])
            line = self._line_of(pick, ranked, room)
            if line.tokens > room:
                continue
            room -= line.tokens
            words = pick.reason or ranked.why.words
            why = replace(ranked.why, words=f"{TITLED}; {words}" if pick.is_title else words)
            items.append(replace(ranked, rank=len(items) + 1, why=why))
            lines.append(line.text)
        text = render_block(lines, "", checkpoint) if lines or checkpoint else ""
        degraded = "; ".join(filter(None, (self.degraded, damage_words(self.services.store))))
        return Briefing(
            moment=self.moment, items=tuple(items), tokens=count_tokens(text), checkpoint_text=checkpoint, text=text,
            degraded=degraded,
        )  # fmt: skip

    def _line_of(self, pick: Pick, ranked: Ranked, room: int) -> Line:
        if pick.is_title:
            title = title_of_lesson(ranked.lesson, ranked.freshness in STALE)
            return Line(text=title, tokens=count_tokens(title))
        caveat = "" if pick.general else _warning(ranked)
        most = min(LINE_TOKENS, room)
        knows_place = self.moment == "before_file" or pick.general
        return compile_line(ranked.lesson, caveat, most, places=not knows_place, at=self.services.clock.now())

    def _checkpoint_text(self, shared: bool) -> str:
        """Return the compiled checkpoint to restore, within half of the budget when lessons share it."""
        if self.checkpoint is None:
            return ""
        return render(self.checkpoint, min(STATE_TOKENS, self.budget // 2 if shared else self.budget - FRAME_TOKENS))

    def restorable(self, own: bool) -> Checkpoint | None:
        """Return the state of the task that this session goes on with; `own` admits this session's own state."""
        if not saved(self.services, self.location, 1):
            return None
        from holdfast.recall.moments.task import restorable

        return restorable(self.services, self.location, self.call, self.moment, self.known, own)

    def asked_for(self) -> Checkpoint | None:
        """Return the state that the prompt asks for."""
        if not answers_where_left_off(self.call.prompt):
            return None
        from holdfast.recall.moments.task import asked_for

        return asked_for(self.services, self.location, self.call)


TITLED = "title"
"""Beginning of the reason of a delivery that told no more than a title."""


def is_title(delivery: Delivery) -> bool:
    """Return whether only the title of the lesson was told."""
    return delivery.reason.startswith(TITLED)


def _warning(ranked: Ranked) -> str:
    """Return what changed in the lesson's code, and what to do about it."""
    worse = ranked.freshness in ("drifted", "changed", "orphaned")
    return f"{ranked.caveat}: check before relying on it" if worse and ranked.caveat else ranked.caveat


def as_found(lessons: Iterable[Lesson]) -> list[RetrievedLesson]:
    """Wrap lessons that no retriever found."""
    return [
        RetrievedLesson(lesson=lesson, shares=(), overlap=LexicalOverlap(), stems=frozenset()) for lesson in lessons
    ]


def _since_compaction(deliveries: Iterable[Delivery]) -> tuple[Delivery, ...]:
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
