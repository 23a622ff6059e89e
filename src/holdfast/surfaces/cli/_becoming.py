"""Going on as another program of ours, so that nothing of this one stays in memory."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def become(command: list[str]) -> NoReturn:
    """Never returns. Windows cannot replace a process, and a host waits for ours: there we end when that one does."""
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
