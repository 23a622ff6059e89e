"""A plain table `memory_entries` is read whole, by its columns; a damaged file gives nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import InvalidValueError
from holdfast.ports.plugins import Passage
from tests.importers.conftest import Read, Take, insights, reasons, verbs

ENTRIES = """
CREATE TABLE memory_entries (id TEXT PRIMARY KEY, content TEXT NOT NULL, project TEXT, created_at TEXT, updated_at TEXT,
  tags TEXT);
INSERT INTO memory_entries VALUES
 ('a', 'Heights of tides are metres, never feet.', 'harbour', '2026-01-01T10:00:00Z', '2026-02-01T10:00:00Z',
  '["units", "tides"]'),
 ('b', 'Run predict() with a whole hour.', '', '2026-01-02T10:00:00Z', NULL, 'tides, api'),
 ('c', 'The other project uses feet.', 'elsewhere', '2026-01-03T10:00:00Z', NULL, NULL),
 ('d', '  ', 'harbour', NULL, NULL, NULL);
"""


def make_database(folder: Path, script: str = ENTRIES, name: str = "entries.db") -> Path:
    path = folder / name
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_entries_become_passages(read: Read, project: Path) -> None:
    parts = read(make_database(project))
    first, second, other = (part for part in parts if isinstance(part, Passage))
    assert (first.section, first.tags, first.project) == ("entry a", ("units", "tides"), "harbour")
    assert first.said_at == datetime(2026, 2, 1, 10, tzinfo=UTC)
    assert (second.tags, second.project, other.project) == (("tides", "api"), "", "elsewhere")
    assert reasons(parts) == ["it has no words"]


def test_a_table_of_two_columns_is_enough(read: Read, project: Path) -> None:
    script = "CREATE TABLE memory_entries (id INTEGER, content TEXT);"
    script += "INSERT INTO memory_entries VALUES (1, 'Tides turn twice a day.');"
    assert insights(read(make_database(project, script))) == ["Tides turn twice a day."]


def test_only_this_project_s_entries_are_taken_and_wait(memory: Memory, take: Take, project: Path) -> None:
    path = make_database(project)
    assert sorted(verbs(take(path))) == ["added", "added", "skipped", "skipped"]
    assert sorted(lesson.insight for lesson in memory.inbox()) == [
        "Heights of tides are metres, never feet.", "Run predict() with a whole hour.",
    ]  # fmt: skip
    assert verbs(take(path)).count("unchanged") == 2


def test_a_damaged_file_gives_nothing(read: Read, project: Path) -> None:
    path = make_database(project, ENTRIES + "INSERT INTO memory_entries (id, content) VALUES ('z', zeroblob(90000));")
    raw = bytearray(path.read_bytes())
    raw[4_096:40_000] = b"\xff" * 35_904
    path.write_bytes(raw)
    with pytest.raises(InvalidValueError, match=r"damaged|cannot be read"):
        read(path, "memory_entries")
