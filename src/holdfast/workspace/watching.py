"""Stamps of files: what tells that one may have changed, for the price of a stat.

Nothing is subscribed to, so nothing can run out, be lost in an overflow or go blind when a folder is replaced; it
works alike on every system and on network drives. Only files that lessons are about are looked at (ADR 10).
"""

from __future__ import annotations

import os

from holdfast.ports.workspace import Stamps
from holdfast.workspace.gitfiles import find_checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Stamp = tuple[int, ...]

CHECKOUT_FILES = ("HEAD", "index", os.path.join("logs", "HEAD"), os.path.join("reftable", "tables.list"))
"""Files of a work tree's git folder of which one at least is replaced by every commit, switch, reset and rebase."""


def stamps(root: str, paths: Sequence[str]) -> Stamps:
    """The stamps of a work tree and of files in it; never raises for the state of the disk."""
    own = _stamp(root)
    if not own:
        return Stamps(files=((),) * len(paths))
    checkout = find_checkout(root)
    git = checkout.git + os.sep if checkout and checkout.root == root else ""
    state = tuple(part for name in CHECKOUT_FILES for part in _stamp(git + name) or (0,)) if git else ()
    inside = root + os.sep  # joined by hand: `os.path.join` costs half as much as the stat
    return Stamps(
        checkout=(own[0], *state),  # not the folder's times: they tell of any file that comes or goes
        files=tuple([_stamp(inside + path) for path in paths]),
        busy=bool(git) and os.path.lexists(git + "index.lock"),
    )


def _stamp(path: str) -> Stamp:
    """Inode, size and times; empty for what cannot be looked at.

    The time of the last change of the inode is part of it: an edit that restores the modification time is seen too.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
