"""The first steps show what their commands really print, and every command in the documentation exists."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_screens_of_the_first_steps_are_what_the_commands_print() -> None:
    """When this fails and the new screens are right: python scripts/render_screens.py"""
    script = runpy.run_path(str(ROOT / "scripts" / "render_screens.py"), run_name="render_screens")
    page = script["PAGE"].read_text(encoding="utf-8")
    with script["open_stage"]() as stage:
        rendered = script["render"](page, stage)
    assert script["same"](page) == script["same"](rendered)
    assert script["too_wide"](rendered) == []
