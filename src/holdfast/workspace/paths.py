"""Handles paths of this machine: forms in which hosts send them, and containment.

Pure except for the defaults, so that each system's rules can be tested on every system. `flavour` is `ntpath` or
`posixpath`; `folds` means that the system treats `Shop` and `shop` as one folder, as Windows and macOS do by default.
Cursor on Windows writes folders as in a URI, `/c:/Users/ada` (reports of its hooks' `workspace_roots`, 2026-11-21);
tools that run in Git Bash write `/c/Users/ada`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import ModuleType

from holdfast.lean.texts import has_drive

FOLDS = sys.platform in ("win32", "darwin")
LONG, LONG_SHARE = "\\\\?\\", "\\\\?\\UNC\\"
"""How Windows marks a path that may be longer than 260 characters."""

HOMES = ("home", "users")
"""Top-level folders that contain people's homes."""


def native(path: str, flavour: ModuleType = os.path) -> str:
    """Return the path as this system writes it; empty for a path of another system, which names nothing here."""
    if flavour.sep == "/":
        return "" if has_drive(path) or path.startswith(LONG) else path
    if path.startswith(LONG):
        return "\\\\" + path[len(LONG_SHARE) :] if path.startswith(LONG_SHARE) else path[len(LONG) :]
    if has_drive(path[1:]) and path[0] in "/\\":
        return path[1:]
    if path[:1] == "/" and path[1:2].isascii() and path[1:2].isalpha() and path[2:3] in ("", "/"):
        return f"{path[1]}:{path[2:] or '/'}"
    return path


def inside(root: str, path: str, flavour: ModuleType = os.path, folds: bool = FOLDS) -> str:
    """Return `path` relative to `root` with forward slashes; empty if it is not below it. Both are normalised."""
    stem = root.rstrip(flavour.sep) + flavour.sep
    head = path[: len(stem)]
    if head != stem and not (folds and head.lower() == stem.lower()):
        return ""
    return path[len(stem) :].replace(flavour.sep, "/")


def project_roots(folder: str, flavour: ModuleType = os.path) -> Iterator[str]:
    """Yield the folders that may be the root of a project without git: the folder, and those above it.

    Shared folders are left out: a home folder or `/tmp` that was once a session's folder must not become the project of
    everything in it.
    """
    yield folder
    above = flavour.dirname(folder)
    while not _is_everybodys(above, flavour):
        yield above
        above = flavour.dirname(above)


def _is_everybodys(folder: str, flavour: ModuleType) -> bool:
    """Return whether the folder is the top, directly below it, or a person's home."""
    parent = flavour.dirname(folder)
    above = flavour.dirname(parent)
    if above == parent:
        return True
    return flavour.basename(parent).lower() in HOMES and flavour.dirname(above) == above
