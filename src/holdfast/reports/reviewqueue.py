"""The review queue: everything that waits for a person's verdict, as one list in one order.

To compare all lessons takes seconds in a large memory, so there are two steps. `collect` makes the list: what waits,
where, and why. `look_at` reads the lessons of a few items as they are now, and leaves out what somebody has decided
since. So a list of some minutes ago shows nothing that is settled, and its first items are ready at once.

Contradictions come first; then what sessions are told most, for a wrong lesson of these does most harm; then what is
most probably worth keeping; then the newest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from math import inf
from typing import Literal

from holdfast.curation.audit import audit, hidden_by_diary, left_today
from holdfast.curation.conflicts import Conflict, conflict_between, find_conflicts
from holdfast.curation.review import WAITING, inbox
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.domain.team import Flag
from holdfast.domain.vocabulary import Freshness, LessonId
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.compare import compare_lesson, name_of
from holdfast.lean.texts import dumps, short_id
from holdfast.lessons.staging import hidden_here
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.rendering.lines import source_word
from holdfast.rendering.origins import found_by
from holdfast.reports.differences import Piece, word_pieces
from holdfast.reports.tuning import (
    AUDITED_LESSONS,
    DELIVERIES_READ,
    DIFF_LINE,
    DIFF_LINES,
    DIGITS,
    KIND_MOST,
    QUICK_MOST,
    QUOTE_SHOWN,
    QUOTES_SHOWN,
    REASON_SHOWN,
    RULE_SHOWN,
)
from holdfast.text.window import clip

ReviewKind = Literal["contradiction", "flag", "stale", "doubt", "tidy", "waiting"]
REVIEW_KINDS: tuple[ReviewKind, ...] = ("contradiction", "flag", "stale", "doubt", "tidy", "waiting")

STALE: tuple[Freshness, ...] = ("changed", "drifted", "orphaned")
CODE_REASONS = ("orphaned", "drifted")
OF_OTHERS = ("recurs",)
"""Reasons that tell of other projects, which a member of a team may not know of."""
TROUBLE = ("doubted",)
"""Reasons for doubt that are listed at once; the others are listed a few a day, as on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """Something that waits for a verdict, without the words of its lessons."""

    kind: ReviewKind
    lessons: tuple[LessonId, ...]
    """Of a contradiction: the better one by the order of `compare.contradiction`, and the other one."""
    at: datetime
    """When the newest of its lessons was recorded."""
    reason: str = ""
    """Why it waits, in words."""
    told: int = 0
    """How often its lessons were told of late."""
    promise: float = 0.0
    """How probably a waiting lesson is worth keeping, 0 to 1: its confidence times its salience."""
    digest: str = ""
    """Digest of what its lessons say, or of the step that is proposed; a later change makes it another item."""
    area: str = ""
    """The first two folders of the file that its first lesson is about; empty without one."""
    session: str = ""
    """The session in which its first lesson was learnt; empty if it was stated outside one."""
    flagged_at: datetime | None = None
    """When a member of the team flagged it last: it is listed again even if it was kept before."""

    @property
    def key(self) -> str:
        """What tells the item from every other one."""
        return f"{self.kind}-{self.digest}" if self.kind == "tidy" else "-".join((self.kind, *self.lessons))

    def group(self, by: str) -> str:
        """Return the name of the group that it is in, by `kind`, `area` or `session`."""
        return {"kind": str(self.kind), "area": self.area, "session": self.session}.get(by, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of a comparison."""

    mark: str
    """`-` what goes, `+` what comes, `±` what changes, a space for what stays, `@` for a gap."""
    text: str
    """Of what changes: as it would be."""
    pieces: tuple[Piece, ...] = ()
    """Of what changes: the words that go and those that come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedLesson:
    """A lesson as a person needs it to decide."""

    id: LessonId
    short_id: str
    title: str
    insight: str
    """Empty where the title says the whole of it."""
    why: str
    how: str
    kind: str
    state: str
    source: str
    """Who said it, as `rendering.lines.source_word` puts it."""
    person: str
    """The name of who stated or proposed it; empty where it is not known."""
    since: datetime
    at: datetime
    pinned: bool
    places: tuple[str, ...]
    """`src/store.py:Store.put`, or the file."""
    quotes: tuple[str, ...]
    """What it rests on, shortened."""
    sessions: int
    """Sessions in which it came up."""
    freshness: str = ""
    caveat: str = ""
    """What changed in its code, in words."""
    code: tuple[DiffLine, ...] = ()
    """Changed lines of its code, then and now."""
    is_code_unread: bool = False
    """Its code changed, and there was no time to look for the lines."""
    note: str = ""
    """Why the code of that time cannot be shown; empty where it can, or where nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a verdict, with its lessons as they are now."""

    kind: ReviewKind
    key: str
    reason: str
    lessons: tuple[ReviewedLesson, ...]
    told: int
    area: str
    session: str
    difference: str = ""
    """Of a contradiction: what the two lessons differ in, in words for a person."""
    slot: str = ""
    """The subject on which two lessons differ; empty where only a link says that they do."""
    values: tuple[str, ...] = ()
    """What each of the two says of it."""
    newer: int = -1
    """The position of the newer lesson of a contradiction."""
    diff: tuple[DiffLine, ...] = ()
    """What a verdict for it would change: of a revision, the lesson that it replaces; of a proposal, the result."""
    replaces: str = ""
    """Short id of the lesson that it would replace."""
    replaced: str = ""
    """That lesson's whole id."""


def collect(services: Services, location: Location) -> list[QueueItem]:
    """Return everything that waits, in order, without what tidying proposes. Takes seconds in a large memory."""
    tellings = count_told(services, location)
    conflicts = [_contradiction(pair, tellings) for pair in find_conflicts(services, location)]
    opposed = {lesson for item in conflicts for lesson in item.lessons}
    waiting = [
        _waiting(lesson, tellings)
        for lesson in inbox(services, location)
        if lesson.id not in opposed and _is_judged_here(services, location, lesson)
    ]
    return in_order([*conflicts, *waiting, *_findings(services, location, tellings)])


def collect_quickly(
    services: Services, location: Location, sees: Callable[[Lesson], bool] = lambda lesson: True
) -> list[QueueItem]:
    """Return the newest lessons that wait and that the reader sees, in order, without comparing the memory."""
    hidden = hidden_here(services, location)
    waiting = services.store.find(LessonFilter(project=location.project.id, states=WAITING, limit=QUICK_MOST))
    return in_order([_waiting(lesson, {}) for lesson in waiting if lesson.id not in hidden and sees(lesson)])


def in_order(items: Iterable[QueueItem]) -> list[QueueItem]:
    """Return the items in the order of the queue, at most KIND_MOST of each kind."""
    counts: Counter[str] = Counter()
    listed: list[QueueItem] = []
    for item in sorted(items, key=_rank):
        counts[item.kind] += 1
        if counts[item.kind] <= KIND_MOST:
            listed.append(item)
    return listed


def grouped(items: Sequence[QueueItem], by: str) -> list[QueueItem]:
    """Return the items with those of one group together; the group of the first item comes first."""
    if by not in ("kind", "area", "session"):
        return list(items)
    groups: dict[str, list[QueueItem]] = {}
    for item in items:
        groups.setdefault(item.group(by), []).append(item)
    return [item for group in groups.values() for item in group]


def count_told(services: Services, location: Location) -> Mapping[LessonId, int]:
    """Return how often each lesson was told of late, in this project."""
    where = LogFilter(project=location.project.id, limit=DELIVERIES_READ)
    return Counter(delivery.lesson for delivery in services.store.find_records(Delivery, where))


def look_at(
    services: Services,
    location: Location,
    items: Sequence[QueueItem],
    *,
    sees: Callable[[Lesson], bool] = lambda lesson: True,
    code_s: float = inf,
) -> list[ReviewItem]:
    """Return the items that still wait, in order, with their lessons as they are now.

    Items of lessons that the reader does not see are left out. After `code_s` seconds changed code is no longer looked
    for.
    """
    ids = dict.fromkeys(id_ for item in items for id_ in item.lessons)
    lessons = {lesson.id: lesson for lesson in get_readable(services.store, list(ids)) if sees(lesson)}
    desk = _Desk(services, location, lessons, code_s)
    looks = (
        _LOOKS[item.kind](desk, item)
        for item in items
        if item.kind in _LOOKS and all(id_ in lessons for id_ in item.lessons)
    )
    return [look for look in looks if look is not None]


def flagged(items: Sequence[QueueItem], lessons: Sequence[Lesson], flags: Sequence[Flag]) -> list[QueueItem]:
    """Return the items, in order, with what members of a team say against their lessons.

    `lessons` are those flagged, as they are now; of a lesson that is confirmed and has no item yet, one is made.
    """
    by_lesson: dict[LessonId, list[Flag]] = {}
    for each in flags:
        by_lesson.setdefault(each.lesson, []).append(each)
    listed = [_with_flags(item, by_lesson.get(item.lessons[0], ())) for item in items]
    known = {item.lessons[0] for item in listed if item.kind in ("waiting", "stale", "doubt")}
    new = [
        _with_flags(_flag_item(lesson), by_lesson[lesson.id])
        for lesson in lessons
        if lesson.state == "active" and lesson.id not in known and lesson.id in by_lesson
    ]
    return in_order([*listed, *new])


def _flag_item(lesson: Lesson) -> QueueItem:
    area, session = place_in_queue(lesson)
    return QueueItem(
        kind="flag", lessons=(lesson.id,), at=lesson.recorded_at, digest=words_digest([lesson]), area=area,
        session=session,
    )  # fmt: skip


def _with_flags(item: QueueItem, flags: Sequence[Flag]) -> QueueItem:
    if not flags or item.kind in ("contradiction", "tidy"):
        return item
    words = [
        f"flagged as {each.reason}" + (f" of {short_id(each.of)}" if each.of else "") + (each.note and f": {each.note}")
        for each in flags
    ]
    reason = "; ".join(filter(None, (*dict.fromkeys(words), item.reason)))
    return replace(item, reason=reason, flagged_at=max(each.at for each in flags))


def make_item(item: QueueItem, lessons: Sequence[ReviewedLesson]) -> ReviewItem:
    """Return the item with its lessons, for one kind's own fields to be added."""
    return ReviewItem(
        kind=item.kind, key=item.key, reason=item.reason, lessons=tuple(lessons), told=item.told, area=item.area,
        session=item.session,
    )  # fmt: skip


def reviewed(lesson: Lesson) -> ReviewedLesson:
    """Return what a person needs of the lesson to decide, without its freshness."""
    quotes = dict.fromkeys(" ".join(span.quote.split()) for span in lesson.provenance.evidence if span.quote.strip())
    is_whole = lesson.insight.rstrip(".") == lesson.title.rstrip(".")
    return ReviewedLesson(
        id=lesson.id, short_id=short_id(lesson.id), title=lesson.title,
        insight="" if is_whole else clip(lesson.insight, RULE_SHOWN),
        why=clip(lesson.why, REASON_SHOWN), how=clip(lesson.how, REASON_SHOWN), kind=lesson.kind, state=lesson.state,
        source=source_word(lesson).split(",")[0],
        person=lesson.provenance.person_name or lesson.provenance.author,
        since=lesson.validity.valid_from, at=lesson.recorded_at,
        pinned=lesson.pinned, places=tuple(dict.fromkeys(map(name_of, lesson.anchors))),
        quotes=tuple(clip(quote, QUOTE_SHOWN) for quote in list(quotes)[:QUOTES_SHOWN]),
        sessions=len(lesson.sessions_seen),
    )  # fmt: skip


def words_digest(lessons: Iterable[Lesson]) -> str:
    """Return what tells the words of these lessons from other ones."""
    texts = [[lesson.id, lesson.title, lesson.insight, lesson.why, lesson.how] for lesson in lessons]
    return sha256(dumps(texts).encode("utf-8", "replace")).hexdigest()[:DIGITS]


def place_in_queue(lesson: Lesson) -> tuple[str, str]:
    """Return the area and the session by which an item about the lesson is grouped."""
    folders = lesson.paths[0].split("/")[:-1][:2] if lesson.paths else []
    return "/".join(folders) or ("." if lesson.paths else ""), lesson.provenance.session


# Collecting


def _rank(item: QueueItem) -> tuple[bool, int, float, float, str]:
    return item.kind != "contradiction", -item.told, -item.promise, -item.at.timestamp(), item.key


def _contradiction(pair: Conflict, tellings: Mapping[LessonId, int]) -> QueueItem:
    area, session = place_in_queue(pair.better)
    return QueueItem(
        kind="contradiction", lessons=(pair.better.id, pair.worse.id), reason=pair.reason,
        at=max(pair.better.recorded_at, pair.worse.recorded_at),
        told=tellings.get(pair.better.id, 0) + tellings.get(pair.worse.id, 0), area=area, session=session,
    )  # fmt: skip


def _waiting(lesson: Lesson, tellings: Mapping[LessonId, int]) -> QueueItem:
    area, session = place_in_queue(lesson)
    revised = [link.target for link in lesson.links if link.kind == "refines"]
    return QueueItem(
        kind="waiting", lessons=(lesson.id,), at=lesson.recorded_at, reason=_why_it_waits(lesson),
        told=max((tellings.get(target, 0) for target in revised), default=0),
        promise=0.0 if lesson.state == "quarantined" else lesson.confidence * lesson.salience,
        area=area, session=session,
    )  # fmt: skip


def _why_it_waits(lesson: Lesson) -> str:
    if lesson.state == "quarantined":
        return "its words look like an instruction to the agent, so nobody is told it"
    if any(link.kind == "refines" for link in lesson.links):
        return "it would replace another lesson"
    if lesson.provenance.detector:
        sessions = len(lesson.sessions_seen)
        times = f", came up in {sessions} sessions" if sessions > 1 else ""
        return f"learnt from {found_by(lesson.provenance.detector)}{times}"
    return "proposed, and not confirmed yet"


def _is_judged_here(services: Services, location: Location, lesson: Lesson) -> bool:
    """Return whether the lesson is reviewed in this project: on a server an organisation's rules are in its own."""
    return not services.serves_team or lesson.scope.project == location.project.id


def _doubtable(services: Services, location: Location, tellings: Mapping[LessonId, int]) -> list[Lesson]:
    where = LessonFilter(project=location.project.id, states=("active",), limit=AUDITED_LESSONS)
    newest = services.store.find(where)
    if len(newest) < AUDITED_LESSONS:
        return newest
    known = {lesson.id for lesson in newest}
    others = get_readable(services.store, [id_ for id_ in tellings if id_ not in known])
    return [*newest, *(lesson for lesson in others if lesson.state == "active")]


def _findings(services: Services, location: Location, tellings: Mapping[LessonId, int]) -> Iterator[QueueItem]:
    """Yield stale lessons, those that outcomes contradict, and a few a day of those with lesser reasons."""
    left = left_today(services, location)
    for finding in audit(services, location, _doubtable(services, location, tellings)):
        reasons = [each for each in finding.reasons if not (services.serves_team and each[0] in OF_OTHERS)]
        names = [name for name, _ in reasons]
        if not names or not _is_judged_here(services, location, finding.lesson):
            continue
        is_stale = any(name in CODE_REASONS for name in names)
        if not is_stale and not any(name in TROUBLE for name in names):
            if left <= 0:
                continue
            left -= 1
        area, session = place_in_queue(finding.lesson)
        yield QueueItem(
            kind="stale" if is_stale else "doubt", lessons=(finding.lesson.id,), at=finding.lesson.recorded_at,
            reason="; ".join(words for name, words in reasons if name not in CODE_REASONS),
            told=tellings.get(finding.lesson.id, 0), digest=words_digest([finding.lesson]), area=area, session=session,
        )  # fmt: skip


# Looking at a few


class _Desk:
    """What the items of one answer are looked at with."""

    def __init__(
        self, services: Services, location: Location, lessons: Mapping[LessonId, Lesson], code_s: float
    ) -> None:
        self.services, self.location, self.lessons = services, location, lessons
        self._code_until = services.clock.elapsed_s() + code_s
        self.hidden = hidden_here(services, location)
        self._check = FreshnessCheck(services, location)
        self._is_put_off = hidden_by_diary(services, location)

    def is_put_off(self, lesson: Lesson, flagged_at: datetime | None) -> bool:
        """Return whether a person confirmed it, or left it for later, and nothing has happened to it since."""
        return self._is_put_off(lesson, flagged_at)

    def show(self, lesson: Lesson, *, code: bool = False) -> ReviewedLesson:
        """Return the lesson with its verdict against the code now; with `code`, with the lines that changed."""
        freshness, caveat = self._check.judge(lesson)
        look = replace(reviewed(lesson), freshness=freshness, caveat=caveat)
        if not code or freshness not in STALE:
            return look
        if self.services.clock.elapsed_s() > self._code_until:
            return replace(look, is_code_unread=True)
        lines: list[DiffLine] = []
        note = ""
        for comparison in compare_lesson(self.services, self.location, lesson):
            if comparison.verdict.freshness in STALE:
                lines += diff_lines(comparison.unified())
                note = note or comparison.note
        return replace(look, code=tuple(lines[:DIFF_LINES]), note=note if not lines else "")


def diff_lines(unified: Iterable[str]) -> list[DiffLine]:
    """Return the lines of a difference in unified form, without its headings; a gap between two parts is one line."""
    lines: list[DiffLine] = []
    for line in unified:
        if line.startswith("@@"):
            lines += [DiffLine(mark="@", text="…")] if lines else []
        elif line and not line.startswith(("--- ", "+++ ")):
            lines.append(DiffLine(mark=line[:1], text=line[1:][:DIFF_LINE]))
    return lines


def _look_at_contradiction(desk: _Desk, item: QueueItem) -> ReviewItem | None:
    first, second = (desk.lessons[id_] for id_ in item.lessons)
    conflict = conflict_between(desk.services, first, second)
    if conflict is None:
        return None
    pair = (conflict.better, conflict.worse)
    newer = 0 if pair[0].validity.valid_from > pair[1].validity.valid_from else 1
    return replace(
        make_item(item, [desk.show(lesson) for lesson in pair]),
        reason=conflict.reason, difference=conflict.difference, slot=conflict.slot,
        values=conflict.values if conflict.slot else (), newer=newer,
    )  # fmt: skip


def _look_at_waiting(desk: _Desk, item: QueueItem) -> ReviewItem | None:
    (lesson,) = (desk.lessons[id_] for id_ in item.lessons)
    if lesson.state not in WAITING or lesson.id in desk.hidden:
        return None
    look = make_item(item, [desk.show(lesson)])
    targets = [link.target for link in lesson.links if link.kind == "refines"]
    for revised in get_readable(desk.services.store, targets):
        if revised.state == "active":
            diff = tuple(word_lines(revised, lesson))
            return replace(look, diff=diff, replaces=short_id(revised.id), replaced=revised.id)
    return look


def word_lines(before: Lesson, after: Lesson) -> Iterator[DiffLine]:
    """Yield what one lesson says and the other one does not, field by field.

    A title follows from the rule: it has lines of its own only where the rule is the same.
    """
    if before.insight == after.insight:
        yield DiffLine(mark=" ", text=clip(after.insight, RULE_SHOWN))
    names = ("insight", "why", "how") if before.insight != after.insight else ("title", "why", "how")
    for name in names:
        old, new = (clip(getattr(lesson, name), RULE_SHOWN) for lesson in (before, after))
        if old and new and old != new:
            yield DiffLine(mark="±", text=new, pieces=word_pieces(old, new))
        elif old != new:
            yield DiffLine(mark="-" if old else "+", text=old or new)


def _look_at_finding(desk: _Desk, item: QueueItem) -> ReviewItem | None:
    (lesson,) = (desk.lessons[id_] for id_ in item.lessons)
    if lesson.state != "active" or words_digest([lesson]) != item.digest or desk.is_put_off(lesson, item.flagged_at):
        return None
    look = desk.show(lesson, code=True)
    if item.kind == "stale" and look.freshness not in STALE:
        return None
    return make_item(item, [look])


_LOOKS: Mapping[ReviewKind, Callable[[_Desk, QueueItem], ReviewItem | None]] = {
    "contradiction": _look_at_contradiction,
    "waiting": _look_at_waiting,
    "stale": _look_at_finding,
    "doubt": _look_at_finding,
    "flag": _look_at_finding,
}
