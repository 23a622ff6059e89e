"""Importer `copilot`: .github/copilot-instructions.md and .github/instructions/*.instructions.md (`applyTo`).

Source: GitHub documentation of repository custom instructions, September 2026; not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter(
        "copilot",
        names=("copilot-instructions.md",),
        folders=(".github/instructions/", ".copilot/instructions/"),
        suffixes=(".instructions.md",),
    )
