from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.contract.store_questions import found

from holdfast.domain.event import spoken_prefix
from holdfast.domain.query import Query
from holdfast.domain.statefamilies import (
    BACKFILLED_ROOTS,
    COMMITS_READ,
    LEARNED_POSITION,
    LESSON_STATES,
    PLACE,
    STAGED_SEEN,
    SYNCED,
    SYNCED_LESSONS,
    TRANSCRIPT_READ,
)
from holdfast.errors import StaleWriteError
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite import make, schema
from holdfast.stores.sqlite.connection import SCHEMA, Connection
from holdfast.stores.sqlite.rows import document
from holdfast.testing.builders import PROJECT, make_event, make_lesson, next_version
from holdfast.text.words import duplicate_key

FOLDER = Path(schema.FOLDER)
KNOWN = Path(__file__).with_name("migrations.json")
AFTER_STATE = (
    "state_rows", "turns", "turn_text", "turns_indexed", "team_records", "team_keys", "team_counters", "audit_log",
    "audit_head", "documents", "sessions", "session_branches", "facets",
)  # fmt: skip
"""Tables of the migrations after the one that made `state`."""


def drop_tables(sql: sqlite3.Connection, *more: str) -> None:
    """Take the migrations after the one that made `state` out of the schema, and more tables."""
    for (view,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        sql.execute(f"DROP VIEW {view}")
    for table in (*more, *AFTER_STATE):
        sql.execute(f"DROP TABLE {table}")
    for index in ("lessons_newest", "lessons_versions"):
        sql.execute(f"DROP INDEX {index}")
    for column in ("trust", "person"):
        sql.execute(f"ALTER TABLE lessons DROP COLUMN {column}")


def scripts() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def shape(sql: sqlite3.Connection) -> list[tuple[str, ...]]:
    return sql.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()


def test_migrations_are_numbered_from_one_without_gaps_up_to_the_code() -> None:
    assert [int(script.name[:4]) for script in scripts()] == list(range(1, SCHEMA + 1))


def test_no_migration_was_edited_after_it_was_written() -> None:
    """A released migration has been applied somewhere: change the schema by a new one, and add its sum here."""
    sums = {script.name: hashlib.sha256(script.read_bytes()).hexdigest() for script in scripts()}
    assert sums == json.loads(KNOWN.read_text())


def test_a_schema_migrated_from_any_step_equals_a_fresh_one(tmp_path: Path) -> None:
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    schema.build(fresh)
    for steps in range(SCHEMA + 1):
        path = tmp_path / f"{steps}.db"
        older = sqlite3.connect(path, isolation_level=None)
        for script in scripts()[:steps]:
            schema._apply(older, script.name, str(path))
        older.close()
        with make({"url": f"sqlite://{path}"}) as store:
            assert shape(store._connection.sql) == shape(fresh)
            assert store._connection.sql.execute("SELECT number FROM migrations").fetchall() == [
                (number + 1,) for number in range(SCHEMA)
            ]
    fresh.close()


def test_an_older_files_lessons_are_indexed_anew_and_what_cannot_be_read_stays(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    lesson, broken = make_lesson(insight="先に起動する", path="a.py"), make_lesson(insight="walrus")
    with make({"url": f"sqlite://{path}"}) as store:
        store.put([lesson, broken], {})
        store.put_vectors("toy", {lesson.id: (1.0, 0.0)})
        with store._connection.writing() as sql:
            sql.execute("UPDATE lesson_text SET expanded = ''")
            sql.execute("UPDATE lessons SET doc = '{' WHERE id = ?", (broken.id,))
            drop_tables(sql, "set_aside", "triggers", "state")
            sql.execute("CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            sql.execute("DELETE FROM migrations WHERE number > 1")
            sql.execute("PRAGMA user_version = 1")
    with make({"url": f"sqlite://{path}"}) as store:
        for fields in ({"text": "動"}, {"paths": ("a.py",)}, {"vector": (1.0, 0.0), "embedder_id": "toy"}):
            method = {"text": "match_text", "paths": "match_paths", "vector": "match_vector"}[next(iter(fields))]
            assert found(store, method, **fields) == [lesson.id], method
        assert found(store, "match_text", text="walrus") == [broken.id]
        assert [problem.mend for problem in store.check()] == ["holdfast doctor --mend"]


def test_a_migration_that_fails_leaves_nothing_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "migrations"
    broken.mkdir()
    for script in scripts():
        (broken / script.name).write_text(script.read_text() + "\nCREATE TABLE oops (;\n")
    path = tmp_path / "memory.db"
    monkeypatch.setattr(schema, "FOLDER", str(broken))
    with pytest.raises(Exception, match="syntax"):
        Connection(str(path), 1).open()
    monkeypatch.setattr(schema, "FOLDER", str(FOLDER))
    with make({"url": f"sqlite://{path}"}) as store:
        assert store.append_events([make_event()]) == 1
        assert len(store.find_events(EventFilter())) == 1


def test_every_statement_of_a_script_is_found() -> None:
    script = "CREATE TABLE a (x); -- one; not two\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n DELETE FROM a;\nEND;\n"
    assert len(schema.statements(script)) == 2


def test_a_database_that_holds_a_rule_twice_is_upgraded_with_both_lessons(tmp_path: Path) -> None:
    """Doubles of before stay: a new lesson is refused, each of the two can still be changed."""
    path = tmp_path / "memory.db"
    first, second = make_lesson(insight="Pin the formatter"), make_lesson(insight="Pin the linter")
    with make({"url": f"sqlite://{path}"}) as store:
        store.put([first, second], {})
        twin = replace(second, insight=first.insight, title=first.title)
        with store._connection.writing() as sql:
            sql.execute(
                "UPDATE lessons SET duplicate_key = ?, doc = ? WHERE id = ?",
                (duplicate_key(first.insight), document(twin)[1], second.id),
            )
            drop_tables(sql, "set_aside", "triggers", "state")
            sql.execute("CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            sql.execute("DELETE FROM migrations WHERE number > 2")
            sql.execute("PRAGMA user_version = 2")
    with make({"url": f"sqlite://{path}"}) as store:
        assert store.get([first.id, second.id]) == [first, twin]
        with pytest.raises(StaleWriteError):
            store.put([make_lesson(insight="Pin the formatter")], {})
        for lesson in (first, twin):
            store.put([next_version(lesson, why="measured")], {lesson.id: lesson.recorded_at})
        assert store.check() == []


def test_what_was_stored_by_keys_is_moved_to_families_and_owners(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older = sqlite3.connect(path, isolation_level=None)
    for script in scripts()[:4]:
        schema._apply(older, script.name, str(path))
    keys = {
        "learned_position": "12", "staged:g1-a": "none", "states:g1-a:/home/ada/c:d": "[]", "place:/home/ada": "g1-a",
        "git_history/1:g1-a": "c1 2", "backfill:/home/ada/t.jsonl": "1:2:3", "backfill:roots": "/home/ada",
        "claim:/": "",
    }  # fmt: skip
    older.executemany("INSERT INTO marks VALUES (?, ?)", keys.items())
    older.close()
    with make({"url": f"sqlite://{path}"}) as store:
        states = {
            (LEARNED_POSITION, ""): "12", (STAGED_SEEN, "g1-a"): "none", (LESSON_STATES, "g1-a:/home/ada/c:d"): "[]",
            (PLACE, "/home/ada"): "g1-a", (COMMITS_READ, "g1-a"): "c1 2", (BACKFILLED_ROOTS, ""): "/home/ada",
            (TRANSCRIPT_READ, "/home/ada/t.jsonl"): "1:2:3",
        }  # fmt: skip
        assert {key: store.get_state(*key) for key in states} == states
        assert store._connection.sql.execute("SELECT count(*) FROM state").fetchone() == (len(states),)
        assert store.expire_states(datetime.now(UTC)) == 0


def test_the_record_of_a_sync_becomes_a_row_a_lesson(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older = sqlite3.connect(path, isolation_level=None)
    for script in scripts()[:8]:
        schema._apply(older, script.name, str(path))
    entries = [{"id": "s1", "lesson": "l1", "ours": True, "stamps": {"why": "r1"}}, {"id": "s2"}, {"id": ""}, 3]
    states = {
        "g1-a": json.dumps({"version": 1, "entries": entries, "roots": {}, "extent": [1, 2]}),
        "g1-b": "{",
        "": "x",
    }
    older.executemany("INSERT INTO state VALUES ('sharing', ?, ?, 0)", states.items())
    older.execute("INSERT INTO state VALUES ('place', '/home/ada', 'g1-a', 0)")
    older.close()
    with make({"url": f"sqlite://{path}"}) as store:
        rows = store.get_rows(SYNCED_LESSONS, "g1-a")
        assert {key: json.loads(value) for key, value in rows.items()} == {"s1": entries[0], "s2": entries[1]}
        assert [store.get_rows(SYNCED_LESSONS, owner) for owner in ("g1-b", "")] == [{}, {}]
        assert [store.get_state(SYNCED, owner) for owner in states] == ["", "", ""]
        assert store.get_state(PLACE, "/home/ada") == "g1-a"


def go_back_to_schema_5(sql: sqlite3.Connection) -> None:
    drop_tables(sql)
    sql.execute("DELETE FROM migrations WHERE number > 5")
    sql.execute("PRAGMA user_version = 5")


def test_a_store_of_schema_5_gets_titles_and_a_search_of_its_turns(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    insight = "Retries of the gateway are capped at 3, because the bank bans us for each one that comes after that"
    lesson = make_lesson(insight=insight, title="Gateway")
    prompt = make_event(key=f"{spoken_prefix('prompt')}1", text="Where is the harbour log?")
    with make({"url": f"sqlite://{path}"}) as store:
        store.put([lesson], {})
        store.append_events([prompt])
        with store._connection.writing() as sql:
            go_back_to_schema_5(sql)
    with make({"url": f"sqlite://{path}"}) as store:
        applied = store._connection.sql.execute("SELECT number, name FROM migrations WHERE number > 5").fetchall()
        assert applied == [(int(script.name[:4]), script.stem) for script in scripts()[5:]]
        assert store.get([lesson.id]) == [replace(lesson, title="Retries of the gateway are capped at 3")]
        assert found(store, "match_text", text="capped") == [lesson.id]
        (match,) = store.search_turns(Query(project=PROJECT, text="harbour log"), 5).matches
        assert match.turn.prompt == prompt.text
        assert store.check() == []


def test_weak_titles_of_before_are_made_anew_once_and_good_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    insight = "Retries of the gateway are capped at 3, because the bank bans us for each one that comes after that"
    chosen = make_lesson(insight="Pin the formatter of the project", title="Never float the formatter")
    weak = {
        title: make_lesson(insight=f"{insight} {number}", title=title)
        for number, title in enumerate(["Gateway", f"{insight[:90]}\u2026", "Tests: `make test`"])
    }
    broken = make_lesson(insight="walrus")
    forgotten = make_lesson(insight="gone", title="forgotten", state="forgotten")
    with make({"url": f"sqlite://{path}"}) as store:
        store.put([chosen, *weak.values(), broken, forgotten], {})
        with store._connection.writing() as sql:
            sql.execute("UPDATE lessons SET doc = '{' WHERE id = ?", (broken.id,))
            go_back_to_schema_5(sql)
    for _ in range(2):
        with make({"url": f"sqlite://{path}"}) as store:
            [kept_one] = store.get([chosen.id])
            assert kept_one == chosen
            assert store.get([forgotten.id])[0].title == "forgotten"
            for lesson in weak.values():
                [named] = store.get([lesson.id])
                assert named == replace(lesson, title="Retries of the gateway are capped at 3")
            assert len(found(store, "match_text", text="capped")) == len(weak)
            with store._connection.writing() as sql:
                from holdfast.stores.sqlite.schema import retitle

                retitle(sql)
