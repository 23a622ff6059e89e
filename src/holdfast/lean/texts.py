"""Converts values to text and back: JSON, ids, paths and the URLs of files. Every hook imports it.

The interpreter's own C scanner and encoder read and write JSON, because `import json` loads `re` and takes as long as
the interpreter's start. On an interpreter without them `json` does the work. Ids are time-ordered UUIDs (RFC 9562
version 7). Paths are texts, of any system.
"""

from __future__ import annotations

from holdfast.errors import InvalidValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


BLANK = " \t\n\r\ufeff"


class _ScannerOptions:
    """The attributes that the C scanner reads; NaN and infinities, which JSON does not have, become None."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner keeps its own

    @staticmethod
    def parse_constant(_name: str) -> None:
        return None


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


def _load_plainly(text: str) -> tuple[Any, int]:
    import json

    return json.JSONDecoder(strict=False, parse_constant=_ScannerOptions.parse_constant).raw_decode(text)


def _dump_plainly(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _c_parts() -> tuple[Callable[[str, int], tuple[Any, int]], Callable[[Any, int], Any]]:
    from _json import encode_basestring, make_encoder, make_scanner

    scan: Any = make_scanner(_ScannerOptions)  # type: ignore[arg-type]  # it reads attributes of any object
    encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)
    if scan('{"a":[1,"é"]}', 0) != ({"a": [1, "é"]}, 13) or "".join(encode({"a": [1, "é"]}, 0)) != '{"a":[1,"é"]}':
        raise ImportError("the C parts work differently in this interpreter")
    return scan, encode


try:
    _scan, _encode = _c_parts()
except (ImportError, TypeError, AttributeError):
    _scan, _encode = (lambda text, at: _load_plainly(text)), (lambda value, level: (_dump_plainly(value),))


def loads(text: str) -> Any:
    """Parse one JSON text. Raises InvalidValueError, with the position, for anything else."""
    text = text.strip(BLANK)
    try:
        value, end = _scan_or_explain(text)
    except StopIteration as exc:
        raise InvalidValueError(f"not JSON at character {exc.value}") from None
    except RecursionError:
        raise InvalidValueError("JSON nested too deeply") from None
    except ValueError as exc:
        raise InvalidValueError(f"not JSON: {exc}") from exc
    if end != len(text):
        raise InvalidValueError(f"not JSON: more text after the value, at character {end}")
    return value


def _scan_or_explain(text: str) -> tuple[Any, int]:
    try:
        return _scan(text, 0)
    except SystemError:  # before Python 3.12 the C scanner cannot name an error unless `json` is loaded
        return _load_plainly(text)


def dumps(value: Any) -> str:
    """Return compact JSON with non-ASCII characters as they are. Raises InvalidValueError for other values."""
    try:
        return "".join(_encode(value, 0))
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


def file_of(url: str) -> str:
    """Return the absolute path in such a URL; empty for another kind of URL."""
    path = url.removeprefix(FILE_URL)
    if path == url:
        return ""
    return path[1:] if has_drive(path[1:]) else path
