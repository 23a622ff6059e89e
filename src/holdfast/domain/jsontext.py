"""JSON text to values and back, without the cost of importing `json`.

The interpreter's own C scanner and encoder are used directly: `import json` pulls `re` in and takes as long as the
interpreter's start, which every hook would pay. Where an interpreter does not have them, `json` does the work.
"""

from __future__ import annotations

from holdfast.domain.errors import InvalidValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLANK = " \t\n\r\ufeff"


class _Reading:
    """What the C scanner asks its owner for; NaN and infinities, which JSON does not have, read as None."""

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

    return json.JSONDecoder(strict=False, parse_constant=_Reading.parse_constant).raw_decode(text)


def _dump_plainly(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _c_parts() -> tuple[Callable[[str, int], tuple[Any, int]], Callable[[Any, int], Any]]:
    from _json import encode_basestring, make_encoder, make_scanner

    scan: Any = make_scanner(_Reading)  # type: ignore[arg-type]  # it reads attributes of any object
    encode = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)
    if scan('{"a":[1,"é"]}', 0) != ({"a": [1, "é"]}, 13) or "".join(encode({"a": [1, "é"]}, 0)) != '{"a":[1,"é"]}':
        raise ImportError("the C parts work differently in this interpreter")
    return scan, encode


try:
    _scan, _encode = _c_parts()
except (ImportError, TypeError, AttributeError):
    _scan, _encode = (lambda text, at: _load_plainly(text)), (lambda value, level: (_dump_plainly(value),))


def loads(text: str) -> Any:
    """The value of one JSON text. Raises InvalidValueError, saying where, for anything else."""
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
    """Compact JSON with non-ASCII characters as they are. Raises InvalidValueError for what JSON cannot say."""
    try:
        return "".join(_encode(value, 0))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidValueError(f"cannot be written as JSON: {exc}") from exc
