"""Contradiction: what two lessons have to do with each other, told from their words alone.

`relation` answers with one of four kinds. *same*: both state one rule. *refines*: one states the other's rule and
more. *contradicts*: both are about one thing and cannot hold together; the answer names what they differ in and both
values. *unrelated*: everything else, also two rules for different modules, platforms or conditions.

A wrong contradiction can close a true lesson, and a missed one only leaves two lessons side by side. So the words that
differ must be explained by the contradiction: where both texts have further words of their own, they are about
different things.

Loaded on saving and on request, never by a hook.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.domain.frozen import Frozen
from holdfast.ranking.singlevalued import OPPOSITES, VALUES
from holdfast.ranking.words import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    RelationKind = Literal["same", "refines", "contradicts", "unrelated"]
else:
    RelationKind = str

RELATIONS: tuple[RelationKind, ...] = ("same", "refines", "contradicts", "unrelated")

ALIKE = 0.8
"""Least share of telling words in both for two texts of equal polarity to state the same rule."""
CONTAINED = 0.9
"""Least share of the shorter text's telling words that the longer one has when it refines it."""
OPEN_SLOTS = ("polarity", "opposites", "order", "value")
"""What texts differ in where no slot is known."""
SURE = 0.6
"""Likeness from which a contradiction in an open slot is sure."""
SURE_END = 0.35
"""The same where one of the texts says that something has ended."""
HALF = 0.5
"""Least share of the shorter text's telling words in both for plain words to contradict each other."""
NAMED_SHARE = 0.25
"""The same, of the affirming text, where an exact name is denied."""
FRAME = 2
"""Telling words that two texts begin with in common before a value that differs."""
READ_KEPT = 4_096
"""Texts that are kept as they were read: saving a lesson compares it with all the others several times."""
LONGEST_VALUE = 3
"""Words of a value."""


class Relation(Frozen):
    """What the first text has to do with the second."""

    kind: RelationKind = "unrelated"
    slot: str = ""
    """What they differ in: `database`, `number`, `version`, `polarity` and so on; empty unless they contradict."""
    values: tuple[str, str] = ("", "")
    """What the first and the second text say of it."""
    ends: tuple[bool, bool] = (False, False)
    """Whether the first, or the second, text says in words that something has ended: `no longer`, `switched from`."""
    likeness: float = 0.0
    """Share of the telling words of both that are in both."""

    @property
    def is_sure(self) -> bool:
        """Whether it is sure enough to close a lesson without asking: a known slot, or nearly equal words."""
        enough = 0.0 if self.slot not in OPEN_SLOTS else SURE_END if any(self.ends) else SURE
        return self.kind == "contradicts" and self.likeness > 0 and self.likeness >= enough


class Denial(Frozen):
    """A part of a text that says what is not, or not any more."""

    subject: frozenset[str] = frozenset()
    predicate: frozenset[str] = frozenset()
    ends: bool = False
    """It was so before."""


class Claim(Frozen):
    """A text as it is compared: its telling words by the part they play."""

    text: str
    words: frozenset[str] = frozenset()
    """Stems and exact names, without those of exceptions."""
    exact: frozenset[str] = frozenset()
    """Names, paths, numbers and code: they must agree to the letter."""
    denials: tuple[Denial, ...] = ()
    conditions: tuple[frozenset[str], ...] = ()
    """The words of each part that says where, when or for what it holds."""
    has_denier: bool = False
    """It has a word as `not` anywhere, also in a condition."""
    is_limited: bool = False
    """It names an exception, or that it holds only for something."""
    numbers: tuple[str, ...] = ()
    sequence: tuple[str, ...] = ()
    """All words of the first sentence, lower-cased."""
    slots: tuple[tuple[str, frozenset[str]], ...] = ()
    """The single-valued slots that the text fills, each with its values."""
    order: tuple[frozenset[str], frozenset[str]] | None = None
    """What comes first, or is preferred, and what it is put before."""
    switch: str = ""
    """`on` or `off`, where something is."""
    tells_version: bool = False
    tells_value: bool = False

    @property
    def denied(self) -> frozenset[str]:
        """The words of all predicates that are denied."""
        return frozenset().union(*(denial.predicate for denial in self.denials))

    @property
    def affirmed(self) -> frozenset[str]:
        """The words that are not denied."""
        return self.words - self.denied


