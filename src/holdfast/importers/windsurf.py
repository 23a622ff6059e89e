"""Importer `windsurf`: .windsurfrules, .windsurf/rules and .devin/rules (`trigger`, `globs`), the global rules file.

Source: Windsurf and Devin documentation of rules, September 2026; not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter(
        "windsurf",
        names=(".windsurfrules", "global_rules.md"),
        folders=(".windsurf/rules/", ".devin/rules/"),
    )
