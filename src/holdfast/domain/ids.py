"""Identifiers: time-ordered UUIDs (RFC 9562 version 7) built from a clock's milliseconds and random bytes."""

from __future__ import annotations

SHORT = 8
"""Characters of an id shown to a person; taken from its random end, where ids of one moment differ."""


def uuid7(time_ms: int, random: bytes) -> str:
    """The version 7 UUID of that millisecond with 10 random bytes, as 36 characters.

    Source: RFC 9562, section 5.7.
    """
    tail = bytearray(random[:10])
    tail[0] = 0x70 | tail[0] & 0x0F
    tail[2] = 0x80 | tail[2] & 0x3F
    digits = time_ms.to_bytes(6, "big").hex() + tail.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def short_id(full: str) -> str:
    """The last eight characters of an id: what the command line prints and accepts."""
    return full[-SHORT:]
