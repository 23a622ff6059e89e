"""What to hand to a host at a moment: at most three lessons within the moment's budget, or nothing.

A lesson is shown once per session and agent. A compaction takes the agent's memory away, so what was shown before the
last delivery after a compaction counts as not shown. A restored checkpoint is logged like a lesson, under its own id.
"""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.briefing import Briefing
from holdfast.domain.errors import HoldfastError, StoreError
from holdfast.domain.event import TEXT_LIMIT
from holdfast.domain.frozen import replace
from holdfast.domain.query import Query
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import MOMENT_BUDGETS, LessonId
from holdfast.ports.store import LogFilter
from holdfast.ranking.aim import task_of
from holdfast.ranking.bar import CLOSELY_LINKED, PUSHED, is_decisive, is_linked, passes, passes_by_words, shifted
from holdfast.ranking.compile import LINE_TOKENS, add_line, compile_line
from holdfast.ranking.failure import answers_failure, read_failure
from holdfast.ranking.fuse import SURE_EXACT
from holdfast.ranking.names import TELLING
from holdfast.ranking.relevance import fit_of, weigh
from holdfast.ranking.signature import command_target
from holdfast.ranking.tokens import count_tokens
from holdfast.ranking.words import terms
from holdfast.service.ignoring import fits as fits_glob
from holdfast.service.notice import find_news, keep_found
from holdfast.service.outcomes.holdout import withheld_among, withheld_outcomes
from holdfast.service.outcomes.weights import load_weights
from holdfast.service.recall import Draw, Found, admissible, brief, draw, question, weigh_up, with_vector
from holdfast.service.surroundings import linked_files, symbols_at
from holdfast.text.redaction import fold, redact_to
from holdfast.text.redaction.keys import BEGIN, END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.records import Checkpoint
    from holdfast.domain.vocabulary import Moment
    from holdfast.service.outcomes.weights import Weights
    from holdfast.service.parts import Parts

LIMIT = 3
HEAD, TAIL = 3 * TEXT_LIMIT, TEXT_LIMIT
"""Characters of a prompt, command or error that are looked at: a host may send megabytes."""
CHECKPOINT_DAYS = 14
"""A checkpoint older than this is not restored by itself."""
COUNTED = 100
"""How far further lessons are counted."""
TRIGGER_LIMIT = 120
SAME_FOLDER = 0.4
"""Score of the path lane for another file of the folder."""
USED_LIMIT, NAME_LEAST = 4_000, 4
"""Characters of a text to be replaced that are looked at for names, and the least a name has."""
STRONG_WORDS = 2.0
"""Strength from which words alone link a lesson to a failure; the exception's type does not count."""
STANDING_KINDS = ("constraint", "convention", "preference", "tooling", "decision")
"""Kinds that hold for all work; those without a place have no file or command to be shown at."""
CLOSE_MOMENTS = ("prompt", "before_file", "before_command", "after_failure")
"""Moments at which a lesson on probation may be told."""
KNOWN_FAILURES = ("fix", "bug_cause", "failed_approach", "tooling", "constraint", "convention", "preference")


def inject(
    parts: Parts, place: Place, call: HookCall, until_s: float | None = None, budget_tokens: int = 0
) -> Briefing:
    """The delivery for the call's moment, logged; empty when nothing fits or the channel is off.

    Never raises for a lane or a store that is broken: `degraded` says what was. A log that cannot be written is no
    reason to deliver nothing. `budget_tokens`: where a host takes less than the moment's budget.
    """
    handover = prepare(parts, place, call, until_s, budget_tokens)
    deliveries = handover.deliveries()
    try:
        if deliveries:
            parts.store.record(deliveries)
        handover.keep_states()
    except StoreError as exc:
        return replace(handover.briefing, degraded=f"{handover.briefing.degraded} not logged: {exc}".strip())
    return handover.briefing


def prepare(
    parts: Parts,
    place: Place,
    call: HookCall,
    until_s: float | None = None,
    budget_tokens: int = 0,
    offer: Callable[[Handover], None] | None = None,
) -> Handover:
    """What `inject` delivers, not logged. `offer`: see `Memory.hand_over`."""
    moment = call.moment
    if moment is None or moment == "on_demand" or moment not in parts.deliver:
        return Handover(Briefing(moment=moment or "on_demand"))
    try:
        turn = _Turn(parts, place, _spoken(call), moment)
        turn.budget = min(turn.budget, budget_tokens or turn.budget)
        turn.offer = offer
        turn.take_news()
        briefing = turn.with_news(_MOMENTS[moment](turn))
        if until_s is not None and parts.clock.elapsed_s() > until_s:
            return Handover(Briefing(moment=moment), turn)  # the hook answers alone by now
        return Handover(briefing, turn)
    except HoldfastError as exc:
        return Handover(Briefing(moment=moment, degraded=str(exc)))


