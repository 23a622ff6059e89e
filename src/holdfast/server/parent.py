"""Stops a worker whose watching process is gone, so that a new server can take the address."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import connection, parent_process


def end_with_parent() -> None:
    """Stop this worker when the process that watches it is gone, so that a new server can take the address."""
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True, name="holdfast-parent").start()
