"""Reads a foreign text file: UTF-8 with or without a byte order mark, any line ends, never a binary."""

from __future__ import annotations

from holdfast.errors import InvalidValueError
from holdfast.ports.importer import Source

LARGEST = 50_000_000
"""Bytes of the largest text file that is read."""
LARGEST_MARKDOWN = 500_000
"""Bytes of the largest file that people or agents wrote by hand."""


def load_text(source: Source, largest: int = LARGEST) -> str:
    """Return the file's text with plain line ends; bytes that are not UTF-8 are replaced.

    Raises InvalidValueError for a binary file and for one of more than `largest` bytes, OSError for disk errors.
    """
    with open(source.path, "rb") as stream:
        raw = stream.read(largest + 1)
    if len(raw) > largest:
        raise InvalidValueError(f"{source.label} is larger than {largest:,} bytes", hint="import its parts")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _plain_ends(raw.decode("utf-16", "replace"))
    if b"\0" in raw:
        raise InvalidValueError(f"{source.label} is not a text file")
    return _plain_ends(raw.decode("utf-8-sig", "replace"))


def load_markdown(source: Source) -> str:
    """Return the text of a file that people or agents wrote by hand, with a smaller limit than `load_text`."""
    return load_text(source, LARGEST_MARKDOWN)


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
