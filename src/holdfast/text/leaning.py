"""Recognises sentences that depend on an earlier sentence and cannot be understood alone.

This module has the words that show it in every text. Each reader of sentences adds words of its own.
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
    """Return a pattern that matches a pronoun, a connective or one of the expressions `more` at the beginning."""
    return re.compile(rf"(?:{'|'.join((PRONOUNS, CONNECTIVES, *more))})\b", re.IGNORECASE)


def dangles(sentence: str) -> bool:
    """Return whether a clause of the sentence ends in a pronoun: "the test depends on it."."""
    return bool(_DANGLING.search(sentence))
