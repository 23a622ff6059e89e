"""Importer `mem0_history`: memories of mem0 from its history database, each memory's last words.

Source: mem0ai/mem0, mem0/memory/storage.py (table `history`), 2026-08; checked against the source only. The memories
themselves are in a vector store of the user's choice; the history has their words as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.importers.sdk.database import read_rows, sure_of_table
from holdfast.importers.sdk.texts import from_row, instant
from holdfast.ports.plugins import Passage, Skipped, Source

REQUIRED = ("memory_id", "old_memory", "new_memory", "event")
WANTED = ("created_at", "updated_at", "is_deleted")


class Mem0History:
    """Reads mem0's history."""

    id = "mem0_history/1"

    def sureness(self, source: Source) -> int:
        """Judge by the table's columns."""
        return sure_of_table(source, "history", REQUIRED)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield current memories; deleted ones are left out."""
        latest: dict[str, dict[str, Any]] = {}
        rows = read_rows(source, "history", REQUIRED, WANTED)
        for row in sorted(rows, key=lambda row: str(row["updated_at"] or row["created_at"] or "")):
            latest[str(row["memory_id"])] = row
        for number, row in latest.items():
            section = f"memory {number}"
            if row["is_deleted"] or str(row["event"]).upper() == "DELETE":
                yield Skipped(section=section, reason="deleted in mem0")
            else:
                at = instant(row["updated_at"] or row["created_at"])
                yield from from_row(str(row["new_memory"] or ""), Passage(section=section, trust="agent", said_at=at))


def make(options: Mapping[str, str]) -> Mem0History:
    """Return the importer; it has no options."""
    return Mem0History()
