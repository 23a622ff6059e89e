"""Finds the files and identifiers that a question's text names."""

from __future__ import annotations

from holdfast.lean.records import Frozen
from holdfast.lean.texts import has_drive
from holdfast.text.words import word_set

PATHS, SYMBOLS = 5, 12
"""Most of each that are followed."""


class Clues(Frozen):
    """Files and identifiers as the text names them."""

    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


def clues_in(text: str) -> Clues:
    """Return the first few paths (with a folder or a known ending) and identifiers (camelCase, snake_case, `f()`)."""
    paths: dict[str, None] = {}
    symbols: dict[str, None] = {}
    for raw in text.split():
        word = raw.strip("`'\"()[]{}<>,;:!?*").rstrip(".")
        if len(word) < 3 or len(word) > 200:
            continue
        called = "()" in raw
        file = _before_line(word.removeprefix("@"))
        if _is_path(file):
            paths[file] = None
        elif called or _is_identifier(word):
            symbols[word.partition("(")[0].removesuffix("()")] = None
    return Clues(paths=tuple(paths)[:PATHS], symbols=tuple(symbols)[:SYMBOLS])


def _before_line(word: str) -> str:
    """Return the word up to its first colon, not counting a drive's."""
    drive = word[:2] if has_drive(word) else ""
    return drive + word[len(drive) :].partition(":")[0]


def _is_path(word: str) -> bool:
    """Return whether the word is a file: it has a folder and an ending, or an ending of source files."""
    if "://" in word or "\\\\" in word:
        return False
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not (stem and dot and ending.isalnum()):
        return False
    return ("/" in word or "\\" in word) or ending in _ENDINGS


def _is_identifier(word: str) -> bool:
    """Return whether the word names code: an underscore or a hump inside, or dotted parts that are names."""
    parts = word.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    if any("_" in part.strip("_") for part in parts):
        return True
    if any(not part.isupper() and any(c.isupper() for c in part[1:]) for part in parts):
        return True
    return len(parts) > 1 and all(len(part) > 2 for part in parts)


_ENDINGS = word_set(
    """
    py js ts tsx jsx mjs go rs java kt rb php c h cc cpp hpp cs swift scala sh sql toml yaml yml json md css scss html
    vue svelte proto tf lua ex exs cfg ini lock gradle
    """
)
