"""A repository with a memory, and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from tests.codebase import Codebase

from .site import Site, open_site


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    """The memory of a repository without lessons."""
    with Memory(str(Codebase(tmp_path / "harbour").folder)) as opened:
        yield opened


@pytest.fixture
def site(memory: Memory) -> Iterator[Site]:
    """The pages of that memory."""
    with open_site(memory) as opened:
        yield opened