def relation(one: str, other: str) -> Relation:
    """What the two texts have to do with each other. Swapping them swaps the values and changes nothing else."""
    return relate(read_claim(one), read_claim(other))


def relate(one: Claim, other: Claim) -> Relation:
    """As `relation`, for texts that were read already."""
    if not one.words & other.words - _LIGHT_STEMS and not _same_slot(one, other):
        return Relation()
    if _is_same(one, other):
        return Relation(kind="same")
    found = _denied(one, other) or _swapped(one, other)
    if found is None and not _differ_in_condition(one, other):
        found = _other_value(one, other) or _opposite(one, other) or _other_number(one, other) or _other_end(one, other)
    if found is not None:
        return found
    return Relation(kind="refines") if _refines(one, other) or _refines(other, one) else Relation()


# Reading

_TOKEN = re.compile(r"`[^`\n]+`|[^\s`]+")
_EDGE = "\"'()[]{}<>,;:!?\u201c\u201d"
_ANSWER = re.compile(r"^\s*(?:(?:no|nope|yes|ok|okay|well|actually|hey|please|so|also)[,.!:;]+\s+)+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=,)\s+(?=(?:use|not|never|instead|it|so|but|don't|do not)\b)|\s+\u2014\s+")
_DENIER = word_set(
    """not no never don't dont doesn't didn't isn't aren't wasn't can't cannot won't shouldn't mustn't avoid stop stopped
    nor neither none without hardly"""
)
_OVER = word_set("gone removed deprecated dropped obsolete unsupported discontinued abolished retired")
"""Said of a thing, they deny the whole clause and tell that it was so before."""
_DROPS = word_set("drop drops dropped remove removes removed deprecate deprecates abandoned")
"""Said by a subject, they deny what follows and tell that it was so before."""
_BE = word_set("is are was were been be got")
_ADVERBS = word_set("now previously also since already been fully finally long completely meanwhile")
_DETERMINERS = word_set("a an the any each every this that")
_TAKE = word_set("use prefer choose take call")
_IF = word_set("if when while whether where until whenever")
_ENDING = re.compile(
    r"\bno longer\b|\b(?:any ?more|anymore)\b|\bnot any ?more\b|\bused to\b|\b(?:switch|mov|migrat|chang)(?:ed|ing)\b"
    r".{0,60}\bfrom\b|\breplac(?:ed|es|ing)\b|\binstead of\b|\bis gone\b|\bare gone\b|\bwas (?:removed|dropped|retired)\b"
    r"|\bwere (?:removed|dropped|retired)\b|\bdropped\b|\b(?:is|are) deprecated\b|\bstopped\b",
    re.IGNORECASE,
)
_SWITCH = re.compile(
    r"\b(?:switch|mov|migrat|chang|convert)\w*\b(?:\.(?=\S)|[^.;]){0,60}?\bfrom\b(?P<old>(?:\.(?=\S)|[^.;]){1,60}?)\bto\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\breplac(?:ed|ing|e)\b(?P<old>(?:\.(?=\S)|[^.;]){1,60}?)\b(?:with|by)\b", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"(?:\binstead of|\brather than|\bin place of|\bin favou?r over)\b(?P<old>(?:\.(?=\S)|[^.;,]){1,80})", re.IGNORECASE
)
_EXCEPTION = re.compile(r",?\s*\b(?:except|unless|other than|but not (?:when|where|in))\b[^.;]*", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:when|while|if|during|under|until|where|whenever|only|that|which|whose)\b[^,.;]*"
    r"|\b(?:in|on|for|at|per|inside|within)\b(?:(?!\b(?:in|on|for|at|with|to|from|as)\b)[^,.;])*",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_EMPTY = word_set(
    """
    a an the this that these those it its is are was were be been being of in on at by for and to with as we you i our
    your my us me should must shall would will need needs please just really very also so then there here do does did
    have has had always ever every each any all both only still now more longer alike either or but than from into onto
    through over them they their he she who what which where when while if because since until unless except either
    may might can could own other others another one's unless up out off down per yet already too even not no never
    """
)
_LIGHT = word_set(
    """
    use uses used using make makes made making call calls called calling pass passes passed passing set sets setting take
    takes took taking get gets give given gives hand handed put run runs ran running come comes came live
    lives keep keeps kept support supports supported allow way thing character value argument method function package
    library project tool option version command file files work item type kind sure by hand mean means newer later older
    old new least most minimum maximum default need needed require required instead rather switched moved migrated replaced
    replace we unless told otherwise nothing back yourself itself want wants choose prefer preferred
    """
)
"""Words that say little of the subject: a text may have some of its own and be about the same thing."""
_IRREGULAR = {
    "built": "build", "written": "write", "wrote": "write", "sent": "send", "kept": "keep", "held": "hold",
    "done": "do", "found": "find", "begun": "begin", "began": "begin", "left": "leave", "lost": "lose",
    "chosen": "choose", "stood": "stand", "meant": "mean", "read": "read", "ran": "run", "took": "take",
    "indices": "index", "dependencies": "dependency", "children": "child",
}  # fmt: skip
_COUNTS = {
    "once": "1", "twice": "2", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "dozen": "12",
}  # fmt: skip
_NUMBER = re.compile(r"^v?\d[\d.,_]*(?:x|[a-z%]{1,3})?$", re.IGNORECASE)


