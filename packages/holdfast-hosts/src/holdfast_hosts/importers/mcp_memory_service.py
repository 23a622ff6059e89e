"""Importer `mcp_memory_service`: memories of mcp-memory-service (its sqlite_vec.db), one lesson each.

Source: doobidoo/mcp-memory-service, storage/sqlite_vec.py, its migrations and models/ontology.py, version 10.59,
2026-05; checked against the source only. The vector tables need an extension and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers.sdk.database import listed, read_rows, sure_of_table
from holdfast.importers.sdk.texts import from_row, instant, kind_of
from holdfast.ports.plugins import Passage, Skipped, Source

TABLE = "memories"
REQUIRED = ("content_hash", "content", "tags", "memory_type")
WANTED = ("created_at", "updated_at", "deleted_at", "superseded_by")
KINDS: dict[str, LessonKind] = {
    "decision": "decision", "architecture": "decision", "tool_choice": "decision", "approach": "decision",
    "configuration": "tooling", "command": "tooling", "workflow": "tooling",
    "best_practice": "convention", "design_pattern": "convention", "pattern": "convention",
    "anti_pattern": "failed_approach", "gotcha": "constraint",
    "bug": "bug_cause", "error": "bug_cause", "failure": "bug_cause", "mistake": "failed_approach",
    "fix": "fix", "preference": "preference",
}  # fmt: skip
"""A type without a counterpart gets its kind from the words."""


class McpMemoryService:
    """Reads the database of mcp-memory-service."""

    id = "mcp_memory_service/1"

    def sureness(self, source: Source) -> int:
        """Judge by the table's columns."""
        return sure_of_table(source, TABLE, REQUIRED)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield memories, oldest first; deleted and superseded ones are left out."""
        for row in read_rows(source, TABLE, REQUIRED, WANTED):
            section = f"memory {str(row['content_hash'])[:12]}"
            if row["deleted_at"]:
                yield Skipped(section=section, reason="deleted in mcp-memory-service")
            elif row["superseded_by"]:
                yield Skipped(section=section, reason="superseded in mcp-memory-service")
            else:
                yield from from_row(str(row["content"] or ""), _passage(row, section))


def make(options: Mapping[str, str]) -> McpMemoryService:
    """Return the importer; it has no options."""
    return McpMemoryService()


def _passage(row: Mapping[str, Any], section: str) -> Passage:
    return Passage(
        section=section,
        kind=kind_of(row["memory_type"], KINDS) or "",
        tags=listed(row["tags"]),
        trust="agent",
        said_at=instant(row["created_at"]),
    )
