"""Records to plain JSON values and back, for the database's documents and for export."""

from __future__ import annotations

from datetime import datetime

from holdfast.domain.clocktext import parse_instant, render_instant
from holdfast.domain.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeVar

    R = TypeVar("R", bound=Frozen)

INSTANTS = frozenset({"at", "recorded_at", "retracted_at", "valid_from", "valid_to"})
"""Names of the fields that hold an instant, in every record."""


def to_plain(value: Any) -> Any:
    """Dicts, lists, strings, numbers, booleans and None; fields that hold their default are left out."""
    if isinstance(value, Frozen):
        kind = type(value)
        return {
            name: to_plain(held)
            for name, held in value.__dict__.items()
            if not (hasattr(kind, name) and getattr(kind, name) == held)
        }
    if isinstance(value, datetime):
        return render_instant(value)
    if isinstance(value, (tuple, list)):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[R], plain: Mapping[str, Any]) -> R:
    """The record of that type; unknown keys (of a newer version) are ignored.

    Raises TypeError when a required field is missing and InvalidValueError when a value is impossible.
    """
    return kind(**{name: _field(kind, name, plain[name]) for name in kind.fields_ if name in plain})


def _field(kind: type[Frozen], name: str, held: Any) -> Any:
    inner = kind.nested_.get(name)
    if inner is not None and isinstance(held, dict):
        return from_plain(inner, held)
    if inner is not None and isinstance(held, list):
        return tuple(from_plain(inner, item) for item in held)
    if name in INSTANTS and isinstance(held, str):
        return parse_instant(held)
    if isinstance(held, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in held)
    return held
