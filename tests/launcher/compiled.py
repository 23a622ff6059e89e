"""The launcher, compiled once for all tests."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from launcher.build import build_here


@cache
def launcher(*flags: str) -> str:
    """Path of the launcher made with these further flags; empty where there is no compiler."""
    folder = tempfile.mkdtemp(prefix="holdfast-launcher-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    program = Path(folder) / "hook"
    build_here(program, *flags)
    return str(program) if program.exists() else ""
