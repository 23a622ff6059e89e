"""Stamps files, at the cost of a stat each, to show that one may have changed.

There is no subscription, so nothing can run out, be lost in an overflow or break when a folder is replaced. Stamps work
alike on every system and on network drives. Only files that lessons are about are stamped (ADR 10).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.ports.workspace import Stamps
from holdfast.workspace.gitfiles import find_checkout

Stamp = tuple[int, ...]

CHECKOUT_FILES = ("HEAD", "index", os.path.join("logs", "HEAD"), os.path.join("reftable", "tables.list"))
"""Files of a work tree's git folder. Every commit, switch, reset and rebase replaces at least one of them."""


def stamps(root: str, paths: Sequence[str]) -> Stamps:
    """Return the stamps of a work tree and of files in it; never raises for the state of the disk."""
    own = _stamp(root)
    if not own:
        return Stamps(files=((),) * len(paths))
    checkout = find_checkout(root)
    git = checkout.git + os.sep if checkout and checkout.root == root else ""
    state = tuple(part for name in CHECKOUT_FILES for part in _stamp(git + name) or (0,)) if git else ()
    inside = root + os.sep  # joined by hand: `os.path.join` costs half as much as the stat
    return Stamps(
        checkout=(own[0], *state),  # not the folder's times: they change with any file in it
        files=tuple([_stamp(inside + path) for path in paths]),
        busy=bool(git) and os.path.lexists(git + "index.lock"),
    )


def _stamp(path: str) -> Stamp:
    """Return inode, size and times; empty if the file cannot be examined.

    It includes the inode's change time, so an edit that restores the modification time is noticed too.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
