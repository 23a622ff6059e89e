"""Edits one table of Holdfast's config.toml and leaves every other line as it is."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping

from holdfast.errors import InvalidValueError
from holdfast.lean.files import write_whole
from holdfast.settings import CALLS_A_DAY, DOLLARS_A_DAY, Settings


def with_table(text: str, name: str, values: Mapping[str, str | int | float]) -> str:
    """Return the TOML text with the table holding just these values; without values the table is removed.

    Raises InvalidValueError if the text is not TOML, or if its other tables would change.
    """
    before = _parse(text)
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if _heading(line) == name), len(lines))
    end = next((at for at in range(start + 1, len(lines)) if lines[at].lstrip().startswith("[")), len(lines))
    table = [f"[{name}]\n", *(f"{key} = {_value(value)}\n" for key, value in values.items())] if values else []
    if table and start == len(lines) and text.strip():
        table = ["" if text.endswith("\n") else "\n", "\n", *table]
    if table and end < len(lines):
        table.append("\n")
    edited = "".join([*lines[:start], *table, *lines[end:]])
    if _others(_parse(edited), name) != _others(before, name):
        raise InvalidValueError(f"the table [{name}] cannot be edited safely", hint="edit config.toml by hand")
    return edited


def keep_model(settings: Settings, name: str, options: Mapping[str, str]) -> None:
    """Save the choice of a model; whether it reads each session, and the user's limits, stay as they are."""
    _keep_distil(settings, {"model_from": name, **options}, settings.distil_after_sessions, settings.distil_answered)


def keep_consent(settings: Settings, learns: bool) -> None:
    """Save whether the chosen model reads each session after its end; the model and the user's limits stay."""
    chosen = {"model_from": settings.distil_model} if settings.distil_model else {}
    _keep_distil(settings, {**chosen, **dict(settings.distil_options)}, learns, True)


def _keep_distil(settings: Settings, model: Mapping[str, str], learns: bool, answered: bool) -> None:
    values: dict[str, str | int | float] = dict(model)
    if answered:
        values["after_sessions"] = learns
    if settings.distil_calls_a_day != CALLS_A_DAY:
        values["calls_a_day"] = settings.distil_calls_a_day
    if settings.distil_dollars_a_day != DOLLARS_A_DAY:
        values["dollars_a_day"] = settings.distil_dollars_a_day
    path = settings.config_path
    save_text(path, with_table(load_text(path), "distil", values))


def load_text(path: str) -> str:
    """Return the file's text, or "" if there is no file."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


def save_text(path: str, text: str) -> None:
    """Write the file atomically, readable by its owner only."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_whole(path, text.encode("utf-8"))


def _heading(line: str) -> str:
    line = line.partition("#")[0].strip()
    return line[1:-1].strip() if line.startswith("[") and line.endswith("]") and not line.startswith("[[") else ""


def _value(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else json.dumps(value)


def _parse(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise InvalidValueError(f"config.toml: {exc}", hint="correct config.toml") from exc


def _others(parsed: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in parsed.items() if key != name}
