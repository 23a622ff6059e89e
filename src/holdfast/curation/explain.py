"""Explain: shows why a lesson is believed: its origin, the state of its code, and its outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from holdfast.capture.sessionevents import session_events
from holdfast.curation.tuning import CHANGES_READ, TOGETHER
from holdfast.domain.event import Event
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import INSTANT, Anchor, Lesson, Link, Triggers
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import STATES, Freshness, LessonId
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.freshness.check import FreshnessCheck, caveat, worst
from holdfast.freshness.compare import changing_commit, spans_of
from holdfast.freshness.verify import STALE
from holdfast.lean.plain import field_names
from holdfast.lean.texts import short_id
from holdfast.lessons.lookup import LessonHistory, history, in_project, resolve
from holdfast.outcomes.standing import Standing, standing_now
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.ranking.fuse import multipliers
from holdfast.text.globs import glob_matches

SHOWN = (
    "state", "kind", "title", "insight", "why", "how", "snippets", "paths", "symbols", "globs", "tags", "topic_key",
    "trust", "confidence", "pinned", "private", "links",
)  # fmt: skip
"""Fields of a lesson that are compared with the previous version."""
TRIGGERS = tuple(name for name in field_names(Triggers) if name != "edited")
"""Kinds of triggers, which are compared, too, as `when commands`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorState:
    """An anchor of a lesson and the state of its code."""

    anchor: Anchor
    verdict: Verdict
    commit: str = ""
    """The commit that changed the code; `-` while the change is uncommitted; empty if the code is fresh or it is
    unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How far a lesson has aged, and the effect on its score."""

    age_days: float
    """Since its current version."""
    half_life_days: float
    """Days until half of its recency is gone; 0 for a pinned lesson, which does not age."""
    factor: float
    """The factor of its score in an explicit query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that is known about one lesson."""

    lesson: Lesson
    freshness: Freshness
    caveat: str
    subjects: tuple[AnchorState, ...]
    history: LessonHistory
    standing: Standing = field(default_factory=Standing)
    """The sum of its outcomes."""
    decay: Decay


def explain(services: Services, location: Location, ref: str) -> Explanation:
    """Return provenance, anchors with verdicts and commits, deliveries and outcomes; raises as `lookup.resolve`."""
    lesson = resolve(services, location, ref)
    return explain_lesson(
        services, location, lesson, history(services, lesson.id), standing_now(services.store, lesson)
    )


def explain_lesson(
    services: Services, location: Location, lesson: Lesson, log: LessonHistory, standing: Standing
) -> Explanation:
    """Return the same of a lesson that was read elsewhere, with its log and standing; only the code is read here."""
    anchor_verdicts = FreshnessCheck(services, location, within_s=inf).anchor_verdicts(lesson)
    freshness, caveat = worst(anchor_verdicts)
    return Explanation(
        lesson=lesson,
        freshness=freshness,
        caveat=caveat,
        subjects=tuple(_subject(services, location, *look) for look in anchor_verdicts),
        history=log,
        standing=standing,
        decay=_decay(lesson, services.clock.now()),
    )


def _decay(lesson: Lesson, now: datetime) -> Decay:
    factor = dict(multipliers(lesson, "unanchored", now))["recency"]
    age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return Decay(
        age_days=age_days,
        half_life_days=0.0 if lesson.pinned else profile_of(lesson.kind).half_life_days,
        factor=factor,
    )


def _subject(services: Services, location: Location, anchor: Anchor, verdict: Verdict) -> AnchorState:
    commit = changing_commit(services, location, anchor, verdict) if verdict.freshness in STALE else ""
    return AnchorState(anchor=anchor, verdict=verdict, commit=commit)


# Surrounding: the conversation around the words that a lesson rests on, for the person who decides about it


SPOKEN = ("prompt", "reply")


def find_surrounding(services: Services, location: Location, lesson: Lesson) -> list[Event]:
    """Return prompt and reply before the lesson's first evidence, and those after it, in order; at most four.

    The answer is empty where the session is unknown or its texts were erased. Evidence itself counts as before.
    """
    source = lesson.provenance
    if not source.session or not source.evidence:
        return []
    events = session_events(services, location.project.id, source.session)
    evidence = {span.event for span in source.evidence}
    at = next((index for index, event in enumerate(events) if event.id in evidence), -1)
    if at < 0:
        return []
    before = [_nearest(events[at::-1], kind) for kind in SPOKEN]
    after = [_nearest(events[at + 1 :], kind) for kind in SPOKEN]
    chosen = {event.id: event for event in (*before, *after) if event is not None}
    return sorted(chosen.values(), key=lambda event: event.at)


