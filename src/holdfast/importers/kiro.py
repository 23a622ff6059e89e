"""Importer `kiro`: .kiro/steering/*.md (front matter `inclusion`, `fileMatchPattern`).

Source: Kiro documentation of steering, September 2026; not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter("kiro", folders=(".kiro/steering/",))
