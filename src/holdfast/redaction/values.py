"""Classifies a word as a secret, a stand-in for one, a name, code or noise. Everything here is linear in its length."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Iterator
from math import log2

from holdfast.redaction.tables import (
    ALNUM,
    DIGITS,
    HEX,
    MEDIUM,
    PLACEHOLDERS,
    READABLE,
    STAND_INS,
    STRONG,
    TECHNICAL,
)

Span = tuple[int, int, str]
"""(start, end, rule); the rule is empty for a private span."""

SPAN = 4_096
"""Most characters looked at after a prefix or a name: longer than any key, so that the work is bounded."""
RANDOM_BITS = 4.0
"""Least Shannon entropy, in bits a character, of a bare random word of 32 characters or more (random base62: 4.5)."""
RANDOM_CHANGES = 0.36
"""Least share of neighbours of different class (lower, upper, digit); random base62 has .62, camelCase under .35."""
RANDOM_SPELT = 0.5
"""Share of characters in runs of three or more small letters that no random word reaches (random base62: .16)."""

_SEPARATORS = re.compile(r"[-_./: ]")
_DIGIT = re.compile("[0-9]")
_UUID = re.compile(r"(?:^|[-/])[^-/]{8}-[^-/]{4}-[^-/]{4}-[^-/]{4}-")
_VARIABLE = re.compile(r"\$(?:[{(].*|\w+)|\{.*\}\s*|%(?:.*%|[sd(].*)", re.DOTALL)
"""`$NAME`, `${NAME}`, `$(…)`, `%NAME%`, `{{ name }}`, `{name}`, `%s`."""
_MEASURE = re.compile(r"[0-9.,]+[-_]*[^\W\d_]{1,6}")
"""A number with a unit: `128-bit`, `16kB`, `24h`, `1st`."""
_SETTING = re.compile(r"(?:[^\W\d_]+|(?=\w*_)\w*)=.+", re.DOTALL)
"""A setting, such as `ok=%v`."""


def places(text: str, needle: str) -> Iterator[int]:
    """Yield the positions where the needle begins, without overlaps."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def run(text: str, at: int, alphabet: str, most: int = SPAN) -> int:
    """Return how many characters from `at` on belong to the alphabet, at most `most`."""
    piece = text[at : at + most]
    return len(piece) - len(piece.lstrip(alphabet))


def starts_word(text: str, at: int) -> bool:
    r"""Return whether no letter or digit is glued before; an encoding's `\n`, `%3D` and `\u003d` count as none."""
    if at == 0 or text[at - 1] not in ALNUM:
        return True
    if text[at - 2 : at] in ("\\n", "\\t", "\\r") or text[at - 6 : at - 4] == "\\u":
        return True
    return at >= 3 and text[at - 3] == "%" and run(text, at - 2, HEX, 2) == 2


def decoded(value: str) -> bytes:
    """Return what the base64 text encodes; empty if it is not base64."""
    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return a2b_base64(plain + "=" * (-len(plain) % 4))
    except (Error, ValueError):
        return b""


def entropy(value: str) -> float:
    """Return the Shannon entropy of the characters' frequencies, in bits a character, from 0."""
    size = len(value)
    counts = (value.count(char) for char in set(value))
    return -sum(n / size * log2(n / size) for n in counts) if size else 0.0


def has_digit(value: str) -> bool:
    """Return whether there is an ASCII digit."""
    return _DIGIT.search(value) is not None


def has_letter(value: str) -> bool:
    """Return whether there is a letter."""
    return value.lower() != value.upper()


def is_stand_in(value: str) -> bool:
    """Return whether the value only represents a secret: a placeholder, a variable, a mask, one character repeated."""
    low = value.lower()
    plain = _SEPARATORS.sub("", low)
    if plain in PLACEHOLDERS or len(set(plain)) < 3 or any(text in low for text in STAND_INS):
        return True
    return _VARIABLE.fullmatch(value) is not None


def is_secret(value: str, strength: int, quoted: bool, spoken: bool = False) -> bool:
    """Return whether the value of a name of that strength must be hidden.

    Strong names (password): nearly any literal. Medium (secret, api key): 8 characters or more with letters and digits.
    Weak (token): 16 or more of them, and no readable name. Unquoted values must not read as code.
    """
    if len(value) < 4 or is_stand_in(value) or (not quoted and _is_code(value)):
        return False
    if " " in value or "\t" in value:
        return spoken and len(value) >= 12
    if strength == STRONG:
        return _is_chosen(value, quoted)
    return _is_issued(value, 8 if strength == MEDIUM else 16)


def _is_chosen(value: str, quoted: bool) -> bool:
    """Return whether it is a password as people choose them: not a plain word, unless it is quoted and long."""
    if value[0] == "/" or value.endswith(":") or "://" in value:
        return False
    if value.isdigit():
        return len(value) >= 4 if quoted else len(value) >= 6
    if has_digit(value):
        return len(value) >= 5
    words = _SEPARATORS.sub("", value).lower()
    if words.isalpha():
        return quoted and len(value) >= 6 and not any(name in words for name in READABLE)
    return len(value) >= 6


