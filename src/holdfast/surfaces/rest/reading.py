"""Reads what a client sends: query, path, body and lines, each by the model of its operation, strictly.

A lax reader takes `0` for a boolean and the second of two equal keys; here each is an error with the field's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from holdfast.lean.plain import parse_instant
from holdfast.surfaces.rest.problems import FieldError, InvalidRequestError, RequestError, faults_of
from holdfast.surfaces.rest.table import Strict

S = TypeVar("S", bound=Strict)

LONGEST_QUERY = 16_000
"""Bytes of a query string."""
LONGEST_SEGMENT = 300
"""Characters of one part of a path."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def _flag(value: object) -> object:
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError("write true or false")
        return value == "true"
    return value


def _whole(value: object) -> object:
    """Return a number without a fraction as an int: JSON has one kind of number, and `32.0` is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digits(value: object) -> object:
    if isinstance(value, str):
        if not _WHOLE.fullmatch(value):
            raise ValueError("write a whole number")
        return int(value)
    return value


def _words(value: object) -> object:
    return (tuple(value.split(",")) if value else ()) if isinstance(value, str) else value


def _instant(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse_instant(value)
    except OverflowError as exc:
        raise ValueError("a time outside of the years 1 to 9999") from exc


Flag = Annotated[bool, BeforeValidator(_flag)]
"""A boolean in a query."""
Digits = Annotated[int, BeforeValidator(_digits)]
"""A whole number in a query."""
Words = BeforeValidator(_words)
"""For a tuple in a query: `a,b,c`."""
Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number in a body."""
Instant = Annotated[datetime, BeforeValidator(_instant)]
Text = Annotated[str, StringConstraints(max_length=16_000)]
Said = Annotated[str, StringConstraints(min_length=1, max_length=4_000, pattern=r"\S")]
"""Words that must be there."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""One line."""
Id = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x20\x7f]+$")]
"""An id: no blanks, no control characters."""
Texts = Annotated[tuple[Text, ...], Field(max_length=200)]


def read_query(raw: bytes, model: type[S]) -> S:
    """Return the query by its model. Raises RequestError (400) or InvalidRequestError."""
    values: dict[str, str] = {}
    if len(raw) > LONGEST_QUERY:
        raise RequestError(413, f"a query has at most {LONGEST_QUERY:,} bytes")
    for pair in raw.split(b"&"):
        if not pair:
            continue
        name, _, value = pair.partition(b"=")
        key = _decoded(name.replace(b"+", b" "), "the query")
        if key in values:
            raise RequestError(400, "a key of the query is there twice", hint="write lists as key=a,b")
        values[key] = _decoded(value.replace(b"+", b" "), "the query")
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        raise InvalidRequestError(faults_of(exc, "query")) from None


def read_segment(raw: str) -> str | None:
    """Return one part of a path, percent-decoded; None for one that nothing can be named."""
    try:
        text = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None
    return None if not text or len(text) > LONGEST_SEGMENT or _CONTROL.search(text) else text


def read_body(raw: bytes, model: type[S], *, optional: bool) -> S:
    """Return the body by its model. Raises RequestError (400) for what is no JSON, InvalidRequestError for the rest."""
    if not raw and optional:
        raw = b"{}"
    return _validated(raw, model, "body")


def read_lines(raw: bytes, model: type[S], most: int) -> list[S]:
    """Return a value for each line of a body that is not blank. All lines are read before anything is done.

    Raises RequestError (400, 413) or InvalidRequestError, with the number of the line.
    """
    lines: list[S] = []
    for number, line in iter_lines(raw):
        if len(lines) == most:
            raise RequestError(413, f"at most {most:,} lines at once")
        lines.append(_validated(line, model, f"line {number}"))
    return lines


def iter_lines(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the content of each line that is not blank."""
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            yield number, line


def single(headers: Sequence[tuple[bytes, bytes]], names: Sequence[str]) -> Mapping[str, str]:
    """Return those of the headers that are there, by their names in small letters.

    Raises RequestError for one that is there twice, and for one that is no plain text.
    """
    wanted = {name.lower().encode(): name.lower() for name in names}
    values: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name = wanted.get(raw_name.lower())
        if name is None:
            continue
        if name in values:
            raise RequestError(400, f"the header {name} is there twice")
        try:
            values[name] = raw_value.decode("ascii").strip()
        except UnicodeDecodeError:
            raise RequestError(400, f"the header {name} has other characters than ASCII") from None
    return values


def _validated(raw: bytes, model: type[S], where: str) -> S:
    try:
        return model.model_validate_json(raw)
    except ValidationError as exc:
        faults = exc.errors(include_url=False, include_input=False, include_context=False)
        if faults and faults[0]["type"] == "json_invalid":
            raise RequestError(400, f"{where} is no JSON", hint=faults[0]["msg"][:200]) from None
        raise InvalidRequestError(faults_of(exc, where)) from None


def _decoded(raw: bytes, what: str) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise RequestError(400, f"{what} is not UTF-8") from None


def invalid(where: str, what: str) -> InvalidRequestError:
    """Return the error for one field that a schema cannot describe."""
    return InvalidRequestError([FieldError(where=where, what=what)])