class Handover:
    """A delivery that is ready, and what is to be written down when the host has it."""

    def __init__(self, briefing: Briefing, turn: _Turn | None = None) -> None:
        self.briefing = briefing
        self._turn = turn

    def deliveries(self) -> list[Delivery]:
        """The log's records of what is shown: lessons, and a restored checkpoint under its own id."""
        turn = self._turn
        if turn is None:
            return []
        restored = turn.checkpoint if self.briefing.checkpoint_text else None
        return _deliveries(turn.parts, turn.place, turn.call, self.briefing, restored)

    def keep_states(self) -> None:
        """Keep the states of the lessons that were read, and which were withheld. Raises StoreError."""
        turn = self._turn
        if turn is not None:
            keep_found(turn.parts, turn.place, turn.read)
            if turn.withheld:
                trigger = _trigger(turn.parts, turn.place, turn.call)
                withheld = turn.withheld.values()
                turn.parts.store.record(
                    withheld_outcomes(turn.parts, turn.place, turn.call, turn.moment, withheld, trigger)
                )


def _spoken(call: HookCall) -> HookCall:
    """The call without secrets and private spans: its words become the logged trigger and reason of a delivery."""
    return replace(
        call,
        prompt=redact_to(_ends_of(call.prompt), TEXT_LIMIT),
        command=redact_to(_ends_of(call.command), TEXT_LIMIT),
        error=redact_to(_ends_of(call.error), TEXT_LIMIT),
    )


def _ends_of(text: str) -> str:
    """The head and the tail of a long text, before anything searches it.

    A tail that begins within a private span or a key block begins after it instead: its opening mark is cut away, and
    nothing else would say that it is private.
    """
    if len(text) <= HEAD + TAIL:
        return text
    low, begin = fold(text), len(text) - TAIL
    for opening, closing in (("<private>", "</private>"), (BEGIN.lower(), END.lower())):
        if low.rfind(opening, 0, begin) > low.rfind(closing, 0, begin):
            close = low.find(closing, begin)
            begin = close + len(closing) if close >= 0 else len(text)
    return f"{text[:HEAD]}\n{text[begin:]}"


