"""A user's machine for hostile tests: a scratch home that `holdfast setup` was run in, and a repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.hostile._machine import Machine
from benchmarks.hostile.faults import Ground


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One that knows nothing yet."""
    made = Machine(tmp_path, sys.executable)
    assert made.setup.code == 0, made.setup.err
    return made


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """Where machines with some lessons are made."""
    return Ground(tmp_path, True, sys.executable)
