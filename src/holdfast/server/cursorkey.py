"""The key that seals cursors: made once, kept in Holdfast's home, and the same for all workers."""

from __future__ import annotations

import os
from contextlib import suppress
from secrets import token_bytes

from holdfast.errors import InvalidValueError

NAME = "cursors.key"
BYTES = 32


def load_cursor_key(home: str) -> bytes:
    """Return the key, which is made at the first start. Raises InvalidValueError if it can be neither read nor made."""
    path = os.path.join(home, NAME)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as stream:
                stream.write(token_bytes(BYTES))
        with open(path, "rb") as stream:
            key = stream.read()
    except OSError as exc:
        raise InvalidValueError(f"{path}: {exc.strerror}", hint="the server must be able to write its home") from exc
    if len(key) != BYTES:
        raise InvalidValueError(f"{path} is not a key of {BYTES} bytes", hint="remove it; the server makes another one")
    return key
