"""Decides whether two rules say the same, or the opposite. A wrong merge is far worse than keeping both rules.

A rule is read as its significant words in order, each affirmed or denied. Two rules are the same only if one is the
other with more words, in the same order, with the same affirmations, numbers and identifiers. They are opposed if they
are about the same things but differ in what they deny, in a number, in a pair of opposites or in order.

Learning uses the result to merge lessons. Other relations between lessons are the task of `compare.contradiction`. Only
learning loads this module; hooks never do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.compare.claims import stem
from holdfast.domain.lesson import Lesson
from holdfast.text.words import word_set

SHORTEST = 0.7
"""Least share of the longer rule's words that the shorter one must have to be the same rule."""
OVERLAP = 0.6
"""Least share of words in both for two rules to be about the same thing."""
_WORD = re.compile(r"\d[\w.,:%/-]*|[\w`@$][\w`@$./\\:+#-]*(?:'\w+)?", re.UNICODE)
_EMPTY = word_set(
    """
    a an the this that these those it its is are was were be been being of in on at by for and to with as we you i our
    your my us me should must shall would will need needs please just really very also so then there here do does did
    have has had always use uses using used make makes made sure
    """
)
_DENY = word_set(
    """
    not no never don't dont doesn't doesnt didn't isn't aren't without avoid stop cannot can't won't shouldn't mustn't
    nor neither instead rather over forbidden disallowed except unless
    """
)
"""Words that deny what follows, up to the next turn of the sentence."""
_SCOPES = word_set("for in of on with inside within at per by to from")
"""Words after which a rule says what it is about, and neither chooses nor denies it."""
_ORDERS = word_set("before after until than unless except if when whenever while once first then only without over")
_CHOOSES = word_set("than prefer again ever store keep go going like want")
_ANSWER = re.compile(r"^\s*(?:(?:no|nope|yes|ok|okay|well|actually|hey|please|so|also)[,.!:;]+\s+)+", re.IGNORECASE)
"""An answer in front of a rule. It denies what was asked, not the rule."""
_TURN = re.compile(r"[,;.!?]$|^(?:but|because|since|when|while|if|and|then|use|prefer|so)$")
_OPPOSITES = """
    before after, enable disable, enabled disabled, allow deny, allow forbid, add remove, true false, on off,
    sync async, first last, left right, up down, min max, minimum maximum, more less, public private,
    required optional, upper lower, uppercase lowercase, tabs spaces, single double, keep delete, keep remove,
    include exclude, open closed, start stop, all none, old new, read write, local remote, above below,
    increase decrease, merge rebase, safe unsafe, mutable immutable
    """
_PAIRS = {frozenset(map(stem, pair.split())) for pair in _OPPOSITES.split(",")}
RAREST = 3
"""Words of a rule, the rarest of them all, under which it is looked for."""
CROWD = 60
"""Rules under one word that a rule is compared with, the latest of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleWords:
    """A rule as its significant words in order, each with whether it is affirmed."""

    words: tuple[tuple[str, bool], ...]
    exact: frozenset[str]
    """Numbers and identifiers; they must match exactly."""

    @property
    def stems(self) -> tuple[str, ...]:
        """The words alone, in order."""
        return tuple(word for word, _ in self.words)


def read(text: str) -> RuleWords:
    """Return the rule's significant words."""
    words: list[tuple[str, bool]] = []
    exact: set[str] = set()
    affirmed = True
    for raw in _plain(text).split():
        for match in _WORD.findall(raw):
            plain = match.strip("`").rstrip(".,:;-/\\")
            word = plain.lower()
            if word in _DENY:
                affirmed = False
            elif _TURN.match(word):
                affirmed = True
            elif plain and (_is_exact(plain) or word not in _EMPTY):
                words.append((plain if _is_exact(plain) else stem(word), affirmed))
                exact |= {plain} if _is_exact(plain) else set()
        if _TURN.search(raw):
            affirmed = True
    return RuleWords(words=tuple(words), exact=frozenset(exact))


def same(text: str, other: str) -> bool:
    """Return whether the rules say the same; one may say more. Symmetric, and never true of opposed rules."""
    a, b = sorted((read(text), read(other)), key=lambda reading: len(reading.words))
    if not a.words or a.exact != b.exact or len(a.words) < SHORTEST * len(b.words):
        return False
    denied = [sum(not affirmed for _, affirmed in reading.words) for reading in (a, b)]
    if denied[0] != denied[1] or _denials(text) != _denials(other):
        return False
    rest = iter(b.words)
    return all(word in rest for word in a.words) and not _has_opposites(a, b)


