"""Other tools' stores: read in the shape their sources make them, never written, whole or not at all."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.importers.conftest import Read, Take, Write, insights, reasons, verbs

from holdfast import Memory
from holdfast.backfill.importing import find_sources
from holdfast.errors import InvalidValueError
from holdfast.ports.plugins import Passage

CLAUDE_MEM = """
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
  memory_session_id TEXT UNIQUE, project TEXT NOT NULL, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,
  concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT UNIQUE NOT NULL,
  project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
  files_read TEXT, files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
INSERT INTO observations (memory_session_id, project, type, title, narrative, facts, concepts, files_modified,
  created_at, created_at_epoch) VALUES
 ('s', 'harbour', 'bugfix', 'Tide table was read twice', 'predict() read the table per call; it is cached now.',
  '["cached"]', '["problem-solution"]', '["src/tides.py", "gone.py"]', '2026-01-01', 1767225600000),
 ('s', 'harbour', 'change', 'Bumped a version', 'The version was bumped.', '[]', '["what-changed"]', '[]', '', 1),
 ('s', 'harbour', 'discovery', 'Old row', NULL, '["Times are UTC", "Heights are metres"]', NULL, NULL, '', 2),
 ('s', 'elsewhere', 'decision', 'Other', 'Another project decided something.', '[]', '[]', '[]', '', 3),
 ('s', 'harbour', 'sensitive', 'Plans', 'Unreleased plans of the company.', '[]', '[]', '[]', '', 4);
INSERT INTO session_summaries (memory_session_id, project, request, learned, created_at, created_at_epoch) VALUES
 ('s', 'harbour', 'Fix tides', 'The gauge API answers in local time, not UTC.', '', 5),
 ('t', 'harbour', 'x', NULL, '', 6);
"""
ENGRAM = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL, started_at TEXT NOT NULL);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, type TEXT NOT NULL,
  title TEXT NOT NULL, content TEXT NOT NULL, tool_name TEXT, project TEXT, scope TEXT NOT NULL DEFAULT 'project',
  topic_key TEXT, created_at TEXT NOT NULL DEFAULT (datetime('now')),
  updated_at TEXT NOT NULL DEFAULT (datetime('now')), deleted_at TEXT);
INSERT INTO observations (session_id, type, title, content, project, scope, deleted_at) VALUES
 ('s', 'bugfix', 'Quoted search terms', '**What**: Wrapped each term in quotes
**Why**: users typed operators
**Where**: src/tides.py — predict()
**Learned**: MATCH is not LIKE', 'harbour', 'project', NULL),
 ('s', 'preference', 'Short answers', 'The user wants answers without a preamble.', 'harbour', 'personal', NULL),
 ('s', 'decision', 'Gone', 'This was deleted there and stays away.', 'harbour', 'project', '2026-01-01'),
 ('s', 'tool_use', 'Read', 'Read a file of the project.', 'harbour', 'project', NULL);
"""
MEMORY_SERVICE = """
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL,
  tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,
  updated_at_iso TEXT, deleted_at REAL DEFAULT NULL);
ALTER TABLE memories ADD COLUMN superseded_by TEXT;
INSERT INTO memories (content_hash, content, tags, memory_type, created_at, deleted_at, superseded_by) VALUES
 ('aaaaaaaaaaaaaaaa', 'We decided to deploy with Nomad instead of Kubernetes.', 'infra,deploy', 'decision',
  1767225600.5, NULL, NULL),
 ('bbbbbbbbbbbbbbbb', 'A memory that was deleted there.', '', 'note', 1.0, 2.0, NULL),
 ('cccccccccccccccc', 'A memory with a newer version.', '', 'note', 1.0, NULL, 'aaaaaaaaaaaaaaaa');
"""
MEM0 = """
CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
INSERT INTO history VALUES
 ('1', 'm1', NULL, 'Prefers tabs in all projects', 'ADD', '2026-01-01T00:00:00', NULL, 0, NULL, NULL),
 ('2', 'm1', 'Prefers tabs in all projects', 'Prefers spaces in all projects', 'UPDATE', '2026-01-01T00:00:00',
  '2026-02-01T00:00:00', 0, NULL, NULL),
 ('3', 'm2', NULL, 'Lives near the harbour', 'ADD', '2026-01-01T00:00:00', NULL, 0, NULL, NULL),
 ('4', 'm2', 'Lives near the harbour', NULL, 'DELETE', '2026-03-01T00:00:00', NULL, 1, NULL, NULL);
"""

Database = Callable[[str, str], Path]


