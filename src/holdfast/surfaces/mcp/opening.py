"""The Memory behind the server, opened at the first use."""

from __future__ import annotations

import threading

from holdfast.bootstrap import Memory


class MemoryOnce:
    """Opens the Memory at the first use, in whichever thread that is, and gives the same one ever after."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    def __call__(self) -> Memory:
        """The one Memory; raises what opening it raises, and tries again at the next call."""
        with self._lock:
            if self._memory is None:
                self._memory = Memory(self.folder)
            return self._memory

    def close(self) -> None:
        """Close what was opened, if anything was."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
