"""Unpacks Zstandard with the standard library (from Python 3.14) or else with the package `zstandard`."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator

from holdfast.errors import HostConfigError

UNPACKED_LIMIT = 256 * 1024 * 1024
"""Bytes of one unpacked text."""

MODULES = ("compression.zstd", "zstandard")


def unpack(packed: bytes) -> bytes:
    """Return the unpacked bytes. Raises HostConfigError if there is no module for it, or the bytes are damaged."""
    with io.BytesIO(packed) as stream:
        return _read(stream)


def unpacked_lines(path: str) -> Iterator[str]:
    """Yield the lines of a compressed file. Raises OSError or HostConfigError."""
    with open(path, "rb") as packed:
        text = _read(packed).decode("utf-8", "replace")
    yield from text.splitlines(keepends=True)


def _read(packed: io.IOBase) -> bytes:
    try:
        with _opened(packed) as stream:
            return bytes(stream.read(UNPACKED_LIMIT))
    except (OSError, HostConfigError):
        raise
    except Exception as exc:  # each module has its own errors
        raise HostConfigError(f"compressed text cannot be read: {exc}", hint="it was left out") from exc


def _opened(packed: io.IOBase) -> io.IOBase:
    if is_there(MODULES[0]):
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        return zstd.ZstdFile(packed)  # type: ignore[no-any-return,unused-ignore]
    if is_there(MODULES[1]):
        import zstandard  # type: ignore[import-not-found,unused-ignore]

        return zstandard.ZstdDecompressor().stream_reader(packed)  # type: ignore[no-any-return,unused-ignore]
    raise HostConfigError("it is compressed with zstd", hint="install the package zstandard, or use Python 3.14")


def is_there(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
