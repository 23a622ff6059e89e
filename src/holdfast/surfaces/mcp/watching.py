"""Watching while the server runs: a daemon thread keeps the states of lessons where the next hook finds them.

It begins when the host has long had its tools, and ends with the server. Of several servers in one work tree one
watches; when that ends, another one takes over.
"""

from __future__ import annotations

import threading
from binascii import crc32

from holdfast.bootstrap import Memory
from holdfast.home.runfiles import Turn, note
from holdfast.surfaces.mcp.opening import MemoryOnce

SETTLE_S = 5.0
"""Before the first look, and before the next try when another server watches."""
RETRY_LIMIT_S = 300.0
"""Longest pause in seconds before a watch that failed is tried again."""


def start(memory: MemoryOnce) -> threading.Event:
    """Watch in a thread of its own until the event is set or the process ends."""
    ended = threading.Event()
    threading.Thread(target=_watch, args=(memory, ended), daemon=True, name="holdfast-watch").start()
    return ended


def _watch(memory: MemoryOnce, ended: threading.Event) -> None:
    """Try again after what failed, ever more rarely; each reason is noted once."""
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
        except Exception as exc:  # reading judges anew: without a watch a change is only told of later
            pause_s = min(2 * pause_s, RETRY_LIMIT_S)
            if str(exc) != noted and not ended.is_set():
                noted = str(exc)
                note(opened.settings.log_path, "server watch", exc)


def _look_on(memory: Memory, ended: threading.Event) -> None:
    """Look again and again, unless another server already does for this work tree."""
    name = f"watcher-{crc32(memory.place.root.encode('utf-8', 'surrogateescape')):08x}"
    with Turn(memory.settings.run_path, name) as ours:
        if not ours:
            return
        watch = memory.watch()
        while not ended.wait(watch.pause_s):
            watch.look()
