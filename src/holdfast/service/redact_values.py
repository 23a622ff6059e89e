"""What a value looks like: a secret, a stand-in for one, a name, a piece of code, or noise."""

from __future__ import annotations

from math import log2

from holdfast.service import redact_rules as rules

CODE_MARKS = "()[]{}<>$`|"
SEPARATORS = "-_./:"
RANDOM_BITS = 4.0
"""Least Shannon entropy, in bits a character, of a bare random word of 32 characters or more (random base62: 4.5)."""
RANDOM_CHANGES = 0.36
"""Least share of neighbours of different class (lower, upper, digit); random base62 has .62, camelCase under .35."""

RANDOM_SPELT = 0.5
"""Share of characters in runs of three or more small letters that no random word reaches (random base62: .16)."""


def entropy(value: str) -> float:
    """Shannon entropy of the characters' frequencies, in bits a character, from 0."""
    size = len(value)
    counts = (value.count(char) for char in set(value))
    return -sum(n / size * log2(n / size) for n in counts) if size else 0.0


def has_digit(value: str) -> bool:
    """Whether there is an ASCII digit."""
    return any(digit in value for digit in rules.DIGITS)


def has_letter(value: str) -> bool:
    """Whether there is a letter."""
    return value.lower() != value.upper()


def is_stand_in(value: str) -> bool:
    """Whether the value only stands for a secret: a placeholder, a variable, a mask, one character repeated."""
    low = value.lower()
    plain = low.translate(_NO_SEPARATORS)
    if plain in rules.PLACEHOLDERS or any(text in low for text in rules.STAND_INS):
        return True
    return len(set(plain)) < 3 or _is_variable(value)


def _is_variable(value: str) -> bool:
    """`$NAME`, `${NAME}`, `$(…)`, `%NAME%`, `{{ name }}`, `{name}`, `%s`, `%(name)s`, `:name`, `@name`."""
    if value[0] == "$":
        return value[1:2] in ("{", "(") or value[1:].replace("_", "a").isalnum()
    if value[0] == "{":
        return value.rstrip()[-1:] == "}"
    if value[0] == "%":
        return value[-1:] == "%" or value[1:2] in ("s", "d", "(")
    return False


def is_secret(value: str, strength: int, quoted: bool, spoken: bool = False) -> bool:
    """Whether the value of a name of that strength is to be hidden.

    Strong names (password): nearly any literal. Medium (secret, api key): 8 characters or more with letters and
    digits. Weak (token): 16 or more of them, and no readable name. Unquoted values must not read as code.
    """
    if len(value) < 4 or is_stand_in(value) or (not quoted and _is_code(value)):
        return False
    if " " in value or "\t" in value:
        return spoken and len(value) >= 12
    if strength == rules.STRONG:
        return _is_chosen(value, quoted)
    return _is_issued(value, 8 if strength == rules.MEDIUM else 16)


def _is_chosen(value: str, quoted: bool) -> bool:
    """A password as people choose them: not a plain word, unless it is quoted and long."""
    if value[0] == "/" or value.endswith(":") or "://" in value:
        return False
    if value.isdigit():
        return len(value) >= 4 if quoted else len(value) >= 6
    if has_digit(value):
        return len(value) >= 5
    words = value.translate(_NO_SEPARATORS).lower()
    if words.isalpha():
        return quoted and len(value) >= 6 and not any(name in words for name in _READABLE)
    return len(value) >= 6


def _is_issued(value: str, least: int) -> bool:
    """A secret as programs make them: long enough, letters and digits, no path, no readable name."""
    if len(value) < least or not has_digit(value) or not has_letter(value):
        return False
    if value[0] in "/.~" or "://" in value or is_name(value):
        return False
    return entropy(value) >= (2.5 if least < 16 else 3.0)


def is_name(value: str) -> bool:
    """Whether it is words joined by separators: each all letters (with at most two digits at its end) or a short
    number, e.g. `all-MiniLM-L6-v2`, `my-app-secret-2024`."""
    plain = value
    for mark in SEPARATORS:
        plain = plain.replace(mark, " ")
    parts = plain.split()
    return bool(parts) and all(_is_word(part) for part in parts)


def _is_word(part: str) -> bool:
    if part.isdigit():
        return len(part) <= 4
    stem = part.rstrip(rules.DIGITS)
    if not stem.isalpha() or len(part) - len(stem) > 2:
        return False
    return len(stem) < 12 or stem.isupper() or _spelt(stem) >= RANDOM_SPELT


def _is_code(value: str) -> bool:
    """An unquoted value that reads as an expression: calls, subscripts, dotted names, plain identifiers."""
    if any(mark in value for mark in CODE_MARKS):
        return True
    plain = value.replace("_", "a").replace(".", "a")
    dotted = "." in value and not value[0].isdigit()
    return plain.isalnum() and not value[0].isdigit() and (dotted or not has_digit(value))


def is_random(word: str) -> bool:
    """Whether a bare word of 32 characters or more looks drawn at random: letters of both cases, digits, high
    entropy, and its classes change as often as chance would have it."""
    parts = word.replace("_", " ").replace("-", " ").replace("/", " ").replace("+", " ").split()
    if any(len(part) >= 5 and part.isalpha() and part[1:].islower() for part in parts):
        return False
    core = "".join(parts)
    if len(core) < 28 or core.lower() == core or core.upper() == core or not has_digit(core):
        return False
    if not core.lower().strip(rules.HEX):
        return False
    return entropy(core) >= RANDOM_BITS and _changes(core) >= RANDOM_CHANGES and _spelt(core) < RANDOM_SPELT


def _changes(word: str) -> float:
    """The share of neighbouring characters of different class, 0 to 1."""
    kinds = ["d" if char.isdigit() else "u" if char.isupper() else "l" for char in word]
    changed = sum(kinds[at] != kinds[at - 1] for at in range(1, len(kinds)))
    return changed / max(1, len(kinds) - 1)


def _spelt(word: str) -> float:
    """The share of characters in runs of three or more small letters, as words have them, 0 to 1."""
    runs = "".join(char if char.islower() else " " for char in word).split()
    return sum(len(run) for run in runs if len(run) >= 3) / len(word)


_NO_SEPARATORS = {ord(mark): None for mark in SEPARATORS + " "}
_READABLE = ("password", "passwd", "secret", "token", "field", "input", "string", "enter", "current", "confirm")
