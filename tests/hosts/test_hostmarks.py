"""The table of marks that hooks read is made from the hosts' profiles."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_table_of_marks_is_made_from_the_profiles() -> None:
    pytest.importorskip("holdfast_hosts", reason="the table has its hosts too")
    render = runpy.run_path(str(ROOT / "scripts" / "render_host_marks.py"))["render"]
    assert (ROOT / "src/holdfast/lean/hostmarks.py").read_text(encoding="utf-8") == render()