@pytest.fixture
def database(project: Path) -> Database:
    """Write a database of that schema and those rows."""

    def make(name: str, script: str) -> Path:
        path = project.parent / name[2:] if name.startswith("~/") else project / name
        path.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(path)) as sql:
            sql.executescript(script)
        return path

    return make


def test_claude_mem_gives_what_to_know_and_not_what_changed(read: Read, database: Database) -> None:
    parts = read(database("claude-mem.db", CLAUDE_MEM))
    assert insights(parts) == [
        "predict() read the table per call; it is cached now.",
        "- Times are UTC\n- Heights are metres",
        "Another project decided something.",
        "The gauge API answers in local time, not UTC.",
    ]
    assert reasons(parts) == ["it only reports a change, which is no lesson", "marked as sensitive in claude-mem"]
    fix = parts[0]
    assert isinstance(fix, Passage)
    assert (fix.kind, fix.title, fix.project) == ("fix", "Tide table was read twice", "harbour")
    assert (fix.files, fix.tags, fix.section) == (("src/tides.py", "gone.py"), ("problem-solution",), "observation 1")
    assert fix.said_at is not None
    assert fix.said_at.year == 2026


def test_a_store_that_lies_in_the_project_is_its_text_and_holds_for_it_alone(read: Read, database: Database) -> None:
    for path in (database("engram.db", ENGRAM), database("~/engram.db", ENGRAM)):
        parts = [part for part in read(path) if isinstance(part, Passage)]
        assert {(part.trust, part.scope) for part in parts} == {("repository", "project")}


def test_engram_keeps_reasons_files_and_whose_it_is(read: Read, database: Database) -> None:
    parts = read(database("~/.engram/engram.db", ENGRAM))
    fix, own = (part for part in parts if isinstance(part, Passage))
    assert (fix.insight, fix.why, fix.how) == (
        "Wrapped each term in quotes",
        "users typed operators",
        "MATCH is not LIKE",
    )
    assert (fix.kind, fix.files, fix.project) == ("fix", ("src/tides.py",), "harbour")
    assert (own.scope, own.kind, own.project) == ("user", "preference", "")
    assert reasons(parts) == ["deleted in engram", "it only reports a tool_use, which is no lesson"]


def test_mcp_memory_service_leaves_out_what_does_not_hold_there(read: Read, database: Database) -> None:
    parts = read(database("sqlite_vec.db", MEMORY_SERVICE))
    (passage,) = (part for part in parts if isinstance(part, Passage))
    assert (passage.kind, passage.tags, passage.section) == ("decision", ("infra", "deploy"), "memory aaaaaaaaaaaa")
    assert reasons(parts) == ["deleted in mcp-memory-service", "superseded in mcp-memory-service"]


def test_mem0_gives_each_memorys_last_words(read: Read, database: Database) -> None:
    parts = read(database("history.db", MEM0))
    assert (insights(parts), reasons(parts)) == (["Prefers spaces in all projects"], ["deleted in mem0"])


@pytest.mark.parametrize("script", [CLAUDE_MEM, ENGRAM, MEMORY_SERVICE, MEM0])
def test_a_store_in_use_is_read_with_its_newest_rows_and_left_as_it_is(
    script: str, read: Read, project: Path, database: Database
) -> None:
    path = project / "live.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.executescript(script)
        writer.execute("BEGIN IMMEDIATE")
        before = snapshot(project)
        assert insights(read(path))
        assert snapshot(project) == before
        writer.rollback()


