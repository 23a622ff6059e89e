"""Importer `roo`: .roorules, .roo/rules and .roo/rules-<mode>.

Source: Roo Code documentation of custom instructions, 2026-04 (its last release); not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter(
        "roo",
        names=(".roorules", ".roorules-code", ".roorules-architect", ".roorules-ask", ".roorules-debug"),
        folders=(
            ".roo/rules/",
            ".roo/rules-code/",
            ".roo/rules-architect/",
            ".roo/rules-ask/",
            ".roo/rules-debug/",
        ),
        suffixes=(".md", ".txt"),
    )