def same_choice(text: str, other: str) -> bool:
    """Return whether both rules choose the same things over the same others: "A is B, never C", "never C for A; use B".

    They must consist of the same words. A rule about an order or a condition makes no such choice.
    """
    choice = _choice(text)
    return choice is not None and choice == _choice(other)


def _choice(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return all words of the rule and those that it denies; None if it chooses nothing."""
    every: set[str] = set()
    denied: set[str] = set()
    denies = is_scope = False
    before = ""
    for raw in _plain(text).split():
        for match in _WORD.findall(raw):
            plain = match.strip("`").rstrip(".,:;-/\\")
            word = plain.lower()
            if word in _ORDERS and (before, word) != ("rather", "than"):
                return None
            if word in _DENY:
                denies, is_scope = True, False
            elif _TURN.match(word):
                denies, is_scope = denies and before in _DENY, False  # "never use" denies what is used
            elif word in _SCOPES:
                is_scope = before != "instead"
            elif word not in _EMPTY and word not in _CHOOSES:
                root = plain if _is_exact(plain) else stem(word)
                every.add(root)
                if denies and not is_scope:
                    denied.add(root)
            before = word
        if raw[-1] in ",;.!?":
            denies = is_scope = False
    return (frozenset(every), frozenset(denied)) if denied and denied != every else None


def opposed(text: str, other: str) -> bool:
    """Return whether the rules are about the same thing and cannot both hold. Symmetric; never true of equal rules."""
    if same(text, other):
        return False
    a, b = read(text), read(other)
    left, right = set(a.stems), set(b.stems)
    shared, every = left & right, left | right
    if not shared or len(shared) < OVERLAP * min(len(left), len(right)) or len(shared) < 0.4 * len(every):
        return False
    if _turned(a, b, shared) or _has_opposites(a, b) or _denials(text) % 2 != _denials(other) % 2:
        return True
    if left == right and a.stems != b.stems:
        return True
    differ = left ^ right
    return bool(differ) and all(word[:1].isdigit() for word in differ) and left - right != set() != right - left


def _plain(text: str) -> str:
    return _ANSWER.sub("", text.replace("\u2019", "'"))


def _is_exact(word: str) -> bool:
    """Return whether the word is a number, a path or an identifier rather than a word of the language."""
    inner = word[1:]
    return (
        any(c.isdigit() for c in word)
        or any(c in "_./\\:@$+#" for c in word.strip("."))
        or (inner != inner.lower() and not word.isupper())
    )


def _denials(text: str) -> int:
    words = (match.lower().strip("`.,:;") for match in _WORD.findall(_plain(text)))
    return sum(word in _DENY for word in words)


def _turned(a: RuleWords, b: RuleWords, shared: set[str]) -> bool:
    """Return whether one rule affirms a word that the other denies."""
    left, right = dict(a.words), dict(b.words)
    return any(left[word] != right[word] for word in shared)


def _has_opposites(a: RuleWords, b: RuleWords) -> bool:
    left, right = set(a.stems), set(b.stems)
    return any(frozenset((x, y)) in _PAIRS for x in left - right for y in right - left)


def find_pairs(lessons: Sequence[Lesson]) -> Iterator[tuple[Lesson, Lesson]]:
    """Yield each pair of lessons whose rules say the same, once, in the order of `lessons`.

    Two rules that share none of their rarest words are not compared; equal rules share all significant words.
    """
    stems = [frozenset(read(lesson.insight).stems) for lesson in lessons]
    counts = Counter(stem for words in stems for stem in words)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for number, words in enumerate(stems):
        for word in sorted(words, key=lambda stem: (counts[stem], stem))[:RAREST]:
            for other in by_word[word][-CROWD:]:
                pair = (other, number)
                if pair in seen or not _may_be_same(stems[other], words):
                    continue
                seen.add(pair)
                if same(lessons[other].insight, lessons[number].insight):
                    yield lessons[other], lessons[number]
            by_word[word].append(number)


def _may_be_same(words: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the words allow it: the condition of `same`, without reading the rules again."""
    shorter, longer = sorted((words, other), key=len)
    return shorter <= longer
