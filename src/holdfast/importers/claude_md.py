"""Importer `claude_md`: CLAUDE.md, CLAUDE.local.md and .claude/rules (front matter `paths`).

Source: what is known of Claude Code 2.1's memory and rules, September 2026; not checked against a real CLAUDE.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter("claude_md", names=("claude.md", "claude.local.md"), folders=(".claude/rules/",))
