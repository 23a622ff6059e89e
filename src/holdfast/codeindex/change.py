"""Measures how much of a definition changed since it was recorded, as a share and in words.

Both texts are compared without annotations. In `2 of 85 tokens`, one of them has 2 tokens that the other lacks. If one
name replaces another everywhere and nothing else differs, the words say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.codeindex.changewords import signature_words
from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.source import ParsedSource

Part = tuple[ParsedSource, Definition]
Group = tuple[ParsedSource, Sequence[Definition]]

RENAME_SHARE = 0.01
"""What one name for another weighs, however often it is written."""
SHOWN = 2
"""Definitions of a group whose change is told; more are counted."""

_NAME = re.compile(r"[A-Za-z_$][\w$]{0,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChange:
    """How much changed, and in words."""

    share: float = 1.0
    """0 to 1; 1 if unknown."""
    words: str = ""

    @property
    def bracketed(self) -> str:
        """The words in brackets, to follow others: ` (2 of 85 tokens)`."""
        return f" ({self.words})" if self.words else ""


NO_CHANGE = CodeChange()
"""Used if the recorded definition is not available for a comparison."""


def change_of(then: Part, now: Part) -> CodeChange:
    """Return how much one definition changed."""
    old, new = then[0].own_texts(then[1]), now[0].own_texts(now[1])
    names = _renamed(old, new)
    if names:
        return CodeChange(share=RENAME_SHARE, words=f"{names[0]} is {names[1]} throughout")
    count, total = _count(old, new), max(len(old), len(new), 1)
    if not count:
        return CodeChange(share=RENAME_SHARE, words="in another order")
    return CodeChange(share=count / total, words=f"{count} of {total} tokens")


def group_change(then: Group, now: Group) -> CodeChange:
    """Return which definitions of a group changed: `definition 2 of 3: body changed`, `1 definition added`."""
    added, removed = _unlike(now, then), _unlike(then, now)
    words, counts = [], []
    for old in list(removed):
        new = _counterpart(then[0], old, now[0], added)
        if new is not None:
            removed.remove(old)
            added.remove(new)
            change = change_of((then[0], old), (now[0], new))
            counts.append(change.share * len(now[0].own_texts(new)))
            place = f"definition {list(now[1]).index(new) + 1} of {len(now[1])}"
            words.append(f"{place}: {_difference((then[0], old), (now[0], new))}{change.bracketed}")
    if len(words) > SHOWN:
        words[SHOWN:] = [f"{len(words) - SHOWN} more changed"]
    for how, source, left in (("added", now[0], added), ("removed", then[0], removed)):
        counts += [len(source.own_texts(definition)) for definition in left]
        words += [f"{len(left)} {'definition' if len(left) == 1 else 'definitions'} {how}"] if left else []
    total = max(sum(len(source.own_texts(definition)) for definition in group) for source, group in (then, now))
    return CodeChange(share=min(1.0, sum(counts) / max(total, 1)), words=", ".join(words))


def _count(old: Iterable[str], new: Iterable[str]) -> int:
    """Return how many tokens one of them has that the other lacks: the larger of the two numbers."""
    then, now = Counter(old), Counter(new)
    return max((then - now).total(), (now - then).total())


def _renamed(old: Sequence[str], new: Sequence[str]) -> tuple[str, str] | None:
    """Return the pair of names if one name replaces another everywhere and nothing else differs; otherwise None."""
    pairs = {pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]}
    if len(old) != len(new) or len(pairs) != 1:
        return None
    before, after = pairs.pop()
    fits = _NAME.fullmatch(before) and _NAME.fullmatch(after) and before not in new and after not in old
    return (before, after) if fits else None


def _counterpart(
    source: ParsedSource, definition: Definition, other: ParsedSource, among: Sequence[Definition]
) -> Definition | None:
    """Return what the definition became: one with the same head, else the same body, else the same name or number."""
    symbol = source.symbol(definition)
    for by in ("signature_hash", "body_hash", "name"):
        for candidate in among:
            if getattr(other.symbol(candidate), by) == getattr(symbol, by):
                return candidate
    return None


def _unlike(group: Group, other: Group) -> list[Definition]:
    """Return the definitions of one group that the other does not have unchanged."""
    there = {_hashes(other[0], definition) for definition in other[1]}
    return [definition for definition in group[1] if _hashes(group[0], definition) not in there]


def _hashes(source: ParsedSource, definition: Definition) -> tuple[str, str]:
    symbol = source.symbol(definition)
    return symbol.signature_hash, symbol.body_hash


def _difference(then: Part, now: Part) -> str:
    old, new = then[0].symbol(then[1]), now[0].symbol(now[1])
    return "body changed" if old.signature_hash == new.signature_hash else signature_words(then, now)