def _nearest(events: list[Event], kind: str) -> Event | None:
    return next((event for event in events if event.kind == kind and event.text.strip()), None)


# Lineage: every version of a lesson, its predecessors and successors, with who changed what, when and why


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field before and after, as text."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of one lesson of the chain."""

    lesson: Lesson
    verb: str = ""
    """The change that made it; empty where the log does not have it."""
    actor: str = ""
    why: str = ""
    """The change's summary."""
    differences: tuple[FieldChange, ...] = ()
    """Differences from the previous version, or from the lesson it supersedes; empty for the first of the chain."""


def lineage(services: Services, location: Location, ref: str, *, by_log: bool = False) -> tuple[Version, ...]:
    """Return the versions of the lesson, its predecessors and its successors, oldest first.

    With `by_log`, successors are looked for in the log of the lessons' changes alone, which takes no longer in a large
    memory: that of a retired lesson which somebody restated later is not found, nor what a long import brought.

    Raises as `lookup.resolve` does.
    """
    lesson = resolve(services, location, ref)
    chain = {lesson.id: lesson}
    _add_predecessors(services, [lesson], chain)
    if by_log:
        _add_logged_successors(services, chain)
    else:
        _add_successors(services, location, chain)
    versions = [version for known in chain.values() for version in _versions(services, known, chain)]
    begun: dict[LessonId, datetime] = {}
    for version in versions:
        known_at = version.lesson.recorded_at
        begun[version.lesson.id] = min(known_at, begun.get(version.lesson.id, known_at))
    # One change closes a lesson and adds its successor at the same instant. Ids made in one millisecond have no order.
    return tuple(
        sorted(versions, key=lambda version: (version.lesson.recorded_at, begun[version.lesson.id], version.lesson.id))
    )


def _add_predecessors(services: Services, lessons: Iterable[Lesson], chain: dict[LessonId, Lesson]) -> None:
    waiting = [target for lesson in lessons for target in _superseded(lesson)]
    while waiting:
        target = waiting.pop()
        if target not in chain and (before := _current(services, target)) is not None:
            chain[target] = before
            waiting += _superseded(before)


def _add_successors(services: Services, location: Location, chain: dict[LessonId, Lesson]) -> None:
    """Add lessons that supersede a lesson of the chain; the project's lessons are read once for that."""
    if all(lesson.state not in ("superseded", "retired") for lesson in chain.values()):
        return
    lessons = services.store.find(LessonFilter(project=location.project.id, states=STATES, limit=CHANGES_READ))
    grown = True
    while grown:
        grown = False
        for lesson in lessons:
            if lesson.id not in chain and chain.keys() & set(_superseded(lesson)):
                chain[lesson.id] = lesson
                _add_predecessors(services, [lesson], chain)
                grown = True


def _add_logged_successors(services: Services, chain: dict[LessonId, Lesson]) -> None:
    """Add lessons that supersede a lesson of the chain and were written together with its end."""
    closed = [lesson for lesson in chain.values() if lesson.state in ("superseded", "retired")]
    while closed:
        lesson = closed.pop()
        changes = services.store.find_records(Change, LogFilter(lesson=lesson.id))
        together = [id_ for change in changes if len(change.lessons) <= TOGETHER for id_ in change.lessons]
        unknown = [id_ for id_ in dict.fromkeys(together) if id_ not in chain]
        for successor in get_readable(services.store, unknown):
            if lesson.id in _superseded(successor):
                chain[successor.id] = successor
                _add_predecessors(services, [successor], chain)
                closed += [successor] if successor.state in ("superseded", "retired") else []


def _superseded(lesson: Lesson) -> list[LessonId]:
    return [link.target for link in lesson.links if link.kind == "supersedes"]


