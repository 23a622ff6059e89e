"""Everything about one lesson that a person decides by: verdict, code, quote, history, where it was told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.capture.sessionevents import session_events
from holdfast.curation.claims import status_of
from holdfast.curation.conflicts import conflicts_of, find_near
from holdfast.curation.explain import FieldChange, Version, lineage
from holdfast.curation.forget import AUTOMATIC
from holdfast.curation.review import WAITING, flags
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.vocabulary import LIVING, VERDICTS, Freshness, LessonId
from holdfast.lean.plain import render_instant
from holdfast.lessons.lookup import LessonHistory, history, not_found, resolve
from holdfast.outcomes.standing import WITHDRAWN, Standing, standing_now
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.rendering.origins import TRUST_WORDS, change_words, origin_words
from holdfast.reports.differences import Piece, quoted_pieces, word_pieces
from holdfast.reports.lessoncode import CodeStory, tell_code
from holdfast.reports.tuning import (
    NEAR_COMPARED,
    RELATED_SHOWN,
    SESSIONS_SHOWN,
    TELLINGS_SHOWN,
    TEXT_SHOWN,
    TURN_MOST,
    TURN_SHOWN,
    UNDONE_TOGETHER,
    VALUE_LENGTH,
    VERSIONS_SHOWN,
    WAITING_READ,
)

Section = Literal["", "code", "conversation", "history", "told"]
"""The part of a story that is given whole; empty: none."""
Tone = Literal["good", "quiet", "warn", "bad"]

TAKEN_BACK = "what was said against it was taken back"
PERSONAL = ("revise", "edit", "confirm", "accept", "reject", "retire", "forget", "settle", "rescue", "promote")
"""Verbs of changes by a person's decision: these can be undone from the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonVerdict:
    """What holds for the lesson now, in a word and in a sentence."""

    word: str
    """Such as `Code changed`."""
    reason: str
    advice: str = ""
    """What a person decides now; empty where there is nothing to decide."""
    tone: Tone = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something else that a person should know before deciding."""

    text: str
    lesson: LessonId = ""  # type: ignore[assignment]
    """The lesson that it is about; empty: none."""
    title: str = ""
    """That lesson's title."""
    tone: Tone = "warn"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedTurn:
    """An event of the conversation in which the lesson was learnt."""

    speaker: str
    """`person`, `agent`, `command`, `edit` or `tool`."""
    at: datetime
    pieces: tuple[Piece, ...]
    """Its text; the words that the lesson rests on are marked `quote`."""
    is_evidence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The events around the words that the lesson rests on."""

    quotes: tuple[str, ...] = ()
    turns: tuple[QuotedTurn, ...] = ()
    note: str = ""
    """Why there is no conversation to show."""
    is_cut: bool = False
    """A turn is not shown whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonOrigin:
    """Who said the lesson, where and when."""

    words: str
    """A sentence."""
    rests_on: str
    """What its trust says: a person's word, proved by what ran, …; empty where `words` say it."""
    at: datetime
    person: str = ""
    host: str = ""
    session: str = ""
    branch: str = ""
    sessions_seen: int = 0
    """Sessions in which it was observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedField:
    """A field of a lesson that a change altered, by words."""

    field: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonEdition:
    """One version of the lesson, or of one that it replaced or that replaced it."""

    lesson: LessonId
    at: datetime
    words: str
    """What was done: `revised`, `confirmed`."""
    actor: str = ""
    why: str = ""
    is_this: bool = True
    """It is a version of the lesson itself."""
    changes: tuple[ChangedField, ...] = ()
    is_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedLesson:
    """A lesson that this one replaced, that replaced it, contradicts it, or is linked to it."""

    relation: str
    """`replaced`, `replaced by`, `contradicts`, `would replace`, …"""
    id: LessonId
    title: str
    insight: str
    state: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonTelling:
    """One moment at which the lesson was told."""

    at: datetime
    moment: str
    """In words: `before a command`."""
    trigger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What followed in a session, or what somebody said of the lesson."""

    verdict: str
    words: str
    """The verdict as a sentence without a full stop."""
    at: datetime
    note: str = ""
    is_statement: bool = False
    """Somebody said so; otherwise it was judged from what the session did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSession:
    """A session that was told the lesson, should have been told, or from which it was withheld."""

    session: str
    """Empty: somebody said something of the lesson outside a session."""
    host: str
    at: datetime
    tellings: tuple[LessonTelling, ...] = ()
    more: int = 0
    """Further moments at which it was told."""
    followed: tuple[Followed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """A condition under which the lesson is told."""

    words: str
    """Such as `before a command that begins with`."""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoableChange:
    """The lesson's last change, which can be undone."""

    id: str
    words: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonStory:
    """Everything about one lesson that a person decides by."""

    lesson: Lesson
    version: str
    """The instant at which this version was recorded: a change of another version is refused."""
    claim: str
    """`floated`, `decided`, `shipped` or `amended`; empty for a kind that nobody decides."""
    verdict: LessonVerdict
    notices: tuple[Notice, ...]
    code: CodeStory
    conversation: Conversation
    origin: LessonOrigin
    occasions: tuple[Occasion, ...]
    related: tuple[RelatedLesson, ...]
    editions: tuple[LessonEdition, ...]
    """Versions, the newest first."""
    editions_more: int
    sessions: tuple[ToldSession, ...]
    """The newest first."""
    sessions_more: int
    times_told: int
    effect: str
    """The sums of what followed, in words; empty where nothing is known."""
    undoable: UndoableChange | None = None
    restorable: str = ""
    """The change by which it was forgotten, while that can be undone."""
    whole: Section = ""
    """The part that is given whole."""


