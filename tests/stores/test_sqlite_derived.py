"""Which rows derive from a version, to find it by."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.lesson import Provenance
from holdfast.domain.vocabulary import SessionId
from holdfast.stores.sqlite.lessons import SEARCHABLE
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_lesson, next_version
from holdfast.text.searchkeys import TOKEN_LIMIT

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def rows(store: SqliteStore, table: str, columns: str = "count(*)", where: str = "1") -> list[tuple[Any, ...]]:
    with store._connection.reading() as sql:
        return sql.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()


@pytest.mark.parametrize("state", [*SEARCHABLE, "forgotten"])
def test_a_version_that_may_be_searched_has_derived_rows_and_a_tombstone_and_a_former_one_have_none(
    store: SqliteStore, state: Any
) -> None:
    lesson = make_lesson(path="src/a.py", globs=("docs/**",), symbol="Store.put", snippets=("walrus_call(1)",))
    store.put([lesson], {})
    store.put([next_version(lesson, state=state)], {lesson.id: lesson.recorded_at})
    for table, column in (("anchors", "lesson"), ("tokens", "lesson"), ("lesson_text", "rowid")):
        expected = [] if state == "forgotten" else [(2,)]
        assert rows(store, table, f"DISTINCT {column}") == expected, table
    assert rows(store, "triggers", "DISTINCT lesson") in ([], [(2,)])


def test_anchors_are_files_with_their_folder_and_globs_without(store: SqliteStore) -> None:
    store.put([make_lesson(paths=("src/a.py", "b.py"), globs=("docs/**",))], {})
    assert sorted(rows(store, "anchors", "path, owner, lesson, folder, is_glob")) == [
        ("b.py", PROJECT, 1, "", 0), ("docs/**", PROJECT, 1, "", 1), ("src/a.py", PROJECT, 1, "src", 0),
    ]  # fmt: skip


def test_a_session_is_among_the_tokens_however_many_others_there_are(store: SqliteStore) -> None:
    names = " ".join(f"name_{n}" for n in range(2 * TOKEN_LIMIT))
    lesson = make_lesson(insight=names[:4_000], provenance=Provenance(session=SessionId("s1")))
    store.put([lesson, make_lesson()], {})
    tokens = rows(store, "tokens", "token, weight", "lesson = 1")
    assert len(tokens) == TOKEN_LIMIT
    assert ("session s1", 0.0) in tokens
    assert rows(store, "tokens", where="lesson = 2 AND token LIKE 'session%'") == [(0,)]
