"""Guards the meaning of words that are rewritten: negations, numbers and names stay as they were said.

`keeps_meaning` is for a sentence in another form: nothing may be lost and nothing added. `opposes` is for a text that
says less than its source, such as a title: what it says must not be the opposite. English negations only. Words in
code spans and identifiers are names, never negations.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.words import word_set

REPEATED = 0.6
"""Share of a source's significant words from which a text repeats it, and so may say its opposite."""
SCOPE = 6
"""Words after a negation that it may deny."""

_NEGATIONS = word_set(
    """
    not no never none nor neither cannot nothing nobody nowhere without unless except dont doesnt didnt isnt arent
    wasnt werent cant wont shouldnt mustnt couldnt wouldnt hasnt havent hadnt neednt aint
    """
)
_DENIALS = word_set(
    """
    avoid avoids avoiding stop stops forbid forbids forbidden prevent prevents refuse refuses refused reject rejects
    rejected lack lacks missing instead rather unlike deprecated obsolete removed dropped banned disallowed prohibited
    skip skips ignore ignores disable disables disabled fails failed wrong
    """
)
"""Words that deny without being negations: a title need not keep them, but its negation may rest on one."""
_LIMITS = word_set(
    """
    not no never nor neither none cannot without unless except excepting exception exceptions only but however
    although though until till instead longer forbidden prohibited disallowed banned deprecated obsolete outdated
    old formerly previously superseded replaced wrong avoid stop otherwise apart unlike rather if when unsafe
    dangerous dont doesnt didnt isnt arent cant wont shouldnt mustnt
    """
)
_COUNTS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "twice": "2", "once": "1", "both": "2",
}  # fmt: skip
_EDGES = "\"'`*()[]{}<>,;:!?.\u2026\u201c\u201d\u2018\u2019_-\u2014\u2013"
_TOKEN = re.compile(r"`[^`\n]+`[^\s`]*|[^\s\u2014\u2013]+")
_CODE = re.compile(r"`([^`\n]+)`")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]")
_LIGHT = word_set(
    """
    a an the any ever be been being to do does did have has had is are was were we you it they i he she this that these
    those there only just simply really also even yet already directly blindly please should must can could would will
    may might shall of for in on at with by from into as so and or than all every each more longer our your its their
    """
)
"""Words that cannot be what a negation denies."""
_TALK = re.compile(
    r"^\s*(?:(?:no|nope|no wait|yes|yeah|ok|okay|well|actually|wait|so|but|and)\b[\s,.!:;\u2014\u2013-]+)+|^\W*(?:that"
    r"|this|it)(?:'s| is| was)(?: not|n't)? (?:correct|right|true|wrong)\s*[,;.:\u2014-]|\b(?:why (?:not|don't (?:we"
    r"|you)|couldn't we))\b|^\W*(?:(?:I(?:'m| am)? |we )?wonder(?:ing)? (?:if|whether) )?should(?:n't| not)\b(?! (?:not"
    r"|never)\b)(?=[^.]*\?)|(?:[\s,;.-]+(?:right|or|or no|or not|no|isn't it|aren't they|doesn't it"
    r"|don't you think)\s*\?[?!.]*)+\s*$|(?:[\s,;.-]+no[!.]+)\s*$|^\s*(?:for )?(?:[0-9]{1,2}|[A-Da-d])[.):]\s+",
    re.IGNORECASE,
)
"""Words of talk whose negations deny nothing, and numbers of a list."""


class Reading(NamedTuple):
    """What must not change in a text."""

    words: tuple[str, ...]
    """All words in lower case, without punctuation; a name's word is as it is written."""
    negations: tuple[int, ...]
    """Positions of the negations."""
    numbers: tuple[str, ...]
    """In order of value as text."""
    names: tuple[str, ...]
    """Identifiers, paths, flags and code, each once, sorted."""
    breaks: frozenset[int]
    """Positions of words before which a new clause begins."""


