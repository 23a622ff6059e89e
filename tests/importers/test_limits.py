"""The numbers that importers go by, each at its boundary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError
from holdfast.importers import mcp_memory
from holdfast.importers._shared import frontmatter, markdown, passages, textfile
from holdfast.importers._shared.markdown import split_markdown
from holdfast.ports.importer import Skipped, Source
from tests.boundaries import Boundary, each


def texts(text: str) -> list[str]:
    return [piece.text for piece in split_markdown(text)]


def is_front_read(size: int) -> bool:
    """Whether front matter of that many characters, with its lines of dashes, is keys."""
    front = "---\nname: " + "x" * (size - len("---\nname: \n---")) + "\n---"
    return "name" in frontmatter.split_front(front + "\nLight the beacon.\n")[0]


def paragraphs_of(size: int) -> int:
    """In how many pieces two paragraphs stand that have that many characters together."""
    return len(texts(f"{'x' * 300}\n\n{'y' * (size - 300)}\n"))


def items_of(item: str) -> int:
    """In how many pieces a list of two such items stands."""
    return len(texts(f"- {item}\n- {item}\n"))


def is_led(size: int) -> bool:
    """Whether a sentence of that many characters is repeated before the items that it introduces."""
    lead = "x" * (size - 1) + ":"
    return all(
        text.startswith(lead) for text in texts(f"{lead}\n\n- light the first beacon\n- light the next beacon\n")
    )


def heading_of(size: int) -> int:
    (piece,) = split_markdown(f"# {'x' * size}\n\nLight the beacon.\n")
    return len(piece.section)


def snippet_of(size: int) -> int:
    (piece,) = split_markdown(f"Run this:\n\n```\n{'x' * size}\n```\n")
    return len(piece.snippets[0])


def boilerplate_of(size: int) -> list[str]:
    opening = "This file provides guidance to Claude. "
    read = list(passages.read_markdown((opening + "x" * size)[:size] + "\n", passages.Voice()))
    return [some.reason.partition(":")[0] if isinstance(some, Skipped) else "" for some in read]


def paths_mentioned(count: int) -> bool:
    return len(passages.mentioned(" ".join(f"`src/{number}.py`" for number in range(count)))) == count


MARKDOWN = [
    Boundary(frontmatter, "LIMIT", 20_000, 20_001, is_front_read, True, False),
    Boundary(markdown, "GROUP_LENGTH", 600, 601, paragraphs_of, 1, 2),
    Boundary(markdown, "SHORT_ITEM", 15, 14, lambda n: items_of("a b c " + "d" * (n - 6)), 2, 1),
    Boundary(markdown, "FEW_WORDS", 4, 3, lambda n: items_of(" ".join(["lighthouse"] * n)), 2, 1),
    Boundary(markdown, "LEAD_LENGTH", 160, 161, is_led, True, False),
    Boundary(markdown, "LEAD_LENGTH", 160, 161, lambda n: heading_of(n) == n, True, False),
    Boundary(markdown, "SNIPPET_LENGTH", 2_000, 2_001, lambda n: snippet_of(n) == n, True, False),
    Boundary(passages, "SHORTEST", 12, 11, lambda n: passages.why_not("x" * n), "", "too short"),
    Boundary(passages, "BOILERPLATE_LENGTH", 300, 301, boilerplate_of, ["boilerplate"], [""]),
    Boundary(passages, "MENTIONS", 3, 4, paths_mentioned, True, False),
]


@each(MARKDOWN)
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()


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
