"""Chooses the editor that makes and removes an edit in a host's file, and converts edits for the manifest."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.errors import HostConfigError
from holdfast.installing import jsonfile, textfile, tomlfile, yamlfile
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
        return textfile.insert_block(text, [edit]) == text
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
        return textfile.insert_block, textfile.remove_block
    if isinstance(edits[0], OwnFile):
        return textfile.insert_own, textfile.remove_own
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