def read(text: str) -> Reading:
    """Return the text's words with their negations, numbers and names."""
    words: list[str] = []
    negations: list[int] = []
    numbers: list[str] = []
    names: set[str] = set()
    breaks: set[int] = set()
    for token in _TOKEN.findall(text.replace("\u2019", "'").replace("``", "`")):
        inside = _CODE.match(token)
        bare = inside[1].strip() if inside else token.strip(_EDGES.replace("_", "").replace("-", "")).rstrip("-")
        if not bare:
            breaks.add(len(words))
            continue
        lower = bare.lower()
        if inside or is_name(bare):
            names.add(_plain_name(bare))
            words.append(_plain_name(bare))
        elif any(char.isdigit() for char in bare):
            numbers.append(lower.strip("-"))
            words.append(lower)
        else:
            word = lower.strip(_EDGES)
            if is_negation(word):
                negations.append(len(words))
            words.append(word)
        if token.rstrip("`\"')*").endswith((".", ",", ";", ":", "!", "?")):
            breaks.add(len(words))
    return Reading(tuple(words), tuple(negations), tuple(sorted(numbers)), tuple(sorted(names)), frozenset(breaks))


def is_negation(word: str) -> bool:
    """Return whether a word in lower case, without punctuation, is a negation or opens an exception."""
    return word in _NEGATIONS or word.endswith("n't")


def is_name(word: str) -> bool:
    """Return whether the word is an identifier, a path, a flag or an address rather than a word of the language."""
    if word.startswith(("--", "$", "@", "./", "/")) or word.endswith("()") or "::" in word or "://" in word:
        return len(word) > 2
    if any(char in "_\\=#" for char in word) and any(char.isalnum() for char in word):
        return True
    inner = word.strip(".")
    if "." in inner and not inner.replace(".", "").isdigit() and "..." not in inner and inner not in ("e.g", "i.e"):
        return all(part and (part[0].isalnum() or part[0] in "*<(") for part in inner.split("."))
    if "/" in inner:
        return True
    return bool(_HUMP.search(word))


def limits(text: str) -> bool:
    """Return whether the text has a negation, an exception or a condition, without which a rule may be reversed."""
    words = (word.strip('.,;:!?()[]"`*_-\u2026\u2014') for word in text.lower().replace("\u2019", "'").split())
    return any(word in _LIMITS or word.endswith("n't") for word in words)


def keeps_meaning(source: str, rewritten: str) -> bool:
    """Return whether a sentence in another form has the same negations, numbers and names as its source.

    Words of talk around the statement do not count: "no," before it, "why not" and "shouldn't we" in a question, the
    number of a list's item.
    """
    whole, other = read(without_talk(source)), read(without_talk(rewritten))
    if len(whole.negations) != len(other.negations) or whole.numbers != other.numbers or whole.names != other.names:
        return False
    return all(_same_head(whole, at, other, to) for at, to in zip(_moved(whole), _moved(other), strict=True))


def without_talk(sentence: str) -> str:
    """Return the sentence without words of talk around its statement, whose negations deny nothing."""
    return _TALK.sub(" ", sentence)


def opposes(text: str, source: str) -> str:
    """Return why a shorter text does not say what its source says, in a few words; empty if it does.

    Every number and name must be the source's. What the source denies may not be affirmed, and what it affirms not be
    denied.
    """
    short, whole = read(text), read(source)
    counts = {*whole.numbers, *(_COUNTS.get(word, "") for word in whole.words)}
    haystack = source.replace("`", "").replace("\u2019", "'")
    for number in short.numbers:
        if number not in counts and number not in haystack.lower():
            return f"the number {number} is not in the lesson"
    for name in short.names:
        if name not in haystack and name.lower() not in haystack.lower():
            return f"`{name}` is not in the lesson"
    ours, theirs = _denied(short), _denied(whole)
    affirmed = {_stem(word) for at, word in enumerate(short.words) if at not in ours.all} - ours.stems
    if wrong := affirmed & theirs.heads - theirs.also_affirmed:
        return f"the lesson denies what it affirms ({min(wrong)})"
    heads = {_stem(short.words[at]) for at in ours.head_positions}
    known = {_stem(word) for word in whole.words}
    if wrong := {head for head in heads & known if head not in theirs.stems}:
        return f"it denies what the lesson affirms ({min(wrong)})"
    if short.negations and not whole.negations and not theirs.stems:
        return "it has a negation that the lesson lacks"
    return ""


