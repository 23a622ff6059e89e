"""The rooms: what each says of itself, the picture of them, and how much of them a hook loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import render_map

from tests.surfaces.hookcalls import Hooks
from tests.surfaces.test_hook_imports import loaded

SOURCE = Path(__file__).parents[1] / "src" / "holdfast"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
MOST_MODULES = 123
"""Modules of ours that a hook may load: each costs it some 0.1 ms. Merge modules before you raise this."""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_for_what_it_may_touch_and_where_to_begin(room: str) -> None:
    docstring = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text("utf-8"))) or ""
    purpose, _, rest = docstring.partition("\n\n")
    assert purpose
    assert rest.startswith("It may touch: ")
    assert "\nBegin with `" in rest


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_room_tells_to_begin_with_is_there(room: str) -> None:
    docstring = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text("utf-8"))) or ""
    begin = docstring.partition("Begin with `")[2].partition("`")[0]
    places = [SOURCE / room / begin, SOURCE / room / f"{begin}.py"]
    assert any(place.exists() for place in places), begin


def test_the_picture_of_the_rooms_shows_what_they_import() -> None:
    for path, text in render_map.render().items():
        assert path.read_text("utf-8") == text, f"{path.name} is out of date: make map"


def test_every_room_has_a_place_in_the_picture() -> None:
    drawn = {room for floor in render_map.load_floors() for room in floor}
    assert drawn == set(render_map.load_imports())


def test_an_arrow_that_a_longer_way_implies_is_not_drawn() -> None:
    imports = {"roof": {"wall", "ground"}, "wall": {"ground"}, "ground": set()}
    assert render_map.without_shortcuts(imports) == {"roof": {"wall"}, "wall": {"ground"}, "ground": set()}


def test_the_map_can_be_checked_by_a_command() -> None:
    script = Path(render_map.__file__)
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure"])
def test_a_hook_loads_no_more_of_the_rooms_than_it_did(tmp_path: Path, kind: str) -> None:
    hooks = Hooks(tmp_path)
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
    ours = {name for name in loaded(hooks, kind) if name.partition(".")[0] == "holdfast"}
    assert 0 < len(ours) <= MOST_MODULES
