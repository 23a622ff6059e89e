"""Conflicts: finds lessons that cannot hold together, on saving and on request, and settles them.

A certain contradiction is settled as `compare.contradiction` rules: the better lesson gets a link to the other one as
its successor, and the other one is superseded. Every other pair stays as it is and is listed as a conflict until a
person decides. Each settlement is a separate change, so that `undo` takes it back and leaves both lessons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations

from holdfast.compare.claims import LONGEST, VALUES, Claim, read_claim
from holdfast.compare.contradiction import CLOSING, Relation, Ruling, differ_in_taste, relate, rule
from holdfast.compare.sameness import same_choice
from holdfast.curation.tuning import COMMON_WORD, COMPARED_LESSONS, NEAR_LESSONS
from holdfast.domain.kinds import family_of
from holdfast.domain.lesson import Lesson, Link, in_state, next_instant
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import TRUSTS, LessonId, State
from holdfast.errors import InvalidValueError, StaleWriteError
from holdfast.lean.texts import short_id
from holdfast.lessons.known import read_known
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ranking.retrievers import score_text
from holdfast.ranking.tuning import NEARBY_HITS

LINKED: tuple[State, ...] = ("active", "candidate")
"""States in which two lessons count as a conflict if one is linked to the other as its contradiction."""
VERB = "settle"
WORDED_SLOTS = {
    "polarity": "one denies what the other says",
    "opposites": "they say opposite things",
    "order": "they name opposite orders",
}
"""What two lessons differ in where the values of a `Relation` are stems of words, which nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two lessons that cannot hold together, the better one by the order of `compare.contradiction` first."""

    better: Lesson
    worse: Lesson
    slot: str
    """The subject on which they differ, as in `compare.contradiction.Relation`; empty where only a link says so."""
    values: tuple[str, str]
    """The values of the better and of the other one."""
    reason: str
    """Why the better one comes first."""
    closes: bool = False
    """The better one may close the other one without a person."""
    is_sure: bool = False
    """As `compare.contradiction.Relation.is_sure`."""

    @property
    def difference(self) -> str:
        """What the two differ in, in words for a person: `package manager: uv or pip`."""
        if not self.slot:
            return "one says that it contradicts the other"
        if self.slot in WORDED_SLOTS:
            return WORDED_SLOTS[self.slot]
        return f"{self.slot}: {self.values[0]} or {self.values[1]}"

    def other(self, lesson: LessonId) -> Lesson:
        """Return the lesson of the two that does not have that id."""
        return self.worse if self.better.id == lesson else self.better


def find_conflicts(services: Services, location: Location, of: Collection[LessonId] | None = None) -> list[Conflict]:
    """Return the conflicts between active lessons of the project and of the user, and with waiting lessons.

    Each pair is listed once, the newest first. With `of`, only pairs that include one of these lessons are listed.
    """
    at = services.clock.now()
    living = services.store.find(LessonFilter(project=location.project.id, states=LINKED, limit=COMPARED_LESSONS))
    active = [lesson for lesson in living if lesson.state == "active"]
    conflicts = [
        conflict
        for first, other, read_one, read_other in _likely_pairs(active, of)
        if (conflict := _conflict(first, other, relate(read_one, read_other), at))
    ]
    known = {frozenset((conflict.better.id, conflict.worse.id)) for conflict in conflicts}
    by_id = {lesson.id: lesson for lesson in living}
    for lesson in living:
        for link in lesson.links:
            other = by_id.get(link.target)
            pair = frozenset((lesson.id, link.target))
            is_wanted = pair not in known and (of is None or not pair.isdisjoint(of))
            if link.kind == "contradicts" and other is not None and is_wanted and "active" in (
                lesson.state, other.state
            ):  # fmt: skip
                known.add(pair)
                conflicts += _linked_conflict(lesson, other, at)
    return sorted(conflicts, key=lambda pair: max(pair.better.recorded_at, pair.worse.recorded_at), reverse=True)


def conflict_between(services: Services, lesson: Lesson, other: Lesson) -> Conflict | None:
    """Return the conflict of these versions of two lessons; None where there is none, or somebody has settled it."""
    states = (lesson.state, other.state)
    if "active" not in states or any(state not in LINKED for state in states):
        return None
    at = services.clock.now()
    if states == ("active", "active") and _comparable(lesson, other):
        relation = relate(read_claim(lesson.insight), read_claim(other.insight))
        if (conflict := _conflict(lesson, other, relation, at)) is not None:
            return conflict
    links = (_link(lesson, other.id), _link(other, lesson.id))
    is_linked = any(link is not None and link.kind == "contradicts" for link in links)
    return next(iter(_linked_conflict(lesson, other, at)), None) if is_linked else None


def conflicts_of(
    services: Services, location: Location, lesson: Lesson, near: Sequence[Lesson] | None = None
) -> list[Conflict]:
    """Return the conflicts of one lesson with active ones, newest first; the lesson itself need not be stored yet.

    `near` is what `find_near` returned for it, where that is known.
    """
    at, claim = services.clock.now(), read_claim(lesson.insight)
    near = find_near(services, lesson) if near is None else near
    others = (other for other in near if other.id != lesson.id and _comparable(lesson, other))
    conflicts = (_conflict(lesson, other, relate(claim, read_claim(other.insight)), at) for other in others)
    return [conflict for conflict in conflicts if conflict is not None]


def proposed(services: Services, location: Location, draft: Lesson, near: Sequence[Lesson] | None = None) -> Lesson:
    """Return the draft as it should be saved: waiting and linked to its opponents if it may not stand beside them.

    Anybody who is trusted less than the author of the other lesson only proposes, and so does an agent in any case.
    """
    if draft.state != "active":
        return draft
    rivals = [conflict for conflict in conflicts_of(services, location, draft, near) if _bars(conflict, draft)]
    if not rivals:
        return draft
    targets = {conflict.other(draft.id).id for conflict in rivals}
    links = [link for link in draft.links if link.target not in targets]
    links += [Link(kind="contradicts", target=target) for target in sorted(targets)]
    return replace(draft, state="candidate", links=tuple(links))


def _bars(conflict: Conflict, draft: Lesson) -> bool:
    """Return whether the draft has to wait because of that conflict."""
    rival = conflict.other(draft.id)
    if draft.trust not in CLOSING:
        return conflict.is_sure or rival.trust == "person"
    return TRUSTS.index(rival.trust) < TRUSTS.index(draft.trust)


def settle_saved(services: Services, location: Location, lesson: Lesson, *, author: str) -> Lesson:
    """Settle the saved lesson's conflicts and return its resulting version, which may be superseded.

    Another process may save the other lesson of a pair at the same time. Both reach the same ruling, and the second
    write fails and is repeated, so that never both are closed. The lesson itself is stored already: if every attempt
    loses, the pair stays a conflict.
    """
    try:
        return with_retries(lambda: _settle_saved(services, location, lesson, author))
    except StaleWriteError:
        return services.store.get([lesson.id])[0]


def settle(services: Services, location: Location, ref: str, over: Sequence[str] = (), *, author: str = "") -> Lesson:
    """Keep the lesson by a person's decision; close the active or waiting lessons in conflict with it in one change.

    `over` names the lessons to close, by default all that are in conflict with it. A waiting lesson that is kept
    becomes active with a person's trust. Raises InvalidValueError where there is no conflict.
    """
    return with_retries(lambda: _settle(services, location, ref, over, author))


def keep_both(services: Services, location: Location, ref: str, other: str, *, author: str = "") -> Lesson:
    """Link the first lesson to the other one as valid beside it, which ends their conflict; return the first."""

    def step() -> Lesson:
        first, two = resolve(services, location, ref), resolve(services, location, other)
        if first.id == two.id:
            raise InvalidValueError("a lesson cannot conflict with itself")
        changed = [
            _relinked(first, two.id, Link(kind="relates_to", target=two.id), services.clock.now()),
            *([_relinked(two, first.id, None, services.clock.now())] if _link(two, first.id) else []),
        ]
        expected = {lesson.id: before.recorded_at for lesson, before in zip(changed, (first, two), strict=False)}
        return write_change(services, location, VERB, changed, expected, actor=author, summary="both hold").lessons[0]

    return with_retries(step)


def find_restated(draft: Lesson, near: Sequence[Lesson]) -> Lesson | None:
    """Return the newest active lesson of the draft's kind and readers that says at least the same in other words.

    `near` is what `find_near` returned for the draft.
    """
    claim = read_claim(draft.insight)
    for lesson in near:
        if not _comparable(draft, lesson):
            continue
        if family_of(lesson.kind) == family_of(draft.kind) and same_choice(lesson.insight, draft.insight):
            return lesson
        if lesson.kind == draft.kind:
            known = read_claim(lesson.insight)
            if claim.words <= known.words and relate(claim, known).kind == "same":
                return lesson
    return None


# Finding


def find_near(services: Services, lesson: Lesson, most: int = NEAR_LESSONS) -> list[Lesson]:
    """Return the active lessons with the most similar words, or with values of the same slot, newest first."""
    claim = read_claim(lesson.insight)
    slots = {slot for slot, _ in claim.slots}
    names = [name for name, (slot, _) in VALUES.items() if slot in slots]
    text = " ".join((lesson.insight[:LONGEST], *names))
    text_matches = services.store.match_text(Query(project=lesson.scope.project, text=text), most, NEARBY_HITS)
    hits = score_text(text_matches, most)
    lessons = [known.lesson for known in read_known(services.store, [hit.id for hit in hits])]
    return sorted(lessons, key=lambda other: (other.recorded_at, other.id), reverse=True)


def _likely_pairs(
    lessons: Sequence[Lesson], of: Collection[LessonId] | None
) -> Iterator[tuple[Lesson, Lesson, Claim, Claim]]:
    """Yield pairs that share a slot, or a word that few lessons have, because comparing all pairs takes too long."""
    claims = [read_claim(lesson.insight) for lesson in lessons]
    places: dict[str, list[int]] = {}
    for at, claim in enumerate(claims):
        for key in (*claim.words, *(f"slot {slot}" for slot, _ in claim.slots)):
            places.setdefault(key, []).append(at)
    pairs = {
        pair
        for key, members in places.items()
        if len(members) <= COMMON_WORD or key.startswith("slot ")
        for pair in combinations(members, 2)
        if of is None or lessons[pair[0]].id in of or lessons[pair[1]].id in of
    }
    for first, other in sorted(pairs):
        if _comparable(lessons[first], lessons[other]):
            yield lessons[first], lessons[other], claims[first], claims[other]


def _comparable(lesson: Lesson, other: Lesson) -> bool:
    """Return whether both have the same readers and may be about the same code, and no link relates them yet."""
    a, b = lesson.scope, other.scope
    if (a.level, a.project, a.path_prefix) != (b.level, b.project, b.path_prefix):
        return False  # a project's rule is an exception from a user's general one
    if lesson.paths and other.paths and not set(lesson.paths) & set(other.paths):
        return False
    if lesson.globs and other.globs and not set(lesson.globs) & set(other.globs):
        return False
    if differ_in_taste(lesson, other):
        return False
    links = {link.kind for link in (_link(lesson, other.id), _link(other, lesson.id)) if link}
    return not links or links == {"contradicts"}


def _link(lesson: Lesson, target: LessonId) -> Link | None:
    return next((link for link in lesson.links if link.target == target), None)


def _conflict(lesson: Lesson, other: Lesson, relation: Relation, at: datetime) -> Conflict | None:
    if relation.kind != "contradicts":
        return None
    ruling = rule(lesson, other, relation, at)
    pair, values = ((lesson, other), relation.values) if ruling.first else ((other, lesson), relation.values[::-1])
    return _make_conflict(pair, relation.slot, values, ruling, relation.is_sure)


def _make_conflict(
    pair: tuple[Lesson, Lesson], slot: str, values: Sequence[str], ruling: Ruling, sure: bool
) -> Conflict:
    return Conflict(
        better=pair[0], worse=pair[1], slot=slot, values=(values[0], values[1]), reason=ruling.reason,
        closes=ruling.closes, is_sure=sure,
    )  # fmt: skip


def _linked_conflict(lesson: Lesson, other: Lesson, at: datetime) -> Iterable[Conflict]:
    """Return the conflict of two lessons of which one is linked as contradicting the other, whatever their words."""
    relation = relate(read_claim(lesson.insight), read_claim(other.insight))
    conflict = _conflict(lesson, other, relation, at)
    if conflict is None:
        ruling = rule(lesson, other, Relation(kind="contradicts", slot="polarity"), at)
        conflict = _make_conflict(
            (lesson, other) if ruling.first else (other, lesson), "", ("", ""), ruling, sure=False
        )
    return [replace(conflict, closes=False)]


# Settling


def _settle_saved(services: Services, location: Location, lesson: Lesson, author: str) -> Lesson:
    (lesson,) = services.store.get([lesson.id])
    if lesson.state != "active" or lesson.trust not in CLOSING:
        return lesson
    for conflict in conflicts_of(services, location, lesson):
        if not conflict.closes or lesson.state != "active":
            continue
        better, _ = _close(services, location, conflict.better, [conflict.worse], author, _summary(conflict))
        (lesson,) = [better] if better.id == lesson.id else services.store.get([lesson.id])
    return lesson


def _summary(conflict: Conflict) -> str:
    """Say which lesson supersedes which and by which rule, without their words."""
    pair = f"{short_id(conflict.better.id)} over {short_id(conflict.worse.id)}"
    return f"{pair}: {conflict.slot or 'linked'}; {conflict.reason}"


def _close(
    services: Services, location: Location, better: Lesson, worse: Sequence[Lesson], author: str, summary: str
) -> tuple[Lesson, ...]:
    """Write the better lesson as the successor of the others; all versions must still be those that were read."""
    before = max(lesson.recorded_at for lesson in (better, *worse))
    at = next_instant(before, services.clock.now())
    ids = {lesson.id for lesson in worse}
    links = [link for link in better.links if link.target not in ids]
    links += [Link(kind="supersedes", target=lesson.id) for lesson in worse]
    winner = replace(better, links=tuple(links), recorded_at=at, retracted_at=None)
    closed = [in_state(lesson, "superseded", at=at) for lesson in worse]
    expected = {lesson.id: lesson.recorded_at for lesson in (better, *worse)}
    return write_change(services, location, VERB, [winner, *closed], expected, actor=author, summary=summary).lessons


def _settle(services: Services, location: Location, ref: str, over: Sequence[str], author: str) -> Lesson:
    winner = resolve(services, location, ref)
    short = short_id(winner.id)
    pairs = find_conflicts(services, location, of={winner.id})
    others = {pair.other(winner.id).id: pair for pair in pairs}
    wanted = [resolve(services, location, other).id for other in over] or list(others)
    if not wanted or any(other not in others for other in wanted):
        raise InvalidValueError(f"lesson {short} has no such conflict", hint="holdfast list --conflicts")
    before = {lesson.id: lesson for pair in pairs for lesson in (pair.better, pair.worse)}
    chosen = winner if winner.state == "active" else replace(winner, state="active", trust="person")
    summary = f"{short} over {', '.join(map(short_id, wanted))}: a person decided"
    return _close(services, location, chosen, [before[other] for other in wanted], author, summary)[0]


def _relinked(lesson: Lesson, target: LessonId, link: Link | None, at: datetime) -> Lesson:
    """Return the lesson's next version with that link, or none, to the target."""
    links = (*(known for known in lesson.links if known.target != target), *([link] if link else []))
    return replace(lesson, links=links, recorded_at=next_instant(lesson.recorded_at, at), retracted_at=None)