class _Turn:
    """One call with what its session was shown already."""

    def __init__(self, parts: Parts, place: Place, call: HookCall, moment: Moment) -> None:
        self.parts, self.place, self.call, self.moment = parts, place, call, moment
        self.budget = MOMENT_BUDGETS[moment]
        where = LogFilter(project=place.project.id, session=call.session)
        self.told = [told for told in parts.store.find_records(Delivery, where) if told.agent == call.agent]
        self.shown = () if moment == "after_compaction" else _still_known(self.told)
        self.checkpoint: Checkpoint | None = None
        self.limit = LIMIT
        self.news: Ranked | None = None
        self.offer: Callable[[Handover], None] | None = None
        self.read: list[Ranked] = []
        """Every lesson that was judged against the code."""
        self.withheld: dict[LessonId, Ranked] = {}
        """Lessons that would have been told and are held back at random."""
        self._weights: Weights | None = None
        self._line = ""

    def take_news(self) -> None:
        """Make room for a lesson whose code got worse in this session, if there is one."""
        try:
            self.news = find_news(self.parts, self.place, self.call, self.told)
        except StoreError:
            return  # it writes down what it sees; without that, the others are delivered all the same
        if self.news is None:
            return
        line = compile_line(self.news.lesson, self.news.caveat, min(LINE_TOKENS, self.budget - FRAME))
        self._line = line.text
        self.limit, self.budget = self.limit - 1, self.budget - line.tokens
        self.shown = (*self.shown, self.news.lesson.id)

    def with_news(self, briefing: Briefing) -> Briefing:
        """The briefing with that lesson before the others."""
        if self.news is None:
            return briefing
        items = (self.news, *(replace(item, rank=item.rank + 1) for item in briefing.items))
        text = add_line(briefing.text, self._line)
        return replace(briefing, items=items, text=text, tokens=count_tokens(text))

    def query(self, **fields: object) -> Query:
        """A query of this place that leaves out what was shown."""
        return Query(
            project=self.place.project.id,
            branch=self.place.branch,
            prefix=self.place.prefix,
            exclude=self.shown,
            at=self.parts.clock.now(),
            states=("active", "probation") if self.moment in CLOSE_MOMENTS else ("active",),
            **fields,  # type: ignore[arg-type]
        )

    def files(self) -> tuple[str, ...]:
        """The call's files, relative to the project."""
        relative = [self.parts.workspace.relative(self.place, path, self.call.cwd) for path in self.call.paths]
        return tuple(dict.fromkeys(path for path in relative if path))

    def deliver(self, query: Query, lanes: Iterable[str], admit: Callable[[Found], bool], extra: int = 0) -> Briefing:
        """The best of what the lanes bring and the moment admits, with the checkpoint if one is restored."""
        drawn = draw(self.parts, query, lanes, admit=lambda found: _is_timely(found, self.moment) and admit(found))
        return self.compose(drawn, extra)

    def _host_reads(self, lesson: Lesson) -> bool:
        """Whether the host reads the rules file that an agent wrote the lesson into: it tells its rules by itself."""
        path = lesson.provenance.origin.partition("#")[0].replace("%23", "#") if lesson.trust == "agent" else ""
        if not path:
            return False
        profile = self.parts.host(self.call.host).profile
        files = (*(target.file.replace("{slug}", "*") for target in profile.rules), *profile.reads)
        return any(fits_glob(path, file) for file in files)

    def compose(self, drawn: Draw, extra: int = 0) -> Briefing:
        """Lessons and checkpoint within the budget."""
        found = [found for found in drawn.found if not self._host_reads(found.lesson)]
        drawn = replace(drawn, found=_confirmed_first(found))

        def offer(unverified: list[tuple[Ranked, Found]]) -> None:
            if self.offer is not None:
                self.offer(Handover(self.with_news(self._brief(unverified, drawn, extra)), self))

        because = _BECAUSE.get(self.moment, "")
        weighed = weigh_up(self.parts, self.place, drawn.found, because, offer if self.offer else None)
        self.read += [ranked for ranked, _ in weighed]
        weighed = self.weights().rank(weighed, self.moment, task_of(self.call.prompt))
        return self._brief(weighed, drawn, extra)

    def weights(self) -> Weights:
        """What outcomes say about the project's lessons and thresholds."""
        if self._weights is None:
            self._weights = load_weights(self.parts.store, self.place.project.id)
        return self._weights

    def _brief(self, weighed: Sequence[tuple[Ranked, Found]], drawn: Draw, extra: int) -> Briefing:
        """The briefing without what is withheld from the session, in whose place the next best is told."""
        briefing = self._assemble(weighed, drawn, extra)
        while withheld := withheld_among(self.parts, self.call.session, briefing.items):
            self.withheld |= {ranked.lesson.id: ranked for ranked in withheld}
            weighed = [pair for pair in weighed if pair[0].lesson.id not in self.withheld]
            briefing = self._assemble(weighed, drawn, extra)
        return briefing

    def _assemble(self, weighed: Sequence[tuple[Ranked, Found]], drawn: Draw, extra: int) -> Briefing:
        return brief(
            weighed,
            moment=self.moment,
            limit=self.limit,
            budget_tokens=self.budget,
            checkpoint_text=self._checkpoint_text(bool(drawn.found)),
            extra=extra,
            hint="holdfast list" if self.moment == "session_start" else "holdfast recall",
            degraded=drawn.degraded,
        )

    def _checkpoint_text(self, shared: bool) -> str:
        """The checkpoint to restore, compiled; within half of the budget when lessons share it."""
        if self.checkpoint is None:
            return ""
        from holdfast.service.checkpoint import render

        return render(self.checkpoint, self.budget // 2 if shared else self.budget - FRAME)

    def restorable(self, own: bool) -> Checkpoint | None:
        """The current checkpoint when it is recent and was not restored yet; `own`: also one of this very session."""
        from holdfast.service.checkpoint import current  # before a file or a command nothing is restored

        found = current(self.parts, self.place)
        if found is None or found.id in self.shown or (found.session == self.call.session and not own):
            return None
        recent = self.parts.clock.now() - found.at <= timedelta(days=CHECKPOINT_DAYS)
        return found if recent else None


def log_recall(parts: Parts, place: Place, asked: HookCall, briefing: Briefing) -> None:
    """Record what an agent was shown because it asked; `asked` tells host, session and, as its prompt, the question."""
    deliveries = _deliveries(parts, place, _spoken(asked), briefing)
    if deliveries:
        parts.store.record(deliveries)


def _deliveries(
    parts: Parts, place: Place, call: HookCall, briefing: Briefing, restored: Checkpoint | None = None
) -> list[Delivery]:
    shown = [(item.lesson.id, item.rank, item.score, item.why.words) for item in briefing.items]
    if restored is not None:
        shown.append((LessonId(restored.id), 0, 0.0, "the task's state was restored"))
    if not shown:
        return []
    at, trigger, cost = parts.clock.now(), _trigger(parts, place, call), briefing.tokens // len(shown)
    return [
        Delivery(
            id=parts.clock.new_id(), at=at, project=place.project.id, session=call.session, host=call.host,
            moment=briefing.moment, lesson=lesson, rank=rank, score=score, reason=words, trigger=trigger,
            tokens=cost, agent=call.agent,
        )
        for lesson, rank, score, words in shown
    ]  # fmt: skip


FRAME = 60
"""Tokens of the fence and its introduction, with room to spare."""


def _session_start(turn: _Turn) -> Briefing:
    """The checkpoint, lessons for the branch, the dirty files and the task, standing rules, and how many more."""
    turn.checkpoint = turn.restorable(own=True)
    files = [*turn.parts.workspace.dirty(turn.place), *(turn.checkpoint.files if turn.checkpoint else ())]
    words = f"{_branch_words(turn.place.branch)} {turn.checkpoint.goal if turn.checkpoint else ''}".strip()
    query = turn.query(text=words, paths=tuple(dict.fromkeys(files))[:20])
    count = len(turn.parts.store.search("recent", turn.query(), COUNTED))
    drawn = draw(turn.parts, query, ("path", "text", "exact", "pinned", "recent"), pool=20, admit=_opens)
    return turn.compose(drawn, extra=max(0, count - len(drawn.found)))


def _prompt(turn: _Turn) -> Briefing:
    """Lessons above the bar; the checkpoint when this session's start delivered nothing."""
    if not any(told.moment in ("session_start", "after_compaction") for told in turn.told):
        turn.checkpoint = turn.restorable(own=False)
    asked = question(turn.parts, turn.place, turn.call.prompt)
    query = turn.query(
        text=asked.text, paths=asked.paths, symbols=asked.symbols, error=asked.error, since=asked.since,
        until=asked.until,
    )  # fmt: skip
    query, _ = with_vector(turn.parts, query, local=True)  # a host waits: for no endpoint
    lanes = ("exact", "text", "path", "pinned", "vector")
    drawn = draw(turn.parts, query, lanes, admit=lambda found: _is_timely(found, "prompt"))
    bar = shifted(PUSHED, turn.weights().shift("prompt"))
    return turn.compose(replace(drawn, found=tuple(admissible(turn.parts, query, drawn.found, bar))))


def _before_file(turn: _Turn) -> Briefing:
    """Lessons anchored to the symbol, the file, a glob that fits it, or its folder; before an edit, of close files."""
    files, call = turn.files(), turn.call
    if not files:
        return Briefing(moment=turn.moment)
    query = turn.query(paths=files, symbols=symbols_at(turn.parts, turn.place, files[0], call))
    used = frozenset(term for excerpt in call.excerpts for term in terms(excerpt[:USED_LIMIT]))

    def fits(found: Found) -> bool:
        explored = found.lesson.kind == "exploration" and not call.edits
        return _is_near(found, SAME_FOLDER if explored else 0.0) or _is_used(found, used)

    own = turn.deliver(query, ("path", "symbol"), fits) if turn.parts.hasty or not call.edits else Briefing()
    if own.items or not call.edits:
        return own  # to open the index costs a cold hook 2 ms: only for a file without lessons of its own
    linked = linked_files(turn.parts, turn.place, files)
    return turn.deliver(replace(query, linked=linked), ("path", "symbol", "graph"), fits)


def _before_command(turn: _Turn) -> Briefing:
    """What is known of this command: how it failed before, how it is to be run."""
    target = command_target(turn.call.command)
    if not target:
        return Briefing(moment=turn.moment)

    def about_it(found: Found) -> bool:
        known = found.lesson.kind in KNOWN_FAILURES or found.lesson.kind == "exploration"
        return known and bool(found.lesson.command) and found.lesson.command == target

    return turn.deliver(turn.query(command=turn.call.command), ("exact",), about_it)


def _after_failure(turn: _Turn) -> Briefing:
    """What answered this error before: the same error or nearly, the same command, or a strong match of its words."""
    failure = read_failure(turn.call.error, turn.call.command)
    if not failure.words and not failure.target:
        return Briefing(moment=turn.moment)
    message = weigh(failure.words.partition(": ")[2] if failure.signature else failure.words)

    def answers(found: Found) -> bool:
        lesson = found.lesson
        if answers_failure(failure, lesson):
            return True
        if failure.signature and lesson.error_signature:
            return False
        same_command = bool(failure.target) and lesson.command == failure.target and lesson.kind in KNOWN_FAILURES
        told = fit_of(message, found.stems)
        return same_command or (
            told.strength >= STRONG_WORDS and passes_by_words(told, PUSHED, found.shares, found.chance)
        )

    query = turn.query(
        text=failure.words, error=turn.call.error if failure.signature else "", command=turn.call.command,
        paths=turn.files(),
    )  # fmt: skip
    return turn.deliver(query, ("exact", "text"), answers)


def _after_compaction(turn: _Turn) -> Briefing:
    """The task's state, and the lessons about its files."""
    turn.checkpoint = turn.restorable(own=True)
    if turn.checkpoint is None:
        return _session_start(turn)
    query = turn.query(text=turn.checkpoint.goal, paths=turn.checkpoint.files)
    return turn.deliver(query, ("path", "text", "exact", "pinned"), _opens)


_BECAUSE: dict[Moment, str] = {
    "before_file": "about this file",
    "before_command": "about this command",
    "after_failure": "answers this failure",
}
"""Reasons that follow from the moment."""

_MOMENTS: dict[Moment, Callable[[_Turn], Briefing]] = {
    "session_start": _session_start,
    "prompt": _prompt,
    "before_file": _before_file,
    "before_command": _before_command,
    "after_failure": _after_failure,
    "after_compaction": _after_compaction,
}


def _still_known(told: Iterable[Delivery]) -> tuple[LessonId, ...]:
    """What the agent was shown and still has: deliveries (newest first) since the last one after a compaction."""
    known: dict[LessonId, None] = {}
    restored = None
    for delivery in told:
        if restored is not None and delivery.at < restored:
            break
        known[delivery.lesson] = None
        if delivery.moment == "after_compaction" and restored is None:
            restored = delivery.at
    return tuple(known)


def _opens(found: Found) -> bool:
    """Whether a lesson is worth a session's first words: it fits the work at hand, is pinned, or always holds."""
    lesson = found.lesson
    if not _is_timely(found, "session_start"):
        return False
    standing = lesson.kind in STANDING_KINDS and lesson.trust in ("person", "verified") and not lesson.anchors
    return lesson.pinned or standing or passes(found.shares, found.fit, PUSHED, found.chance)


def _confirmed_first(found: Sequence[Found]) -> tuple[Found, ...]:
    """What was found, with at most one lesson that is on probation, and that one only where it fits most closely."""
    closest = next((one for one in found if one.lesson.state == "probation" and _is_closest(one)), None)
    return tuple(one for one in found if one.lesson.state != "probation" or one is closest)


def _is_closest(found: Found) -> bool:
    """The very symbol, command or failure, or a distinctive name: nearer than the file or some words."""
    lesson = found.lesson
    by_place = any(share.lane == "symbol" and is_decisive(share) for share in found.shares)
    by_name = any(share.lane == "exact" and share.raw >= SURE_EXACT for share in found.shares)
    return by_place or by_name or found.named == TELLING or bool(lesson.command or lesson.error_signature)


def _is_timely(found: Found, moment: Moment) -> bool:
    """What was found on the way is only told on the same way: never with a prompt or at a session's start."""
    return moment in ("before_file", "before_command") or found.lesson.kind != "exploration" or found.lesson.pinned


def _is_near(found: Found, least: float = 0.0) -> bool:
    """About the file, its symbols or a folder above it; or, with `least`, so near in the path lane."""
    return any(
        (share.lane in ("path", "symbol") and is_decisive(share))
        or (least and share.lane == "path" and share.raw >= least)
        for share in found.shares
    )


def _is_used(found: Found, used: frozenset[str]) -> bool:
    """About a closely linked file, or about a symbol of a linked one that the text to be replaced names."""
    if is_linked(found.shares, CLOSELY_LINKED):
        return True
    names = (symbol.partition("#")[0].rpartition(".")[2].lower() for symbol in found.lesson.symbols)
    return is_linked(found.shares) and any(len(name) >= NAME_LEAST and name in used for name in names)


def _branch_words(branch: str) -> str:
    """A branch's words: `feature/login-retry` as text; the usual trunk says nothing."""
    return "" if branch in ("main", "master", "develop", "trunk") else branch.replace("/", " ").replace("-", " ")


def _trigger(parts: Parts, place: Place, call: HookCall) -> str:
    """What it was shown for: the file, the command, the first words of the prompt or of the error."""
    file = parts.workspace.relative(place, call.paths[0], call.cwd) or call.paths[0] if call.paths else ""
    said = call.error or call.command or file or call.prompt or call.name
    return " ".join(said.split())[:TRIGGER_LIMIT]
