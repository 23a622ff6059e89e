"""Edits other programs' JSON text and leaves every other byte as it is.

Values are never parsed and written back. Text is inserted or cut out at a position. `remove` cuts out exactly what
`insert` put in, even if the rest of the text has changed since. Comments and trailing commas are read as blanks of the
same length, so that positions are valid in the original text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]  # json's own, not in its stubs
from typing import Any, NamedTuple

from holdfast.errors import HostConfigError
from holdfast.ports.host import ConfigEdit

BLANK = re.compile(r"[ \t\r\n]*")
COMMENTS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
TRAILING = re.compile(r'"(?:\\.|[^"\\])*"|,(?=[ \t\r\n]*[}\]])')
INDENT = re.compile(r"[{\[](?:\r?\n)+([ \t]+)")
_DECODER = json.JSONDecoder()


class JsonMember(NamedTuple):
    """A member of an object or an element of a list: its start and end in the text, its key, its value."""

    start: int
    value_start: int
    end: int
    key: str
    value: Any


class Holder(NamedTuple):
    """An object or list in the text: the positions of its brackets, and its parts."""

    start: int
    end: int
    parts: list[JsonMember]

    def only(self, key: str) -> JsonMember | None:
        """Return the member of that key. Raises HostConfigError for several: programs differ in which one counts."""
        members = [part for part in self.parts if part.key == key]
        if len(members) > 1:
            raise HostConfigError(f"{key!r} occurs {len(members)} times", hint="keep one of them")
        return members[0] if members else None


def insert(text: str, edits: Sequence[ConfigEdit]) -> str:
    """Return the text with all edits made, each at the end of its object or list; missing holders are created.

    Raises HostConfigError, which says where, if the text is not JSON or a value of another type is in the way.
    """
    text = text if text.strip() else "{}\n"
    check(text, comments=any(edit.comments for edit in edits))
    for edit in edits:
        text = _insert_one(text, edit)
    return text


def remove(text: str, edits: Sequence[ConfigEdit], before: str = "") -> str:
    """Return the text without Holdfast's entries, and without holders that are now empty and new since `before`."""
    if not text.strip():
        return text
    check(text, comments=any(edit.comments for edit in edits))
    before = before if before.strip() else "{}"
    shared = [edit for edit in edits if edit.shared]
    edits = [edit for edit in edits if not edit.shared]
    for path in dict.fromkeys(edit.path if edit.key else edit.path[:-1] for edit in edits):
        own_edits = [edit for edit in edits if (edit.path if edit.key else edit.path[:-1]) == path]
        unpruned = text
        for edit in own_edits:
            text = _remove_member(text, edit) if edit.key else _sweep_lists(text, path, edit, before)
        text = text if text == unpruned else _prune(text, path, before)
    for edit in shared:
        text = _remove_last(text, edit, before)
    return text


def check(text: str, *, comments: bool = False) -> None:
    """Raise HostConfigError unless the text is one JSON object; `comments` says that the host accepts comments."""
    try:
        value = json.loads(plain(text) if comments else text)
    except (ValueError, RecursionError) as exc:
        comment = plain(text) != text and not comments
        why = f"{exc}" + (" (it has comments or trailing commas, which JSON does not allow)" if comment else "")
        raise HostConfigError(f"not valid JSON: {why}", hint="correct the file, then run the command again") from exc
    if not isinstance(value, dict):
        raise HostConfigError("not a JSON object at its top", hint="correct the file, then run the command again")


@lru_cache(maxsize=8)  # called many times for the same large text
def plain(text: str) -> str:
    """Return JSON of the same length, with blanks in place of comments and trailing commas."""
    for pattern in (COMMENTS, TRAILING):
        text = pattern.sub(lambda match: match[0] if match[0][0] == '"' else _blank(match[0]), text)
    return text


def _blank(text: str) -> str:
    return "".join(char if char in "\r\n" else " " for char in text)


def holder_at(text: str, path: Sequence[str]) -> Holder | None:
    """Return the object or list at that path, or None if there is none.

    Raises HostConfigError if a value on the way is not an object.
    """
    text = plain(text)
    start = _skip(text, 0)
    for depth, key in enumerate(path):
        if text[start] != "{":
            raise _in_the_way(path[:depth])
        part = _holder(text, start).only(key)
        if part is None:
            return None
        start = part.value_start
    if text[start] not in "{[":
        raise _in_the_way(path)
    return _holder(text, start)


