"""Rows of SQLite: what text columns hold, and words that stand for an owner. `_shared.rows` converts records."""

from __future__ import annotations

from holdfast.lean.plain import clean as clean
from holdfast.ports.store import TokenSource
from holdfast.stores._shared.rows import DAMAGED as DAMAGED
from holdfast.stores._shared.rows import SESSION_PREFIX as SESSION_PREFIX
from holdfast.stores._shared.rows import LeftOut as LeftOut
from holdfast.stores._shared.rows import clean_all as clean_all
from holdfast.stores._shared.rows import document as document
from holdfast.stores._shared.rows import instant as instant
from holdfast.stores._shared.rows import micros as micros
from holdfast.stores._shared.rows import read_rows as read_rows
from holdfast.stores._shared.rows import record_of as record_of

SOURCE_CODES: dict[TokenSource, float] = {
    "error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6, "mention": 0.5, "part": 0.4,
}  # fmt: skip
"""Codes for a token's source in the column `weight` of the table `tokens`. Existing files contain them. `ranking`
decides what a hit is worth."""


def text_of(raw: bytes) -> str:
    """Decode a text column; a value that is not UTF-8 gets a leading NUL, so that it never parses as a document.

    The driver's own decoding would raise, and one damaged row would end the whole answer.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "\0" + raw.decode("latin-1")


def scope_token(owner: str) -> str:
    """Return the word that stands for an owner in the full text; its last digit keeps the stemmer from changing it."""
    return f"zp{owner.encode().hex()}0" if owner else "zu0"


def slots(count: int) -> str:
    """Return that many placeholders: `?, ?, ?`."""
    return ", ".join("?" * count)