def tell_lesson(
    services: Services,
    location: Location,
    ref: str,
    *,
    sees: Callable[[Lesson], bool] = lambda lesson: True,
    whole: Section = "",
) -> LessonStory:
    """Return the story of the lesson; lists are cut but for those of the section `whole`.

    `sees` says which other lessons the reader may see. Raises as `lookup.resolve` does, also for a lesson that the
    reader may not see.
    """
    lesson = resolve(services, location, ref)
    if not sees(lesson):
        raise not_found(location, ref)
    log = history(services, lesson.id)
    events = _events(services, location, lesson)
    code = tell_code(services, location, lesson, events, everything=whole == "code")
    lines = [each for each in lineage(services, location, lesson.id, by_log=True) if sees(each.lesson)]
    versions = [each for each in lines if _tells(each, lesson)]
    related = _related(services, location, lesson, lines, sees)
    sessions = _sessions(log, SESSIONS_SHOWN if whole != "told" else None)
    editions = _editions(lesson, versions, whole == "history")
    return LessonStory(
        lesson=lesson,
        version=render_instant(lesson.recorded_at),
        claim=status_of(lesson),
        verdict=_verdict(lesson, code, log, related),
        notices=tuple(_notices(services, location, lesson, code, related)),
        code=code,
        conversation=_conversation(lesson, events, TURN_MOST if whole == "conversation" else TURN_SHOWN),
        origin=_origin(lesson),
        occasions=tuple(_occasions(lesson)),
        related=related,
        editions=editions,
        editions_more=len(versions) - len(editions),
        sessions=sessions[0],
        sessions_more=sessions[1],
        times_told=len(log.deliveries),
        effect=_effect(services, lesson, log),
        undoable=_undoable(services, log, lesson),
        restorable=_forgotten_by(log) if lesson.state == "forgotten" else "",
        whole=whole,
    )


# The verdict


CODE_WORDS: dict[Freshness, LessonVerdict] = {
    "fresh": LessonVerdict(word="Fresh", reason="The code is as it was when this was recorded.", tone="good"),
    "moved": LessonVerdict(word="Moved", reason="The code is the same, at another place.", tone="good"),
    "unanchored": LessonVerdict(word="No code", reason="It names no file, so no code can be compared with it."),
    "unverified": LessonVerdict(word="Not checked", reason="Nobody can tell here whether the code has changed."),
    "drifted": LessonVerdict(
        word="Code changed", reason="What the code does has changed since.", advice="Does it still hold?", tone="warn"
    ),
    "changed": LessonVerdict(
        word="Signature changed", reason="How the code is called has changed since.", advice="Does it still hold?",
        tone="bad",
    ),
    "orphaned": LessonVerdict(
        word="Code gone", reason="The code that it is about no longer exists.",
        advice="Does it hold elsewhere, or is it over?", tone="bad",
    ),
}  # fmt: skip


