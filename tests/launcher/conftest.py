from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.compiled import launcher
from tests.launcher.machine import Machine


@pytest.fixture
def machine() -> Iterator[Machine]:
    program = launcher()
    if not program:
        pytest.skip("there is no C compiler")
    with tempfile.TemporaryDirectory(prefix="hf") as folder:  # short enough for a socket's address
        made = Machine(Path(folder), program)
        yield made
        made.close()
