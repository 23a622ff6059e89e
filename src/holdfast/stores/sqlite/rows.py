"""Records to rows and back, and what SQL text cannot hold made harmless."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from holdfast.lean.plain import clean as clean
from holdfast.lean.plain import from_plain, storable, to_plain
from holdfast.lean.records import Frozen
from holdfast.lean.texts import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from holdfast.ports.search import TokenSource

    R = TypeVar("R", bound=Frozen)
    V = TypeVar("V")

SOURCE_CODES: dict[TokenSource, float] = {
    "error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6, "mention": 0.5, "part": 0.4,
}  # fmt: skip
"""How the table `tokens` says what a token is, in its column `weight`: codes, of which older files are full. What a
hit is worth is decided in `ranking`."""
SESSION_PREFIX = "session "
"""Before the session a lesson was learnt in, among its tokens, with the code 0: what else was learnt there is near
it. It is nothing to ask for."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def instant(at: int) -> datetime:
    """The aware UTC time of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=at)


def clean_all(texts: Iterable[str]) -> list[str]:
    """Each text cleaned."""
    return [clean(text) for text in texts]


def document(record: R) -> tuple[R, str]:
    """The record as it can be kept (cleaned when it must be) and its JSON."""
    doc = dumps(to_plain(record))
    if "\\u0000" not in doc and clean(doc) == doc:
        return record, doc
    record = storable(record)
    return record, dumps(to_plain(record))


def record_of(kind: type[R], doc: str, **known: Any) -> R:
    """The record of a document; `known` are fields the row tells better than the document."""
    return from_plain(kind, {**loads(doc), **known})


DAMAGED = (TypeError, ValueError, AttributeError, KeyError, IndexError, OverflowError, RecursionError)
"""What reading a damaged document may raise: it is no JSON, not an object, or a field of it is impossible."""


class LeftOut:
    """Rows that reads left out because their document is damaged, since the store was opened.

    A read that meets one notes it here and asks again without it, so that limits and offsets count readable rows.
    """

    def __init__(self) -> None:
        self.rows: dict[str, set[int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def but(self, table: str, column: str) -> str:
        """SQL for: not one of the rows of that table that were left out before."""
        rows = self.rows.get(table)
        return f"{column} NOT IN ({', '.join(map(str, sorted(rows)))})" if rows else "1"

    def add(self, table: str, row: int) -> None:
        """Note one more row."""
        self.rows.setdefault(table, set()).add(row)


def read_rows(
    table: str, ask: Callable[[], Iterable[tuple[Any, ...]]], read: Callable[..., V], left_out: LeftOut
) -> list[tuple[int, V]]:
    """Return (row, value) of what `ask` finds; each of its rows is a row number and the arguments of `read`.

    Damaged rows are noted in `left_out`, and `ask`, which must keep to it, is called again.
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


def text_of(raw: bytes) -> str:
    """A text column's value; one that is not UTF-8 begins with a NUL, so that nothing takes it for a document.

    The driver's own decoding would raise and end the whole answer because of one damaged row.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "\0" + raw.decode("latin-1")


def scope_token(owner: str) -> str:
    """A word that stands for an owner in the full text; the last digit keeps the stemmer from touching it."""
    return f"zp{owner.encode().hex()}0" if owner else "zu0"


def slots(count: int) -> str:
    """`?, ?, ?`: as many placeholders."""
    return ", ".join("?" * count)
