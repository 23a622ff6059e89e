"""A memory wired as for a user, in a scratch home, about a small project without git."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two files."""
    folder = tmp_path / "harbour"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "tides.py").write_text("HIGH = 4\n")
    (folder / "README.md").write_text("# harbour\n")
    return folder


@pytest.fixture
def memory(home: Path, project: Path) -> Iterator[Memory]:
    """The project's memory."""
    with Memory(str(project)) as opened:
        yield opened
