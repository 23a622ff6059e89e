"""Whether a sentence leans on what was said before it, and cannot be understood alone.

The words that lean in every text are here; each reader of sentences adds those of its own texts.
"""

from __future__ import annotations

import re

PRONOUNS = "it|its|it's|this|that|that's|these|those|they|they're|them|he|she|his|her|their"
CONNECTIVES = (
    "which|so|but|and|also|then|therefore|thus|hence|because|both|neither|same|now|instead(?! of)|otherwise|however"
    "|additionally|similarly"
)
_DANGLING = re.compile(r"\b(?:it|them|this|that|these|those|one)[\s`*]*(?:[.,;:()\u2014-]|$)", re.IGNORECASE)


def opening(*more: str) -> re.Pattern[str]:
    """A pattern whose `match` finds a pronoun, a connective or one of `more` (regular expressions) at the beginning."""
    return re.compile(rf"(?:{'|'.join((PRONOUNS, CONNECTIVES, *more))})\b", re.IGNORECASE)


def dangles(sentence: str) -> bool:
    """Whether a clause of the sentence ends in a pronoun: "the test depends on it."."""
    return bool(_DANGLING.search(sentence))
