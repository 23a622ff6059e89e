"""Converts values to text and back: JSON, ids, paths and the URLs of files.

Ids are time-ordered UUIDs (RFC 9562 version 7). Paths are texts, of any system.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.errors import InvalidValueError

BLANK = " \t\n\r\ufeff"

_decoder = json.JSONDecoder(strict=False, parse_constant=lambda _name: None)
"""NaN and infinities, which JSON does not have, become None."""
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(text: str) -> Any:
    """Parse one JSON text. Raises InvalidValueError, with the position, for anything else."""
    try:
        return _decoder.decode(text.strip(BLANK))
    except RecursionError:
        raise InvalidValueError("JSON nested too deeply") from None
    except ValueError as exc:
        raise InvalidValueError(f"not JSON: {exc}") from exc


def dumps(value: Any) -> str:
    """Return compact JSON with non-ASCII characters as they are. Raises InvalidValueError for other values."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidValueError(f"cannot be written as JSON: {exc}") from exc


SHORT = 8
"""Characters of an id shown to a person; taken from its random end, where ids of one moment differ."""


def uuid7(time_ms: int, random: bytes) -> str:
    """Return the version 7 UUID of that millisecond with 10 random bytes, as 36 characters.

    Source: RFC 9562, section 5.7.
    """
    tail = bytearray(random[:10])
    tail[0] = 0x70 | tail[0] & 0x0F
    tail[2] = 0x80 | tail[2] & 0x3F
    digits = time_ms.to_bytes(6, "big").hex() + tail.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def short_id(full: str) -> str:
    """Return the last eight characters of an id, which the command line prints and accepts."""
    return full[-SHORT:]


FILE_URL = "sqlite://"


def has_drive(path: str) -> bool:
    """Return whether the path begins with a Windows drive, such as `C:\\app` or `c:/app`."""
    return path[1:3] in (":\\", ":/") and path[0].isascii() and path[0].isalpha()


def file_url(path: str) -> str:
    """Return the URL of a database at that absolute path: `sqlite:///home/ada/m.db`, `sqlite:///C:/Users/ada/m.db`."""
    return f"{FILE_URL}/{path.replace(chr(92), '/')}" if has_drive(path) else FILE_URL + path


def shown_url(url: str) -> str:
    """Return the URL as messages and files may show it: without the user, the password and most parameters."""
    scheme, separator, rest = url.partition("://")
    if not separator or url.startswith(FILE_URL):
        return url if separator else f"{scheme.partition(':')[0]}:"
    place, _, query = rest.rpartition("@")[2].partition("?")
    shown = [pair for pair in query.split("&") if pair.startswith(("host=", "port=", "org="))]
    return f"{scheme}://{place}{'?' if shown else ''}{'&'.join(shown)}"


def file_of(url: str) -> str:
    """Return the absolute path in such a URL; empty for another kind of URL."""
    path = url.removeprefix(FILE_URL)
    if path == url:
        return ""
    return path[1:] if has_drive(path[1:]) else path


def counted(number: int, singular: str, several: str = "") -> str:
    """Return the number and its noun: `1 lesson`, `1,204 lessons`; `several` is a plural that takes no `s`."""
    return f"{number:,} {singular if number == 1 else several or singular + 's'}"
