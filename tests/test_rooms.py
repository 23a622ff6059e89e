"""The picture of the rooms."""

from __future__ import annotations

from scripts import render_map


def test_an_arrow_that_a_longer_way_implies_is_not_drawn() -> None:
    imports = {"roof": {"wall", "ground"}, "wall": {"ground"}, "ground": set()}
    assert render_map.without_shortcuts(imports) == {"roof": {"wall"}, "wall": {"ground"}, "ground": set()}
