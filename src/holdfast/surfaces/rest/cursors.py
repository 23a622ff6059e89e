"""Cursors: where a page ended, as a text that only this server can make.

A cursor is sealed together with what it belongs to: operation, organisation, project and the other values of the query.
So one that was invented, changed or taken from another list is refused (410) instead of answered.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256

from holdfast.errors import HoldfastError
from holdfast.lean.texts import dumps, loads
from holdfast.surfaces.rest.problems import RequestError

SEAL_BYTES = 12
"""Bytes of a seal: nobody guesses 96 bits by asking."""


class Cursors:
    """Makes and reads cursors with one key; every worker of a server has the same one."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def make(self, values: Sequence[str | int], belongs: Sequence[str]) -> str:
        """Return the cursor for the position with those values."""
        content = dumps(list(values)).encode()
        return urlsafe_b64encode(self._seal(content, belongs) + content).decode().rstrip("=")

    def read(self, cursor: str, belongs: Sequence[str]) -> list[str | int]:
        """Return the values of the position. Raises RequestError (410) for any other text."""
        try:
            raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            seal, content = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
            if not hmac.compare_digest(seal, self._seal(content, belongs)):
                raise ValueError
            values: list[str | int] = loads(content.decode())
        except (ValueError, HoldfastError):
            raise RequestError(410, "this cursor is not one of this list") from None
        return values

    def _seal(self, content: bytes, belongs: Sequence[str]) -> bytes:
        words = "\0".join(belongs).encode()
        return hmac.new(self._key, words + b"\0\0" + content, sha256).digest()[:SEAL_BYTES]
