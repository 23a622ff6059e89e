"""Compares two lessons by their words alone: same, refining, contradicting or unrelated.

`relation` returns one of four kinds. *same*: both state one rule. *refines*: one states the other's rule and more.
*contradicts*: both are about one thing and cannot both hold; the result names the slot in which they differ, and both
values. *unrelated*: everything else, including rules for different modules, platforms or conditions.

A wrong contradiction can close a true lesson; a missed one only leaves two lessons side by side. So the contradiction
must explain all words that differ: if both texts have further words of their own, they are about different things.

The module is loaded when a lesson is saved and on request, never by a hook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.compare.claims import (
    DENIERS,
    PAIRS,
    POLES,
    VALUES,
    Claim,
    Denial,
    heavy,
    parts_of,
    read_claim,
    stem,
    telling,
)
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import TRUSTS, Trust
from holdfast.text.words import word_set

RelationKind = Literal["same", "refines", "contradicts", "unrelated"]
RELATIONS: tuple[RelationKind, ...] = ("same", "refines", "contradicts", "unrelated")
ALIKE = 0.8
"""Least share of telling words in both for two texts of equal polarity to state the same rule."""
CONTAINED = 0.9
"""Least share of the shorter text's telling words that the longer one has when it refines it."""
OPEN_SLOTS = ("polarity", "opposites", "order", "value")
"""The slots of contradictions in which no known slot (`database`, `version` ...) takes part."""
SURE = 0.6
"""Likeness from which a contradiction in an open slot is sure."""
SURE_END = 0.35
"""The same where one of the texts says that something has ended."""
HALF = 0.5
"""Least share of the shorter text's telling words in both for plain words to contradict each other."""
NAMED_SHARE = 0.25
"""The same, of an affirming instruction, where an exact name is denied."""
NAMED_TOLD_SHARE = 0.6
"""The same, where the affirming text is no instruction: it may tell something else of that name."""
NAME_WORDS = 2
"""Words of a value that two texts give for one thing."""
ENDED_WORDS = 2
"""Words of a name that has ended: "Redux", "Cloud Run"."""
FRAME = 2
"""Telling words that two texts begin with in common before a value that differs."""
LONGEST_VALUE = 3
"""Words of a value."""
_OPENINGS = word_set("the a an this that these those our your its it there in on at for if when while")
_KNOWN = frozenset(stem(value) for value in VALUES)
_COPULA = word_set("is are level status port mode")
_MEANS = word_set("with to by as")
_DONE_ONE_WAY = frozenset(
    stem(word)
    for word in word_set(
        """run test build format lint install deploy upload publish release compile package sign store cache serve open
        indent answer start generate save write derive encode deliver host"""
    )
)
"""Actions that a project does in one way only: the word after `with` or `to` is the value."""
_INDEFINITE = word_set("a an one some another")
_TAIL = re.compile(r"^(?:by default|from now on|at most|at least)?$")
CLOSING: tuple[Trust, ...] = ("person", "verified")
"""Trusts whose lessons may close another lesson."""
WORDS: dict[Trust, str] = {
    "person": "a person's word", "verified": "verified code", "agent": "the agent's word",
    "repository": "the repository's text", "tool": "a tool's text",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """How the first text relates to the second."""

    kind: RelationKind = "unrelated"
    slot: str = ""
    """The slot in which they differ: `database`, `number`, `version`, `polarity` ...; empty unless they contradict."""
    values: tuple[str, str] = ("", "")
    """The values that the first and the second text give for the slot."""
    ends: tuple[bool, bool] = (False, False)
    """For each text, whether it says in words that something has ended: `no longer`, `switched from`."""
    likeness: float = 0.0
    """Share of the texts' significant words that both have."""

    @property
    def is_sure(self) -> bool:
        """Whether the contradiction may close a lesson without asking: a known slot, or nearly equal words."""
        enough = 0.0 if self.slot not in OPEN_SLOTS else SURE_END if any(self.ends) else SURE
        return self.kind == "contradicts" and self.likeness > 0 and self.likeness >= enough


def relation(text: str, other: str) -> Relation:
    """Return how the first text relates to the second. Swapping the texts only swaps the values."""
    return relate(read_claim(text), read_claim(other))


def relate(claim: Claim, other: Claim) -> Relation:
    """Return the same as `relation`, for texts that have been read already."""
    if not (claim.subject & other.subject) and not _same_slot(claim, other):
        return Relation()
    if _is_same(claim, other):
        return Relation(kind="same")
    opposing = _denied(claim, other) or _swapped(claim, other)
    if opposing is None and not _with_and_without(claim.text, other.text):
        opposing = (
            _other_value(claim, other)
            or _opposite(claim, other)
            or _other_number(claim, other)
            or _other_end(claim, other)
            or _other_assignment(claim, other)
        )
    if opposing is not None:
        return opposing
    return Relation(kind="refines") if _refines(claim, other) or _refines(other, claim) else Relation()


# The four kinds of relation


def _is_same(claim: Claim, other: Claim) -> bool:
    if claim.exact != other.exact or claim.has_denier != other.has_denier or claim.is_limited != other.is_limited:
        return False
    a, b = claim.subject, other.subject
    if not a or not b or len(a & b) < ALIKE * len(a | b):
        return False
    return (
        not _crossed(claim, other)
        and _swapped(claim, other) is None
        and not _opposites_in(claim.words & POLES, other.words & POLES)
    )


def _refines(shorter: Claim, longer: Claim) -> bool:
    """Return whether the longer text states the shorter text's rule and more."""
    a, b = shorter.subject, longer.subject
    if not a or len(a & b) < CONTAINED * len(a) or not shorter.exact <= longer.exact:
        return False
    if a == b and shorter.is_limited >= longer.is_limited:
        return False
    return bool(shorter.denied & longer.words) <= bool(longer.denials) and not _crossed(shorter, longer)


def _crossed(claim: Claim, other: Claim) -> bool:
    """Return whether one text affirms a significant word that the other denies."""
    if heavy(claim.denied & other.denied):
        return False  # both deny it; which words precede the denial depends on grammar only
    return bool(
        heavy(claim.denied & other.affirmed - claim.affirmed) | heavy(other.denied & claim.affirmed - other.affirmed)
    )


def _contradiction(claim: Claim, other: Claim, slot: str, left: str, right: str) -> Relation:
    ends = (any(denial.ends for denial in claim.denials), any(denial.ends for denial in other.denials))
    a, b = claim.subject, other.subject
    likeness = len(a & b) / len(a | b) if a | b else 0.0
    return Relation(kind="contradicts", slot=slot, values=(left, right), ends=ends, likeness=likeness)


def _denied(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if one text denies something, and the other affirms all of it."""
    if denial := _denial_against(other, claim):
        return _contradiction(claim, other, "polarity", _shown(denial), "not " + _shown(denial))
    if denial := _denial_against(claim, other):
        return _contradiction(claim, other, "polarity", "not " + _shown(denial), _shown(denial))
    return None


def _shown(denial: Denial) -> str:
    return " ".join(sorted(denial.predicate))


def _denial_against(denier: Claim, affirmer: Claim) -> Denial | None:
    """Return the denial of the first text that contradicts what the second one affirms, or None."""
    for denial in denier.denials:
        predicate = heavy(denial.predicate) or denial.predicate
        subject = heavy(denial.subject)
        if not predicate or _denies_too(affirmer, subject | predicate) or _agree(denier, affirmer, denial):
            continue
        hit = predicate & affirmer.affirmed
        # Words of the denial that the other text lacks: its own module, platform or condition.
        beyond = (predicate | subject) - affirmer.words
        if not hit or len(hit) < len(predicate) - len(beyond) or predicate & denier.affirmed >= predicate:
            continue
        own = affirmer.subject - denier.words
        if beyond and (own or len(beyond) * 4 > len(predicate | subject)):
            continue
        shared = (denier.subject & affirmer.subject) | hit
        if denial.ends and len(denial.predicate) <= ENDED_WORDS and predicate <= hit & (denier.names | affirmer.names):
            return denial  # what has a name has ended, whatever else the other text says of it
        named = any(not word.isdigit() for word in hit & affirmer.exact) or (denial.ends and hit & _KNOWN)
        share = NAMED_SHARE if _instructs(affirmer) else NAMED_TOLD_SHARE
        least = share * len(affirmer.subject) if named else max(2, _half(denier, affirmer))
        if len(shared) >= least and not _with_and_without(denier.text, affirmer.text):
            return denial
    return None


def _denies_too(claim: Claim, words: frozenset[str]) -> bool:
    """Return whether the claim denies the same, wherever the `not` stands: `has no X` and `X is not supported`."""
    parts = (heavy(denial.subject | denial.predicate) for denial in claim.denials)
    return any(part and (part <= words or words <= part) for part in parts if len(part & words) > 1)


def _agree(denier: Claim, affirmer: Claim, denial: Denial) -> bool:
    """Return whether the affirming text names all replacements that the denier names: both describe one change."""
    names = frozenset(name for name in denier.exact if not name.isdigit())
    new = names & denier.affirmed - denial.predicate - denial.subject
    return bool(new) and new <= affirmer.affirmed


def _instructs(claim: Claim) -> bool:
    """Return whether the text looks like an instruction: its first word is neither an article nor a name."""
    first = claim.sequence[0] if claim.sequence else ""
    return bool(first) and first not in _OPENINGS and first not in claim.exact


def _half(claim: Claim, other: Claim) -> float:
    """Return half the number of significant words of the shorter text."""
    return HALF * min(len(claim.subject), len(other.subject))


def _with_and_without(text: str, other: str) -> bool:
    """Return whether one text says `with X` and the other `without X`: they state different conditions."""
    for a, b in ((text, other), (other, text)):
        if "without" not in a.lower():
            continue
        for word in re.findall(r"\bwithout (?:an? |the |any )?([\w-]+)", a.lower()):
            if re.search(rf"\bwith (?:an? |the )?{re.escape(word)}\b", b.lower()):
                return True
    return False


def _swapped(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if both texts order the same two things, and in opposite ways."""
    a, b = claim.order, other.order
    if a is None or b is None or a[0] & a[1] or b[0] & b[1]:
        return None
    turned = len(a[0] & b[1]) >= 1 and len(a[1] & b[0]) >= 1
    straight = a[0] & b[0] or a[1] & b[1]
    if turned and not straight and len(heavy((a[0] | a[1]) & (b[0] | b[1]))) >= 2:
        return _contradiction(claim, other, "order", " ".join(sorted(a[0])), " ".join(sorted(b[0])))
    return None


def _rest(claim: Claim, other: Claim, left: frozenset[str], right: frozenset[str]) -> bool:
    """Return whether the texts agree apart from the two values.

    At most one of them may have words of its own, and these must not belong to a condition.
    """
    a, b = heavy(claim.words - left - claim.denied), heavy(other.words - right - other.denied)
    own_a, own_b = a - other.words, b - claim.words
    if own_a and own_b:
        return False
    for own, side, value in ((own_a, claim, left), (own_b, other, right)):
        if any(own & part and not value & part for part in side.conditions):
            return False
    return not (
        (claim.exact - left - other.words - claim.denied) and (other.exact - right - claim.words - other.denied)
    )


def _names_of(value: str) -> frozenset[str]:
    """Return the words of all names of that value."""
    return frozenset().union(*(parts_of(name) for name, (_, known) in VALUES.items() if known == value))


def _same_slot(claim: Claim, other: Claim) -> bool:
    return bool({slot for slot, _ in claim.slots} & {slot for slot, _ in other.slots})


def _other_value(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if both texts fill one slot with different values and otherwise agree in their subject."""
    a, b = dict(claim.slots), dict(other.slots)
    for slot in a:
        if slot not in b or a[slot] & b[slot] or len(a[slot]) > 1 or len(b[slot]) > 1:
            continue
        (left,), (right,) = a[slot], b[slot]
        name = slot.rstrip("0123456789 ")
        named = frozenset(stem(word) for word in name.lower().split())
        if _rest(claim, other, _names_of(left) | named, _names_of(right) | named):
            return _contradiction(claim, other, name, left, right)
    return None


def _opposites_in(a: frozenset[str], b: frozenset[str]) -> tuple[str, str] | None:
    for x in sorted(a - b):
        for y in sorted(b - a):
            if frozenset((x, y)) in PAIRS:
                return x, y
    return None


def _opposite(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if the texts differ in two words that exclude each other."""
    if bool(claim.denials) != bool(other.denials) and _crossed(claim, other):
        return None
    pair = _opposites_in(claim.poles, other.poles)
    if pair is None and claim.switch and other.switch and claim.switch != other.switch:
        pair = (claim.switch, other.switch)
    if pair is None or len(claim.subject & other.subject) < max(1, _half(claim, other) - len(pair) / 2):
        return None
    if not _rest(claim, other, frozenset((pair[0],)), frozenset((pair[1],))):
        return None
    return _contradiction(claim, other, "opposites", *pair)


def _other_number(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if the texts differ in one number that is a value or a version."""
    a, b = sorted({*claim.numbers} - {*other.numbers}), sorted({*other.numbers} - {*claim.numbers})
    if len(a) != 1 or len(b) != 1 or bool(claim.denied & other.words) != bool(other.denied & claim.words):
        return None
    if a[0] in claim.denied and b[0] in other.denied:
        return None
    versions = claim.tells_version and other.tells_version
    values = claim.tells_value and other.tells_value
    if not (versions or values) or not (claim.subject & other.subject):
        return None
    if not _rest(claim, other, frozenset(a), frozenset(b)):
        return None
    is_port = "port" in claim.words | other.words
    return _contradiction(claim, other, "port" if is_port else "version" if versions else "number", a[0], b[0])


def _other_end(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if the texts differ only in a value after `is`, `with`, `to`, `as` or `by`."""
    a, b = claim.sequence, other.sequence
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    left, right = a[head : len(a) - tail], b[head : len(b) - tail]
    if not left or not right or max(len(left), len(right)) > LONGEST_VALUE or not a[:head] or a[0] in _INDEFINITE:
        return None
    behind = next((word for word in reversed(a[:head]) if word not in ("the", "a", "an")), "")
    done = behind in _MEANS and any(stem(word) in _DONE_ONE_WAY for word in a[:head])
    if behind not in _COPULA and not done:
        return None
    if {*left, *right} & {"in", "on", "for", "when", "if", "under", "at"} or DENIERS & {*left, *right}:
        return None
    if len(telling(" ".join(a[:head]))) < FRAME and not telling(" ".join(a[len(a) - tail :])):
        return None
    if not _TAIL.match(" ".join(a[len(a) - tail :])) and len(telling(" ".join(a[:head]))) < FRAME:
        return None
    return _contradiction(claim, other, "value", " ".join(left), " ".join(right))


def _other_assignment(claim: Claim, other: Claim) -> Relation | None:
    """Return a contradiction if both texts say one thing of the same subject, in the same way, with other values."""
    a, b = claim.assignment, other.assignment
    if a is None or b is None or a.subject != b.subject or (a.act, a.by) != (b.act, b.by) or a.value & b.value:
        return None
    values = (a.shown, b.shown)
    if a.by == "time":
        is_one_of_two = all(" " not in value and any(map(str.isdigit, value)) for value in values)
    else:
        slots = {VALUES[value][0] for value in values if value in VALUES}
        may_both_hold = len(slots) > 1 and not any(slot.startswith("database") for slot in slots)  # jest and pytest
        is_one_of_two = a.act == "be" and not may_both_hold and all(len(v.split()) <= NAME_WORDS for v in values)
    return _contradiction(claim, other, "value", *values) if is_one_of_two else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The better of two lessons, and why."""

    first: bool
    """Whether the first of the two is the better one."""
    reason: str
    closes: bool = False
    """Whether to close the other one without asking anybody."""


def rule(lesson: Lesson, other: Lesson, relation: Relation, at: datetime) -> Ruling:
    """Return the ruling on two lessons whose insights contradict each other as `relation` describes."""
    ended = _ended(lesson, other, relation)
    if ended is not None:
        better, worse = (lesson, other) if ended else (other, lesson)
        return Ruling(
            first=ended, reason="says that the other one has ended", closes=_may_close(better, worse, relation)
        )
    (key_one, key_other), reasons = (_order(lesson, at), _order(other, at)), _reasons(lesson, other)
    place = next((n for n, (a, b) in enumerate(zip(key_one, key_other, strict=True)) if a != b), len(key_one) - 1)
    first = key_one > key_other
    better, worse = (lesson, other) if first else (other, lesson)
    closes = _may_close(better, worse, relation) and (better.trust != worse.trust or _replaces(better, worse, relation))
    return Ruling(first=first, reason=reasons[place], closes=closes)


def _ended(lesson: Lesson, other: Lesson, relation: Relation) -> bool | None:
    """Return True if the first text says that the second has ended, False for the reverse.

    Return None if neither or both say so, or if the lesson that says so is trusted less.
    """
    if relation.ends[0] == relation.ends[1]:
        return None
    ender, ending = (lesson, other) if relation.ends[0] else (other, lesson)
    return relation.ends[0] if TRUSTS.index(ender.trust) <= TRUSTS.index(ending.trust) else None


def _order(lesson: Lesson, at: datetime) -> tuple[int, bool, int, datetime, datetime, str]:
    ends = lesson.validity.valid_to
    holds = lesson.validity.valid_from <= at and (ends is None or ends > at)
    evidence = len(lesson.provenance.evidence) + len(lesson.sessions_seen)
    since = lesson.validity.valid_from
    return -TRUSTS.index(lesson.trust), holds, evidence, since, lesson.recorded_at, lesson.id


def _reasons(first: Lesson, other: Lesson) -> tuple[str, ...]:
    """Return the reason for each part of the order."""
    better, worse = sorted((first, other), key=lambda lesson: TRUSTS.index(lesson.trust))
    by_trust = f"{WORDS[better.trust]} comes before {WORDS[worse.trust]}"
    return by_trust, "holds now", "has more evidence", "is newer", "is newer", "has the later id"


def _may_close(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Return whether the better lesson has the authority to close the other one."""
    if not relation.is_sure or better.trust not in CLOSING or better.state != "active" or worse.pinned:
        return False
    if better.scope.branch or worse.scope.branch:  # a lesson on an unmerged branch closes nothing elsewhere
        return False
    if worse.trust == "person":
        return better.trust == "person" and better.provenance.person == worse.provenance.person
    return TRUSTS.index(better.trust) <= TRUSTS.index(worse.trust)


def _replaces(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Return whether a lesson of equal trust replaces the earlier one: it has the newer value of a known slot."""
    return relation.slot not in OPEN_SLOTS and better.validity.valid_from >= worse.validity.valid_from


def differ_in_taste(lesson: Lesson, other: Lesson) -> bool:
    """Return whether the lessons are preferences of two persons, neither of whom is wrong."""
    mine, theirs = lesson.provenance.person, other.provenance.person
    is_taste = lesson.kind == other.kind and profile_of(lesson.kind).is_personal
    return is_taste and bool(mine and theirs and mine != theirs)
