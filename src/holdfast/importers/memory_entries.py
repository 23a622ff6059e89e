"""Importer `memory_entries`: a plain table of memories in an SQLite file: id, content, project, created_at, updated_at,
tags. Tools that people write for themselves have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.importers.sdk.database import listed, read_rows, sure_of_table
from holdfast.importers.sdk.texts import from_row, instant
from holdfast.ports.plugins import Passage, Skipped, Source

TABLE = "memory_entries"
REQUIRED = ("id", "content")
WANTED = ("project", "created_at", "updated_at", "tags")


class MemoryEntries:
    """Reads the table."""

    id = "memory_entries/1"

    def sureness(self, source: Source) -> int:
        """Judge by the table's columns."""
        return sure_of_table(source, TABLE, REQUIRED)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the entries in the order of their ids; entries without words are reported and left out."""
        for row in read_rows(source, TABLE, REQUIRED, WANTED):
            section = f"entry {row['id']}"
            if not isinstance(row["content"], str) or not row["content"].strip():
                yield Skipped(section=section, reason="it has no words")
                continue
            passage = Passage(
                section=section, tags=listed(row["tags"]), trust="agent", project=str(row["project"] or ""),
                said_at=instant(row["updated_at"] or row["created_at"]),
            )  # fmt: skip
            yield from from_row(row["content"], passage)


def make(options: Mapping[str, str]) -> MemoryEntries:
    """Return the importer; it has no options."""
    return MemoryEntries()
