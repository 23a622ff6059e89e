"""The rooms: what each says of itself, the picture of them, and how much of them a hook loads."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import render_map

from tests.surfaces.hookcalls import Hooks
from tests.surfaces.test_hook_imports import loaded

MOST_MODULES = 123
"""Modules of ours that a hook may load: each costs it some 0.1 ms. Merge modules before you raise this."""


def test_an_arrow_that_a_longer_way_implies_is_not_drawn() -> None:
    imports = {"roof": {"wall", "ground"}, "wall": {"ground"}, "ground": set()}
    assert render_map.without_shortcuts(imports) == {"roof": {"wall"}, "wall": {"ground"}, "ground": set()}


@pytest.mark.parametrize("kind", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"])
def test_a_hook_loads_no_more_of_the_rooms_than_it_did(tmp_path: Path, kind: str) -> None:
    hooks = Hooks(tmp_path)
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
    ours = {name for name in loaded(hooks, kind) if name.partition(".")[0] == "holdfast"}
    assert 0 < len(ours) <= MOST_MODULES
