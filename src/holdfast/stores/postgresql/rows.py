"""Rows of PostgreSQL: keys of bounded length, and codes of sources. `_shared.rows` converts records."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from zlib import crc32

from holdfast.lean.plain import clean
from holdfast.ports.store import TokenSource
from holdfast.stores._shared.rows import LeftOut

KEY_BYTES = 500
"""Longest text of a key: an entry of a B-tree has at most 2,700 bytes."""
HEAD_BYTES = 400
"""How much of a longer text its key begins with."""

SOURCE_CODES: dict[TokenSource, int] = {
    "error": 1, "command": 2, "topic": 3, "symbol": 4, "path": 5, "file": 6, "mention": 7, "part": 8,
}  # fmt: skip
"""Codes of a token's source, the most significant first, in the column `source` of the table `tokens`."""
SESSION_CODE = 0
"""The code of the session in which a lesson was learnt."""


def key(text: str) -> str:
    """Return the text as a key: cleaned, and if it is over KEY_BYTES, its beginning and a digest.

    Equal texts have equal keys, and the key of a key is that key.
    """
    text = clean(text)
    if len(text) * 4 <= KEY_BYTES:
        return text
    encoded = text.encode()
    if len(encoded) <= KEY_BYTES:
        return text
    return f"{encoded[:HEAD_BYTES].decode(errors='ignore')}…{sha256(encoded).hexdigest()}"


def keys(texts: Iterable[str]) -> list[str]:
    """Return each text as a key."""
    return [key(text) for text in texts]


def scope_number(owner: str) -> int:
    """Return the number that stands for an owner in derived rows: 32 bits, signed.

    Two owners may have one number, so whoever reads by it checks the owner as well.
    """
    number = crc32(clean(owner).encode())
    return number - 2**32 if number >= 2**31 else number


def but(left_out: LeftOut, table: str, column: str = "position") -> str:
    """Return SQL for: not one of the rows of that table that were left out before."""
    rows = left_out.rows.get(table)
    return f"{column} NOT IN ({', '.join(map(str, sorted(rows)))})" if rows else "true"
