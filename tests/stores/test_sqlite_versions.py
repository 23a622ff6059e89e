"""Versions as they are written: what of the old one stays, which rows derive from them, when values of states go."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import StaleWriteError
from holdfast.ports.store import LessonFilter
from holdfast.stores.sqlite.rows import micros
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_lesson, next_version

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def rows(store: SqliteStore, table: str, columns: str = "count(*)", where: str = "1") -> list[tuple[Any, ...]]:
    with store._connection.reading() as sql:
        return sql.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        ({"state": "retired"}, True), ({"confidence": 0.3}, True), ({"insight": "Other"}, False),
        ({"why": "measured"}, False), ({"error_signature": "E: x"}, False), ({"state": "forgotten"}, False),
    ],
)  # fmt: skip
def test_a_vector_stays_while_what_is_embedded_does(store: SqliteStore, change: dict[str, Any], is_kept: bool) -> None:
    lesson = make_lesson(title="Seed the clock")
    store.put([lesson], {})
    for embedder in ("a", "b"):
        store.put_vectors(embedder, {lesson.id: (1.0, 0.0)})
    store.put([next_version(lesson, **change)], {lesson.id: lesson.recorded_at})
    assert rows(store, "vectors", "lesson, embedder") == ([(2, "a"), (2, "b")] if is_kept else [])


def test_a_lesson_whose_document_was_damaged_loses_its_vector(store: SqliteStore) -> None:
    lesson = make_lesson()
    store.put([lesson], {})
    store.put_vectors("a", {lesson.id: (1.0, 0.0)})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{'")
    store.put([next_version(lesson)], {lesson.id: lesson.recorded_at})
    assert rows(store, "vectors") == [(0,)]


def test_lessons_without_a_rule_in_words_may_be_many(store: SqliteStore) -> None:
    store.put([make_lesson(insight="!!!"), make_lesson(insight="???")], {})
    store.put([make_lesson(insight="!!!")], {})
    assert len(store.find(LessonFilter(project=PROJECT))) == 3


@pytest.mark.parametrize("state", ["active", "candidate", "quarantined", "superseded", "retired"])
def test_a_rule_is_taken_by_lessons_in_use_only(store: SqliteStore, state: Any) -> None:
    living = {"active", "candidate", "quarantined"}
    store.put([make_lesson(insight="Pin the formatter", state=state)], {})
    for again in ("active", "candidate", "retired"):
        lesson = make_lesson(insight="Pin the formatter", state=again)
        if state in living and again in living:
            with pytest.raises(StaleWriteError, match="states the same rule already"):
                store.put([lesson], {})
        elif again == "retired":
            store.put([lesson], {})


def test_a_damaged_lesson_takes_no_rule(store: SqliteStore) -> None:
    lesson = make_lesson(insight="Pin the formatter")
    store.put([lesson], {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = replace(doc, ?, 'another')", (lesson.id,))
    store.put([make_lesson(insight="Pin the formatter")], {})
    assert rows(store, "lessons") == [(2,)]


def test_a_version_follows_the_one_written_before_it_in_the_same_call_only_when_it_is_later(
    store: SqliteStore,
) -> None:
    first = make_lesson()
    second, third = next_version(first), next_version(first, 120)
    store.put([first, second, third], {first.id: None})
    assert [at for (at,) in rows(store, "lessons", "retracted_at")] == [
        micros(second.recorded_at), micros(third.recorded_at), None,
    ]  # fmt: skip
    with pytest.raises(StaleWriteError, match="changed by somebody else"):
        store.put([next_version(third)], {first.id: second.recorded_at})
