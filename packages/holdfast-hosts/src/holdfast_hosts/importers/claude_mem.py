"""Importer `claude_mem`: observations and session summaries of claude-mem (~/.claude-mem/claude-mem.db).

An observation becomes one lesson; of a session's summary only its learnings are read. Observations of changes are left
out, unless they are marked as a gotcha, a pattern, a trade-off, a reason or a solution.

Source: thedotmack/claude-mem, src/services/sqlite (schema version 49), 2026-08; checked against the source only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers.sdk.database import FILES, listed, read_rows, sure_of_table
from holdfast.importers.sdk.markdown import MarkdownPiece, Voice, from_piece, split_markdown
from holdfast.importers.sdk.texts import from_row, instant, kind_of
from holdfast.ports.plugins import Passage, Skipped, Source

TABLE = "observations"
REQUIRED = ("id", "memory_session_id", "project", "type", "created_at_epoch")
WANTED = ("title", "subtitle", "text", "narrative", "facts", "concepts", "files_modified", "files_read")
KINDS: dict[str, LessonKind] = {
    "decision": "decision",
    "bugfix": "fix",
    "discovery": "exploration",
    "security_alert": "constraint",
    "security_note": "constraint",
}
TELLING: dict[str, LessonKind] = {
    "gotcha": "constraint",
    "pattern": "convention",
    "trade_off": "decision",
    "why_it_exists": "decision",
    "problem_solution": "fix",
}
"""Concepts that make any observation worth knowing, and the kind that they suggest."""


class ClaudeMem:
    """Reads a claude-mem database."""

    id = "claude_mem/1"

    def sureness(self, source: Source) -> int:
        """Judge by the table's columns."""
        return sure_of_table(source, TABLE, REQUIRED)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield observations, then what sessions learnt, oldest first."""
        rows = read_rows(source, TABLE, REQUIRED, WANTED)
        summaries = read_rows(
            source, "session_summaries", ("id", "project", "created_at_epoch"), ("request", "learned", "files_edited")
        )
        for row in rows:
            yield from _observation(row)
        for row in summaries:
            yield from _learned(row)


def make(options: Mapping[str, str]) -> ClaudeMem:
    """Return the importer; it has no options."""
    return ClaudeMem()


def _observation(row: Mapping[str, Any]) -> Iterator[Passage | Skipped]:
    section = f"observation {row['id']}"
    concepts = listed(row["concepts"])
    suggested = next((kind for word in concepts if (kind := kind_of(word, TELLING))), None)
    kind = kind_of(row["type"], KINDS) or suggested
    if row["type"] == "sensitive":
        yield Skipped(section=section, reason="marked as sensitive in claude-mem")
    elif kind is None:
        yield Skipped(section=section, reason=f"it only reports a {row['type']}, which is no lesson")
    else:
        facts = "\n".join(f"- {fact}" for fact in listed(row["facts"]))
        text = row["narrative"] or row["text"] or facts or row["subtitle"] or row["title"] or ""
        yield from from_row(text, _passage(row, section, kind, row["title"] or "", concepts))


def _learned(row: Mapping[str, Any]) -> Iterator[Passage | Skipped]:
    section = f"summary {row['id']}"
    shared = _passage(row, section, "convention", "", ())
    for piece in split_markdown(row["learned"] or ""):
        yield from from_piece(MarkdownPiece((section,), piece.text, piece.snippets), Voice(shared=shared))


def _passage(row: Mapping[str, Any], section: str, kind: LessonKind, title: str, tags: tuple[str, ...]) -> Passage:
    edited, read = (listed(row.get(name)) for name in ("files_modified", "files_read"))
    return Passage(
        section=section,
        kind=kind if title else "",
        usual_kind=kind,
        title=title,
        files=(edited or listed(row.get("files_edited")) or read)[:FILES],
        tags=tags,
        trust="agent",
        said_at=instant(row["created_at_epoch"]),
        project=str(row["project"] or ""),
    )
