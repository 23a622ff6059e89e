"""Measures how alike two definitions are, by their tokens and names, to find what a definition became."""

from __future__ import annotations

import re
from collections import Counter

from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.language import MEMBER_KINDS
from holdfast.codeindex.source import ParsedSource, last_part, unnumbered

Part = tuple[ParsedSource, Definition]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

TELLING_TOKENS = 16
"""From this many tokens of body two equal definitions are taken as one and the same, whatever their names."""

SAME_NAME_FLOOR = (0.35, 2.0, 0.8)
OTHER_NAME_FLOOR = (0.45, 6.0, 1.0)
"""Least likeness for a definition that kept its last name, and for one that did not: a + b / words, at most c.

The fewer words there are, the more of them two strangers share by chance.
"""
NAME_WORTH = 0.25
"""How much of that floor a name that is alike makes up for."""
MARGIN = 0.1
"""How much the best must be ahead of the runner-up: nothing is guessed."""
PLACE_WORTH = 0.15
"""Added to the likeness of a definition that appears between the same neighbours."""
UNLIKE_SORTS = frozenset(map(frozenset, (("type", "field"), ("type", "constant"), ("routine", "constant"))))
"""Pairs of sorts that never replace each other. A method may become a property that holds a function."""
SAME_TEXT = 0.9
"""From this share of words in common two definitions are one text."""


def likeness(then: Part, now: Part, *, in_place: bool = False) -> float:
    """Return how much two definitions share, 0 to 1.25; 0 if it is too little.

    Tokens count by Dice's coefficient over multisets. Names count as far as the tokens leave a doubt. A definition in
    the other's place needs no more tokens in common than a namesake.
    """
    if not _comparable(then[1], now[1]):
        return 0.0
    if then[1].kind == "field" and last_part(then[1].name) != last_part(now[1].name):
        return 0.0  # a field has few tokens or none: only its name identifies it
    words = then[0].words(then[1])
    tokens = dice(words, now[0].words(now[1]))
    same_owner = owner_of(then[1].name) == owner_of(now[1].name)
    names = 0.0 if _is_commonplace(then[1].name) and not same_owner else name_likeness(then[1].name, now[1].name)
    if tokens < _floor(words.total() // 2, 1.0 if in_place else names):
        return 0.0
    return 0.75 * tokens + 0.25 * names + (0.1 if same_owner else 0.0) + (PLACE_WORTH if in_place else 0.0)


def _floor(words: int, names: float) -> float:
    least, per_word, most = SAME_NAME_FLOOR if names >= 1 else OTHER_NAME_FLOOR
    floor = min(most, least + per_word / max(1, words))
    return floor if names >= 1 else floor - NAME_WORTH * names


def dice(tokens: Counter[str], other: Counter[str]) -> float:
    """Return twice the shared tokens over all tokens; 1 for two empty counters. Source: Dice, Ecology 26 (1945)."""
    total = tokens.total() + other.total()
    return 2 * (tokens & other).total() / total if total else 1.0


def name_likeness(then: str, now: str) -> float:
    """Return 1 for the same last name, without leading underscores; otherwise what their words share."""
    before, after = last_part(then).strip("_"), last_part(now).strip("_")
    if before == after:
        return 1.0
    return dice(Counter(_words(before)), Counter(_words(after))) * 0.9


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)] or [name.lower()]


def _comparable(definition: Definition, other: Definition) -> bool:
    """Return whether both are of one sort, and both local to a function or neither."""
    return sort_of(definition.kind) == sort_of(other.kind) and _is_local(definition) == _is_local(other)


def _is_local(definition: Definition) -> bool:
    return definition.inside is not None and sort_of(definition.inside.kind) == "routine"


def sort_of(kind: str) -> str:
    """Return the sort of a kind: functions and methods are routines, classes and structs types; others stay."""
    return "routine" if kind in ("function", "method") else "type" if kind in MEMBER_KINDS else kind


def same_sort(kind: str, other: str | None) -> bool:
    """Return whether a definition of kind `other` can be a later form of one of `kind`; an empty kind matches any.

    A class or function is gone if only a variable of its name, perhaps an alias, is left.
    """
    return other is not None and frozenset((sort_of(kind), sort_of(other))) not in UNLIKE_SORTS


def _is_commonplace(name: str) -> bool:
    """Return whether half of all classes have a method of that name, so that it identifies nothing."""
    last = last_part(name)
    return last.startswith("__") and last.endswith("__")


def owner_of(name: str) -> str:
    """Return the qualified name of the enclosing definition; empty at the top of a file."""
    return unnumbered(name).rpartition(".")[0]
