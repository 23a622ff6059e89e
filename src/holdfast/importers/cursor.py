"""Importer `cursor`: .cursorrules and .cursor/rules/**/*.mdc (front matter `globs`, `description`, `alwaysApply`).

Source: checked against PatrickJS/awesome-cursorrules, steipete/agent-rules and wshobson/agents, September 2026. Their
front matter is often no YAML (`globs: **/*.ts, *.js`).
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter("cursor", names=(".cursorrules",), folders=(".cursor/rules/",), suffixes=(".mdc", ".md"))
