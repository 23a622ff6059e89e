"""What happened in a replay, as JSON lines in a folder: `deliveries`, `sessions`, `lessons`, `outcomes`, and `map` in
gold mode."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MOMENTS = (
    "start", "after a compaction", "first prompt", "later prompt", "before a file", "before a command", "after a call",
    "after a failure", "at the end",
)  # fmt: skip
"""When a text was handed to the model, in the order of a report."""
START_MOMENTS = ("start", "after a compaction")


@dataclass(frozen=True)
class Delivery:
    """A text that a hook handed to the model at line `e` of session `n`."""

    n: int
    e: int
    session: str
    at: str
    event: str
    trigger: str
    text: str
    lines: list[list[str]] = field(default_factory=list)
    """The lessons that each line of the text stands for, as the product logged them; the first one's words are told."""
    moment: str = ""
    """One of `MOMENTS`."""
    tokens: int = 0
    """Of the text, as the product counts them."""


@dataclass(frozen=True)
class Played:
    """One session: its prompts, hooks and the processor time they took."""

    n: int
    sid: str
    prompts: int
    hooks: int
    cpu_s: float
    p95_ms: float


@dataclass
class Record:
    """The whole replay; `taught` maps gold to the lesson that states it, in gold mode."""

    deliveries: list[Delivery] = field(default_factory=list)
    sessions: list[Played] = field(default_factory=list)
    lessons: list[dict[str, Any]] = field(default_factory=list)
    taught: dict[str, str] = field(default_factory=dict)
    complaints: dict[str, int] = field(default_factory=dict)
    outcomes: list[dict[str, Any]] = field(default_factory=list)


def save(record: Record, folder: Path) -> None:
    """Write the record's files."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "deliveries.jsonl", map(asdict, record.deliveries))
    _write(folder / "sessions.jsonl", map(asdict, record.sessions))
    _write(folder / "lessons.jsonl", record.lessons)
    _write(folder / "map.jsonl", record.taught.items())
    _write(folder / "outcomes.jsonl", record.outcomes)
    (folder / "complaints.json").write_text(json.dumps(record.complaints), "utf-8")


def load(folder: Path) -> Record:
    """Read what `save` wrote; raises OSError when it is not there."""
    return Record(
        [Delivery(**row) for row in _rows(folder / "deliveries.jsonl")],
        [Played(**row) for row in _rows(folder / "sessions.jsonl")],
        _rows(folder / "lessons.jsonl"),
        dict(_rows(folder / "map.jsonl")),
        json.loads((folder / "complaints.json").read_text("utf-8")),
        _rows(folder / "outcomes.jsonl") if (folder / "outcomes.jsonl").is_file() else [],
    )


def _write(file: Path, rows: Iterable[Any]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _rows(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
