"""Rates how likely a sentence of an agent's reply holds something worth keeping, to choose what a digest shows.

The weights follow from how often sentences with each mark were quoted by readers of 100 development sessions: causes,
contrasts and negations two to three times as often as the average, announcements half as often. Nothing is learnt from
this rating alone.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"\d-])|\n+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_SHORT, _LONG = 50, 160
"""Characters below which a sentence says little, and above which it explains."""

_MARKS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.IGNORECASE))
    for weight, pattern in (
        (  # a cause or a purpose
            1.0,
            r"\b(?:because|since|so that|otherwise|due to|that's why|which means|this means|as a result|turns out"
            r"|root cause|caused?|causes|leads? to|the (?:issue|problem|bug|cause|reason|culprit|fix|solution)\b)",
        ),
        (  # a norm
            0.8,
            r"\b(?:must|should|never|always|only|needs? to|ha(?:s|ve) to|requires?|required|not allowed|forbid\w*"
            r"|by design|intentional\w*|deliberate\w*|expects?)\b",
        ),
        (0.9, r"\b(?:not|no|never|without|cannot|nothing|missing)\b|n't\b"),
        (  # a contrast
            0.9,
            r"\b(?:instead|but|however|rather than|although|even (?:if|when|though)|unless|except|actually|wait)\b",
        ),
        (0.4, r"\b(?:when|if|once|after|before|until|during|while)\b"),
        (0.3, r"\b(?:fail\w*|error\w*|break\w*|broken|wrong\w*|conflict\w*|los(?:t|es)|stale|circular|cycle)\b"),
        (0.6, r"`[^`]+`"),
        (  # an announcement
            -1.0,
            r"^\W*(?:let me|let's|i'll|i will|now (?:let me|i|add|update|run|check)|perfect|great|good|excellent|done"
            r"|looking|next|first, let me|i (?:need|want) to (?:read|check|look|see|find|update|add)|i (?:can )?see)\b",
        ),
        (  # a status
            -0.8,
            r"\b(?:all (?:the )?tests? (?:pass|are)|tests? pass|passes|committed|pushed|completed?|changes made"
            r"|successfully)\b",
        ),
        (-1.5, r"^#"),
        (-0.8, r"^\||\?$"),
    )
)


def rate(sentence: str) -> float:
    """Return the rating of a sentence, about -3 to 6; the mean over all sentences is near 0.5."""
    rating = sum(weight for weight, mark in _MARKS if mark.search(sentence))
    return rating - 0.8 * (len(sentence) < _SHORT) + 0.5 * (len(sentence) > _LONG)


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