@lru_cache(maxsize=READ_KEPT)
def read_claim(text: str) -> Claim:
    """The text as it is compared with others."""
    plain = _ANSWER.sub("", text.replace("\u2019", "'")).strip()
    held = _EXCEPTION.sub("", plain)
    read = _read_words(held)
    denials = [denial for sentence in filter(None, _SENTENCE.split(held)) for denial in _denials_of(sentence)]
    numbers = tuple(word for word, _ in read if _NUMBER.match(word))
    conditions = tuple(frozenset(_telling(part)) for part in _CONDITION.findall(held))
    first = re.split(r"(?<=[.;!?])\s", held, maxsplit=1)[0]
    switched = _SWITCHED.search(plain)
    return Claim(
        text=plain,
        words=frozenset(word for word, _ in read),
        exact=frozenset(word for word, exact in read if exact),
        denials=tuple(denials),
        conditions=conditions,
        has_denier=bool(denials) or any(_bare(raw) in _DENIER for raw in _TOKEN.findall(held)),
        is_limited=held != plain or bool(_ONLY.search(held)),
        numbers=numbers,
        sequence=tuple(token for token in (_bare(raw) for raw in _TOKEN.findall(first)) if token),
        slots=_slots(plain, frozenset().union(*(denial.predicate for denial in denials))),
        order=_ordered(plain),
        switch=switched[1].lower() if switched else "",
        tells_version=bool(_VERSION_CUE.search(plain)),
        tells_value=bool(_VALUE_CUE.search(plain)),
    )


