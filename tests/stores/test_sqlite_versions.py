"""Versions as they are written: what of the old one stays, which rows derive from them, when values of states go."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.lesson import Provenance, in_state
from holdfast.domain.query import Query
from holdfast.domain.statefamilies import FAMILIES
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import LessonNotFoundError, StaleWriteError
from holdfast.lean.records import replace
from holdfast.ports.store import LessonFilter
from holdfast.stores.sqlite import lessons as reading
from holdfast.stores.sqlite import states
from holdfast.stores.sqlite.derived import SEARCHABLE
from holdfast.stores.sqlite.rows import micros
from holdfast.stores.sqlite.schema import statements
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, make_change, make_lesson, next_version
from holdfast.text.searchkeys import TOKEN_LIMIT

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


def test_lessons_without_a_rule_in_words_may_be_many(store: SqliteStore) -> None:
    store.put([make_lesson(insight="!!!"), make_lesson(insight="???")], {})
    store.put([make_lesson(insight="!!!")], {})
    assert len(store.find(LessonFilter(project=PROJECT))) == 3


@pytest.mark.parametrize("state", ["active", "probation", "candidate", "quarantined", "superseded", "retired"])
def test_a_rule_is_taken_by_lessons_in_use_only(store: SqliteStore, state: Any) -> None:
    living = {"active", "probation", "candidate", "quarantined"}
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


def test_ids_are_asked_for_in_several_statements(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ASKED_AT_ONCE", 2)
    lessons = [make_lesson() for _ in range(5)]
    store.put(lessons, {})
    for count in range(6):
        ids = [lesson.id for lesson in lessons[:count]]
        assert [lesson.id for lesson in store.get(ids)] == ids
    with pytest.raises(LessonNotFoundError, match="no lesson nope"):
        store.get([lessons[0].id, LessonId("nope")])
    with pytest.raises(LessonNotFoundError, match=r"no lesson nope as of 2026-03-01 09:00:00 UTC"):
        store.get([LessonId("nope")], START)


def test_a_topic_is_found_by_its_key_and_lessons_without_one_by_none(store: SqliteStore) -> None:
    lesson = make_lesson(topic_key="db/engine")
    store.put([lesson, make_lesson()], {})
    assert store.find(LessonFilter(project=PROJECT, topic_key="db/engine")) == [lesson]
    assert store.find(LessonFilter(project=PROJECT, topic_key="db")) == []


def test_a_glob_is_no_path_that_a_lesson_is_anchored_to(store: SqliteStore) -> None:
    lesson = make_lesson(globs=("docs/**",))
    gone = in_state(lesson, "forgotten", at=START + timedelta(minutes=1))
    store.put([lesson], {})
    assert store.find(LessonFilter(project=PROJECT, path="docs/**")) == []
    store.put([gone], {lesson.id: lesson.recorded_at})
    assert store.find(LessonFilter(project=PROJECT, path="docs/**", states=("forgotten",))) == []


# Searches of the past


def test_the_index_of_an_instant_is_made_once_until_something_is_written_or_another_is_asked(
    store: SqliteStore,
) -> None:
    lesson = make_lesson()
    store.put([lesson], {})

    def index_of(**asked: Any) -> Any:
        query = Query(**{"project": PROJECT, "as_of": START, **asked})
        store.list_recent(query, 5)
        assert store._past is not None
        return store._past._made

    first = index_of()
    assert index_of(states=("candidate",)) is first
    others = [index_of(project="elsewhere"), index_of(all_projects=True), index_of(as_of=START + timedelta(minutes=1))]
    assert len({id(made) for made in (first, *others)}) == 4
    before = index_of()
    store.put([make_lesson()], {})
    assert index_of() is not before
    with SqliteStore(store.path) as other:
        before = index_of()
        other.put([make_lesson()], {})
    assert index_of() is not before


def test_a_damaged_version_is_left_out_of_the_past(store: SqliteStore) -> None:
    lessons = [make_lesson() for _ in range(2)]
    store.put(lessons, {})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 1")
    past = Query(project=PROJECT, as_of=START)
    assert [match.id for match in store.list_recent(past, 5)] == [lessons[1].id]
    assert store.count_lessons(past, 5) == 1


# Values of states


def test_a_value_goes_when_it_is_older_than_its_days_to_the_microsecond(store: SqliteStore) -> None:
    family = next(family for family in FAMILIES if family.kept_days)
    for owner in ("a", "b"):
        store.set_state(family, owner, "x")
    bound = micros(START) - family.kept_days * 86_400_000_000
    with store._connection.writing() as sql:
        sql.execute("UPDATE state SET updated_at = ? WHERE owner = 'a'", (bound,))
        sql.execute("UPDATE state SET updated_at = ? WHERE owner = 'b'", (bound - 1,))
    assert store.expire_states(START) == 1
    assert [store.get_state(family, owner) for owner in ("a", "b")] == ["x", ""]
    assert timedelta(days=1) / timedelta(microseconds=1) == states.DAY


def test_a_value_that_does_not_change_is_not_written(store: SqliteStore) -> None:
    family = FAMILIES[0]
    store.set_state(family, "a", "x")
    changes = store._connection.sql.total_changes
    store.set_state(family, "a", "x")
    assert store.edit_state(family, "a", lambda value: value) == "x"
    assert store._connection.sql.total_changes == changes
    store.set_state(family, "a", "")
    assert rows(store, "state") == [(0,)]


# Purges


def test_a_purge_tells_how_many_rows_of_each_table_it_erased(store: SqliteStore) -> None:
    lesson, other = make_lesson(path="a.py"), make_lesson(path="b.py")
    store.put([lesson, other], {}, make_change(lessons=(lesson.id, other.id)))
    store.put([next_version(lesson, why="measured")], {lesson.id: lesson.recorded_at})
    with store._connection.writing() as sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 1")
    assert store.set_aside() == {"lessons": 1}
    erased = store.purge([lesson.id, lesson.id])
    assert {table: erased[table] for table in ("lessons", "set_aside", "changes", "change_lessons")} == {
        "lessons": 1, "set_aside": 1, "changes": 1, "change_lessons": 1,
    }  # fmt: skip
    assert "deliveries" not in erased
    assert rows(store, "set_aside") == [(0,)]


def test_a_change_that_cannot_be_read_goes_with_a_lesson_it_names(store: SqliteStore) -> None:
    lesson = make_lesson()
    store.put([lesson], {}, make_change(lessons=(lesson.id, LessonId("other"))))
    with store._connection.writing() as sql:
        sql.execute("UPDATE changes SET doc = '{'")
    assert store.purge([lesson.id])["changes"] == 1
    assert rows(store, "changes") == [(0,)]


# Scripts


def test_a_statement_that_does_not_end_is_left_out() -> None:
    assert statements("SELECT 1;\nSELECT\n 2;\nSELECT 3\n") == ["SELECT 1;", "SELECT\n 2;"]
    assert statements("") == []


def test_only_replacing_what_can_be_kept_makes_another_record(store: SqliteStore) -> None:
    plain = make_lesson(insight="plain \\u0000 text")
    odd = replace(plain, id=LessonId("odd"), insight="odd \0 text")
    store.put([plain, odd], {})
    assert [lesson.insight for lesson in store.get([plain.id, odd.id])] == [plain.insight, "odd \ufffd text"]
