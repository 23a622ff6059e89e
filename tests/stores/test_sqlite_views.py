"""The views for people who ask the file in SQL say what docs/reference/sql.md promises."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.demomemory import make_demo

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "sql.md").read_text()
VIEWS = {name: columns for name, columns in re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)}


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    demo = make_demo(tmp_path_factory.mktemp("demo"), datetime(2026, 5, 1, 12, tzinfo=UTC))
    with closing(sqlite3.connect(f"file:{demo.home / 'memory.db'}?mode=ro", uri=True)) as connection:
        yield connection


def test_the_page_names_each_view_with_its_columns(sql: sqlite3.Connection) -> None:
    actual = {}
    for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        actual[name] = ", ".join(row[0] for row in sql.execute(f"SELECT * FROM {name}").description)
    promised = {name: VIEWS["memory_lessons"] if columns == "the same" else columns for name, columns in VIEWS.items()}
    assert actual == promised


def test_every_view_has_rows_of_the_demo(sql: sqlite3.Connection) -> None:
    assert all(sql.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in VIEWS)


def test_the_examples_of_the_page_run(sql: sqlite3.Connection) -> None:
    examples = re.findall(r"^```sql\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        sql.execute(example).fetchall()
    assert ("parcel/rates.py",) in [row[:1] for row in sql.execute(examples[1])]


def test_an_entry_has_a_lesson_s_words_and_times(sql: sqlite3.Connection) -> None:
    rows = sql.execute("SELECT content, created_at, updated_at, tags FROM memory_entries WHERE tags = 'money'")
    contents = {content: (created, updated) for content, created, updated, _ in rows}
    (whole,) = (content for content in contents if content.startswith("Money is whole cents"))
    assert whole.endswith("\n\nWhy: Rounding of floats lost a cent in the invoices of May.")
    assert all(created <= updated for created, updated in contents.values())


def test_a_damaged_row_is_left_out(tmp_path: Path) -> None:
    demo = make_demo(tmp_path, datetime(2026, 5, 1, 12, tzinfo=UTC))
    with closing(sqlite3.connect(demo.home / "memory.db")) as connection:
        (before,) = connection.execute("SELECT count(*) FROM memory_lessons").fetchone()
        connection.execute("UPDATE lessons SET doc = '{' WHERE row = (SELECT max(row) FROM lessons)")
        (after,) = connection.execute("SELECT count(*) FROM memory_lessons WHERE title LIKE '%'").fetchone()
    assert after == before - 1
