"""Importer `claude_md`: CLAUDE.md, CLAUDE.local.md and .claude/rules (front matter `paths`).

Source: Claude Code 2.1 documentation of memory and rules, September 2026; checked against CLAUDE.md of several public
repositories; rules with `paths` against the documentation only.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """The importer; it has no options."""
    return RulesImporter("claude_md", names=("claude.md", "claude.local.md"), folders=(".claude/rules/",))
