"""Cuts texts into the stems under which words are indexed, the same as SQLite's FTS5 with `porter unicode61` does.

Both stores then find the same lessons by the same words, and count them alike. The stemmer is Porter's of 1980 with the
two suffixes (`logi`, `bli`) that its author added later, because FTS5 has that one; libraries have one or the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from unicodedata import category, normalize

from holdfast.stores.postgresql.rows import key

STEMMED_BYTES = 64
"""A longer word is no English word, and keeps its end."""
_VOWELS = b"aeiou"
_MARKS = 0x361F8_08029FDF
"""Which combining marks from U+0300 on are dropped within a word, one bit each."""


class _Folding(dict[int, "int | str"]):
    """A `str.translate` table that keeps letters and digits, in lower case and without accents, and blanks the rest."""

    def __missing__(self, code: int) -> int | str:
        self[code] = _folded(chr(code))
        return self[code]


def _folded(character: str) -> str:
    if 0x300 <= ord(character) < 0x340 and _MARKS >> (ord(character) - 0x300) & 1:
        return ""
    kind = category(character)
    if kind[0] not in "LN" and kind != "Co":
        return " "
    lowered = character.casefold() if len(character.casefold()) == 1 else character.lower()
    base = normalize("NFD", lowered)
    return base[0] if len(base) == 2 and base[0].isascii() else lowered  # a Latin letter loses its one accent


_FOLDING = _Folding()


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, case-folded."""
    return text.translate(_FOLDING).split()


def stems_of(text: str) -> list[str]:
    """Return the stem of each word of a text, in order."""
    return list(map(stem, words_of(text)))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the word's stem, as a key."""
    encoded = word.encode()
    if 3 <= len(encoded) <= STEMMED_BYTES:
        word = _porter(encoded).decode(errors="replace")
    return key(word)


def _porter(word: bytes) -> bytes:
    word = _plural(word)
    word = _participle(word)
    if word[-1:] == b"y" and _has_vowel(word[:-1]):
        word = word[:-1] + b"i"
    for suffixes in (_STEP_2, _STEP_3, _STEP_4):
        word = _replaced(word, suffixes)
    if word[-1:] == b"e":
        start = word[:-1]
        if _measure(start) > 1 or (_measure(start) == 1 and not _ends_short(start)):
            word = start
    return word[:-1] if word.endswith(b"ll") and _measure(word[:-1]) > 1 else word


def _plural(word: bytes) -> bytes:
    if word[-1:] != b"s" or word[-2:-1] == b"s":
        return word
    is_long = (len(word) > 4 and word.endswith(b"sses")) or (len(word) > 3 and word.endswith(b"ies"))
    return word[:-2] if is_long else word[:-1]


def _participle(word: bytes) -> bytes:
    if len(word) > 3 and word.endswith(b"eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in (b"ed", b"ing"):
        if len(word) > len(suffix) and word.endswith(suffix):
            start = word[: -len(suffix)]
            return _completed(start) if _has_vowel(start) else word
    return word


def _completed(word: bytes) -> bytes:
    """Give the rest of a participle the end of its verb."""
    if len(word) > 2 and word.endswith((b"at", b"bl", b"iz")):
        return word + b"e"
    if word[-1:] == word[-2:-1] and word[-1] not in b"aeioulsz":
        return word[:-1]
    return word + b"e" if _measure(word) == 1 and _ends_short(word) else word


def _replaced(word: bytes, suffixes: _Suffixes) -> bytes:
    """Replace the first suffix that the word has, if enough of the word is before it."""
    for suffix, replacement, is_enough in suffixes.get(word[-2:-1], ()):
        if len(word) > len(suffix) and word.endswith(suffix):
            start = word[: -len(suffix)]
            return start + replacement if is_enough(start) else word
    return word


def _consonants(word: bytes) -> list[bool]:
    """Return whether each byte is a consonant; `y` is one, except after a consonant."""
    kinds: list[bool] = []
    for byte in word:
        kinds.append(byte not in _VOWELS and not (byte == 0x79 and bool(kinds) and kinds[-1]))
    return kinds


def _measure(word: bytes) -> int:
    """Return how often a vowel is followed by a consonant."""
    kinds = _consonants(word)
    return sum(after and not before for before, after in pairwise(kinds))


def _has_vowel(word: bytes) -> bool:
    """Return whether the word has a vowel; `y` is one, except at the start."""
    return any(byte in _VOWELS or (byte == 0x79 and at > 0) for at, byte in enumerate(word))


def _ends_short(word: bytes) -> bool:
    """Return whether the word ends with consonant, vowel, consonant, the last of which is not w, x or y."""
    return word[-1:] not in (b"w", b"x", b"y") and _consonants(word)[-3:] == [True, False, True]


def _is_some(start: bytes) -> bool:
    return _measure(start) > 0


def _is_much(start: bytes) -> bool:
    return _measure(start) > 1


def _is_much_with_s_or_t(start: bytes) -> bool:
    return start[-1:] in (b"s", b"t") and _is_much(start)


_Suffixes = dict[bytes, list[tuple[bytes, bytes, Callable[[bytes], bool]]]]


def _suffixes(rules: str, is_enough: Callable[[bytes], bool]) -> _Suffixes:
    """Return rules `suffix:replacement` by the suffix's last character but one."""
    by_character: _Suffixes = {}
    for rule in rules.split():
        suffix, _, replacement = rule.partition(":")
        condition = _is_much_with_s_or_t if suffix == "ion" else is_enough
        by_character.setdefault(suffix[-2:-1].encode(), []).append((suffix.encode(), replacement.encode(), condition))
    return by_character


_STEP_2 = _suffixes(
    "ational:ate tional:tion enci:ence anci:ance izer:ize logi:log bli:ble alli:al entli:ent eli:e ousli:ous"
    " ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble",
    _is_some,
)
_STEP_3 = _suffixes("ical:ic ness: icate:ic iciti:ic ful: ative: alize:al", _is_some)
_STEP_4 = _suffixes(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:", _is_much
)
