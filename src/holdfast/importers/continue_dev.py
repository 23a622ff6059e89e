"""Importer `continue_dev`: .continue/rules/*.md (front matter `globs`, `name`, `alwaysApply`) and .continuerules.

Source: documentation and source of continuedev/continue, September 2026; not checked against real files.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter("continue_dev", names=(".continuerules",), folders=(".continue/rules/",))
