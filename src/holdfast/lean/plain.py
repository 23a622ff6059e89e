"""Converts records to plain JSON values and back, and instants to text and back, for documents and for export.

Instants are aware UTC of fixed width, so that the order of texts is the order of times. A hook that a server answers
does not import this module, because `datetime` takes time to load.
"""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    R = TypeVar("R", bound=Frozen)


INSTANTS = frozenset({"at", "recorded_at", "retracted_at", "valid_from", "valid_to"})
"""Names of the fields with an instant, in every record."""


UNKNOWN = "\ufffd"
"""Replaces a NUL character or a lone surrogate."""


def to_plain(value: Any) -> Any:
    """Return dicts, lists, strings, numbers, booleans and None; leave out fields with their default value."""
    if isinstance(value, Frozen):
        kind = type(value)
        return {
            name: to_plain(field_value)
            for name, field_value in value.__dict__.items()
            if not (hasattr(kind, name) and getattr(kind, name) == field_value)
        }
    if isinstance(value, datetime):
        return render_instant(value)
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[R], plain: Mapping[str, Any]) -> R:
    """Return the record of that type; ignore unknown keys (of a newer version).

    Raises TypeError when a required field is missing and InvalidValueError when a value is impossible.
    """
    return kind(**{name: _field(kind, name, plain[name]) for name in kind.fields_ if name in plain})


def _field(kind: type[Frozen], name: str, value: Any) -> Any:
    inner = kind.nested_.get(name)
    if inner is not None and isinstance(value, dict):
        return from_plain(inner, value)
    if inner is not None and isinstance(value, list):
        return tuple(from_plain(inner, item) for item in value)
    if name in INSTANTS and isinstance(value, str):
        return parse_instant(value)
    if isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    return value


def render_instant(at: datetime) -> str:
    """Return the instant as `2026-11-21T08:45:29.123456Z`, always 27 characters."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_instant(text: str) -> datetime:
    """Return an aware UTC datetime from ISO 8601 text; a text without a zone counts as UTC.

    Raises InvalidValueError for anything else.
    """
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError) as exc:
        raise InvalidValueError(f"not a time: {text!r}", hint="use ISO 8601, e.g. 2026-11-21T08:45:29Z") from exc
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)


def clean(text: str) -> str:
    """Return the text with NUL characters and lone surrogates replaced, of the same length."""
    if "\0" in text:
        text = text.replace("\0", UNKNOWN)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join(UNKNOWN if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def storable(record: R) -> R:
    """Return the record with every text in it cleaned."""
    return from_plain(type(record), _scrub(to_plain(record)))


def _scrub(plain: Any) -> Any:
    if isinstance(plain, str):
        return clean(plain)
    if isinstance(plain, list):
        return [_scrub(item) for item in plain]
    if isinstance(plain, dict):
        return {clean(key): _scrub(item) for key, item in plain.items()}
    return plain