def _denials_of(sentence: str) -> Iterator[Denial]:
    ends = bool(_ENDING.search(sentence))
    for pattern in (_SWITCH, _REPLACED):
        match = pattern.search(sentence)
        if match and not _DENIER & {_bare(token) for token in sentence[: match.start()].split()}:
            yield Denial(predicate=frozenset(_telling(match["old"])), ends=True)
            return
    while match := _INSTEAD.search(sentence):
        before = sentence[: match.start()]
        is_order = _bare(before.split(" ", 1)[0]) in _TAKE  # `use X instead of Y`: X is the new value, not the subject
        subject = frozenset(word for word, exact in _read_words(before) if not is_order and not exact)
        yield Denial(subject=subject, predicate=frozenset(_telling(match["old"])), ends=ends)
        sentence = sentence[: match.start()] + sentence[match.end() :]
    tokens = _TOKEN.findall(sentence)
    lowered = [_bare(token) for token in tokens]
    for at, word in enumerate(lowered):
        if tokens[at].startswith("`"):
            continue
        before = [said for said in lowered[:at] if said not in _ADVERBS]
        if word in _OVER and before and before[-1] in _BE:
            yield Denial(predicate=frozenset(_telling(" ".join(tokens[:at]))), ends=True)
            return
        if word == "deprecated" and before and before[-1] in _DETERMINERS:
            yield Denial(predicate=frozenset(_telling(" ".join(tokens[at + 1 : at + 3]))), ends=True)
            continue
        if word in _DROPS and (not before or before[-1] not in _DETERMINERS):
            yield Denial(predicate=frozenset(_telling(" ".join(tokens[at + 1 :]))), ends=True)
            return
        if word in _DENIER and not (word == "no" and lowered[at + 1 : at + 2] in (["more"], ["matter"])):
            if _IF & {*lowered[_last_comma(tokens, at) : at]}:
                continue  # a condition that something is not so denies nothing
            predicate = [token for token in tokens[at + 1 :] if _bare(token) not in ("longer", "any", "anymore")]
            yield Denial(
                subject=frozenset(_telling(" ".join(tokens[:at]))),
                predicate=frozenset(_telling(" ".join(predicate))),
                ends=ends,
            )
            return


def _last_comma(tokens: list[str], at: int) -> int:
    """The place behind the last comma before that token."""
    return next((n + 1 for n in range(at - 1, -1, -1) if tokens[n].endswith(",")), 0)


def _telling(text: str) -> list[str]:
    """The stems and exact names in the text that say something, in order."""
    return [word for word, _ in _read_words(text)]


def _read_words(text: str) -> list[tuple[str, bool]]:
    """The telling words, each with whether it is an exact name."""
    found: list[tuple[str, bool]] = []
    for raw in _TOKEN.findall(text):
        word = _bare(raw)
        if raw.startswith("`") or _is_exact(raw):
            found.append((word, True))
        elif word in _COUNTS:
            found.append((_COUNTS[word], True))
        elif word and word not in _EMPTY:
            found.append((_stem(word), False))
    return [(word, exact) for word, exact in found if len(word) > 1 or word.isdigit()]


def _bare(raw: str) -> str:
    """The word, or the code, lower-cased and without what stands around it."""
    word = raw.strip(_EDGE).strip("`*").strip(_EDGE).rstrip(".").removesuffix("...").removesuffix("()").rstrip("=.")
    word = word.lower()
    return word[:-2] if word.endswith("'s") else word


def _is_exact(word: str) -> bool:
    """A number, a path or an identifier rather than a word of the language."""
    bare = word.strip("`\"'()[]{}<>,;:!?.*\u201c\u201d")
    inner = bare[1:]
    return (
        any(c.isdigit() for c in bare)
        or any(c in "_/\\@$+#=" for c in bare)
        or "." in bare
        or bare.startswith("--")
        or (inner != inner.lower() and not bare.isupper())
    )


def _stem(word: str) -> str:
    """The word without a plural's or a verb's ending; crude, and the same for both texts."""
    word = _IRREGULAR.get(word, word)
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > 4:
            return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not word.endswith(("ss", "us")) and _has_vowel(rest):
            word = rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _has_vowel(word: str) -> bool:
    return any(c in "aeiouy" for c in word)


_LIGHT_STEMS = frozenset(_stem(word) for word in _LIGHT)


def _heavy(words: frozenset[str]) -> frozenset[str]:
    """The words without those that say little of the subject."""
    return words - _LIGHT_STEMS


_KNOWN = frozenset(_stem(value) for value in VALUES)


# The four answers


def _is_same(one: Claim, other: Claim) -> bool:
    if one.exact != other.exact or one.has_denier != other.has_denier or one.is_limited != other.is_limited:
        return False
    a, b = _heavy(one.words), _heavy(other.words)
    if not a or not b or len(a & b) < ALIKE * len(a | b):
        return False
    return not _crossed(one, other) and _swapped(one, other) is None and not _opposites_in(one.words, other.words)


