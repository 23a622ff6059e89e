"""Promises about the shape of the code that the import contracts cannot state."""

from __future__ import annotations

import inspect

import holdfast
from holdfast import plugins
from holdfast.ports.store import Store


def test_the_package_offers_just_what_it_promises() -> None:
    assert sorted(holdfast.__all__) == ["Briefing", "HoldfastError", "Lesson", "Memory", "Query", "__version__"]
    assert all(getattr(holdfast, name) is not None for name in holdfast.__all__)


def test_a_store_has_at_most_12_methods_of_at_most_4_arguments() -> None:
    methods = [held for name, held in inspect.getmembers(Store, inspect.isfunction) if not name.startswith("_")]
    assert 0 < len(methods) <= 12
    assert all(len(inspect.signature(method).parameters) - 1 <= 4 for method in methods)


def test_every_built_in_plug_in_can_be_made() -> None:
    for kind in ("hosts", "detectors", "importers"):
        for name in plugins.builtin_names(kind):
            assert plugins.load(kind, name) is not None


def test_private_files_of_a_room_are_no_plug_ins() -> None:
    for kind in plugins.KINDS:
        assert not [name for name in plugins.builtin_names(kind) if name.startswith("_") or "." in name]
