"""Digest: what a memory learnt, changed, contradicted, resolved, what went stale in a period, and what waits now.

It compares the memory at the beginning of the period with the memory at its end, for the lessons that the log of
changes names. So what was changed and taken back in the period is not in it. The most important lessons come first, and
each section shows few of them and counts the rest.

The audience `team` gets what others may see: confirmed lessons of the project that are not private. The audience `me`
gets everything, unconfirmed lessons and the user's own among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from holdfast.curation.conflicts import VERB as SETTLED
from holdfast.curation.conflicts import Conflict, find_conflicts
from holdfast.curation.review import WAITING, inbox, promise
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Outcome
from holdfast.domain.vocabulary import Freshness, LessonId, LessonKind
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.notice import load_states
from holdfast.freshness.tuning import EVERY_LESSON, WAIT_S
from holdfast.freshness.verify import STALE
from holdfast.lean.plain import from_plain, parse_instant
from holdfast.lean.texts import short_id
from holdfast.lessons.staging import seen_here
from holdfast.outcomes.settle import for_review
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.publishing.publication import is_public
from holdfast.rendering.lines import safe_title, source_word
from holdfast.reports.keptcounts import kept_count
from holdfast.reports.tuning import (
    CHANGED_FILES,
    DIGEST_ITEMS,
    GET_TOGETHER,
    QUICK_CHANGES,
    QUICK_CHECK_S,
    QUICK_LESSONS,
    REFERRED,
)

Audience = Literal["me", "team"]
AUDIENCES: tuple[Audience, ...] = ("me", "team")
SectionName = Literal["learnt", "changed", "contradicted", "resolved", "stale", "waits"]
SECTIONS: dict[SectionName, str] = {
    "learnt": "Learnt",
    "changed": "Changed",
    "contradicted": "Contradicted",
    "resolved": "Resolved",
    "stale": "Went stale",
    "waits": "Waits for a decision",
}
"""Every section with its heading, in the order of a digest."""
HARMED = ("overridden", "failed", "hurt")
"""Verdicts by which an outcome contradicts a lesson."""
NO_CODE = "not known here: a clone of the repository can tell"
Sees = Callable[[Lesson], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonRef:
    """Another lesson that an item names."""

    lesson: LessonId
    short_id: str
    title: str
    is_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestItem:
    """A lesson, and what happened to it."""

    lesson: LessonId
    short_id: str
    """What `holdfast show` accepts."""
    title: str
    rule: str
    why: str
    kind: LessonKind
    at: datetime
    """When it happened."""
    note: str = ""
    """What happened, where the section does not say it: `replaces`, `signature: timeout added`; `others` follow."""
    others: tuple[LessonRef, ...] = ()
    source: str = ""
    """Who said it: the person's name, else `user`, `proved`, `agent`, `file`, `commit` or `tool output`."""
    files: tuple[str, ...] = ()
    branch: str = ""
    """The branch on which alone it is told; empty: it is told everywhere."""
    is_confirmed: bool = True
    is_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSection:
    """The lessons of one sort, the most important first."""

    name: SectionName
    title: str
    items: tuple[DigestItem, ...] = ()
    total: int = 0
    """How many there are, with those that are not shown."""
    note: str = ""
    """More about the section in words: `3 of them are new`, `not known here: …`."""

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.total - len(self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDigest:
    """What happened to a project's memory in [since, until)."""

    project: str
    project_name: str
    since: datetime
    until: datetime
    audience: Audience
    branch: str = ""
    """The branch that taught it all, where a digest is of one branch."""
    sections: tuple[DigestSection, ...] = ()
    """Every section, in the order of `SECTIONS`; of a branch only what it taught."""
    sessions: int = 0
    """How many sessions taught a lesson of the section `learnt`."""
    people: tuple[str, ...] = ()
    """Who taught these lessons, by name, where it is known."""
    left_out: str = ""
    """What was not read, in words; empty: everything was."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened and nothing waits."""
        return not any(section.total for section in self.sections)

    def section(self, name: SectionName) -> DigestSection:
        """Return the section of that name."""
        return next(section for section in self.sections if section.name == name)


def make_digest(
    services: Services,
    location: Location,
    *,
    since: datetime,
    until: datetime | None = None,
    audience: Audience = "me",
    sees: Sees | None = None,
    limit: int = 0,
    quick: bool = False,
) -> MemoryDigest:
    """Return the digest of [since, until), by default up to now.

    `sees` says whether the reader may see a lesson at all, where a server knows more. `limit` is the most lessons of a
    section; 0 stands for as many as are read in two minutes. With `quick`, for a page, so much is read that it takes a
    moment in a memory of any size, and the digest says what was left out. Raises InvalidValueError for an empty period
    and for an unknown audience.
    """
    if audience not in AUDIENCES:
        raise InvalidValueError(f"unknown audience {audience!r}", hint=f"one of {', '.join(AUDIENCES)}")
    now = services.clock.now()
    if since >= (until or now):
        raise InvalidValueError("the period is empty: it begins when it ends, or later", hint="--since 7d")
    period = _Period(services, location, since, until, audience, sees, quick)
    facts: dict[SectionName, list[_Fact]] = {
        "learnt": period.learnt(),
        "changed": period.changed(),
        "contradicted": period.contradicted(),
        "resolved": period.resolved(),
        "stale": period.stale(),
        "waits": period.waiting(),
    }
    sections = [_section(name, of_section, limit) for name, of_section in facts.items()]
    if not location.has_work_tree:
        sections = [replace(each, note=NO_CODE) if each.name == "stale" else each for each in sections]
    return MemoryDigest(
        project=location.project.id,
        project_name=location.project.name,
        since=since,
        until=until or now,
        audience=audience,
        sections=tuple(sections),
        sessions=len({fact.lesson.provenance.session for fact in facts["learnt"]} - {""}),
        people=tuple(sorted({fact.lesson.provenance.person_name for fact in facts["learnt"]} - {""})),
        left_out="; ".join(period.left_out),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """A lesson and what happened to it."""

    lesson: Lesson
    at: datetime
    note: str = ""
    others: tuple[Lesson, ...] = ()
    is_new: bool = True
    weight: float = 0.0
    """What comes before the lesson's own importance."""


def _section(name: SectionName, facts: Sequence[_Fact], limit: int) -> DigestSection:
    # What waits has an order of its own: the most promising first.
    ordered = list(facts) if name == "waits" else sorted(facts, key=_importance, reverse=True)
    shown = ordered[: limit or DIGEST_ITEMS[name]]
    new = sum(fact.is_new for fact in facts)
    note = f"{new} of them {'is' if new == 1 else 'are'} new" if name == "waits" and new else ""
    if name == "stale" and (bodies := sum(fact.weight < 1 for fact in facts)):
        note = f"{bodies} of them by a changed body alone"
    return DigestSection(name=name, title=SECTIONS[name], items=tuple(map(_item, shown)), total=len(ordered), note=note)


def _importance(fact: _Fact) -> tuple[float, bool, int, float, datetime]:
    lesson = fact.lesson
    who = 2 if lesson.trust == "person" else int(lesson.provenance.quotes_person)
    return fact.weight, lesson.pinned, who, round(lesson.salience * lesson.confidence, 1), fact.at


def _item(fact: _Fact) -> DigestItem:
    refs = (
        LessonRef(lesson=other.id, short_id=short_id(other.id), title=safe_title(other), is_private=other.private)
        for other in fact.others[:REFERRED]
    )
    return item_of(fact.lesson, fact.at, fact.note, tuple(refs))


def item_of(lesson: Lesson, at: datetime, note: str = "", others: tuple[LessonRef, ...] = ()) -> DigestItem:
    """Return the lesson as a digest shows it, and what happened to it."""
    name = lesson.provenance.person_name if lesson.trust == "person" else ""
    return DigestItem(
        lesson=lesson.id,
        short_id=short_id(lesson.id),
        title="a forgotten lesson" if lesson.state == "forgotten" else safe_title(lesson),
        rule=lesson.insight,
        why=lesson.why,
        kind=lesson.kind,
        at=at,
        note=note,
        others=others,
        source=name or source_word(replace(lesson, state="active")),
        files=lesson.paths,
        branch=lesson.scope.branch,
        is_confirmed=lesson.state not in WAITING,
        is_private=lesson.private,
    )


@dataclass(slots=True)
class _Period:
    """The lessons that the log of changes names for a period, as they were at its beginning and at its end."""

    services: Services
    location: Location
    since: datetime
    until: datetime | None
    audience: Audience
    sees: Sees | None
    quick: bool
    changes: dict[LessonId, list[Change]] = field(init=False, default_factory=dict)
    """The changes of the period by lesson, newest first."""
    before: dict[LessonId, Lesson] = field(init=False, default_factory=dict)
    after: dict[LessonId, Lesson] = field(init=False, default_factory=dict)
    left_out: list[str] = field(init=False, default_factory=list)
    _seen: tuple[LessonId, ...] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._seen = seen_here(self.services, self.location) if self.audience == "team" else None
        most = QUICK_CHANGES if self.quick else EVERY_LESSON
        where = LogFilter(project=self.location.project.id, since=self.since, until=self.until, limit=most)
        changes = self.services.store.find_records(Change, where)
        for change in changes:
            for lesson in change.lessons:
                if lesson in self.changes or len(self.changes) < most:
                    self.changes.setdefault(lesson, []).append(change)
        if len(changes) >= most or len(self.changes) >= most:
            self.left_out.append(f"of the changes the newest {most:,} were read")
        ids = list(self.changes)
        self.before = {each.id: each for each in read_as_of(self.services, ids, self.since)}
        self.after = {each.id: each for each in read_as_of(self.services, ids, self.until)}

    def learnt(self) -> list[_Fact]:
        """Return the lessons that were confirmed in the period, new ones and such as had waited."""
        facts = []
        for lesson, before in self._pairs("active"):
            if before is None and not self._replaced(lesson):
                facts.append(self._fact(lesson))
            elif before is not None and before.state in WAITING:
                facts.append(self._fact(lesson, "had waited for a decision"))
        return facts

    def changed(self) -> list[_Fact]:
        """Return the lessons that say something else than before, that replace others, or that are no longer told."""
        facts = []
        for lesson, before in self._pairs("active"):
            replaced = self._replaced(lesson)
            if replaced and not self._was_settled(lesson):
                facts.append(self._fact(lesson, "replaces", replaced))
            elif before is not None and before.state not in ("active", *WAITING):
                facts.append(self._fact(lesson, "is in use again"))
            elif before is not None and before.state == "active" and (note := _difference(before, lesson)):
                facts.append(self._fact(lesson, note))
        for lesson, before in self._pairs("retired"):
            if before is not None and before.state == "active":
                facts.append(self._fact(lesson, "is no longer told: retired"))
        for lesson, before in self._pairs("forgotten"):
            if before is not None and before.state == "active" and self._shows(before):
                facts.append(self._fact(lesson, "is no longer told: forgotten"))
        return facts

    def contradicted(self) -> list[_Fact]:
        """Return lessons that cannot hold together, one of which is of the period, and lessons that outcomes refute."""
        touched = {lesson.id for lesson in self.after.values() if lesson.state in ("active", *WAITING)}
        pairs = kept_count(self.services, self.location, "conflicts", self._all_conflicts) if touched else []
        facts = [
            self._of_conflict(pair)
            for pair in pairs
            if touched & {pair.better.id, pair.worse.id}
            and _is_certain(pair)
            and self._shows(pair.better)
            and self._shows(pair.worse)
        ]
        known = {fact.lesson.id for fact in facts}
        last = self._last_harm()
        for lesson, words in for_review(self.services, self.location) if last else ():
            if lesson.id in last and lesson.id not in known and self._shows(lesson):
                facts.append(_Fact(lesson=lesson, at=last[lesson.id], note=f"what followed speaks against it: {words}"))
        return facts

    def _all_conflicts(self) -> list[Conflict]:
        return find_conflicts(self.services, self.location)

    def resolved(self) -> list[_Fact]:
        """Return the lessons that a contradiction was settled for, each with those that it closed."""
        facts = []
        for lesson, _ in self._pairs("active"):
            settled = self._settlement(lesson)
            if settled is None:
                continue
            closed = self._replaced(lesson)
            if closed:
                facts.append(_Fact(lesson=lesson, at=settled.at, note="holds instead of", others=closed))
            elif settled.summary == "both hold":
                facts.append(_Fact(lesson=lesson, at=settled.at, note="holds beside another lesson"))
        return facts

    def stale(self) -> list[_Fact]:
        """Return the active lessons whose code differs from what they were learnt about, and changed in the period."""
        if not self.location.has_work_tree or self.until is not None:
            return []
        known = load_states(self.services, self.location)
        check = FreshnessCheck(self.services, self.location, QUICK_CHECK_S if self.quick else WAIT_S)
        facts = []
        for lesson in self._about_changed_code():
            freshness, caveat = check.judge(lesson) if self._shows(lesson) else ("fresh", "")
            state = known.get(lesson.id)
            if freshness not in STALE or (state and state.freshness == freshness and state.at < self.since):
                continue
            at = state.at if state else self._changed_at(lesson)
            weight = STALE.index(freshness) + round(check.share(lesson), 1)
            note = caveat or _STALE_WORDS[freshness]
            facts.append(_Fact(lesson=lesson, at=max(at, self.since, lesson.recorded_at), note=note, weight=weight))
        return facts

    def waiting(self) -> list[_Fact]:
        """Return the lessons that wait for a decision now, the most promising first; for the team, none."""
        if self.audience == "team" or self.until is not None:
            return []
        waiting = self._newest_waiting() if self.quick else inbox(self.services, self.location)
        return [
            replace(self._fact(lesson), is_new=lesson.id in self.changes and lesson.id not in self.before)
            for lesson in waiting
            if self._shows(lesson)
        ]

    # Parts

    def _newest_waiting(self) -> list[Lesson]:
        """Return the newest waiting lessons, the most promising first."""
        where = LessonFilter(project=self.location.project.id, states=WAITING, limit=QUICK_LESSONS)
        lessons = self.services.store.find(where)
        if len(lessons) == QUICK_LESSONS:
            self.left_out.append(f"of what waits the newest {QUICK_LESSONS:,} were read")
        return sorted(lessons, key=promise, reverse=True)

    def _pairs(self, state: str) -> Iterator[tuple[Lesson, Lesson | None]]:
        """Yield the lessons in that state at the end, each with its version at the beginning, if there was one."""
        for lesson in self.after.values():
            before = self.before.get(lesson.id)
            if lesson.state == state and self._shows(lesson):
                yield lesson, before

    def _shows(self, lesson: Lesson) -> bool:
        if profile_of(lesson.kind).is_working_state or (self.sees is not None and not self.sees(lesson)):
            return False
        if self.audience == "me":
            return True
        return lesson.state not in WAITING and is_public(lesson, self.location, self._seen)

    def _fact(self, lesson: Lesson, note: str = "", others: Iterable[Lesson] = ()) -> _Fact:
        changes = self.changes.get(lesson.id, ())
        at = changes[0].at if changes else lesson.recorded_at
        return _Fact(lesson=lesson, at=at, note=note, others=tuple(others))

    def _replaced(self, lesson: Lesson) -> tuple[Lesson, ...]:
        """Return the lessons of the beginning that this one has replaced since."""
        targets = [link.target for link in lesson.links if link.kind == "supersedes"]
        before = [self.before[target] for target in targets if target in self.before]
        return tuple(each for each in before if each.state == "active" and self._shows(each))

    def _was_settled(self, lesson: Lesson) -> bool:
        return self._settlement(lesson) is not None

    def _settlement(self, lesson: Lesson) -> Change | None:
        """Return the newest change of the period that settled a contradiction of the lesson and was not undone."""
        undone: set[str] = set()
        for change in self.changes[lesson.id]:
            if change.id in undone:
                continue
            if change.verb == SETTLED:
                return change
            undone.add(change.undone)
        return None

    def _of_conflict(self, pair: Conflict) -> _Fact:
        at = max(pair.better.recorded_at, pair.worse.recorded_at)
        values = f" ({pair.difference})" if pair.slot else ""
        return _Fact(lesson=pair.better, at=at, note=f"cannot hold beside{values}", others=(pair.worse,), weight=1)

    def _last_harm(self) -> dict[LessonId, datetime]:
        """Return when an outcome of the period contradicted a lesson last."""
        most = QUICK_CHANGES if self.quick else EVERY_LESSON
        where = LogFilter(project=self.location.project.id, since=self.since, until=self.until, limit=most)
        last: dict[LessonId, datetime] = {}
        for outcome in self.services.store.find_records(Outcome, where):
            if outcome.verdict in HARMED and not outcome.withheld:
                last[outcome.lesson] = max(outcome.at, last.get(outcome.lesson, outcome.at))
        return last

    def _about_changed_code(self) -> list[Lesson]:
        """Return the active lessons about files that changed in the period; about any file, where git cannot tell."""
        store, project = self.services.store, self.location.project.id
        files = self._changed_files()
        if files is not None and len(files) <= CHANGED_FILES:
            about = {
                lesson.id: lesson
                for file in files
                for lesson in store.find(
                    LessonFilter(project=project, states=("active",), path=file, limit=EVERY_LESSON)
                )
            }
            return list(about.values())
        most = QUICK_LESSONS if self.quick else EVERY_LESSON
        lessons = store.find(LessonFilter(project=project, states=("active",), limit=most))
        if len(lessons) == most:
            self.left_out.append(f"the code of the newest {most:,} lessons was checked")
        return [each for each in lessons if each.paths and (files is None or not files.isdisjoint(each.paths))]

    def _changed_files(self) -> frozenset[str] | None:
        """Return the files that differ from the last commit before the period; None where git cannot tell."""
        workspace = self.services.workspace
        points = workspace.history(self.location).list_points("", "HEAD") or ()
        base = next((point for point in reversed(points) if point.at < self.since), None)
        if base is None:
            return None
        changed = workspace.branches(self.location).list_changed(base.id, points[-1].id)
        return None if changed is None else frozenset((*changed, *workspace.dirty(self.location)))

    def _changed_at(self, lesson: Lesson) -> datetime:
        """Return when the last commit changed the lesson's files; the period's beginning where git cannot tell."""
        workspace = self.services.workspace
        history, branches = workspace.history(self.location), workspace.branches(self.location)
        commits = [list(history.list_touching(path, ""))[-1:] for path in lesson.paths[:1]]
        times = [branches.time(commit[0]) for commit in commits if commit]
        return max((time for time in times if time is not None), default=self.since)


_STALE_WORDS: dict[Freshness, str] = {
    "drifted": "its code changed",
    "changed": "the declaration of its code changed",
    "orphaned": "its code is gone",
}


def _is_certain(pair: Conflict) -> bool:
    """Return whether the words are sure, or somebody linked the two: a mere likeness is for the review."""
    linked = {(link.kind, link.target) for lesson in (pair.better, pair.worse) for link in lesson.links}
    return pair.is_sure or bool(linked & {("contradicts", pair.better.id), ("contradicts", pair.worse.id)})


def _difference(before: Lesson, after: Lesson) -> str:
    """Say which words of a lesson differ between two of its versions; empty if none do."""
    if before.title != after.title:
        return "its title changed" if before.private else f"was: {safe_title(before)}"
    parts = {"rule": "insight", "reason": "why", "remedy": "how", "kind": "kind"}
    changed = [word for word, name in parts.items() if getattr(before, name) != getattr(after, name)]
    return f"its {' and '.join(changed)} changed" if changed else ""


def digest_of(plain: Mapping[str, Any]) -> MemoryDigest:
    """Return the digest that a server answered as JSON."""
    made = from_plain(MemoryDigest, plain)
    return replace(made, since=parse_instant(plain["since"]), until=parse_instant(plain["until"]))


def read_as_of(services: Services, ids: Sequence[LessonId], as_of: datetime | None) -> Iterator[Lesson]:
    """Yield those of the lessons that were known at that instant, in order; None is now."""
    for at in range(0, len(ids), GET_TOGETHER):
        some = ids[at : at + GET_TOGETHER]
        try:
            yield from services.store.get(some, as_of)
        except LessonNotFoundError:
            yield from get_readable(services.store, some, as_of)
