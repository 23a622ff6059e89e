"""Importer `engram`: observations of engram (~/.engram/engram.db), one lesson each.

Source: Gentleman-Programming/engram, internal/store/store.go and the form of contents in internal/mcp/mcp.go (What,
Why, Where, Learned), 2026-02; checked against the source only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers.sdk.database import FILES, read_rows, sure_of_table
from holdfast.importers.sdk.markdown import nearly_plain
from holdfast.importers.sdk.texts import from_row, instant, kind_of
from holdfast.ports.plugins import Passage, Skipped, Source

TABLE = "observations"
REQUIRED = ("id", "session_id", "type", "title", "content", "created_at")
WANTED = ("project", "scope", "topic_key", "deleted_at", "updated_at")
KINDS: dict[str, LessonKind] = {
    "decision": "decision",
    "architecture": "decision",
    "bugfix": "fix",
    "pattern": "convention",
    "config": "tooling",
    "discovery": "exploration",
    "learning": "convention",
    "preference": "preference",
    "manual": "convention",
}

_WHERE = re.compile(r"(?m)^[ \t]*where[ \t]*:[ \t]*(.+)$", re.IGNORECASE)
_WHAT = re.compile(r"(?m)^[ \t]*what[ \t]*:[ \t]*", re.IGNORECASE)
_FILE = re.compile(r"[\w@.+/-]{1,200}\.[A-Za-z]\w{0,8}")


class Engram:
    """Reads an engram database."""

    id = "engram/1"

    def sureness(self, source: Source) -> int:
        """Judge by the table's columns."""
        return sure_of_table(source, TABLE, REQUIRED)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield observations, oldest first; deleted ones and those of single tool calls are left out."""
        for row in read_rows(source, TABLE, REQUIRED, WANTED):
            section = f"observation {row['id']}"
            kind = kind_of(row["type"], KINDS)
            if row["deleted_at"]:
                yield Skipped(section=section, reason="deleted in engram")
            elif kind is None:
                yield Skipped(section=section, reason=f"it only reports a {row['type']}, which is no lesson")
            else:
                yield from _observation(row, section, kind)


def make(options: Mapping[str, str]) -> Engram:
    """Return the importer; it has no options."""
    return Engram()


def _observation(row: Mapping[str, Any], section: str, kind: LessonKind) -> Iterator[Passage | Skipped]:
    text = nearly_plain(row["content"])
    where = _WHERE.search(text)
    own = row["scope"] == "personal"
    passage = Passage(
        section=section,
        kind=kind,
        title=row["title"],
        files=() if own or not where else tuple(_FILE.findall(where[1]))[:FILES],
        trust="agent",
        scope="user" if own else "project",
        said_at=instant(row["updated_at"] or row["created_at"]),
        project="" if own else str(row["project"] or ""),
    )
    yield from from_row(_WHAT.sub("", _WHERE.sub("", text)), passage)
