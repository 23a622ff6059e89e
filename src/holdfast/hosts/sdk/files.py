"""Finds and reads other programs' files leniently: lines, JSON, databases, packed texts, times and paths.

Only the home folder counts. Reading variables such as APPDATA is the settings' task; they point there unless moved.
Zstandard is unpacked with the standard library (from Python 3.14) or else with the package `zstandard`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.errors import HostConfigError, InvalidValueError
from holdfast.hosts.sdk.payloads import fields_of
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import loads

if TYPE_CHECKING:
    from holdfast.outside.sqlitefile import ForeignDatabase

FILE_LIMIT = 256 * 1024 * 1024
"""Bytes of a file that is read whole."""

LINE_LIMIT = 32 * 1024 * 1024
"""Characters of a line; a longer one is no transcript's."""

MILLISECONDS_FROM = 100_000_000_000
"""Numbers from here on are milliseconds since 1970, smaller ones seconds."""

VALUE_LIMIT = 32 * 1024 * 1024
"""Bytes of one value; readers ask for shorter ones only: `length(x) < {VALUE_LIMIT}`."""
UNPACKED_LIMIT = 256 * 1024 * 1024
"""Bytes of one unpacked text."""
MODULES = ("compression.zstd", "zstandard")


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
    from urllib.parse import unquote  # late: hooks load this module and read no addresses

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


def settings_folder(home: str, platform: str = sys.platform) -> str:
    """Return where desktop programs keep settings: `~/.config` on Linux, `AppData\\Roaming` on Windows."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Roaming")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".config")


def state_folder(home: str, platform: str = sys.platform) -> str:
    """Return where desktop programs keep data: `~/.local/share` on Linux, `AppData\\Local` on Windows."""
    if platform == "win32":
        return os.path.join(home, "AppData", "Local")
    if platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.path.join(home, ".local", "share")


def first_there(paths: tuple[str, ...]) -> str:
    """Return the first path that exists, otherwise the first."""
    return next((path for path in paths if os.path.exists(path)), paths[0])


def open_foreign(path: str) -> AbstractContextManager[ForeignDatabase]:
    """Return the database as it is now. Raises OSError, or HostConfigError if damaged or of an unknown version."""
    from holdfast.outside.sqlitefile import open_database  # late: hooks load this module and read no databases

    return open_database(path, lambda reason: HostConfigError(f"{path} {reason}", hint="it was left as it is"))


def unpack(packed: bytes) -> bytes:
    """Return the unpacked bytes. Raises HostConfigError if there is no module for it, or the bytes are damaged."""
    with io.BytesIO(packed) as stream:
        return _read(stream)


def unpacked_lines(path: str) -> Iterator[str]:
    """Yield the lines of a compressed file. Raises OSError or HostConfigError."""
    with open(path, "rb") as packed:
        text = _read(packed).decode("utf-8", "replace")
    yield from text.splitlines(keepends=True)


def _read(packed: io.IOBase) -> bytes:
    try:
        with _opened(packed) as stream:
            return bytes(stream.read(UNPACKED_LIMIT))
    except (OSError, HostConfigError):
        raise
    except Exception as exc:  # each module has its own errors
        raise HostConfigError(f"compressed text cannot be read: {exc}", hint="it was left out") from exc


def _opened(packed: io.IOBase) -> io.IOBase:
    if is_there(MODULES[0]):
        decompressor: Any = import_module(MODULES[0])
        opened: io.IOBase = decompressor.ZstdFile(packed)
        return opened
    if is_there(MODULES[1]):
        decompressor = import_module(MODULES[1])
        opened = decompressor.ZstdDecompressor().stream_reader(packed)
        return opened
    raise HostConfigError("it is compressed with zstd", hint="install the package zstandard, or use Python 3.14")


def is_there(module: str) -> bool:
    """Return whether a module can be imported."""
    from importlib.util import find_spec  # late: only readers of packed texts ask

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