SUSPICIOUS = LessonVerdict(
    word="Suspicious", reason="Its text speaks to the agent, or hides something. No agent is told of it.",
    advice="Accept it, or reject it.", tone="bad",
)  # fmt: skip


def _verdict(lesson: Lesson, code: CodeStory, log: LessonHistory, related: Sequence[RelatedLesson]) -> LessonVerdict:
    if lesson.state in LIVING:
        is_suspicious = lesson.state == "quarantined"
        return SUSPICIOUS if is_suspicious else _against_verdict(related) or _code_verdict(lesson, code)
    ended = next((change for change in log.changes if change.verb != "undo"), None)
    by = _by(ended)
    match lesson.state:
        case "forgotten":
            reason = f"It was forgotten{by}. Its words stay in its history until it is purged."
            return LessonVerdict(word="Forgotten", reason=reason)
        case "superseded":
            successor = next((each for each in related if each.relation == "replaced by"), None)
            words = f"“{successor.title}” has taken its place" if successor else "another lesson has taken its place"
            return LessonVerdict(word="Replaced", reason=f"{words[0].upper()}{words[1:]}. It is told no more.")
        case _:
            wakes = f" It waits for you again when {lesson.revival}." if lesson.revival else ""
            return LessonVerdict(word="Retired", reason=f"It was retired{by} and is told no more.{wakes}")


def _against_verdict(related: Sequence[RelatedLesson]) -> LessonVerdict | None:
    """Return the verdict on a lesson that another one contradicts; None where none does."""
    against = [each for each in related if each.relation == "contradicts"]
    if not against:
        return None
    are_told = any(each.state == "active" for each in against)
    reason = (
        "Another lesson in use says otherwise, and agents are told both."
        if are_told
        else "One that waits says otherwise."
    )
    return LessonVerdict(word="Contradicted", reason=reason, advice="Which one holds?", tone="bad")


def _code_verdict(lesson: Lesson, code: CodeStory) -> LessonVerdict:
    """Return what the code says of a lesson in use, with what changed where that is known."""
    plain = CODE_WORDS[code.freshness]
    worst = next((side for side in (*code.sides, *code.others) if side.freshness == code.freshness), None)
    reason = plain.reason
    if worst is not None and code.freshness != "fresh":
        changed = worst.sentence or plain.reason.rstrip(".")
        name = "" if worst.symbol and worst.symbol in changed else f"{worst.name}: "
        reason = f"{name}{changed[0].lower() if name else changed[0]}{changed[1:]}."
    if lesson.state in WAITING:
        advice = "Accept it, or reject it."
        return LessonVerdict(word=plain.word, reason=reason, advice=advice, tone=plain.tone)
    return LessonVerdict(word=plain.word, reason=reason, advice=plain.advice, tone=plain.tone)


def _by(change: Change | None) -> str:
    if change is None:
        return ""
    return f" on {change.at:%Y-%m-%d}" + (f" by {change.actor}" if change.actor else "")


def _notices(
    services: Services, location: Location, lesson: Lesson, code: CodeStory, related: Sequence[RelatedLesson]
) -> Iterable[Notice]:
    if lesson.state == "candidate":
        yield Notice(text="It is unconfirmed: it waits for a person, and no agent is told of it unasked.")
    if lesson.state == "quarantined" or any(each.relation == "contradicts" for each in related):
        verdict = _code_verdict(lesson, code)
        yield Notice(text=f"{verdict.word}. {verdict.reason}", tone=verdict.tone)
    for each in related:
        if each.relation in ("contradicts", "would replace"):
            words = "It contradicts" if each.relation == "contradicts" else "A revision of it waits:"
            yield Notice(text=words, lesson=each.id, title=each.title)
    if lesson.scope.branch and lesson.state in LIVING:
        branch = lesson.scope.branch
        yield Notice(text=f"It is told only on the branch {branch}, until that is merged.", tone="quiet")
    if lesson.private:
        yield Notice(text="It is private: it never leaves this machine unsealed.", tone="quiet")
    standing = standing_now(services.store, lesson)
    if standing.is_doubted and lesson.state in LIVING and not flags(services, location, lesson.id):
        yield Notice(text=f"Sessions and people speak against it: {standing.words}.", tone="bad")
    if not code.has_work_tree and lesson.anchors and lesson.state in LIVING:
        yield Notice(text="A server has no clone, so the code now is not here.", tone="quiet")


