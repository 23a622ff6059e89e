"""Adds a table of Holdfast at the end of another program's TOML file, and removes it; the rest is not changed.

The text is edited by lines and checked with `tomllib`: apart from the table, the file must parse to the same values.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from holdfast.errors import HostConfigError
from holdfast.ports.host import ConfigEdit

HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
BARE = re.compile(r"[A-Za-z0-9_-]+")


def insert(text: str, edits: Sequence[ConfigEdit]) -> str:
    """Return the text with a table for each edit at its end.

    Raises HostConfigError if the text is not TOML or the name already exists.
    """
    for edit in edits:
        document = _load(text)
        place = ".".join((*edit.path, edit.key))
        if _at(document, (*edit.path, edit.key)) is not None:
            raise HostConfigError(f"{place} already exists and is not Holdfast's", hint=f"rename or remove {place}")
        newline = "\r\n" if "\r\n" in text else "\n"
        made = text + _gap(text, newline) + newline.join(_table(edit)) + newline
        _check(made, document, edit)
        text = made
    return text


def remove(text: str, edits: Sequence[ConfigEdit], before: str = "") -> str:
    """Return the text without Holdfast's tables and the blank lines before them."""
    for edit in edits:
        value = _at(_load(text), (*edit.path, edit.key))
        if value is not None and edit.marks(json.dumps(value)):
            text = _cut(text, edit)
    return text


def _cut(text: str, edit: ConfigEdit) -> str:
    header = re.compile(rf"^\[{re.escape(_dotted(edit))}\][^\n]*\n?", re.MULTILINE)
    header_match = header.search(text)
    if header_match is None:
        raise HostConfigError(f"{_dotted(edit)} is not in the form that Holdfast wrote", hint="remove it by hand")
    later = (match for match in _headers(text, header_match.end()) if not _is_inside(text, match, edit))
    after = next((match.start() for match in later), None)
    head, tail = text[: header_match.start()], text[after:] if after is not None else ""
    remaining = (head if tail else head.removesuffix("\r\n" if head.endswith("\r\n") else "\n") or head) + tail
    expected = _load(text)
    del _at(expected, edit.path)[edit.key]
    if not _same(_load(remaining), expected, edit.path):
        raise HostConfigError(f"{_dotted(edit)} cannot be cut out safely", hint="remove it by hand")
    return remaining


def _headers(text: str, start: int) -> list[re.Match[str]]:
    return list(HEADER.finditer(text, start))


def _is_inside(text: str, match: re.Match[str], edit: ConfigEdit) -> bool:
    """Return whether the header belongs to a table inside the edit's table."""
    return text[match.end() :].startswith(_dotted(edit) + ".")


def _same(remaining: dict[str, Any], expected: dict[str, Any], path: Sequence[str]) -> bool:
    """Return whether the two documents are equal; an empty table that only held the edit may be missing."""
    if remaining == expected:
        return True
    for depth in range(len(path), 0, -1):
        holder = _at(expected, path[: depth - 1])
        if isinstance(holder, dict) and holder.get(path[depth - 1]) == {}:
            del holder[path[depth - 1]]
    return remaining == expected


def _check(made: str, before: dict[str, Any], edit: ConfigEdit) -> None:
    """Raise HostConfigError unless the new text parses to the old values and the new table."""
    holder = before
    for key in edit.path:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            raise HostConfigError(f"{'.'.join(edit.path)} is not a table", hint="make it a table or remove it")
    holder[edit.key] = edit.value
    try:
        same = tomllib.loads(made) == before
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        place = ".".join(edit.path)
        raise HostConfigError(f"{place} is written in a form that no table can be added to", hint="use [tables]")


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise HostConfigError(f"not valid TOML: {exc}", hint="correct the file, then run the command again") from exc


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def _table(edit: ConfigEdit) -> list[str]:
    """Return a table's lines. TOML writes strings, numbers, booleans and lists as JSON does."""
    return [f"[{_dotted(edit)}]", *(f"{_key(key)} = {_value(value)}" for key, value in edit.value.items())]


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _dotted(edit: ConfigEdit) -> str:
    return ".".join(map(_key, (*edit.path, edit.key)))


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gap(text: str, newline: str) -> str:
    if not text:
        return ""
    return newline if text.endswith("\n") else newline * 2
