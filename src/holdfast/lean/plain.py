"""Converts records to plain JSON values and back, and instants to text and back, for documents and for export.

Instants are aware UTC of fixed width, so that the order of texts is the order of times.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from holdfast.errors import InvalidValueError

R = TypeVar("R")

INSTANTS = frozenset({
    "at", "recorded_at", "retracted_at", "valid_from", "valid_to",
    "expires_at", "revoked_at", "last_used_at", "accepted_at", "keep_until",
    "first_at", "last_at", "passed_at",
})  # fmt: skip
"""Names of the fields with an instant, in every record."""


UNKNOWN = "\ufffd"
"""Replaces a NUL character or a lone surrogate."""


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a record's fields, in order."""
    record: Any = kind
    return tuple(_defaults(record))


def as_dict(record: Any) -> dict[str, Any]:
    """Return the record's fields by name; the values stay as they are, records among them too."""
    return {name: getattr(record, name) for name in field_names(type(record))}


def to_plain(value: Any) -> Any:
    """Return dicts, lists, strings, numbers, booleans and None; leave out fields with their default value."""
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if isinstance(value, datetime):
        return render_instant(value)
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    if is_dataclass(value):
        kind: Any = type(value)
        return {
            name: to_plain(field_value)
            for name, default in _defaults(kind).items()
            if (field_value := getattr(value, name)) != default
        }
    return value


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    """Return each field's default, in order; a field without one has `MISSING`, which equals no value."""
    return {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(kind)
    }


def from_plain(kind: type[R], plain: Mapping[str, Any]) -> R:
    """Return the record of that type; ignore unknown keys (of a newer version).

    Raises TypeError when a required field is missing and InvalidValueError when a value is impossible.
    """
    record: Any = kind
    nested = _nested(record)
    # only the fields that are there: a document leaves out those with their default value
    return record(**{name: _field(nested[name], name, plain[name]) for name in plain if name in nested})  # type: ignore[no-any-return]


@cache
def _nested(kind: Any) -> dict[str, type[Any] | None]:
    """Return for each field the record type that it holds, alone or in a tuple; None for other values."""
    module: dict[str, Any] = vars(sys.modules[kind.__module__])
    words = {field.name: re.findall(r"\w+", str(field.type)) for field in fields(kind)}
    records: dict[str, Any] = {word: value for word, value in module.items() if is_dataclass(value)}
    return {name: next((records[word] for word in words[name] if word in records), None) for name in words}


def _field(inner: type[Any] | None, name: str, value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return parse_instant(value) if name in INSTANTS else value
    if kind is list:
        if inner is not None:
            return tuple([from_plain(inner, item) for item in value])
        return tuple([tuple(item) if type(item) is list else item for item in value])
    return from_plain(inner, value) if kind is dict and inner is not None else value


def render_instant(at: datetime) -> str:
    """Return the instant as `2026-11-21T08:45:29.123456Z`, always 27 characters."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_instant(text: str) -> datetime:
    """Return an aware UTC datetime from ISO 8601 text; a text without a zone counts as UTC.

    Raises InvalidValueError for anything else.
    """
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError) as exc:
        raise InvalidValueError(f"not a time: {text!r}", hint="use ISO 8601, e.g. 2026-11-21T08:45:29Z") from exc
    if at.tzinfo is UTC:
        return at
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