def is_ours(value: Any, ours: ConfigEdit) -> bool:
    """Return whether a value is an entry of Holdfast, or contains only such entries."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list) and item]
        is_marked = any(isinstance(item, str) and ours.marks(item) for item in value.values())
        return is_marked or (bool(lists) and all(is_ours(item, ours) for item in lists))
    if isinstance(value, list):
        return bool(value) and all(is_ours(item, ours) for item in value)
    return isinstance(value, str) and ours.marks(value)


def _in_the_way(path: Sequence[str]) -> HostConfigError:
    where = ".".join(path) or "the top"
    return HostConfigError(f"{where} holds something unexpected", hint=f"make {where} an object or remove it")


def _skip(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _holder(text: str, start: int) -> Holder:
    parts, at = [], _skip(text, start + 1)
    while text[at] not in "}]":
        part = _part(text, at, text[start] == "{")
        parts.append(part)
        at = _skip(text, part.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Holder(start, at + 1, parts)


def _part(text: str, at: int, keyed: bool) -> JsonMember:
    key, value_start = "", at
    if keyed:
        key, end = scanstring(text, at + 1, True)
        value_start = _skip(text, _skip(text, end) + 1)
    value, end = _DECODER.raw_decode(text, value_start)
    return JsonMember(at, value_start, end, key, value)


def _insert_one(text: str, edit: ConfigEdit) -> str:
    holder = holder_at(text, edit.path)
    if holder is None:
        return _insert_missing(text, edit)
    if (text[holder.start] == "{") != bool(edit.key):
        raise _in_the_way(edit.path)
    if edit.key and holder.only(edit.key) is not None:
        if edit.shared:
            return text
        place = ".".join((*edit.path, edit.key))
        raise HostConfigError(f"{place} already exists and is not Holdfast's", hint=f"rename or remove {place}")
    return _append(text, holder, edit.key, edit.value)


def _insert_missing(text: str, edit: ConfigEdit) -> str:
    """Create the missing holders, with the value in the innermost one."""
    depth = max(n for n in range(len(edit.path)) if holder_at(text, edit.path[:n]) is not None)
    value = {edit.key: edit.value} if edit.key else [edit.value]
    for key in reversed(edit.path[depth + 1 :]):
        value = {key: value}
    holder = holder_at(text, edit.path[:depth])
    if holder is None or text[holder.start] != "{":
        raise _in_the_way(edit.path[:depth])
    return _append(text, holder, edit.path[depth], value)


def _append(text: str, holder: Holder, key: str, value: Any) -> str:
    label = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    if holder.parts:
        at, first = holder.parts[-1].end, holder.parts[0]
        between = text[holder.start + 1 : first.start]
        if "\n" not in between:
            return text[:at] + ", " + label + json.dumps(value, ensure_ascii=False) + text[at:]
        indent = between.rpartition("\n")[2]
        return text[:at] + "," + _newline(text) + indent + label + _render(text, value, indent) + text[at:]
    outer = _indent_of_line(text, holder.start)
    inner, newline = outer + _unit(text), _newline(text)
    shown = newline + inner + label + _render(text, value, inner) + newline + outer
    return text[: holder.start + 1] + shown + text[holder.end - 1 :]


def _render(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    match = INDENT.search(text)
    return match.group(1) if match else "  "


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, holder: Holder, part: JsonMember) -> str:
    """Return the text without that part and its comma."""
    index = holder.parts.index(part)
    if index:
        return text[: holder.parts[index - 1].end] + text[part.end :]
    if len(holder.parts) > 1:
        return text[: part.start] + text[holder.parts[1].start :]
    return text[: holder.start + 1] + text[holder.end - 1 :]


def _remove_member(text: str, edit: ConfigEdit) -> str:
    holder = holder_at(text, edit.path)
    part = holder.only(edit.key) if holder else None
    if holder is None or part is None or not edit.marks(json.dumps(part.value)):
        return text
    return _cut(text, holder, part)


def _remove_last(text: str, edit: ConfigEdit, before: str) -> str:
    """Return the text without a shared member that was not there `before`, if it is the last member."""
    holder, old = holder_at(text, edit.path), _quietly(before, edit.path)
    if holder is None or [part.key for part in holder.parts] != [edit.key] or (old and old.only(edit.key)):
        return text
    return _prune(_cut(text, holder, holder.parts[0]), edit.path, before)


def _sweep_lists(text: str, path: tuple[str, ...], ours: ConfigEdit, before: str) -> str:
    """Return the text without Holdfast's entries in any list of the object, also inside other programs' entries."""
    if holder_at(text, path) is None:
        return text
    for key in [part.key for part in _parts(text, path) if isinstance(part.value, list)]:
        swept = _sweep(text, (*path, key), ours)
        text = text if swept == text else _prune(swept, (*path, key), before)
    return text


def _sweep(text: str, path: tuple[str, ...], ours: ConfigEdit) -> str:
    holder = holder_at(text, path)
    for part in reversed(holder.parts if holder else []):
        if holder and is_ours(part.value, ours):
            text = _cut(text, holder, part)
            holder = holder_at(text, path)
        elif isinstance(part.value, dict):
            text = _sweep_inside(text, part.value_start, ours)
    return text


def _sweep_inside(text: str, start: int, ours: ConfigEdit) -> str:
    """Return the text without Holdfast's entries in the lists of one list element, a group shared with others."""
    for part in reversed(_holder(plain(text), start).parts):
        if isinstance(part.value, list):
            for item in reversed(_holder(plain(text), part.value_start).parts):
                if is_ours(item.value, ours):
                    inner = _holder(plain(text), part.value_start)
                    text = _cut(text, inner, inner.parts[_nth(inner, item)])
    return text


def _nth(holder: Holder, item: JsonMember) -> int:
    return next(n for n, part in enumerate(holder.parts) if part.start == item.start)


def _parts(text: str, path: tuple[str, ...]) -> list[JsonMember]:
    holder = holder_at(text, path)
    return holder.parts if holder else []


def _prune(text: str, path: tuple[str, ...], before: str) -> str:
    """Return the text without new holders along the path that are now empty; an old one gets its blanks back."""
    for depth in range(len(path), 0, -1):
        holder = holder_at(text, path[:depth])
        if holder is None or holder.parts:
            continue
        old = _quietly(before, path[:depth])
        if old is None:
            outer = holder_at(text, path[: depth - 1])
            part = outer.only(path[depth - 1]) if outer else None
            text = _cut(text, outer, part) if outer and part else text
        elif not old.parts:
            text = text[: holder.start] + before[old.start : old.end] + text[holder.end :]
    return _restore_top(text, before)


def _restore_top(text: str, before: str) -> str:
    top, old = holder_at(text, ()), _quietly(before, ())
    if top and old and not top.parts and not old.parts:
        return text[: top.start] + before[old.start : old.end] + text[top.end :]
    return text


def _quietly(text: str, path: Sequence[str]) -> Holder | None:
    try:
        return holder_at(text, path)
    except HostConfigError:
        return None
