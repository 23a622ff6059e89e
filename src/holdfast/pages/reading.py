"""Reads a query or a form by its dataclass, strictly: an unknown name or an impossible value is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, urlencode

from holdfast.errors import InvalidValueError
from holdfast.lean.plain import clean

Q = TypeVar("Q")

MOST_PAIRS = 300
LONGEST_QUERY = 16_000
"""Bytes of a query string."""
YES, NO = ("true", "1", "on", "yes"), ("false", "0", "off", "no")


class WrongQueryError(InvalidValueError):
    """A page or an action was asked for something that it does not know."""


def parse_pairs(raw: bytes, most_bytes: int = LONGEST_QUERY) -> list[tuple[str, str]]:
    """Return the names and values of a query string or an urlencoded form. Raises WrongQueryError."""
    if len(raw) > most_bytes:
        raise WrongQueryError(f"the query has more than {most_bytes:,} bytes", hint="shorten it")
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MOST_PAIRS
        )
    except ValueError as exc:
        raise WrongQueryError("the query cannot be read", hint="it has to be percent-encoded UTF-8") from exc


def read_values(kind: Callable[..., Q], pairs: Sequence[tuple[str, str]]) -> Q:
    """Return the record with those values; a name without a value counts as not there. Raises WrongQueryError."""
    hints = _hints(kind)
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name not in hints:
            known = ", ".join(hints) or "it knows none"
            raise WrongQueryError(f"unknown name in the query: {clean(name)[:60]}", hint=f"known names: {known}")
        if text == "":
            continue
        value = _value(name, clean(text), hints[name])
        is_list = get_origin(hints[name]) is tuple
        if name in values and not is_list:
            raise WrongQueryError(f"{name} is there twice", hint="give one value")
        values[name] = (*values.get(name, ()), *value) if is_list else value
    try:
        return kind(**values)
    except TypeError as exc:
        missing = [field.name for field in fields(kind) if field.name not in values]  # type: ignore[arg-type]
        raise WrongQueryError(f"something is missing: one of {', '.join(missing)}", hint="fill in the form") from exc


def encode(values: dict[str, Any]) -> str:
    """Return the query string of those values, without empty ones."""
    return urlencode([(name, text) for name, value in values.items() for text in _texts(value)])


def _texts(value: Any) -> list[str]:
    if value is None or value == "" or value is False:
        return []
    if isinstance(value, tuple | list):
        return [str(item) for item in value]
    return ["true" if value is True else str(value)]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    known = get_type_hints(kind)
    return {field.name: known[field.name] for field in fields(kind)}


def _value(name: str, text: str, hint: Any) -> Any:
    if hint is str:
        return text
    if hint is int:
        return _int(name, text)
    if hint is bool:
        return _bool(name, text)
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        return [_value(name, part, inner) for part in text.split(",") if part]
    if get_origin(hint) is Literal:
        return _choice(name, text, get_args(hint))
    raise AssertionError(f"a query has no fields of the type {hint}")


def _int(name: str, text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise WrongQueryError(f"{name} is a whole number, not {text[:60]!r}", hint=f"such as {name}=7")
    return int(text)


def _bool(name: str, text: str) -> bool:
    if text not in (*YES, *NO):
        raise WrongQueryError(f"{name} is true or false, not {text[:60]!r}", hint=f"such as {name}=true")
    return text in YES


def _choice(name: str, text: str, choices: tuple[Any, ...]) -> str:
    if text not in choices:
        known = ", ".join(choice for choice in choices if choice)
        raise WrongQueryError(f"{name} cannot be {text[:60]!r}", hint=f"one of {known}")
    return text
