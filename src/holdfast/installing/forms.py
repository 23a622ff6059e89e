"""Chooses the editor that makes and removes an edit in a host's file, and converts edits for the manifest."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.errors import HostConfigError
from holdfast.installing import jsonfile, tomlfile, yamlfile
from holdfast.lean.plain import as_dict
from holdfast.ports.host import BlockEdit, ConfigEdit, Edit, OwnFile

Insert = Callable[[str, Sequence[Any]], str]
Remove = Callable[[str, Sequence[Any], str], str]


def insert(file: str, text: str, edits: Sequence[Edit]) -> str:
    """Return the file's text with the edits made. Raises HostConfigError, which names the file."""
    return _named(file, lambda: _editors(file, edits)[0](text, edits)) if edits else text


def remove(file: str, text: str, edits: Sequence[Edit], before: str) -> str:
    """Return the file's text without Holdfast's edits; `before` is the text before the first edit."""
    return _named(file, lambda: _editors(file, edits)[1](text, edits, before)) if edits else text


def keeps_place(edits: Sequence[Edit]) -> bool:
    """Return whether the edits are made in place, so that the file's original text is not needed."""
    return any(isinstance(edit, (BlockEdit, OwnFile)) for edit in edits)


def holds(file: str, text: str, edit: Edit) -> bool:
    """Return whether the file's text has the edit exactly as it would be made."""
    if isinstance(edit, OwnFile):
        return text == edit.text
    if isinstance(edit, BlockEdit):
        return insert_block(text, [edit]) == text
    value = read(file, text)
    for key in edit.path:
        value = value.get(key) if isinstance(value, dict) else None
    if edit.key:
        return isinstance(value, dict) and (edit.shared or value.get(edit.key) == edit.value)
    return isinstance(value, list) and edit.value in value


def read(file: str, text: str) -> Any:
    """Parse a configuration file into plain values. Raises ValueError if it cannot be read."""
    suffix = os.path.splitext(file)[1]
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix in (".yaml", ".yml"):
        import yaml  # type: ignore[import-untyped]  # its stubs are another package

        return yaml.safe_load(text)
    return json.loads(jsonfile.plain(text) or "{}")


def keep(edit: Edit, owner: str) -> dict[str, Any]:
    """Return the edit as the manifest stores it."""
    record = {name: value for name, value in as_dict(edit).items() if name != "file"}
    return {"owner": owner, "form": _FORMS[type(edit)]} | record


def parse_edit(file: str, record: dict[str, Any]) -> Edit:
    """Return the edit of a manifest record. The first version wrote configuration edits only, without a form."""
    fields = {name: value for name, value in record.items() if name not in ("owner", "form")}
    fields |= {name: tuple(fields[name]) for name in ("path", "formerly") if name in fields}
    made: Edit = _TYPES[record.get("form", "config")](file=file, **fields)
    return made


_TYPES: dict[str, Any] = {"config": ConfigEdit, "block": BlockEdit, "own": OwnFile}
_FORMS = {made: form for form, made in _TYPES.items()}


def _editors(file: str, edits: Sequence[Edit]) -> tuple[Insert, Remove]:
    if isinstance(edits[0], BlockEdit):
        return insert_block, remove_block
    if isinstance(edits[0], OwnFile):
        return insert_own, remove_own
    suffix = os.path.splitext(file)[1]
    if suffix == ".toml":
        return tomlfile.insert, tomlfile.remove
    if suffix in (".yaml", ".yml"):
        return yamlfile.insert, yamlfile.remove
    return jsonfile.insert, jsonfile.remove


def _named(file: str, step: Callable[[], str]) -> str:
    try:
        return step()
    except HostConfigError as exc:
        raise HostConfigError(f"{file}: {exc}", hint=exc.hint) from exc


BEGIN, END = "holdfast:begin (kept by holdfast; edits here are lost)", "holdfast:end"
SHEBANG = "#!/bin/sh\n"


def insert_block(text: str, edits: Sequence[BlockEdit]) -> str:
    """Return the text with the block in its old place, or at the end after a blank line.

    Raises HostConfigError if the text has half of a block, because its other end is unknown.
    """
    newline = _newline(text)
    for edit in edits:
        if edit.script and not edit.config and not text:
            text = SHEBANG
        begin, end = _markers(edit)
        block = newline.join((begin, *edit.text.strip("\n").split("\n"), end))
        spans = _spans(text, edit)
        if spans:
            text = _without(text, spans[1:])  # a merge that kept both sides leaves two blocks
            text = text[: spans[0][0]] + block + text[spans[0][1] :]
        else:
            text += _gap(text, newline) + block + newline
    return text


def remove_block(text: str, edits: Sequence[BlockEdit], before: str = "") -> str:
    """Return the text without the block and the blank line before it; half of a block is left alone.

    `before` is the text before the block was added, if known; it shows how the text ended.
    """
    for edit in edits:
        try:
            spans = _spans(text, edit)
        except HostConfigError:
            return text
        if not spans:
            continue
        at_end = not text[spans[-1][1] :].strip("\r\n")
        text = _without(text, spans)
        if at_end:
            text = text.removesuffix(_gap(before, _newline(before)) if before else _blank_line(text))
        if edit.script and not before and text.strip() == SHEBANG.strip():
            text = ""
    return text


def insert_own(text: str, edits: Sequence[OwnFile]) -> str:
    """Return Holdfast's file, with the line ends of the current one. Raises HostConfigError for another's file."""
    for edit in edits:
        if text.strip() and not edit.marks(text):
            raise HostConfigError("already exists and is not Holdfast's", hint=f"rename or remove {edit.file}")
        text = edit.text.replace("\n", _newline(text))
    return text


def remove_own(text: str, edits: Sequence[OwnFile], before: str = "") -> str:
    """Return "" for a file of Holdfast, and any other text unchanged."""
    return "" if any(edit.marks(text) for edit in edits) else text


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, newline: str) -> str:
    """Return what goes between a text and the block: the end of its last line, and a blank line."""
    if not text:
        return ""
    return newline if text.endswith("\n") else newline * 2


def _blank_line(text: str) -> str:
    """Return the line end of a blank line at the text's end, which was added with the block; "" without one."""
    newline = _newline(text)
    return newline if text.endswith(newline * 2) else ""


def _markers(edit: BlockEdit) -> tuple[str, str]:
    name = f"holdfast-{edit.label}:" if edit.label else "holdfast:"
    begin, end = (text.replace("holdfast:", name) for text in (BEGIN, END))
    return (f"# {begin}", f"# {end}") if edit.script else (f"<!-- {begin} -->", f"<!-- {end} -->")


def _spans(text: str, edit: BlockEdit) -> list[tuple[int, int]]:
    """Return where blocks begin and end, by the markers' stable parts. Raises HostConfigError for a lone marker."""
    begin, end = _markers(edit)
    begin = begin[: begin.index("(")]
    spans: list[tuple[int, int]] = []
    at = 0
    while True:
        start, stop = text.find(begin, at), text.find(end, at)
        if start < 0 and stop < 0:
            return spans
        if start < 0 or stop < start or 0 <= text.find(begin, start + 1) < stop:
            line = text.count("\n", 0, min(position for position in (start, stop) if position >= 0)) + 1
            raise HostConfigError("has half of a block of Holdfast", hint=f"line {line}: remove the half by hand")
        at = stop + len(end)
        spans.append((start, at))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text without those spans and the line ends after them."""
    for start, end in reversed(spans):
        text = text[:start] + text[end:].removeprefix("\r\n").removeprefix("\n")
    return text
