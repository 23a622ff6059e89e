"""What a cold hook says of a lesson whose code has changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codebase import Codebase
from tests.surfaces.hookcalls import Hooks

LEDGER = """\
def rounded(amount, rate):
    return round(amount * rate, 2)


def total(amounts):
    return sum(amounts)
"""
UNCHANGED = re.compile(r"\(user, \d+ [A-Z][a-z]{2}\)")
"""Source, day and place of a lesson, and no word about a change."""


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    """A project with a lesson about one of its two functions."""
    hooks = Hooks(tmp_path)
    (hooks.project / "ledger.py").write_text(LEDGER)
    with hooks.memory() as memory:
        memory.remember("Round half to even, never half up.", files=["ledger.py::rounded"])
    return hooks


def edit(hooks: Hooks, old: str, new: str) -> None:
    file = hooks.project / "ledger.py"
    file.write_text(file.read_text().replace(old, new))


def test_the_delivery_says_what_changed(hooks: Hooks) -> None:
    assert UNCHANGED.search(hooks.call("PreToolUse", "before"))
    edit(hooks, "(amount, rate)", "(amount, rate, places=2)")
    assert "rounded signature changed" in hooks.call("PreToolUse", "after")
    assert hooks.log == ""


def test_where_git_has_the_code_of_then_the_difference_is_named(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    code = Codebase(tmp_path / "harbour")
    hooks.project = code.folder
    with hooks.memory() as memory:
        memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.edit("src/store.py", "def put(self, key, value)", "def put(self, key, value, timeout=3)")
    path = {"tool_input": {"file_path": "src/store.py", "old_string": "a", "new_string": "b"}}
    assert "Store.put signature: timeout added" in hooks.call("PreToolUse", **path)
    code.git("switch", "-q", "-c", "feature")
    code.commit("with a time-out")
    code.git("switch", "-q", "--orphan", "apart")
    code.write("src/store.py", "class Store:\n    def put(self):\n        return 1\n")
    code.commit("apart")
    assert "not verified: recorded on another branch (main)" in hooks.call("PreToolUse", "s2", **path)
    assert hooks.log == ""


def test_an_edit_elsewhere_in_the_file_is_no_news(hooks: Hooks) -> None:
    edit(hooks, "return sum(amounts)", "return sum(amounts, start=0)")
    assert UNCHANGED.search(hooks.call("PreToolUse"))
    assert hooks.log == ""
