"""Finds the files and symbols that a text mentions, by their spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.domain.event import Event

MOST_SYMBOLS = 8
_PATH = re.compile(r"(?<![\w/.~-])(?:\./)?((?:[\w@.-]{1,60}/){0,12}[\w@-][\w@.-]{0,80}\.[A-Za-z]\w{0,5})(?![\w/(])")
_SYMBOL = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z_]\w{0,40}(?:\.|::|#)){0,4}"
    r"(?:[a-z]{1,40}[A-Z]\w{0,60}|[A-Z][a-z0-9]{1,40}[A-Z]\w{0,60}|[A-Za-z]\w{0,40}_\w{1,60}|[A-Za-z_]\w{0,60}(?=\(\)))"
)


def files_named(text: str, window: Sequence[Event]) -> list[str]:
    """Return the files that the text names: as the session spells them, or as written if that has a folder."""
    known: dict[str, str] = {}
    for event in window:
        for path in event.files:
            known.setdefault(path.rsplit("/", 1)[-1], path)
    named = []
    for written in dict.fromkeys(_PATH.findall(text)):
        name = written.rsplit("/", 1)[-1]
        if name in known:
            named.append(known[name])
        elif "/" in written and ".." not in written:
            named.append(written)
    return named


def symbols_named(text: str) -> tuple[str, ...]:
    """Return identifiers that the text names, without paths, at most MOST_SYMBOLS."""
    return tuple(dict.fromkeys(_SYMBOL.findall(_PATH.sub(" ", text))))[:MOST_SYMBOLS]