def _refines(shorter: Claim, longer: Claim) -> bool:
    """Whether the longer text states the shorter one's rule and more."""
    a, b = _heavy(shorter.words), _heavy(longer.words)
    if not a or len(a & b) < CONTAINED * len(a) or not shorter.exact <= longer.exact:
        return False
    if a == b and shorter.is_limited >= longer.is_limited:
        return False
    return bool(shorter.denied & longer.words) <= bool(longer.denials) and not _crossed(shorter, longer)


def _crossed(one: Claim, other: Claim) -> bool:
    """Whether a telling word is affirmed by one and denied by the other."""
    if _heavy(one.denied & other.denied):
        return False  # both deny it; which words stand in front of the denial is a matter of grammar
    return bool(_heavy(one.denied & other.affirmed - one.affirmed) | _heavy(other.denied & one.affirmed - other.affirmed))


def _contradiction(one: Claim, other: Claim, slot: str, left: str, right: str) -> Relation:
    ends = (any(denial.ends for denial in one.denials), any(denial.ends for denial in other.denials))
    a, b = _heavy(one.words), _heavy(other.words)
    likeness = len(a & b) / len(a | b) if a | b else 0.0
    return Relation(kind="contradicts", slot=slot, values=(left, right), ends=ends, likeness=likeness)


def _denied(one: Claim, other: Claim) -> Relation | None:
    """One text denies what the other one affirms, and all that it denies."""
    if denial := _denial_against(other, one):
        return _contradiction(one, other, "polarity", _shown(denial), "not " + _shown(denial))
    if denial := _denial_against(one, other):
        return _contradiction(one, other, "polarity", "not " + _shown(denial), _shown(denial))
    return None


def _shown(denial: Denial) -> str:
    return " ".join(sorted(denial.predicate))


def _denial_against(denier: Claim, affirmer: Claim) -> Denial | None:
    """The denial of the first text that hits what the second one affirms."""
    for denial in denier.denials:
        predicate = _heavy(denial.predicate) or denial.predicate
        subject = _heavy(denial.subject)
        if not predicate:
            continue
        hit = predicate & affirmer.affirmed
        # What the denial is about beyond the other text: a module, a platform, a condition of its own.
        beyond = (predicate | subject) - affirmer.words
        if not hit or len(hit) < len(predicate) - len(beyond) or predicate & denier.affirmed >= predicate:
            continue
        own = _heavy(affirmer.words) - denier.words
        if beyond and (own or len(beyond) * 4 > len(predicate | subject)):
            continue
        shared = _heavy(denier.words & affirmer.words) | hit
        named = any(not word.isdigit() for word in hit & affirmer.exact) or (denial.ends and hit & _KNOWN)
        least = NAMED_SHARE * len(_heavy(affirmer.words)) if named else max(2, _half(denier, affirmer))
        if len(shared) >= least and not _with_and_without(denier.text, affirmer.text):
            return denial
    return None


def _half(one: Claim, other: Claim) -> float:
    """Half of the telling words of the shorter text."""
    return HALF * min(len(_heavy(one.words)), len(_heavy(other.words)))


def _with_and_without(one: str, other: str) -> bool:
    """One text speaks of something with a thing, the other one of it without that thing: two conditions."""
    for a, b in ((one, other), (other, one)):
        for word in re.findall(r"\bwithout (?:an? |the |any )?([\w-]+)", a.lower()):
            if re.search(rf"\bwith (?:an? |the )?{re.escape(word)}\b", b.lower()):
                return True
    return False


_BETWEEN = re.compile(r"^(?P<left>.+?)\s(?P<word>before|after|over|instead of|rather than|wins? over)\s(?P<right>.+)$", re.I)
_FIRST = re.compile(r"^(?P<word>before|after)\s(?P<right>[^,]+),\s*(?P<left>.+)$", re.I)


