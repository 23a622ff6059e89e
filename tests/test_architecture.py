"""Promises about the shape of the code that the import contracts cannot state."""

from __future__ import annotations

import holdfast
from holdfast import plugins


def test_the_package_offers_just_what_it_promises() -> None:
    names = ["Briefing", "HoldfastError", "Lesson", "Memory", "Query", "__version__", "open_memory"]
    assert sorted(holdfast.__all__) == names
    assert all(getattr(holdfast, name) is not None for name in holdfast.__all__)


def test_every_built_in_plug_in_can_be_made() -> None:
    for kind in ("hosts", "detectors", "importers"):
        for name in plugins.builtin_names(kind):
            assert plugins.load(kind, name) is not None


def test_private_files_of_a_room_are_no_plug_ins() -> None:
    for kind in plugins.KINDS:
        assert not [name for name in plugins.builtin_names(kind) if name.startswith("_") or "." in name]
