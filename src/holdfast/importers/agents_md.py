"""Importer `agents_md`: AGENTS.md and similar files that several agents read.

Source: agents.md (the open format) and the file names that Codex, Gemini CLI, goose, Aider and Zed look for, September
2026; AGENTS.md of wshobson/agents was imported.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.importers._shared.rules import RulesImporter


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter(
        "agents_md",
        names=(
            "agents.md",
            "agents.override.md",
            "agent.md",
            "gemini.md",
            "conventions.md",
            ".goosehints",
            ".rules",
        ),
        any_markdown=True,
    )
