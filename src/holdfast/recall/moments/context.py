"""One call of a host with its session's deliveries: decides which lessons may still be told, and compiles their lines.

An agent is told at most SESSION_LIMIT different lines in a session. It is told nothing twice unless it lost its
context, nothing from a group of which it was told a member, nothing that its own session taught or said, and nothing
that the project's rules files contain. A lesson on probation needs the closest kind of match, and a delivery has at
most one.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

from holdfast.domain.briefing import Briefing
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.query import Query
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import StoreError
from holdfast.freshness.states import may_have_news
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.staged import seen_here
from holdfast.outcomes.holdout import BRIEF, is_withheld, may_withhold
from holdfast.outcomes.standing import order_evidence
from holdfast.ports.filters import EventFilter, LogFilter
from holdfast.ports.lessonstore import damage_words, get_readable
from holdfast.ranking.names import TELLING
from holdfast.ranking.relevance import EVERYDAY, LexicalOverlap, stem
from holdfast.ranking.threshold import is_sufficient_alone
from holdfast.ranking.tuning import SURE_EXACT
from holdfast.recall.score import RetrievedLesson, score_matches
from holdfast.recall.tuning import (
    CHECKPOINT_DAYS,
    FRAME_TOKENS,
    OCCASION_DEPTH,
    SESSION_LIMIT,
    SUBJECT_CHARACTERS,
    SUBJECT_WORDS,
)
from holdfast.rendering.budget import count_tokens
from holdfast.rendering.lines import LINE_TOKENS, add_line, compile_line, frame_tokens, more_line, render_block
from holdfast.text.globs import fits as fits_glob
from holdfast.text.occasions import group_keys
from holdfast.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.records import Checkpoint
    from holdfast.domain.vocabulary import EventKind, Moment
    from holdfast.outcomes.standing import OrderEvidence
    from holdfast.ports.services import Services


class Pick(Frozen):
    """A lesson to be told, the reason, and the others of its group."""

    found: RetrievedLesson
    reason: str = ""
    """A few words; empty: derived from the match."""
    also: tuple[LessonId, ...] = ()
    general: bool = False
    """It holds for all work, so its places and their state are not mentioned."""
    again: bool = False
    """It is a reminder: it is told even if it or its group was told before."""


class MomentContext:
    """A call, its session's log, and the delivery that results from them."""

    def __init__(self, services: Services, location: Location, call: HookCall, moment: Moment) -> None:
        self.services, self.location, self.call, self.moment = services, location, call, moment
        self.profile = MOMENT_PROFILES[moment]
        self.budget = self.profile.budget_tokens
        where = LogFilter(project=location.project.id, session=call.session)
        self.told = [
            delivery for delivery in services.store.find_records(Delivery, where) if delivery.agent == call.agent
        ]
        """Everything this agent was told in this session, newest first."""
        self.known = () if moment == "after_compaction" else _since_compaction(self.told)
        """What it was told and still has in its context."""
        self.shown = tuple(dict.fromkeys(delivery.lesson for delivery in self.known))
        self.checkpoint: Checkpoint | None = None
        self.news: Ranked | None = None
        self.offer: Callable[[Briefing], None] | None = None
        self.read: list[Ranked] = []
        """Every lesson whose freshness was checked."""
        self.withheld: dict[LessonId, Lesson] = {}
        """Lessons that chance withholds from this session; the next best is told instead."""
        self.degraded = ""
        self._evidence: OrderEvidence | None = None
        self._line = ""
        self._seen: list[tuple[LessonId, ...] | None] = []
        self._keys: frozenset[str] | None = None

    # What was told

    @property
    def room(self) -> int:
        """Lines that may still be told. Lines repeated after a compaction do not count."""
        lines: set[tuple[object, int]] = set()
        before: set[LessonId] = set()
        for delivery in reversed(self.told):
            if delivery.rank and not (delivery.moment == "after_compaction" and delivery.lesson in before):
                lines.add((delivery.at, delivery.rank))
            before.add(delivery.lesson)
        return max(0, SESSION_LIMIT - len(lines) - (self.news is not None))

    def count(self, moment: str = "", reason: str = "") -> int:
        """Count the lines told at that moment whose reason begins with `reason`; a group is one line."""
        return len({
            (delivery.at, delivery.rank)
            for delivery in self.told
            if delivery.rank and moment in ("", delivery.moment) and delivery.reason.startswith(reason)
        })  # fmt: skip

    def keys_told(self) -> frozenset[str]:
        """Return the keys of the groups that were told."""
        if self._keys is None:
            lessons = get_readable(self.services.store, self.shown) if self.shown else []
            self._keys = frozenset().union(*map(group_keys, lessons))
        return self._keys

    def subject(self) -> str:
        """Return the telling words of the session's last two prompts and its last reply."""
        texts = [*self.said("prompt", 2), *self.said("reply", 1)]
        return " ".join(telling(text[:SUBJECT_CHARACTERS]) for text in texts)

    def said(self, kind: EventKind, last: int) -> list[str]:
        """Return the texts of the last few prompts or replies of this session."""
        where = EventFilter(project=self.location.project.id, session=self.call.session, kind=kind, last=last)
        return [event.text for _, event in self.services.store.find_events(where)]

    # Queries

    def query(self, **fields: object) -> Query:
        """Return a query at this location that leaves out what was shown."""
        return Query(
            project=self.location.project.id,
            staged=self._seen_here(),
            prefix=self.location.prefix,
            exclude=self.shown,
            at=self.services.clock.now(),
            states=("active", "probation") if self.profile.is_particular else ("active",),
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
        forgot = bool(self.call.agent) or any(delivery.moment == "after_compaction" for delivery in self.told)
        return not (learnt_here and not forgot) and not self._host_reads(lesson)

    def _host_reads(self, lesson: Lesson) -> bool:
        """Return whether an agent wrote the lesson into a rules file that the host reads itself."""
        path = lesson.provenance.origin.partition("#")[0].replace("%23", "#") if lesson.trust == "agent" else ""
        if not path:
            return False
        profile = self.services.host(self.call.host).profile
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
        if not self.room:
            return
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

    def tell(self, *parts: tuple[Sequence[Pick], int], extra: int = 0) -> Briefing:
        """Deliver the first few allowed picks of each part, in their order, and the checkpoint if one is restored.

        `extra` counts further lessons.
        """
        chosen = self._choose(parts)

        def offer(unverified: list[tuple[Ranked, RetrievedLesson]]) -> None:
            if self.offer is not None:
                self.offer(self.with_news(self._compile(chosen, unverified, extra)))

        matches = [pick.found for pick in chosen]
        scored = score_matches(self.services, self.location, matches, "", offer if self.offer else None)
        self.read += [ranked for ranked, _ in scored]
        return self._compile(chosen, scored, extra)

    def _choose(self, parts: Sequence[tuple[Sequence[Pick], int]]) -> list[Pick]:
        """Choose each group once, and nothing that was told, learnt here, said here or written in a rules file."""
        chosen: list[Pick] = []
        room = self.room
        if not room or not any(picks for picks, _ in parts):
            return chosen
        keys = self.keys_told()
        for picks, limit in parts:
            most = min(room, len(chosen) + limit)
            for pick in picks:
                if len(chosen) >= most:
                    break
                own = group_keys(pick.found.lesson)
                if (own <= keys and not pick.again) or not self._is_welcome(pick, chosen) or self._is_withheld(pick):
                    continue
                chosen.append(pick)
                keys |= own
        return chosen

    def _is_welcome(self, pick: Pick, chosen: Sequence[Pick]) -> bool:
        lesson = pick.found.lesson
        if not self.may_tell(lesson):
            return False
        doubted = any(other.found.lesson.state == "probation" for other in chosen)
        if lesson.state == "probation" and (doubted or not _is_closest(pick.found)):
            return False
        return pick.again or not self._is_said(lesson)

    def _is_withheld(self, pick: Pick) -> bool:
        """Return whether chance withholds the lesson from the session's brief; it does at no other moment."""
        lesson = pick.found.lesson
        if self.moment != BRIEF or pick.again or not may_withhold(lesson):
            return False
        if not is_withheld(self.call.session, lesson.id, self.services.holdout):
            return False
        self.withheld[lesson.id] = lesson
        return True

    def _is_said(self, lesson: Lesson) -> bool:
        from holdfast.recall.moments.saying import says_already  # loaded only when a lesson is about to be told

        return says_already(self, lesson)

    def _compile(
        self, chosen: Sequence[Pick], scored: Sequence[tuple[Ranked, RetrievedLesson]], extra: int
    ) -> Briefing:
        by_id = {ranked.lesson.id: ranked for ranked, _ in scored}
        checkpoint = self._checkpoint_text(bool(chosen))
        hint = self.profile.more_command
        room = self.budget - frame_tokens(more_line(max(extra, 1), hint), checkpoint)
        items: list[Ranked] = []
        lines: list[str] = []
        for pick in chosen:
            ranked = self.evidence().apply(by_id[pick.found.lesson.id])
            line = compile_line(
                ranked.lesson, "" if pick.general else _warning(ranked), min(LINE_TOKENS, room),
                places=not pick.general, at=self.services.clock.now(),
            )  # fmt: skip
            if line.tokens > room:
                continue
            room -= line.tokens
            words = "; ".join(filter(None, (pick.reason, "" if pick.reason else ranked.why.words)))
            why = replace(ranked.why, words=words)
            items.append(replace(ranked, rank=len(items) + 1, why=why, also=pick.also))
            lines.append(line.text)
        more = max(0, extra - len(items))
        text = render_block(lines, more_line(more, hint), checkpoint) if lines or checkpoint else ""
        degraded = "; ".join(filter(None, (self.degraded, damage_words(self.services.store))))
        return Briefing(
            moment=self.moment, items=tuple(items), more=more, tokens=count_tokens(text), checkpoint_text=checkpoint,
            text=text, degraded=degraded,
        )  # fmt: skip

    def _checkpoint_text(self, shared: bool) -> str:
        """Return the compiled checkpoint to restore, within half of the budget when lessons share it."""
        if self.checkpoint is None:
            return ""
        from holdfast.curation.taskstate import render

        return render(self.checkpoint, self.budget // 2 if shared else self.budget - FRAME_TOKENS)

    def restorable(self, own: bool) -> Checkpoint | None:
        """Return the current checkpoint if it is recent and its task continues; `own` admits this session's own."""
        from holdfast.curation.taskstate import current  # loaded late: before a file or a command nothing is restored

        checkpoint = current(self.services, self.location)
        if checkpoint is None or checkpoint.id in self.shown or (checkpoint.session == self.call.session and not own):
            return None
        recent = self.services.clock.now() - checkpoint.at <= timedelta(days=CHECKPOINT_DAYS)
        return checkpoint if recent and (checkpoint.session == self.call.session or self._goes_on(checkpoint)) else None

    def _goes_on(self, checkpoint: Checkpoint) -> bool:
        """Return whether this session continues another session's task: it is open and no other session took it up.

        If that session ended or another one took the task up, the task continues only if the prompt shares words with
        it, or changed files of the work tree do.
        """
        log = LogFilter(project=self.location.project.id, lesson=LessonId(checkpoint.id), limit=1)
        where = EventFilter(project=self.location.project.id, session=checkpoint.session, last=1)
        last = self.services.store.find_events(where) if checkpoint.session else []
        is_open = not last or last[0][1].kind != "session_end"
        if is_open and not self.services.store.find_records(Delivery, log):
            return True
        from holdfast.recall.moments.saying import shares_subject

        if self.moment == "prompt":
            return shares_subject(self.call.prompt, f"{checkpoint.goal}\n{' '.join(checkpoint.next)}")
        return bool(set(checkpoint.files).intersection(self.services.workspace.dirty(self.location)))


def telling(text: str, most: int = SUBJECT_WORDS) -> str:
    """Return the first `most` words of a text that are not everyday words; each word costs a look-up."""
    words = (term for term in terms(text) if stem(term) not in EVERYDAY and len(term) > 2)
    return " ".join(islice(words, most))


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


def _is_closest(match: RetrievedLesson) -> bool:
    """Return whether the match is by symbol, command, failure or distinctive name, not by file, trigger or words."""
    lesson = match.lesson
    by_place = any(share.lane == "symbol" and is_sufficient_alone(share) for share in match.shares)
    by_name = any(share.lane == "exact" and share.raw >= SURE_EXACT for share in match.shares)
    return by_place or by_name or match.named == TELLING or bool(lesson.command or lesson.error_signature)
