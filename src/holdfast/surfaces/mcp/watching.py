"""Watches the code of lessons while the server runs, so that the next hook finds their current states.

A daemon thread watches. It starts after the host has its tools and ends with the server. If several servers run in one
work tree, only one of them watches; when it ends, another takes over.
"""

from __future__ import annotations

import threading
from binascii import crc32

from holdfast.bootstrap import Memory
from holdfast.home.runfiles import RunLock, note
from holdfast.surfaces.mcp.opening import MemoryOnce

SETTLE_S = 5.0
"""Before the first look, and before the next try when another server watches."""
RETRY_LIMIT_S = 300.0
"""Longest pause in seconds before a watch that failed is tried again."""


def start(memory: MemoryOnce) -> threading.Event:
    """Watch in a thread; return the event that ends it. The end of the process ends it too."""
    ended = threading.Event()
    threading.Thread(target=_watch, args=(memory, ended), daemon=True, name="holdfast-watch").start()
    return ended


def _watch(memory: MemoryOnce, ended: threading.Event) -> None:
    """Watch, and try again after an error with doubled pauses; the same error is logged once."""
    pause_s, noted = SETTLE_S, ""
    while not ended.wait(pause_s):
        try:
            opened = memory()
        except Exception:  # the tools report it
            pause_s = min(2 * pause_s, RETRY_LIMIT_S)
            continue
        try:
            _look_on(opened, ended)
            pause_s = SETTLE_S
        except Exception as exc:  # without a watch a change is noticed later, when the lesson is read
            pause_s = min(2 * pause_s, RETRY_LIMIT_S)
            if str(exc) != noted and not ended.is_set():
                noted = str(exc)
                note(opened.settings.log_path, "server watch", exc)


def _look_on(memory: Memory, ended: threading.Event) -> None:
    """Look at the code repeatedly until `ended`; return at once if another server watches this work tree."""
    name = f"watcher-{crc32(memory.location.root.encode('utf-8', 'surrogateescape')):08x}"
    with RunLock(memory.settings.run_path, name) as ours:
        if not ours:
            return
        watch = memory.watch()
        while not ended.wait(watch.pause_s):
            watch.look()