def _versions(services: Services, lesson: Lesson, chain: dict[LessonId, Lesson]) -> list[Version]:
    """Return the lesson's versions, newest first, each compared with the previous one."""
    changes = sorted(services.store.find_records(Change, LogFilter(lesson=lesson.id)), key=lambda change: change.at)
    texts = [lesson]
    while (before := _current(services, lesson.id, texts[-1])) is not None:
        texts.append(before)
    versions = []
    for version, before in zip(texts, [*texts[1:], None], strict=True):
        change = next((entry for entry in changes if entry.at >= version.recorded_at), None)
        old = before or next((chain[target] for target in _superseded(version) if target in chain), None)
        versions.append(
            Version(
                lesson=version,
                verb=change.verb if change else "",
                actor=change.actor if change else "",
                why=change.summary if change else "",
                differences=_differences(old, version) if old else (),
            )
        )
    return versions


def _current(services: Services, lesson: LessonId, before: Lesson | None = None) -> Lesson | None:
    """Return the lesson's present version, or the one before the given version; None when there is none any more."""
    try:
        return services.store.get([lesson], before.recorded_at - INSTANT if before else None)[0]
    except LessonNotFoundError:
        return None


def _differences(old: Lesson, new: Lesson) -> tuple[FieldChange, ...]:
    # Between two lessons of a chain the state and the link to the predecessor differ by nature.
    fields = SHOWN if old.id == new.id else tuple(field for field in SHOWN if field not in ("state", "links"))
    values = [(field, getattr(old, field), getattr(new, field)) for field in fields]
    values += [(f"when {name}", getattr(old.when, name), getattr(new.when, name)) for name in TRIGGERS]
    return tuple(
        FieldChange(field=field, before=_text(before), after=_text(after))
        for field, before, after in values
        if before != after
    )


def _text(value: str | bool | float | Sequence[str | Link]) -> str:
    if isinstance(value, tuple):
        return ", ".join(
            f"{item.kind} {short_id(item.target)}" if isinstance(item, Link) else str(item) for item in value
        )
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


# Blame: finds the lessons about a file's lines, by their anchors in the present code


@dataclass(frozen=True, slots=True, kw_only=True)
class Blamed:
    """A lesson and the lines of the file that it is about; lines count from 1, both ends are included."""

    lesson: Lesson
    start: int
    """0: the whole file, or a definition that is no longer in it."""
    end: int
    symbol: str
    freshness: Freshness
    caveat: str = ""


def blame(
    services: Services, location: Location, path: str, lines: tuple[int, int] | None = None
) -> tuple[Blamed, ...]:
    """Return the active lessons about the file, from top to bottom, shorter spans first; whole-file lessons last.

    With `lines`, return only lessons about at least one of these lines; a lesson about the whole file is about every
    line. Raises InvalidValueError for a path outside the project and for an impossible range of lines.
    """
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise InvalidValueError(f"no such lines: {lines[0]}-{lines[1]}", hint="FILE:12 or FILE:12-30")
    relative = in_project(services, location, path)
    lessons = services.store.find(LessonFilter(project=location.project.id, states=("active",), limit=CHANGES_READ))
    check = FreshnessCheck(services, location, within_s=inf)
    entries = {entry for lesson in lessons for entry in _about(services, location, check, lesson, relative)}
    if lines is not None:
        entries = {entry for entry in entries if not entry.start or (entry.start <= lines[1] and entry.end >= lines[0])}
    return tuple(sorted(entries, key=_order))


def _order(entry: Blamed) -> tuple[bool, int, int, str]:
    return not entry.start, entry.start, entry.end - entry.start, entry.lesson.id


def _about(
    services: Services, location: Location, check: FreshnessCheck, lesson: Lesson, path: str
) -> Iterator[Blamed]:
    """Yield the parts of the file that the lesson is about. Only lessons that name the file are checked closely."""
    if any(glob_matches(glob, path) for glob in lesson.globs):
        yield Blamed(lesson=lesson, start=0, end=0, symbol="", freshness="unanchored")
    if lesson.scope.project not in ("", location.project.id) or not any(
        _names(anchor, path) for anchor in lesson.anchors
    ):
        return
    for anchor, verdict in check.anchor_verdicts(lesson):
        now = verdict.anchor if verdict.freshness not in ("unverified", "orphaned") else anchor
        if now.path != path:
            continue
        for start, end in spans_of(services, location, now):
            yield Blamed(
                lesson=lesson, start=start, end=end, symbol=now.symbol, freshness=verdict.freshness,
                caveat=caveat(anchor, verdict),
            )  # fmt: skip


def _names(anchor: Anchor, path: str) -> bool:
    return path == anchor.path or path in anchor.other_paths
