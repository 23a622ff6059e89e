"""Databases that older versions left are read by this one: lessons, their history, and what was shown.

Each `schema_N.db.gz` was written by a version of that schema (`old_store.py`).
"""

from __future__ import annotations

import gzip
import re
import sqlite3
from pathlib import Path

import pytest
from tests.contract.store_questions import found
from tests.surfaces.terminal import run, told

from holdfast.domain.records import Change, Checkpoint, Delivery
from holdfast.domain.vocabulary import STATES
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.connection import SCHEMA

STORED = {
    int(re.sub(r"\D", "", file.name.partition(".")[0])): file
    for file in (Path(__file__).parents[1] / "golden" / "stores").glob("schema_*.db.gz")
}
STORY = {
    ("Tides are counted in whole hours", "active"), ("Run the harbour tests with make quay", "superseded"),
    ("Run the harbour tests with make berth", "active"), ("This lesson was forgotten.", "forgotten"),
    ("Answer in Dutch", "active"),
}  # fmt: skip


def unpack(schema: int, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress(STORED[schema].read_bytes()))
    return path


def test_the_first_four_schemas_are_stored() -> None:
    assert set(STORED) >= {1, 2, 3, 4}
    assert max(STORED) <= SCHEMA


@pytest.mark.parametrize("schema", sorted(STORED))
def test_a_stored_database_is_of_its_schema(schema: int, tmp_path: Path) -> None:
    sql = sqlite3.connect(unpack(schema, tmp_path / "memory.db"))
    assert sql.execute("PRAGMA user_version").fetchone() == (schema,)
    sql.close()


@pytest.mark.parametrize("schema", sorted(STORED))
def test_a_database_of_any_older_schema_is_read_whole(schema: int, tmp_path: Path) -> None:
    path = unpack(schema, tmp_path / "memory.db")
    with make({"url": f"sqlite://{path}"}) as store:
        assert store.check() == []
        lessons = store.find(LessonFilter(all_projects=True, states=STATES))
        assert {(lesson.insight, lesson.state) for lesson in lessons} == STORY
        tides = next(lesson for lesson in lessons if lesson.insight.startswith("Tides"))
        assert (tides.kind, tides.why, tides.trust, tides.paths) == (
            "constraint", "the tables are hourly", "person", ("src/tide.py",),
        )  # fmt: skip
        forgotten = next(lesson for lesson in lessons if lesson.state == "forgotten")
        before = store.find(LessonFilter(all_projects=True, states=STATES, as_of=forgotten.validity.valid_from))
        assert "The crane password is on the wall" in {lesson.insight for lesson in before}
        project = tides.scope.project
        for question in ({"text": "hours tides"}, {"paths": ("src/tide.py",)}):
            method = "match_text" if "text" in question else "match_paths"
            assert found(store, method, project=project, **question) == [tides.id]
        assert [event.text for _, event in store.find_events(EventFilter())] == ["How are tides counted?"]
        assert {entry.lesson for entry in store.find_records(Delivery, LogFilter())} >= {tides.id}
        assert [entry.goal for entry in store.find_records(Checkpoint, LogFilter())] == [
            "Move the pilots to the new quay"
        ]
        assert [entry.verb for entry in store.find_records(Change, LogFilter())][:2] == ["forget", "revise"]


@pytest.mark.parametrize("schema", sorted(STORED))
def test_an_older_database_is_backed_up_and_restored_by_this_version(
    schema: int, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack(schema, home / "memory.db")
    file = str(tmp_path / "old.zip")
    told("backup", file)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "new"))
    told("restore", file)
    assert "make berth" in told("list", "--all-projects")


def test_a_database_of_a_newer_schema_is_refused_byte_for_byte_untouched(home: Path) -> None:
    path = unpack(4, home / "memory.db")
    sql = sqlite3.connect(path)
    sql.execute(f"PRAGMA user_version={SCHEMA + 1}")
    sql.close()
    before = path.read_bytes()
    for command in (("list",), ("recall", "tides"), ("remember", "No"), ("backup", str(home / "b.zip"))):
        result = run(*command)
        assert result.exit_code == 1
        assert "upgrade" in result.stderr
    assert path.read_bytes() == before
    assert not (home / "b.zip").exists()
