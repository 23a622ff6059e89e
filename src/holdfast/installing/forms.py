"""The forms of hosts' files: which editor makes and takes back an edit, and how the manifest keeps one."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.errors import HostConfigError
from holdfast.installing import jsonfile, textfile, tomlfile
from holdfast.ports.host import BlockEdit, ConfigEdit, OwnFile

if TYPE_CHECKING:
    from holdfast.ports.host import Edit

    Insert = Callable[[str, Sequence[Any]], str]
    Remove = Callable[[str, Sequence[Any], str], str]


def insert(file: str, text: str, edits: Sequence[Edit]) -> str:
    """The file's text with the edits made. Raises HostConfigError, naming the file, where that cannot be."""
    return _named(file, lambda: _editors(file, edits)[0](text, edits)) if edits else text


def remove(file: str, text: str, edits: Sequence[Edit], before: str) -> str:
    """The file's text without what is ours; `before` is what it was when we first came."""
    return _named(file, lambda: _editors(file, edits)[1](text, edits, before)) if edits else text


def keeps_place(edits: Sequence[Edit]) -> bool:
    """Whether the edits are made at their place in the file, so that the original around them is not needed."""
    return any(isinstance(edit, (BlockEdit, OwnFile)) for edit in edits)


def holds(file: str, text: str, edit: Edit) -> bool:
    """Whether the file's text has the edit just as it would be made."""
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
    """What a configuration file says, as plain values. Raises ValueError where it cannot be read."""
    suffix = os.path.splitext(file)[1]
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix in (".yaml", ".yml"):
        import yaml  # type: ignore[import-untyped]  # its stubs are another package

        return yaml.safe_load(text)
    return json.loads(jsonfile.plain(text) or "{}")


def keep(edit: Edit, owner: str) -> dict[str, Any]:
    """The edit as the manifest keeps it."""
    record = {name: value for name, value in vars(edit).items() if name != "file"}
    return {"owner": owner, "form": _FORMS[type(edit)]} | record


def parse_edit(file: str, record: dict[str, Any]) -> Edit:
    """The edit that the manifest tells of; one without a form is of the first version, a configuration edit."""
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
        from holdfast.installing import yamlfile  # its parser takes its time, and most hosts have no such file

        return yamlfile.insert, yamlfile.remove
    return jsonfile.insert, jsonfile.remove


def _named(file: str, step: Callable[[], str]) -> str:
    try:
        return step()
    except HostConfigError as exc:
        raise HostConfigError(f"{file}: {exc}", hint=exc.hint) from exc
