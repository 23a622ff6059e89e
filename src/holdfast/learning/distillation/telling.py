"""Rates how likely a sentence of an agent's reply holds something worth keeping, to choose what a digest shows.

The weights (`tuning.MARKED`) follow from how often readers of 100 development sessions quoted sentences with each mark.
Nothing is learnt from this rating alone.
"""

from __future__ import annotations

import re

from holdfast.learning.tuning import LONG_SENTENCE, MARKED, SHORT_SENTENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"\d-])|\n+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")

_MARKS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in (
        (
            "cause",
            r"\b(?:because|since|so that|otherwise|due to|that's why|which means|this means|as a result|turns out"
            r"|root cause|caused?|causes|leads? to|the (?:issue|problem|bug|cause|reason|culprit|fix|solution)\b)",
        ),
        (
            "norm",
            r"\b(?:must|should|never|always|only|needs? to|ha(?:s|ve) to|requires?|required|not allowed|forbid\w*"
            r"|by design|intentional\w*|deliberate\w*|expects?)\b",
        ),
        ("negation", r"\b(?:not|no|never|without|cannot|nothing|missing)\b|n't\b"),
        (
            "contrast",
            r"\b(?:instead|but|however|rather than|although|even (?:if|when|though)|unless|except|actually|wait)\b",
        ),
        ("condition", r"\b(?:when|if|once|after|before|until|during|while)\b"),
        ("failure", r"\b(?:fail\w*|error\w*|break\w*|broken|wrong\w*|conflict\w*|los(?:t|es)|stale|circular|cycle)\b"),
        ("code", r"`[^`]+`"),
        (
            "announcement",
            r"^\W*(?:let me|let's|i'll|i will|now (?:let me|i|add|update|run|check)|perfect|great|good|excellent|done"
            r"|looking|next|first, let me|i (?:need|want) to (?:read|check|look|see|find|update|add)|i (?:can )?see)\b",
        ),
        (
            "status",
            r"\b(?:all (?:the )?tests? (?:pass|are)|tests? pass|passes|committed|pushed|completed?|changes made"
            r"|successfully)\b",
        ),
        ("heading", r"^#"),
        ("table or question", r"^\||\?$"),
    )
}


def rate(sentence: str) -> float:
    """Return the rating of a sentence, about -3 to 6; the mean over all sentences is near 0.5."""
    rating = sum(MARKED[name] for name, mark in _MARKS.items() if mark.search(sentence))
    rating += MARKED["short"] * (len(sentence) < SHORT_SENTENCE)
    return rating + MARKED["long"] * (len(sentence) > LONG_SENTENCE)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of a reply, in order; a block of code is an empty sentence."""
    in_block = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_block = not in_block
            if in_block:
                yield ""
        elif not in_block:
            yield from filter(None, map(str.strip, _SENTENCE_END.split(line)))
