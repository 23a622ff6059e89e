"""The example repository, as the documentation's examples find it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "ledger" / "repository"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A copy of the example repository, committed."""
    folder = tmp_path / "ledger"
    shutil.copytree(EXAMPLE, folder)
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Split bills"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
    return folder
