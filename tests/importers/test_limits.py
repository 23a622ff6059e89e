"""The edges of importers: what is just inside, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError
from holdfast.importers import mcp_memory
from holdfast.importers.sdk import texts as textfile
from holdfast.ports.plugins import Skipped, Source


def refusal(file: Path, size: int, *, by_hand: bool) -> str:
    """Why a file of that many bytes is not read; a sparse one, which is no text."""
    with file.open("wb") as stream:
        stream.truncate(size)
    source = Source(path=str(file), label="it", ground="project")
    with pytest.raises(InvalidValueError) as raised:
        textfile.load_markdown(source) if by_hand else textfile.load_text(source)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "largest", "by_hand"), [("LARGEST", 50_000_000, False), ("LARGEST_MARKDOWN", 500_000, True)]
)
def test_a_file_is_read_up_to_so_many_bytes(tmp_path: Path, name: str, largest: int, by_hand: bool) -> None:
    assert getattr(textfile, name) == largest
    assert refusal(tmp_path / "a.md", largest, by_hand=by_hand) == "it is not a text file"
    assert refusal(tmp_path / "a.md", largest + 1, by_hand=by_hand) == f"it is larger than {largest:,} bytes"


@pytest.mark.parametrize(("size", "count"), [(1_000_000, 1), (1_000_001, 0)])
def test_a_line_of_a_memory_servers_file_has_a_million_characters(tmp_path: Path, size: int, count: int) -> None:
    assert mcp_memory.LINE_LIMIT == 1_000_000
    entity = {"type": "entity", "name": "tides", "entityType": "", "observations": ["High water is four metres."]}
    bare = len(json.dumps(entity))
    line = json.dumps({**entity, "entityType": "x" * (size - bare)})
    assert len(line) == size
    file = tmp_path / "memory.json"
    file.write_text(f'{line}\n{{"type": "entity", "name": "moon", "entityType": "", "observations": []}}\n')
    taken = mcp_memory.McpMemory().read(Source(path=str(file), label="it", ground="project"))
    insights = [some.insight for some in taken if not isinstance(some, Skipped)]
    assert sum("High water" in insight for insight in insights) == count
