"""Importer `cline`: .clinerules, a file or a folder of .md and .txt (front matter `paths`), and .cline/rules.

Source: checked against .clinerules of cline/cline, September 2026; `paths` against the documentation only. Hooks and
workflows in the same folder are no rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter(
        "cline",
        names=(".clinerules",),
        folders=(".clinerules/", ".cline/rules/", "documents/cline/rules/"),
        suffixes=(".md", ".txt"),
        without=("/hooks/", "/workflows/"),
    )
