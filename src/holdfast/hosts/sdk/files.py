"""Reads other programs' files leniently: lines, JSON, times and paths as they write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from holdfast.errors import HostConfigError, InvalidValueError
from holdfast.hosts.sdk.payloads import fields_of
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import loads

FILE_LIMIT = 256 * 1024 * 1024
"""Bytes of a file that is read whole."""

LINE_LIMIT = 32 * 1024 * 1024
"""Characters of a line; a longer one is no transcript's."""

MILLISECONDS_FROM = 100_000_000_000
"""Numbers from here on are milliseconds since 1970, smaller ones seconds."""


def parse_line(line: str) -> Mapping[str, Any]:
    """Return the object in a line; empty for a line without a whole object."""
    text = line.strip("\0 \t\r\n\ufeff")
    return parse_object(text) if text.startswith("{") else {}


def parse_object(text: object) -> Mapping[str, Any]:
    """Return the object in a text or bytes; empty if there is none."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return {}
    try:
        return fields_of(loads(text))
    except (InvalidValueError, RecursionError):
        return {}


def read_text(path: str) -> str:
    """Return a file's text, whatever its encoding and line ends. Raises OSError, or HostConfigError for a huge file."""
    if os.path.getsize(path) > FILE_LIMIT:
        raise HostConfigError(f"{path} is larger than {FILE_LIMIT // 1_000_000} MB", hint="it was left out")
    with open(path, encoding="utf-8", errors="replace", newline=None) as stream:
        return stream.read()


def read_json(path: str) -> Any:
    """Return a file's JSON value; None if it is damaged. Raises OSError, or HostConfigError for a huge file."""
    try:
        return loads(read_text(path))
    except (InvalidValueError, RecursionError):
        return None


def try_json(path: str) -> Mapping[str, Any]:
    """Return a file's JSON object; empty if it is missing or damaged."""
    try:
        return fields_of(read_json(path))
    except (OSError, ValueError, HostConfigError):  # a name with a NUL is a ValueError
        return {}


def read_lines(path: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a file's lines; damaged and huge lines are skipped. Raises OSError."""
    with open(path, "rb") as stream:
        while line := stream.readline(LINE_LIMIT):
            if len(line) < LINE_LIMIT and (entry := parse_line(line.decode("utf-8", "replace"))):
                yield entry


def instant(value: object) -> datetime | None:
    """Return the time in ISO 8601 text, or in seconds or milliseconds since 1970; None for anything else."""
    if isinstance(value, str) and not value.isdecimal():
        with suppress(InvalidValueError):
            return parse_instant(value)
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    number = float(value)
    with suppress(ValueError, OverflowError, OSError):
        at = datetime.fromtimestamp(number / 1_000 if number >= MILLISECONDS_FROM else number, UTC)
        return at if number > 0 else None
    return None


def written_at(path: str) -> datetime:
    """Return when a file was last written; 1970 if unknown."""
    try:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except OSError:
        return datetime(1970, 1, 1, tzinfo=UTC)


def path_of_uri(text: str) -> str:
    """Return the path in a `file:` address, with `C:\\` for a Windows drive; a plain path stays as it is."""
    if not text.startswith("file:"):
        return text
    path = unquote(text.removeprefix("file://").removeprefix("localhost"))
    if path[:1] == "/" and path[2:3] == ":" and path[1:2].isalpha():
        return path[1:].replace("/", "\\")
    return path


def find_files(root: str, endings: tuple[str, ...], skipped: Iterable[str] = ()) -> list[str]:
    """Return files below a folder whose path (with `/`) ends so, least recently written first; none if it is absent."""
    left_out = frozenset(skipped)
    matches: list[str] = []
    if "\0" in root:
        return matches
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in left_out)
        paths = (os.path.join(folder, name) for name in names)
        matches += [path for path in paths if path.replace(os.sep, "/").endswith(endings)]
    return oldest_first(matches)


def oldest_first(paths: Iterable[str]) -> list[str]:
    """Return the paths, least recently written first."""
    return sorted(paths, key=lambda path: (written_at(path), path))