# The quote within its conversation

SPOKEN = ("prompt", "reply")
SPEAKERS = {
    "prompt": "person", "reply": "agent", "tool_result": "command", "tool_failure": "command", "tool_use": "command",
    "file_edit": "edit",
}  # fmt: skip


def _events(services: Services, location: Location, lesson: Lesson) -> list[Event]:
    source = lesson.provenance
    if not source.session or lesson.scope.project not in ("", location.project.id):
        return []
    return session_events(services, location.project.id, source.session)


def _conversation(lesson: Lesson, events: Sequence[Event], most: int) -> Conversation:
    evidence = lesson.provenance.evidence
    quotes = tuple(dict.fromkeys(span.quote.strip() for span in evidence if span.quote.strip()))
    if not evidence:
        return Conversation(quotes=quotes, note="" if lesson.trust == "person" else "It rests on no quote.")
    rests_on = {span.event for span in evidence}
    at = next((index for index, event in enumerate(events) if event.id in rests_on), -1)
    if at < 0:
        return Conversation(quotes=quotes, note="The session that it was learnt in is not recorded here any more.")
    chosen = {event.id: event for event in events if event.id in rests_on}
    for part in (events[at::-1], events[at + 1 :]):
        nearest = (
            next((event for event in part if event.kind == kind and event.text.strip()), None) for kind in SPOKEN
        )
        chosen |= {event.id: event for event in nearest if event is not None}
    turns = [_turn(event, quotes, event.id in rests_on, most) for event in sorted(chosen.values(), key=lambda e: e.at)]
    readable = tuple(turn for turn in turns if turn.pieces)
    return Conversation(
        quotes=quotes,
        turns=readable,
        note="" if readable else "The texts of that session were erased; the quote stays.",
    )


def _turn(event: Event, quotes: Sequence[str], is_evidence: bool, most: int) -> QuotedTurn:
    return QuotedTurn(
        speaker=SPEAKERS.get(event.kind, "tool"),
        at=event.at,
        pieces=quoted_pieces(_text_of(event), quotes if is_evidence else (), most),
        is_evidence=is_evidence,
    )


def _text_of(event: Event) -> str:
    if event.kind == "file_edit":
        return "\n".join(filter(None, (", ".join(event.files), event.new or event.old)))
    command = f"$ {event.command}" if event.command else ""
    return "\n".join(filter(None, (command, event.text.strip())))


def _origin(lesson: Lesson) -> LessonOrigin:
    source = lesson.provenance
    is_said = lesson.trust in ("person", "repository", "tool") and not (
        source.detector or source.origin or source.quotes_person
    )
    return LessonOrigin(
        words=origin_words(lesson), rests_on="" if is_said else TRUST_WORDS[lesson.trust],
        at=lesson.validity.valid_from, person=source.person_name, host=source.host, session=source.session,
        branch=source.branch, sessions_seen=len(lesson.sessions_seen),
    )  # fmt: skip


def _occasions(lesson: Lesson) -> Iterable[Occasion]:
    """Yield when the lesson is told, besides for its words."""
    when = lesson.when
    files = tuple(dict.fromkeys((*when.paths, *lesson.globs, *lesson.paths)))
    if when.standing or lesson.pinned:
        yield Occasion(words="at every session's start, for all work")
    listed = (
        ("when one of these files is read or edited", files),
        ("when one of these definitions is edited", tuple(dict.fromkeys((*when.symbols, *lesson.symbols)))),
        ("when an edit or a command contains", when.literals),
        ("before a command that begins with", when.commands or ((lesson.command,) if lesson.command else ())),
        ("after a failure such as", (lesson.error_signature,) if lesson.error_signature else ()),
        ("for work of the kind", when.work),
        ("only if this has not passed since the last edit", when.needs),
    )
    yield from (Occasion(words=words, values=values) for words, values in listed if values)


