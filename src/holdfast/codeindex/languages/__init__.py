"""Provides the known languages, one a file, found by file name. Use `for_path`."""

from __future__ import annotations

import os
from functools import cache

from holdfast.codeindex.language import Language


def names() -> list[str]:
    """Return the names of all languages, sorted."""
    files = os.listdir(os.path.dirname(__file__))
    return sorted(file.removesuffix(".py") for file in files if file.endswith(".py") and not file.startswith("_"))


@cache
def load(name: str) -> Language:
    """Return the language of that name. Raises ImportError for an unknown name."""
    language: Language = __import__(f"holdfast.codeindex.languages.{name}", fromlist=["LANGUAGE"]).LANGUAGE
    return language


def for_path(path: str) -> Language | None:
    """Return the language of a file by its name; None for a file that is only known as a whole."""
    file = path.rsplit("/", 1)[-1]
    suffix = os.path.splitext(file)[1].lower()
    name = _by_ending().get(suffix) or _by_ending().get(file)
    return load(name) if name else None


@cache
def _by_ending() -> dict[str, str]:
    """Return the language's name by ending and by whole file name."""
    languages = map(load, names())
    return {ending: language.name for language in languages for ending in (*language.suffixes, *language.filenames)}