def _swapped(one: Claim, other: Claim) -> Relation | None:
    """Both texts put the same two things in order, one of them the other way round."""
    a, b = one.order, other.order
    if a is None or b is None or a[0] & a[1] or b[0] & b[1]:
        return None
    turned = len(a[0] & b[1]) >= 1 and len(a[1] & b[0]) >= 1
    straight = a[0] & b[0] or a[1] & b[1]
    if turned and not straight and len(_heavy((a[0] | a[1]) & (b[0] | b[1]))) >= 2:
        return _contradiction(one, other, "order", " ".join(sorted(a[0])), " ".join(sorted(b[0])))
    return None


def _ordered(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """What comes first, or is preferred, and what it is put before."""
    sentence = re.split(r"[.;]\s|[.;]$", text, maxsplit=1)[0]
    match = _FIRST.match(sentence) or _BETWEEN.match(sentence)
    if match is None:
        return None
    left, right = (frozenset(_telling(match[name])) - _LIGHT_STEMS for name in ("left", "right"))
    return (right, left) if match["word"].lower() == "after" else (left, right)


def _differ_in_condition(one: Claim, other: Claim) -> bool:
    """Whether both hold at different places or times, or one is an exception from the other."""
    return _with_and_without(one.text, other.text)


def _rest(one: Claim, other: Claim, left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether what the values leave of both texts speaks of one thing: at most one of them has words of its own, and
    these are no condition."""
    a, b = _heavy(one.words - left - one.denied), _heavy(other.words - right - other.denied)
    own_a, own_b = a - other.words, b - one.words
    if own_a and own_b:
        return False
    for own, claim, value in ((own_a, one, left), (own_b, other, right)):
        if any(own & part and not value & part for part in claim.conditions):
            return False
    return not ((one.exact - left - other.words - one.denied) and (other.exact - right - one.words - other.denied))


def _slots(text: str, denied: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    found: dict[str, set[str]] = {}
    words = [_bare(raw) for raw in _TOKEN.findall(text)]
    spoken = f" {' '.join(words)} "
    for value in {word for word in words if word in VALUES} | {value for value in _PHRASES if value in spoken}:
        if f" {value} " in spoken and not _parts(value) & denied:
            slot, name = VALUES[value]
            found.setdefault(slot, set()).add(name)
    return tuple((slot, frozenset(values)) for slot, values in sorted(found.items()))


_PHRASES = tuple(value for value in VALUES if " " in value)


def _parts(value: str) -> frozenset[str]:
    return frozenset(_stem(part) if part.isalpha() else part for part in value.split())


def _names_of(value: str) -> frozenset[str]:
    """The words of all names of that value."""
    return frozenset().union(*(_parts(name) for name, (_, known) in VALUES.items() if known == value))


def _same_slot(one: Claim, other: Claim) -> bool:
    return bool({slot for slot, _ in one.slots} & {slot for slot, _ in other.slots})


def _other_value(one: Claim, other: Claim) -> Relation | None:
    """Both fill one slot, with different values, and speak of the same thing besides."""
    a, b = dict(one.slots), dict(other.slots)
    for slot in a:
        if slot not in b or a[slot] & b[slot] or len(a[slot]) > 1 or len(b[slot]) > 1:
            continue
        (left,), (right,) = a[slot], b[slot]
        name = slot.rstrip("0123456789 ")
        named = frozenset(_stem(word) for word in name.lower().split())
        if _rest(one, other, _names_of(left) | named, _names_of(right) | named):
            return _contradiction(one, other, name, left, right)
    return None


def _opposites_in(a: frozenset[str], b: frozenset[str]) -> tuple[str, str] | None:
    for x in sorted(a - b):
        for y in sorted(b - a):
            if frozenset((x, y)) in _PAIRS:
                return x, y
    return None


_PAIRS = frozenset(frozenset(_stem(word) for word in pair) for pair in OPPOSITES)
_SWITCHED = re.compile(r"\b(?:is|are|be|turns?|turned|switch|switched|stays?)\s+(?:\w+\s+)?(on|off)\b", re.IGNORECASE)


def _opposite(one: Claim, other: Claim) -> Relation | None:
    """The texts differ in two words that exclude each other."""
    if bool(one.denials) != bool(other.denials) and _crossed(one, other):
        return None
    pair = _opposites_in(one.affirmed, other.affirmed)
    if pair is None and one.switch and other.switch and one.switch != other.switch:
        pair = (one.switch, other.switch)
    if pair is None or len(_heavy(one.words & other.words)) < max(1, _half(one, other) - len(pair) / 2):
        return None
    if not _rest(one, other, frozenset((pair[0],)), frozenset((pair[1],))):
        return None
    return _contradiction(one, other, "opposites", *pair)


_VERSION_CUE = re.compile(
    r"\b(?:or|and) (?:newer|later|above|up)\b|\bat least\b|\bminimum\b|\boldest\b|\bsupports?\b|\brequires?d?\b"
    r"|\bneeds?\b|\btargets?\b|\bruns? on\b|\bversion\b|\bpinned?\b|\bdropp?(?:s|ed)?\b|\bupgrad",
    re.IGNORECASE,
)
_VALUE_CUE = re.compile(
    r"(?:\b(?:is|are|to|at|of|by|than|most|least|max|maximum|minimum|limit|after|every|within|over|under|port|(?<=\w )status)|[=:])"
    r"\s+\d|\d\s?(?:%|(?:ms|s|sec|seconds?|minutes?|min|hours?|days?|weeks?|times|retries|attempts|repeats|[kmg]i?b|bytes"
    r"|bits|spaces|columns|characters|lines|threads|workers|connections|entries|items|files)\b)"
    r"|\b(?:once|twice|two|three|four|five|six|eight|ten) (?:times|spaces|workers|days|hours|minutes|seconds|retries)\b",
    re.IGNORECASE,
)


def _other_number(one: Claim, other: Claim) -> Relation | None:
    """The texts differ in one number, which is the value of something or a version."""
    a, b = sorted({*one.numbers} - {*other.numbers}), sorted({*other.numbers} - {*one.numbers})
    if len(a) != 1 or len(b) != 1 or bool(one.denied & other.words) != bool(other.denied & one.words):
        return None
    if a[0] in one.denied and b[0] in other.denied:
        return None
    versions = one.tells_version and other.tells_version
    values = one.tells_value and other.tells_value
    if not (versions or values) or not _heavy(one.words & other.words):
        return None
    if not _rest(one, other, frozenset(a), frozenset(b)):
        return None
    is_port = "port" in one.words | other.words
    return _contradiction(one, other, "port" if is_port else "version" if versions else "number", a[0], b[0])


_COPULA = word_set("is are level status port mode")
_MEANS = word_set("with to by as")
_DONE_ONE_WAY = frozenset(
    _stem(word)
    for word in word_set(
        """run test build format lint install deploy upload publish release compile package sign store cache serve open
        indent answer start generate save write derive encode deliver host"""
    )
)
"""Done in one way in a project: what stands behind `with` or `to` is the value."""
_INDEFINITE = word_set("a an one some another")
_TAIL = re.compile(r"^(?:by default|from now on|at most|at least)?$")


def _other_end(one: Claim, other: Claim) -> Relation | None:
    """The texts have the same words but for one value behind `is`, `with`, `to`, `as` or `by`."""
    a, b = one.sequence, other.sequence
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
    done = behind in _MEANS and any(_stem(word) in _DONE_ONE_WAY for word in a[:head])
    if behind not in _COPULA and not done:
        return None
    if {*left, *right} & {"in", "on", "for", "when", "if", "under", "at"} or _DENIER & {*left, *right}:
        return None
    if len(_telling(" ".join(a[:head]))) < FRAME and not _telling(" ".join(a[len(a) - tail :])):
        return None
    if not _TAIL.match(" ".join(a[len(a) - tail :])) and len(_telling(" ".join(a[:head]))) < FRAME:
        return None
    return _contradiction(one, other, "value", " ".join(left), " ".join(right))
