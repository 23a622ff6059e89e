"""A table of ours in somebody's TOML file: put at its end, cut out again, the rest of the text untouched.

The text is edited by lines and judged by `tomllib`: what the file says besides our table must be the same after.
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
    """The text with a table for each edit at its end.

    Raises HostConfigError when it is not TOML or something of that name is there.
    """
    for edit in edits:
        document = _load(text)
        place = ".".join((*edit.path, edit.key))
        if _at(document, (*edit.path, edit.key)) is not None:
            raise HostConfigError(f"{place} is there already and is not ours", hint=f"rename or remove {place}")
        newline = "\r\n" if "\r\n" in text else "\n"
        made = text + _gap(text, newline) + newline.join(_table(edit)) + newline
        _check(made, document, edit)
        text = made
    return text


def remove(text: str, edits: Sequence[ConfigEdit], before: str = "") -> str:
    """The text without our tables and the blank line set before them."""
    for edit in edits:
        value = _at(_load(text), (*edit.path, edit.key))
        if value is not None and edit.marks(json.dumps(value)):
            text = _cut(text, edit)
    return text


def _cut(text: str, edit: ConfigEdit) -> str:
    header = re.compile(rf"^\[{re.escape(_dotted(edit))}\][^\n]*\n?", re.MULTILINE)
    header_match = header.search(text)
    if header_match is None:
        raise HostConfigError(f"{_dotted(edit)} is written in another form than ours", hint="remove it by hand")
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
    """Whether a header is of a table within ours."""
    return text[match.end() :].startswith(_dotted(edit) + ".")


def _same(remaining: dict[str, Any], expected: dict[str, Any], path: Sequence[str]) -> bool:
    """Whether the two say the same; an empty table that only held ours may be gone."""
    if remaining == expected:
        return True
    for depth in range(len(path), 0, -1):
        holder = _at(expected, path[: depth - 1])
        if isinstance(holder, dict) and holder.get(path[depth - 1]) == {}:
            del holder[path[depth - 1]]
    return remaining == expected


def _check(made: str, before: dict[str, Any], edit: ConfigEdit) -> None:
    """Raise HostConfigError unless the new text says what the old one did, and our table."""
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
        raise HostConfigError(f"not valid TOML: {exc}", hint="mend the file, then run the command again") from exc


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def _table(edit: ConfigEdit) -> list[str]:
    """A table's lines. JSON's strings, numbers, booleans and lists are TOML's too."""
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