# Other lessons


LINK_WORDS = {
    "refines": "refines", "duplicates": "says the same as", "caused_by": "was caused by", "relates_to": "relates to",
}  # fmt: skip


def _related(
    services: Services, location: Location, lesson: Lesson, versions: Sequence[Version],
    sees: Callable[[Lesson], bool],
) -> tuple[RelatedLesson, ...]:  # fmt: skip
    by_id = {version.lesson.id: version.lesson for version in versions}
    pairs: list[tuple[str, Lesson]] = []
    for other in by_id.values():
        if any(link.kind == "supersedes" and link.target == lesson.id for link in other.links):
            pairs.append(("replaced by", other))
    for link in lesson.links:
        target = by_id.get(link.target) or next(iter(get_readable(services.store, [link.target])), None)
        if target is None:
            continue
        if link.kind in ("supersedes", "contradicts"):
            pairs.append(("replaced" if link.kind == "supersedes" else "contradicts", target))
        else:
            word = "would replace it" if link.kind == "refines" and lesson.state in WAITING else LINK_WORDS[link.kind]
            pairs.append((word, target))
    pairs += _against(services, location, lesson)
    related: dict[tuple[str, LessonId], RelatedLesson] = {}
    for relation, other in pairs:
        if sees(other) and not (relation == "contradicts" and other.state not in LIVING):
            related.setdefault((relation, other.id), _relation(relation, other))
    return tuple(_at_most(related.values()))


def _against(services: Services, location: Location, lesson: Lesson) -> Iterable[tuple[str, Lesson]]:
    """Yield lessons that contradict a lesson in use, and waiting ones that would replace it."""
    if lesson.state not in LIVING:
        return
    for conflict in conflicts_of(services, location, lesson, find_near(services, lesson, NEAR_COMPARED)):
        yield "contradicts", conflict.other(lesson.id)
    waiting = services.store.find(LessonFilter(project=location.project.id, states=WAITING, limit=WAITING_READ))
    for other in waiting:
        for link in other.links:
            if link.target == lesson.id and link.kind in ("refines", "contradicts"):
                yield ("would replace" if link.kind == "refines" else "contradicts"), other


def _relation(relation: str, lesson: Lesson) -> RelatedLesson:
    return RelatedLesson(
        relation=relation, id=lesson.id, title=lesson.title, insight=lesson.insight[:TEXT_SHOWN], state=lesson.state,
        at=lesson.recorded_at,
    )  # fmt: skip


def _at_most(related: Iterable[RelatedLesson]) -> Iterable[RelatedLesson]:
    counts: dict[str, int] = {}
    for each in related:
        counts[each.relation] = counts.get(each.relation, 0) + 1
        if counts[each.relation] <= RELATED_SHOWN:
            yield each


# History


FIELD_WORDS = {
    "insight": "rule", "how": "what to do", "paths": "files", "globs": "file patterns", "topic_key": "topic",
    "trust": "rests on",
}  # fmt: skip


def _editions(lesson: Lesson, versions: Sequence[Version], is_whole: bool) -> tuple[LessonEdition, ...]:
    newest = list(reversed(versions))[: None if is_whole else VERSIONS_SHOWN]
    first = versions[0] if versions else None
    return tuple(
        LessonEdition(
            lesson=version.lesson.id,
            at=version.lesson.recorded_at,
            words=change_words(version.verb) if version.verb else "recorded",
            actor=version.actor,
            why=version.why,
            is_this=version.lesson.id == lesson.id,
            changes=tuple(_changed_field(difference, is_whole) for difference in version.differences),
            is_first=version is first,
        )
        for version in newest
    )


def _tells(version: Version, lesson: Lesson) -> bool:
    """Return whether a version says something: the end of a predecessor only says that its successor exists."""
    changed = {difference.field for difference in version.differences}
    return version.lesson.id == lesson.id or changed != {"state"} or version.lesson.state != "superseded"


