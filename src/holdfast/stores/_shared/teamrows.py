"""Converts the records of a team server to rows and back: see `ports.team`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from holdfast.domain.team import AuditEntry, TeamRecord
from holdfast.errors import InvalidValueError, StaleWriteError, TakenError
from holdfast.lean.plain import clean
from holdfast.stores._shared.rows import DAMAGED, EPOCH, document, micros, record_of

T = TypeVar("T", bound=TeamRecord)

DAMAGED_ROW = "damaged.row"
"""The action of an audit entry that cannot be read."""


def row_of(record: TeamRecord) -> tuple[str, str, int | None, str]:
    """Return (kind, id, when it may be erased in microseconds, document)."""
    record, doc = document(record)
    return record.KIND, record.id, None if record.keep_until is None else micros(record.keep_until), doc


def keys_of(record: TeamRecord) -> list[tuple[str, str]]:
    """Return (field, value) of every value by which the record is found, cleaned."""
    pairs: list[tuple[str, str]] = []
    for name in record.FIND_BY:
        value = getattr(record, name)
        values = value if isinstance(value, tuple) else (value,)
        pairs += [(name, clean(text)) for text in dict.fromkeys(values) if text]
    return pairs


def read_record(kind: type[T], doc: str) -> T | None:
    """Return the record of a document, or None for a damaged one."""
    try:
        return record_of(kind, doc)
    except DAMAGED:
        return None


def the_key(kind: type[TeamRecord], where: Mapping[str, str] | None) -> tuple[str, str] | None:
    """Return the one (field, value) of a question, or None. Raises InvalidValueError for one that is not indexed."""
    if not where:
        return None
    ((name, value),) = where.items()
    if name not in kind.FIND_BY:
        raise InvalidValueError(f"a {kind.KIND} is not found by its {name}")
    return name, clean(value)


def taken(record: TeamRecord, field: str) -> TakenError:
    """Return the error for a value that another record has."""
    what = record.KIND.replace("_", " ")
    return TakenError(f"another {what} has this {field.replace('_', ' ')} already", hint=f"choose another {field}")


def entry_document(entry: AuditEntry) -> str:
    """Return the entry's document."""
    return document(entry)[1]


def read_entry(seq: int, doc: str) -> AuditEntry:
    """Return the entry of a row, at the row's position; one with the action DAMAGED_ROW if it cannot be read."""
    try:
        return record_of(AuditEntry, doc, seq=seq)  # one that was moved keeps its hash, which tells
    except DAMAGED:
        return AuditEntry(seq=seq, at=EPOCH, actor="", action=DAMAGED_ROW)


def require_next(last: int, entries: Sequence[AuditEntry]) -> None:
    """Raise StaleWriteError unless the entries follow the one with the position `last`, without gaps."""
    if [entry.seq for entry in entries] != list(range(last + 1, last + 1 + len(entries))):
        raise StaleWriteError("somebody else appended to the audit log")
