"""Cuts text into words that may name a subject, and into pairs of them that stand side by side.

An identifier is cut into its words (`SessionState`, `session_state`), a path into its names; no pair reaches over the
end of a clause or of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from holdfast.text.words import STOP_WORDS, word_set

_CHUNK_ENDS = ".,;:!?)"
_NAMES = re.compile(r"[/.:=(),\[\]{}\"'|<>`*]+")
_PARTS = re.compile(r"[_\-]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+")
_WHOLE = word_set("GitHub GitLab JavaScript TypeScript PostgreSQL MySQL SQLite GraphQL OpenAPI OAuth macOS iOS PyPI")
"""Names that are one word, although they have capitals inside."""
NO_SUBJECTS = word_set(
    """
    able above actual additional almost alone already alternative always another any automatic available bad base
    based basic before behind below best better big both broken call called calls case cases certain change changed
    changes check checked checks class classes clean clear code common complete correct count current custom day
    days default different direct double each early easy either else empty end entry even every exact example
    existing explicit extra fail fails failure failures false fast few field fields file files final find first fix
    fixed fixes fresh full function functions general given global good great hard high human idea ids important
    instead internal introduce invalid issue issues item items just keep kind kinds large last late later latest
    least left less level lib line lines little local long low main many matching max maximum method methods min
    minimum missing more most multiple must name named names near necessary need needs never new next nil no non
    none normal note null number numbers object objects old one only optional order other others own package
    packages part particular parts pass passes path paths per place places plain point possible present previous
    private problem problems project proper public quick rather ready real recent refine regular related relevant
    repo required return returns right root rule rules run running runs safe same second separate set sets shared
    short show shows side silent similar simple simplify single slow small some source special specific src stale
    standard start state step stop such sure system target temp temporary thing things time times top total true
    type types unique unknown unused use used user users using usual valid value values various version via way ways
    whole wide work working works write wrong wrote yes you zero
    """
)
"""Words that name no subject by themselves, whatever a text is about."""


def words_in(text: str) -> list[str]:
    """Return the text's words in order; an empty word stands where a clause or a name ends."""
    words: list[str] = []
    for chunk in text.split():
        for position, name in enumerate(_NAMES.split(chunk.strip("`*\"'"))):
            if position and words[-1:] != [""]:
                words.append("")
            for part in _PARTS.split(name):
                words += _cut(part)
        if chunk[-1:] in _CHUNK_ENDS and words[-1:] != [""]:
            words.append("")
    return words


def _cut(part: str) -> list[str]:
    """Return the words of a part of a name; an empty word for what is none."""
    if not part:
        return []
    if not (part.isascii() and part[:1].isalpha()):
        return [part if part.isalpha() else ""]
    if part in _WHOLE or part.isupper() or part[1:].islower() or len(part) == 1:
        return [part]
    return _CAMEL.findall(part)


def pairs_in(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of neighbouring words that both say something."""
    for first, second in pairwise(words):
        if says_something(first) and says_something(second):
            yield first, second


def says_something(word: str) -> bool:
    """Return whether the word is long enough and no stop word."""
    return len(word) > 1 and word.lower() not in STOP_WORDS
