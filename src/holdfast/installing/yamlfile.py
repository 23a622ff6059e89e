"""Adds an entry of Holdfast under a top-level key of another program's YAML file, and removes it.

The text is edited by lines and checked with a parser. If the entry cannot be added by lines (flow style, anchors in the
way), the edit is refused, and the user is shown what to add.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]  # its stubs are another package

from holdfast.errors import HostConfigError
from holdfast.ports.host import ConfigEdit

MEND = "correct the file, then run the command again"


class Block(NamedTuple):
    """The lines under a top-level key: where they begin and end, and their indentation."""

    start: int
    end: int
    indent: str


def insert(text: str, edits: Sequence[ConfigEdit]) -> str:
    """Return the text with each entry at the end of its key's block; a missing key is added at the end.

    Raises HostConfigError if the text is not a YAML mapping, or the entry cannot be added by lines.
    """
    for edit in edits:
        document = _load(text)
        wanted = _with_entry(document, edit)
        made = _insert(text, edit)
        if _quietly(made) != wanted:
            raise HostConfigError(f"{edit.path[0]} is in a form to which no lines can be added", hint=MEND)
        text = made
    return text


def remove(text: str, edits: Sequence[ConfigEdit], before: str = "") -> str:
    """Return the text without Holdfast's entries, and without a key that only held these and was not there `before`."""
    for edit in edits:
        document = _load(text)
        if _entry(document, edit) is None:
            continue
        keeps = _block(before.splitlines(keepends=True), edit.path[0]) is not None
        made = _remove(text, edit, keeps)
        if _quietly(made) != _without_entry(document, edit, keeps):
            hint = "remove it by hand"
            raise HostConfigError(f"Holdfast's entry in {edit.path[0]} cannot be removed safely", hint=hint)
        text = made
    return text


def _insert(text: str, edit: ConfigEdit) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    block = _block(lines, edit.path[0])
    if block is None:
        gap = newline if text and not text.endswith("\n") else ""
        return text + gap + f"{edit.path[0]}:{newline}" + _entry_text(edit, "  " if edit.key else "", newline)
    before = "".join(lines[: block.end])
    gap = newline if before and not before.endswith("\n") else ""
    return before + gap + _entry_text(edit, block.indent, newline) + "".join(lines[block.end :])


def _remove(text: str, edit: ConfigEdit, keeps: bool) -> str:
    lines = text.splitlines(keepends=True)
    block = _block(lines, edit.path[0])
    if block is None:
        return text
    starts = [n for n in range(block.start, block.end) if _begins_entry(lines[n], block.indent, edit)]
    for start in starts:
        after = (n for n in range(start + 1, block.end) if _depth(lines[n]) <= len(block.indent) and lines[n].strip())
        end = next(after, block.end)
        if edit.marks("".join(lines[start:end])):
            whole = start == block.start and end == block.end and not keeps
            return "".join(lines[: start - 1 if whole else start] + lines[end:])
    return text


def _block(lines: Sequence[str], key: str) -> Block | None:
    """Return the lines under a key in block style, without trailing blank lines and comments; None without it."""
    head = re.compile(rf"""(?:{re.escape(key)}|"{re.escape(key)}"|'{re.escape(key)}')\s*:\s*(?:#.*)?$""")
    start = next((n + 1 for n, line in enumerate(lines) if head.match(line.rstrip("\r\n"))), None)
    if start is None:
        return None
    end, indent = start, ""
    for n in range(start, len(lines)):
        line = lines[n]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not _depth(line) and not line.startswith("-"):
            break
        indent = indent if end > start else line[: _depth(line)]
        end = n + 1
    return Block(start, end, indent if end > start else "  ")


def _begins_entry(line: str, indent: str, edit: ConfigEdit) -> bool:
    rest = line.removeprefix(indent)
    if _depth(line) != len(indent):
        return False
    return rest.startswith(f"{edit.key}:") if edit.key else rest.startswith("-")


def _entry_text(edit: ConfigEdit, indent: str, newline: str) -> str:
    value = {edit.key: edit.value} if edit.key else [edit.value]
    shown = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1_000_000)
    return "".join(indent + line + newline for line in shown.splitlines())


def _entry(document: dict[str, Any], edit: ConfigEdit) -> Any:
    holder = document.get(edit.path[0])
    if edit.key and isinstance(holder, dict):
        value = holder.get(edit.key)
        return value if edit.marks(str(value)) else None
    value = [item for item in holder if edit.marks(str(item))] if isinstance(holder, list) else []
    return value[0] if value else None


def _with_entry(document: dict[str, Any], edit: ConfigEdit) -> dict[str, Any]:
    (name,) = edit.path
    holder = document.get(name)
    if holder is not None and not isinstance(holder, dict if edit.key else list):
        raise HostConfigError(f"{name} holds something unexpected", hint=f"look at {name}")
    if edit.key and holder and edit.key in holder:
        place = f"{name}.{edit.key}"
        raise HostConfigError(f"{place} already exists and is not Holdfast's", hint=f"rename or remove {place}")
    if edit.key:
        return {**document, name: {**dict(holder or ()), edit.key: edit.value}}
    return {**document, name: [*(holder or ()), edit.value]}


def _without_entry(document: dict[str, Any], edit: ConfigEdit, keeps: bool) -> dict[str, Any]:
    """Return the document without the entry; a key that held nothing else stays empty if `keeps`, or is removed."""
    (name,) = edit.path
    holder, ours = document[name], _entry(document, edit)
    rest = {k: v for k, v in holder.items() if k != edit.key} if edit.key else [v for v in holder if v is not ours]
    if rest or keeps:
        return {**document, name: rest or None}
    return {key: value for key, value in document.items() if key != name}


def _load(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as exc:
        raise HostConfigError(f"not valid YAML: {' '.join(str(exc).split())}", hint=MEND) from exc
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise HostConfigError("not a YAML mapping at its top", hint=MEND)
    return document


def _quietly(text: str) -> dict[str, Any] | None:
    try:
        return _load(text)
    except HostConfigError:
        return None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
