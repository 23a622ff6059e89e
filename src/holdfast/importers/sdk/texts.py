"""Reads the texts of other programs: files, front matter, times, and rows as passages.

A file is UTF-8 with or without a byte order mark, with any line ends, and never a binary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import yaml  # type: ignore[import-untyped]

from holdfast.domain.vocabulary import LessonKind
from holdfast.errors import InvalidValueError
from holdfast.importers.sdk.markdown import cut, nearly_plain, split_reasons, why_not
from holdfast.lean.plain import parse_instant
from holdfast.ports.plugins import Passage, Skipped, Source

LARGEST = 50_000_000
"""Bytes of the largest text file that is read."""
LARGEST_MARKDOWN = 500_000
"""Bytes of the largest file that people or agents wrote by hand."""

LIMIT = 20_000
"""Characters of the longest front matter that is parsed, with its lines of dashes; more is text."""
_FENCED = re.compile(r"\A---[ \t]*\n(.*?)(?:\n|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE = re.compile(r"([\w-]+)[ \t]*:[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")


def load_text(source: Source, largest: int = LARGEST) -> str:
    """Return the file's text with plain line ends; bytes that are not UTF-8 are replaced.

    Raises InvalidValueError for a binary file and for one of more than `largest` bytes, OSError for disk errors.
    """
    with open(source.path, "rb") as stream:
        raw = stream.read(largest + 1)
    if len(raw) > largest:
        raise InvalidValueError(f"{source.label} is larger than {largest:,} bytes", hint="import its parts")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _plain_ends(raw.decode("utf-16", "replace"))
    if b"\0" in raw:
        raise InvalidValueError(f"{source.label} is not a text file")
    return _plain_ends(raw.decode("utf-8-sig", "replace"))


def load_markdown(source: Source) -> str:
    """Return the text of a file that people or agents wrote by hand, with a smaller limit than `load_text`."""
    return load_text(source, LARGEST_MARKDOWN)


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


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


def instant(value: Any) -> datetime | None:
    """Return a time from ISO text, or from seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, str) and value:
            return parse_instant(value.strip())
        if isinstance(value, (int, float)) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def from_row(text: str, passage: Passage) -> Iterator[Passage | Skipped]:
    """Yield the row's text as one passage, or several if it is long; `passage` holds all other fields."""
    plain = nearly_plain(text)
    reason = why_not(plain)
    if reason:
        yield Skipped(section=passage.section, reason=reason)
        return
    insight, why, how = split_reasons(plain)
    first, *more = cut(insight)
    yield replace(passage, insight=first, why=passage.why or why, how=passage.how or how)
    later = replace(passage, why="", how="", names=(), links=())
    for number, part in enumerate(more, 2):
        yield replace(later, insight=part, section=f"{passage.section}, part {number}")


def kind_of(word: Any, kinds: Mapping[str, LessonKind]) -> LessonKind | None:
    """Return the kind that a tool's own word means; None for a word without a counterpart."""
    return kinds.get(str(word or "").strip().lower().replace("-", "_").replace(" ", "_"))