def reverses(text: str, source: str) -> bool:
    """Return whether a text says the opposite of a source that it repeats: nearly the same words, denied or not."""
    short, whole = read(text), read(source)
    words = {_stem(word) for word in whole.words if word not in _LIGHT and not is_negation(word)}
    own = {_stem(word) for word in short.words}
    if not words or len(words & own) < REPEATED * len(words):
        return False
    ours, theirs = _denied(short), _denied(whole)
    affirmed = own - ours.stems
    affirms = affirmed & theirs.heads - theirs.also_affirmed
    denies = {_stem(short.words[at]) for at in ours.head_positions} & {
        _stem(word) for word in whole.words
    } - theirs.stems
    return bool(affirms or denies)


class _Denied(NamedTuple):
    heads: set[str]
    """Stems of the words that negations deny directly."""
    head_positions: set[int]
    stems: set[str]
    """Stems of all words that a negation may deny."""
    all: set[int]
    also_affirmed: set[str]
    """Stems of denied words that stand elsewhere without a negation."""


def _denied(text: Reading) -> _Denied:
    heads: set[int] = set()
    scope: set[int] = set()
    for at, word in enumerate(text.words):
        strict = at in text.negations
        if not strict and word not in _DENIALS:
            continue
        head = _head(text, at)
        if strict and head >= 0:
            heads.add(head)
        end = _end_of_clause(text, at)
        end = _end_of_clause(text, end) if end == at + 1 else end  # "wrong: X"
        scope.update(range(at + 1, min(end, at + 1 + 2 * SCOPE)))
        if not strict:
            scope.update(range(_start_of_clause(text, at), at + 1))
    stems = {_stem(text.words[at]) for at in scope}
    affirmed = {_stem(word) for at, word in enumerate(text.words) if at not in scope}
    parts = {_stem(part) for at in heads for part in text.words[at].split("/")}  # "touch/pollute"
    return _Denied(parts | {_stem(text.words[at]) for at in heads}, heads, stems, scope, affirmed)


def _head(text: Reading, at: int) -> int:
    """Return the position of the first significant word after the negation, in its clause; -1 for none."""
    for position in range(at + 1, _end_of_clause(text, at)):
        word = text.words[position]
        if word not in _LIGHT and position not in text.negations:
            return position
    return -1


def _end_of_clause(text: Reading, at: int) -> int:
    return next((n for n in range(at + 1, len(text.words)) if n in text.breaks), len(text.words))


def _start_of_clause(text: Reading, at: int) -> int:
    return next((n for n in range(at, 0, -1) if n in text.breaks), 0)


def _moved(text: Reading) -> list[int]:
    """Return the negations' positions, ordered by what they deny: a sentence's parts may change places."""
    return sorted(text.negations, key=lambda at: (text.words[h] if (h := _head(text, at)) >= 0 else "", text.words[at]))


def _same_head(whole: Reading, at: int, other: Reading, to: int) -> bool:
    """Return whether both negations deny the same word, or none."""
    head, other_head = _head(whole, at), _head(other, to)
    return (head < 0) == (other_head < 0) and (head < 0 or whole.words[head] == other.words[other_head])


def _plain_name(word: str) -> str:
    bare = word.replace("`", "").strip("\"'*()[]{}<>,;:!?.\u2026\u201c\u201d")
    return bare.removesuffix("'s").removesuffix("()") or word


def _stem(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(word) > len(ending) + 2 and word.endswith(ending) and not word.endswith("ss"):
            root = word[: -len(ending)]
            return root[:-1] if ending in ("ing", "ed") and len(root) > 3 and root[-1] == root[-2] else root.rstrip("e")
    return word
