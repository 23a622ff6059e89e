"""The server's Memory, opened at its first use."""

from __future__ import annotations

import threading

from holdfast.bootstrap import Memory


class MemoryOnce:
    """Opens the Memory at its first use, in any thread, and returns the same Memory from then on."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._memory: Memory | None = None

    def __call__(self) -> Memory:
        """Return the Memory. If opening it raises an error, the next call tries again."""
        with self._lock:
            if self._memory is None:
                self._memory = Memory(self.folder)
            return self._memory

    def close(self) -> None:
        """Close the Memory if it was opened."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
