"""Tokens of a text, estimated without a model."""

from __future__ import annotations

_PUNCTUATION = {i: " " for i in range(128) if not chr(i).isalnum()}

_SPACES = [chr(i) for i in range(128) if chr(i).isspace()]


def count_tokens(text: str) -> int:
    """About how many tokens a language model would count; meant to err on the high side for English and code.

    A word costs one token for every six characters begun, each mark one, each CJK character one, and other letters
    outside ASCII half a one. Never more for a whole than for its parts together.
    """
    if not text:
        return 0
    wide = 0
    if not text.isascii():
        wide = sum(2 if ord(c) >= 0x2E80 else 1 for c in text if ord(c) > 127)
        text = "".join(c if ord(c) < 128 else " " for c in text)
    words = text.translate(_PUNCTUATION).split()
    marks = len(text) - sum(map(len, words)) - sum(map(text.count, _SPACES))
    return sum([(len(word) + 5) // 6 for word in words]) + marks + (wide + 1) // 2
