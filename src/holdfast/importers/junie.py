"""Importer `junie`: .junie/guidelines.md (and .junie/AGENTS.md), the guidelines of JetBrains Junie.

Source: JetBrains documentation of Junie guidelines, September 2026; not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter("junie", folders=(".junie/",))
