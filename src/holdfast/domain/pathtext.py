"""Paths and the URLs of files as texts, whatever system they are of. Lean: hooks import it."""

from __future__ import annotations

FILE_URL = "sqlite://"


def has_drive(path: str) -> bool:
    """Whether it begins with a Windows drive, such as `C:\\app` or `c:/app`."""
    return path[1:3] in (":\\", ":/") and path[0].isascii() and path[0].isalpha()


def file_url(path: str) -> str:
    """The URL of a database at that absolute path: `sqlite:///home/ada/m.db`, `sqlite:///C:/Users/ada/m.db`."""
    return f"{FILE_URL}/{path.replace(chr(92), '/')}" if has_drive(path) else FILE_URL + path


def file_of(url: str) -> str:
    """The absolute path in such a URL; empty for another kind of URL."""
    path = url.removeprefix(FILE_URL)
    if path == url:
        return ""
    return path[1:] if has_drive(path[1:]) else path
