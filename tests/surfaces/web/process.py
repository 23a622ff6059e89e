"""`holdfast ui` as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the pages of a folder's memory; yield the process and the link that it prints."""
    command = [sys.executable, "-m", "holdfast", "ui", "-C", str(folder), "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        printed = ""
        while not (link := re.search(r"http://\S+/enter/\S+", printed)):
            line = process.stdout.readline()
            if not line:
                assert process.stderr is not None
                raise AssertionError(f"no link: {printed}{process.stderr.read()}")
            printed += line
        yield process, link.group()
    finally:
        process.kill()
        process.communicate()
