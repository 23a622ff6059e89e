"""Importer `mcp_memory`: the knowledge graph of the Model Context Protocol's reference memory server (memory.jsonl).

Each observation of an entity is a lesson that names the entity; a relation links the first lessons of two entities.
Source: modelcontextprotocol/servers, src/memory/index.ts, 2026-07; checked against the source; other tools use the same
file form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidValueError
from holdfast.importers.sdk.texts import from_row, load_text
from holdfast.ports.plugins import CERTAIN, NO, Passage, Skipped, Source
from holdfast.text.titles import clipped

LINE_LIMIT = 1_000_000
"""Characters of a line; a longer one is no record."""


class McpMemory:
    """Reads the reference server's lines."""

    id = "mcp_memory/1"

    def sureness(self, source: Source) -> int:
        """Judge by the first line."""
        first = source.head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].replace(b" ", b"")
        keys = (b'"entityType":', b'"relationType":')
        return CERTAIN if first.startswith(b'{"') and any(key in first for key in keys) else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield observations in order; lines that are neither entity nor relation are reported and left out."""
        entities: dict[str, dict[str, Any]] = {}
        links: dict[str, list[str]] = {}
        for number, line in enumerate(load_text(source).split("\n"), 1):
            record = _object(line) if line.strip() else {}
            if record is None:
                yield Skipped(section=f"line {number}", reason="not an entity or a relation")
            elif record.get("entityType") is not None and isinstance(record.get("name"), str):
                entities[record["name"]] = record
            elif record.get("relationType") is not None:
                links.setdefault(str(record.get("from")), []).append(str(record.get("to")))
        if not entities:
            raise InvalidValueError(f"{source.label} holds no entity")
        for name, entity in entities.items():
            yield from _observations(name, entity, links.get(name, []))


def make(options: Mapping[str, str]) -> McpMemory:
    """Return the importer; it has no options."""
    return McpMemory()


def _object(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line[:LINE_LIMIT])
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("type") in ("entity", "relation", None) else None


def _observations(name: str, entity: Mapping[str, Any], targets: list[str]) -> Iterator[Passage | Skipped]:
    observations = entity.get("observations")
    first = True
    for observation in observations if isinstance(observations, list) else ():
        if not isinstance(observation, str):
            continue
        spoken = name.replace("_", " ")
        named = name.lower() in observation.lower() or spoken.lower() in observation.lower()
        text = observation if named else f"{spoken}: {observation}"
        passage = Passage(
            section=name,
            title=clipped(text),
            tags=tuple(filter(None, (name, str(entity.get("entityType") or "")))),
            trust="agent",
            names=(name,) if first else (),
            links=tuple(("relates_to", target) for target in targets) if first else (),
        )
        yield from from_row(text, passage)
        first = False