def snapshot(folder: Path) -> dict[str, str]:
    """Every file of a folder but the shared memory that its writer keeps open, by a digest of its bytes."""
    files = (path for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_read_only_store_is_read_without_a_file_beside_it(read: Read, database: Database, project: Path) -> None:
    path = database("claude-mem.db", CLAUDE_MEM)
    path.chmod(0o400)
    before = sorted(entry.name for entry in project.iterdir())
    assert len(insights(read(path))) == 4
    assert sorted(entry.name for entry in project.iterdir()) == before


def test_a_damaged_store_gives_an_error_and_nothing_else(read: Read, database: Database) -> None:
    many = (
        "INSERT INTO observations (session_id, type, title, content) VALUES ('s', 'manual', 't', '" + "x" * 900 + "');"
    )
    path = database("engram.db", ENGRAM + many * 200)
    raw = bytearray(path.read_bytes())
    raw[40_000:90_000] = b"\xff" * 50_000
    path.write_bytes(raw)
    with pytest.raises(InvalidValueError, match=r"damaged|cannot be read"):
        read(path, "engram")


def test_a_store_of_an_unknown_version_names_what_is_missing(read: Read, database: Database) -> None:
    path = database("engram.db", "CREATE TABLE observations (id INTEGER, words TEXT)")
    with pytest.raises(InvalidValueError, match="no session_id, type, title, content, created_at"):
        read(path, "engram")
    with pytest.raises(InvalidValueError, match=r"the format of .* is not known"):
        read(path)


def test_what_is_no_database_is_refused_by_name(read: Read, write: Write) -> None:
    with pytest.raises(InvalidValueError, match="is not an SQLite database"):
        read(write("engram.db", "hello"), "engram")


def test_older_stores_without_newer_columns_are_read(read: Read, database: Database) -> None:
    old = ENGRAM.replace("topic_key TEXT, ", "").replace(", deleted_at TEXT);", ");").replace(", deleted_at)", ")")
    old = old.replace("'project', NULL)", "'project')").replace("'personal', NULL)", "'personal')")
    old = old.replace("'project', '2026-01-01')", "'project')")
    assert len(insights(read(database("engram.db", old)))) == 3


def test_every_store_is_found_by_its_content_in_a_walk(database: Database, project: Path) -> None:
    for name, script in (("a.db", CLAUDE_MEM), ("b", ENGRAM), ("c.sqlite", MEMORY_SERVICE), ("d.sqlite3", MEM0)):
        database(name, script)
    database("other.db", "CREATE TABLE memories (id INTEGER)")
    sources = find_sources(str(project), str(project), "").found
    assert [(chosen.source.label, chosen.importer.id) for chosen in sources] == [
        ("a.db", "claude_mem/1"), ("b", "engram/1"), ("c.sqlite", "mcp_memory_service/1"),
        ("d.sqlite3", "mem0_history/1"),
    ]  # fmt: skip


def test_a_store_of_many_projects_gives_only_this_ones(memory: Memory, take: Take, database: Database) -> None:
    path = database("claude-mem.db", CLAUDE_MEM)
    steps = take(path)
    assert sorted(verbs(steps)) == ["added"] * 3 + ["skipped"] * 3
    assert "1 of project 'elsewhere'; use --project=elsewhere to import them" in [step.reason for step in steps]
    fix = next(lesson for lesson in memory.inbox() if lesson.kind == "fix")
    assert fix.paths == ("src/tides.py",)
    assert "added" in verbs(take(path, projects=("elsewhere",)))
    assert verbs(take(path, projects=("*",))).count("unchanged") == 4


# Markdown

NOTE = """---
title: Coffee Search
type: note
tags: [search, core]
permalink: specs/coffee-search
---

# Coffee Search

## Observations
- [decision] Full text search uses FTS5 #search #sqlite (no server is allowed)
- [gotcha] Porter stems break part numbers
- [ ] write the migration
- [docs](https://example.org/docs)

## Relations
- implements [[Search Spec]]
- supersedes [[Old Search]]
"""


def test_a_memory_bank_gives_what_lasts_and_not_the_work_of_the_day(read: Read, write: Write, project: Path) -> None:
    write("memory-bank/systemPatterns.md", "# System Patterns\n\n## Key Technical Decisions\n\n- Views never query\n\n")
    write(
        "memory-bank/activeContext.md",
        "# Active Context\n\n## Current Focus\n\nFixing the login page today.\n\n"
        "## Learnings and Project Insights\n\nThe cache has to be warmed before the first request.\n",
    )
    write("memory-bank/progress.md", "# Progress\n\n## What Works\n\nThe login page works in all browsers.\n")
    parts = read(project)
    assert insights(parts) == [
        "The cache has to be warmed before the first request.",
        "Key Technical Decisions:\n- Views never query",
    ]
    assert reasons(parts) == ["1 passages only report the progress of work"] * 2


def test_a_note_gives_its_observations_with_tags_reasons_and_relations(read: Read, write: Write) -> None:
    decision, gotcha = read(write("notes/coffee.md", NOTE))
    assert isinstance(decision, Passage)
    assert isinstance(gotcha, Passage)
    assert decision == replace(
        decision,
        insight="Full text search uses FTS5",
        kind="decision",
        why="no server is allowed",
        title="Coffee Search: Full text search uses FTS5",
        tags=("search", "core", "decision", "sqlite"),
        names=("Coffee Search", "specs/coffee-search"),
        links=(("relates_to", "Search Spec"), ("supersedes", "Old Search")),
        trust="repository",
    )
    assert (gotcha.kind, gotcha.insight) == ("constraint", "Porter stems break part numbers")


def test_a_note_without_observations_is_read_as_text(read: Read, write: Write) -> None:
    text = "---\ntitle: Plain\npermalink: plain\n---\n\nThe importer runs at night only.\n"
    assert insights(read(write("plain.md", text))) == ["The importer runs at night only."]
