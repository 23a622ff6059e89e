"""Reads front matter: the keys between two lines of three dashes at the top of a markdown file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import yaml  # type: ignore[import-untyped]

LIMIT = 20_000
"""Characters of the longest front matter that is parsed, with its lines of dashes; more is text."""

_FENCED = re.compile(r"\A---[ \t]*\n(.*?)(?:\n|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE = re.compile(r"([\w-]+)[ \t]*:[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")


def split_front(text: str) -> tuple[dict[str, Any], str]:
    """Return (keys in lower case, the text after them); no keys if there is no front matter.

    Rules files are often not quite YAML (`globs: *.ts` is an alias there): then each line is a key and its words.
    """
    fenced = _FENCED.match(text[:LIMIT])
    if not fenced:
        return {}, text
    try:
        # aliases are never needed here, and nested ones expand without bound
        keys = {} if re.search(r"[:-][ \t]+[*&]", fenced[1]) else yaml.safe_load(fenced[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        keys = {}
    if not isinstance(keys, dict) or not keys:
        keys = _by_line(fenced[1])
    return {str(key).lower(): value for key, value in keys.items()}, text[fenced.end() :]


def text_of(value: Any) -> str:
    """Return a value as text; empty for None and for anything but a plain value."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def texts_of(value: Any) -> tuple[str, ...]:
    """Return a list of texts, from a list or from text with commas (not those inside braces)."""
    items = [text_of(item) for item in value] if isinstance(value, list) else list(_at_commas(text_of(value)))
    return tuple(dict.fromkeys(item for item in items if item))


def _at_commas(text: str) -> Iterator[str]:
    for piece in re.split(r",(?![^{]*\})", text.strip("[] ")):
        yield piece.strip().strip("\"'")


def _by_line(text: str) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    key = ""
    for line in text.split("\n"):
        match, item = _LINE.match(line), _ITEM.match(line)
        if match:
            key = match[1]
            keys[key] = match[2].strip().strip("\"'")
        elif item and key:
            before = keys[key] if isinstance(keys[key], list) else []
            keys[key] = [*before, item[1].strip().strip("\"'")]
    return keys
