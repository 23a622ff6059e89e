"""Replaces this process by another program of Holdfast, so that the command line does not stay in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn


def become(command: list[str]) -> NoReturn:
    """Run the command in place of this process; never returns.

    Windows cannot replace a process, and the host waits for this one. There the command is a child, and this process
    exits with its exit code.
    """
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
