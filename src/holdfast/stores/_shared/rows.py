"""Converts records to rows and back, and counts rows that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from holdfast.lean.plain import clean, from_plain, storable, to_plain
from holdfast.lean.texts import dumps, loads

R = TypeVar("R")
V = TypeVar("V")

SESSION_PREFIX = "session "
"""Prefix of the session in which a lesson was learnt. It is stored among the lesson's tokens with the code 0, to find
lessons learnt next to it. No query asks for it."""

SCORE_STEPS = 1e9
"""Steps of a text score between 0 and 1: scores that differ by less are equal on every backend, and the newer is first.

Two backends may add up the words of a lesson in another order, and so differ in the last digits.
"""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

DAMAGED = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, RecursionError)
"""Errors from reading a damaged document: it is no JSON, not an object, or has an impossible field."""


def micros(at: datetime) -> int:
    """Return microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def instant(at: int) -> datetime:
    """Return the aware UTC time of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=at)


def clean_all(texts: Iterable[str]) -> list[str]:
    """Return each text cleaned."""
    return [clean(text) for text in texts]


def document(record: R) -> tuple[R, str]:
    """Return the record as it can be stored (cleaned if necessary) and its JSON."""
    doc = dumps(to_plain(record))
    if "\\u0000" not in doc and clean(doc) == doc:
        return record, doc
    record = storable(record)
    return record, dumps(to_plain(record))


def record_of(kind: type[R], doc: str, **known: Any) -> R:
    """Return the record of a document; the fields in `known` come from the row and override the document's."""
    return from_plain(kind, {**loads(doc), **known})


class LeftOut:
    """Rows that reads have left out because of damaged documents, since the store was opened.

    A read that finds one adds it here and repeats its query without it, so that limits and offsets count readable rows.
    """

    def __init__(self) -> None:
        self.rows: dict[str, set[int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def but(self, table: str, column: str) -> str:
        """Return SQL for: not one of the rows of that table that were left out before."""
        rows = self.rows.get(table)
        return f"{column} NOT IN ({', '.join(map(str, sorted(rows)))})" if rows else "1"

    def add(self, table: str, row: int) -> None:
        """Add a damaged row."""
        self.rows.setdefault(table, set()).add(row)


def read_rows(
    table: str, ask: Callable[[], Iterable[tuple[Any, ...]]], read: Callable[..., V], left_out: LeftOut
) -> list[tuple[int, V]]:
    """Return (row, value) for the rows of `ask`; each row is a row number and the arguments of `read`.

    Damaged rows are added to `left_out`, and `ask`, which must exclude them, is called again.
    """
    while True:
        values, damaged = [], False
        for row, *columns in ask():
            try:
                values.append((row, read(*columns)))
            except DAMAGED:
                left_out.add(table, row)
                damaged = True
        if not damaged:
            return values