def _changed_field(difference: FieldChange, is_whole: bool) -> ChangedField:
    before, after = difference.before, difference.after
    if not is_whole:
        before, after = before[:TEXT_SHOWN], after[:TEXT_SHOWN]
    name = FIELD_WORDS.get(difference.field, difference.field.replace("_", " "))
    if max(len(before), len(after)) <= VALUE_LENGTH:
        pieces = [Piece(text=before, mark="removed")] if before else []
        pieces += [Piece(text=after, mark="added")] if after else []
        return ChangedField(field=name, pieces=tuple(pieces))
    return ChangedField(field=name, pieces=word_pieces(before, after))


def _undoable(services: Services, log: LessonHistory, lesson: Lesson) -> UndoableChange | None:
    """Return the lesson's newest change if a person made it, it was about few lessons, and none changed since."""
    newest = _newest_change(log.changes)
    if newest is None or newest.verb not in PERSONAL or len(newest.lessons) > UNDONE_TOGETHER:
        return None
    for other in newest.lessons:
        if other != lesson.id:
            latest = _newest_change(services.store.find_records(Change, LogFilter(lesson=other)))
            if latest is None or latest.id != newest.id:
                return None
    return UndoableChange(id=newest.id, words=change_words(newest.verb), actor=newest.actor, at=newest.at)


def _newest_change(changes: Sequence[Change]) -> Change | None:
    """Return the newest change, by somebody, that was not undone."""
    undone = {change.undone for change in changes if change.verb == "undo"}
    return next((each for each in changes if each.verb not in AUTOMATIC and each.id not in undone), None)


def _forgotten_by(log: LessonHistory) -> str:
    return next((change.id for change in log.changes if change.verb == "forget"), "")


# Where it was told, and what followed


def _sessions(log: LessonHistory, most: int | None) -> tuple[tuple[ToldSession, ...], int]:
    """Return the sessions that have something to do with the lesson, the newest first, and how many are left out."""
    deliveries: dict[str, list[Delivery]] = {}
    outcomes: dict[str, list[Outcome]] = {}
    for delivery in log.deliveries:
        deliveries.setdefault(delivery.session, []).append(delivery)
    for outcome in log.outcomes:
        outcomes.setdefault(outcome.session, []).append(outcome)
    sessions = [
        _session(session, deliveries.get(session, []), outcomes.get(session, []), most is None)
        for session in dict.fromkeys((*deliveries, *outcomes))
    ]
    newest = sorted(sessions, key=lambda each: each.at, reverse=True)
    return tuple(newest[:most]), max(0, len(newest) - (len(newest) if most is None else most))


def _session(session: str, deliveries: Sequence[Delivery], outcomes: Sequence[Outcome], is_whole: bool) -> ToldSession:
    shown = deliveries if is_whole else deliveries[:TELLINGS_SHOWN]
    tellings = tuple(
        LessonTelling(
            at=each.at, moment=MOMENT_PROFILES[each.moment].words,
            trigger="" if MOMENT_PROFILES[each.moment].restores_task else each.trigger,
        )
        for each in reversed(shown)
    )  # fmt: skip
    followed = tuple(_followed(outcome) for outcome in outcomes)
    instants = [*(each.at for each in deliveries), *(each.at for each in outcomes)]
    return ToldSession(
        session=session, host=deliveries[0].host if deliveries else "",
        at=max(instants), tellings=tellings,
        more=len(deliveries) - len(shown), followed=followed,
    )  # fmt: skip


def _followed(outcome: Outcome) -> Followed:
    is_statement = not outcome.judge
    if is_statement and outcome.verdict == WITHDRAWN:
        return Followed(verdict="taken back", words=TAKEN_BACK, at=outcome.at, is_statement=True)
    return Followed(
        verdict=outcome.verdict, words=VERDICTS[outcome.verdict], at=outcome.at, note=outcome.note,
        is_statement=is_statement,
    )  # fmt: skip


def _effect(services: Services, lesson: Lesson, log: LessonHistory) -> str:
    """Return the sums in one sentence, such as `Told 9 times, heeded 4; withheld 2 times, done anyway 1.`"""
    if not log.outcomes:
        return ""
    standing = standing_now(services.store, lesson)
    words = standing.estimate or standing.words if standing != Standing() else ""
    if not words:
        return ""
    return f"{words[0].upper()}{words[1:]}."