def _is_issued(value: str, least: int) -> bool:
    """Return whether a program may have made it: long enough, letters and digits, no path, no readable name."""
    if len(value) < least or not has_digit(value) or not has_letter(value):
        return False
    if value[0] in "/.~" or "://" in value or is_name(value):
        return False
    return entropy(value) >= (2.5 if least < 16 else 3.0)


def is_name(value: str) -> bool:
    """Return whether it consists of words joined by separators, e.g. `all-MiniLM-L6-v2`, `my-app-secret-2024`.

    A word is all letters, with at most two digits at its end, or a short number.
    """
    parts = _SEPARATORS.sub(" ", value).split()
    return bool(parts) and all(map(_is_word, parts))


def _is_word(part: str) -> bool:
    if part.isdigit():
        return len(part) <= 4
    stem = part.rstrip(DIGITS)
    if not stem.isalpha() or len(part) - len(stem) > 2:
        return False
    return len(stem) < 12 or stem.isupper() or _spelt(stem) >= RANDOM_SPELT


def _is_code(value: str) -> bool:
    """Return whether an unquoted value reads as code: a call, a subscript, a dotted name, a plain identifier."""
    if any(mark in value for mark in "()[]{}<>$`|"):
        return True
    dotted = "." in value and not value[0].isdigit()
    is_plain = value.replace("_", "a").replace(".", "a").isalnum()
    return is_plain and not value[0].isdigit() and (dotted or not has_digit(value))


def is_typed(value: str) -> bool:
    """Return whether it is a password if a sentence or a table names one: no plain word, number, path or code."""
    if not 5 <= len(value) <= 128 or not has_letter(value) or is_stand_in(value) or value.lower() in TECHNICAL:
        return False
    if value[0] in ".~-$@" or any(mark in value for mark in "()[]{}<>`|\\/"):
        return False
    if value[1:].isalpha() or not (has_digit(value) or any(mark in value for mark in "!#$%^&*@+=?~")):
        return False
    _, dot, ending = value.rpartition(".")
    if dot and (value.replace(".", "a").isalnum() or (len(ending) <= 4 and ending.isalpha() and ending.islower())):
        return False  # a file's name, a version, a host
    return not (_SETTING.fullmatch(value) or _MEASURE.fullmatch(value))


def is_opaque(word: str, named: bool = False) -> bool:
    """Return whether a word of 14 characters or more looks issued by a program: no words in it, letters among digits.

    This is weaker than `is_random`: one case or hexadecimal is enough. Use it only for words that something announces;
    `named` is for words that a vendor's name announces, where a chance resemblance to words does not count.
    """
    core = _SEPARATORS.sub("", word).strip("=")
    if len(core) < 12 or not has_digit(core):
        return False
    if core.isdigit():
        return len(core) >= 15
    if not core.lower().strip(HEX):
        return entropy(core) >= 2.6
    if is_name(word) or (not named and _has_words(core)):
        return False
    return entropy(core) >= 3.0 and _changes(core) >= (0.1 if named else 0.2)


def _has_words(core: str) -> bool:
    """Return whether runs of letters, humps included, with a language's share of vowels are over half of it."""
    one_case = core.islower() or core.isupper()
    runs = re.findall(r"[^\W\d_]{5,}" if one_case else r"[^\W\d_](?:(?![A-Z])[^\W\d_]){3,}", core)
    spelt = [hump for hump in runs if 0.2 <= len(re.findall("[aeiouyAEIOUY]", hump)) / len(hump) <= 0.67]
    return sum(map(len, spelt)) * 2 > len(core)


def is_random(word: str) -> bool:
    """Return whether a bare word of 32 characters or more looks drawn at random.

    It has letters of both cases, digits and high entropy, and its character classes change as often as by chance.
    """
    if _UUID.search(word):
        return False
    parts = re.split("[-_/+ ]+", word)
    if any(len(part) >= 5 and part.isalpha() and part[1:].islower() for part in parts):
        return False
    core = "".join(parts)
    if len(core) < 28 or core.lower() == core or core.upper() == core or not has_digit(core):
        return False
    if not core.lower().strip(HEX):
        return False
    return entropy(core) >= RANDOM_BITS and _changes(core) >= RANDOM_CHANGES and _spelt(core) < RANDOM_SPELT


def _changes(word: str) -> float:
    """Return the share of neighbouring characters of different class, 0 to 1."""
    classes = re.findall(r"[0-9]+|[A-Z]+|[^0-9A-Z]+", word)
    return (len(classes) - 1) / max(1, len(word) - 1)


def _spelt(word: str) -> float:
    """Return the share of characters in runs of three or more small letters, as words have them, 0 to 1."""
    return sum(map(len, re.findall("[a-z]{3,}", word))) / len(word)
