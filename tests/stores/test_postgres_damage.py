"""Damaged rows on PostgreSQL: left out, counted, reported, and set aside unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.store_questions import minutes, reachable
from tests.postgresql import Database

from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.records import Change, Delivery
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import LessonNotFoundError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter, get_readable
from holdfast.stores.postgresql import make
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.testing.builders import PROJECT, make_change, make_delivery, make_event, make_lesson, next_version

DAMAGES = ("{", "", "null", "[]", '{"id":1}', '{"id":"other"}', '{"recorded_at":"never"}', "\\x00", "5" * 5_000)
"""Documents that are no record; each one is a way in which a row can be wrong."""


@pytest.fixture
def store(database: Database, organisation: int) -> Iterator[PostgresStore]:
    with make({"url": database.store_url(organisation)}) as opened:
        yield opened


def damage(store: PostgresStore, table: str, doc: str, where: str = "true", *args: object) -> None:
    """Write that text into the documents of the rows."""
    statement = f"UPDATE {table} SET doc = %s WHERE org = %s AND {where}"
    store.tenant.write(lambda sql: sql.execute(statement, (doc, sql.org, *args)))


def rows(store: PostgresStore, statement: str) -> list[tuple[Any, ...]]:
    return store.tenant.read(lambda sql: sql.execute(statement, (sql.org,)).fetchall())


def two_lessons(store: PostgresStore) -> tuple[Lesson, Lesson]:
    """Store two lessons, and return the one to damage first."""
    broken, sound = reachable(store, recorded_at=minutes(5)), reachable(store)
    return broken, sound


@pytest.mark.parametrize("doc", DAMAGES)
def test_a_damaged_lesson_is_left_out_counted_and_reported(store: PostgresStore, doc: str) -> None:
    broken, sound = two_lessons(store)
    damage(store, "lessons", doc, "id = %s", broken.id)
    assert store.find(LessonFilter(project=PROJECT, limit=1)) == [sound]
    assert store.left_out() == 1
    with pytest.raises(LessonNotFoundError, match="damaged"):
        store.get([broken.id])
    assert get_readable(store, [broken.id, sound.id]) == [sound]
    assert store.count_without_vector("other") == 1
    (problem,) = store.check()
    assert problem.what == "damaged rows, left out of every answer: 1 in lessons"
    assert "--mend" in problem.mend


def test_damaged_events_and_records_are_left_out_and_pages_stay_full(store: PostgresStore) -> None:
    events = [make_event() for _ in range(3)]
    deliveries = [make_delivery(at=minutes(number)) for number in range(3)]
    store.append_events(events)
    store.record([*deliveries, make_change()])
    damage(store, "events", "{", "position = 1")
    damage(store, "deliveries", "{", "id = %s", deliveries[2].id)
    damage(store, "changes", "[]")
    assert [event for _, event in store.find_events(EventFilter(limit=2))] == events[1:]
    assert store.find_records(Delivery, LogFilter(limit=2)) == [deliveries[1], deliveries[0]]
    assert store.find_records(Change, LogFilter()) == []
    assert store.left_out() == 3
    assert store.append_events([events[0]]) == 0, "its key is known although its document is not"


def test_damaged_rows_are_set_aside_unchanged_and_the_rest_goes_on(store: PostgresStore) -> None:
    broken, sound = two_lessons(store)
    store.append_events([make_event()])
    damage(store, "lessons", "{broken", "id = %s", broken.id)
    damage(store, "events", "{lost")
    assert store.find_events(EventFilter()) == []
    assert store.set_aside() == {"lessons": 1, "events": 1}
    assert store.left_out() == 0
    assert store.check() == []
    aside = dict(rows(store, "SELECT source, doc FROM set_aside WHERE org = %s"))
    assert aside == {"lessons": "{broken", "events": "{lost"}
    assert store.find(LessonFilter(project=PROJECT)) == [sound]
    matches = store.match_text(Query(project=PROJECT, text="sqlalchemy engine"), 5, 0).matches
    assert [match.lesson[1] for match in matches] == [sound.id]
    store.put([replace(broken, recorded_at=minutes(9))], {})
    assert len(store.find(LessonFilter(project=PROJECT))) == 2


def test_a_purge_erases_what_was_set_aside(store: PostgresStore) -> None:
    broken, _ = two_lessons(store)
    damage(store, "lessons", "{the walrus secret", "id = %s", broken.id)
    store.set_aside()
    assert store.purge([broken.id])["set_aside"] == 1
    assert rows(store, "SELECT doc FROM set_aside WHERE org = %s") == []


def test_a_damaged_lesson_can_be_purged_and_a_damaged_change_goes_with_it(store: PostgresStore) -> None:
    broken, sound = two_lessons(store)
    store.record([make_change(lessons=(broken.id, sound.id))])
    damage(store, "lessons", "{", "id = %s", broken.id)
    damage(store, "changes", "{")
    erased = store.purge([broken.id])
    assert (erased["lessons"], erased["changes"]) == (1, 1)
    assert store.find_records(Change, LogFilter()) == []
    assert store.check() == []


@pytest.mark.parametrize("doc", DAMAGES)
def test_texts_of_events_are_erased_although_one_of_them_is_damaged(store: PostgresStore, doc: str) -> None:
    events = [make_event(text="Pier 9"), make_event(text="Pier 8")]
    store.append_events(events)
    damage(store, "events", doc, "position = 1")
    assert store.erase_event_texts(minutes(60)) == 1
    assert [event.text for _, event in store.find_events(EventFilter())] == [""]
    lesson = make_lesson(insight="Pier 8 is closed", sessions_seen=(events[0].session,))
    store.put([lesson], {})
    assert store.purge([lesson.id])["lessons"] == 1


def test_a_damaged_version_can_be_replaced(store: PostgresStore) -> None:
    broken, _ = two_lessons(store)
    damage(store, "lessons", "{", "id = %s", broken.id)
    after = next_version(broken, insight="Written anew")
    store.put([after], {broken.id: broken.recorded_at})
    assert store.get([broken.id]) == [after]


def test_rows_that_disagree_with_their_lessons_are_reported(store: PostgresStore) -> None:
    lesson = reachable(store)
    for statement, words in (
        ("DELETE FROM words WHERE org = %s", "without its words"),
        ("UPDATE lessons SET retracted_at = recorded_at WHERE org = %s", "retracted"),
    ):
        store.tenant.write(lambda sql, statement=statement: sql.execute(statement, (sql.org,)))
        assert any(words in problem.what for problem in store.check()), words
    assert any("vector" in problem.what for problem in store.check())
    assert any("anchor" in problem.what for problem in store.check())
    assert any("token" in problem.what for problem in store.check())
    with pytest.raises(LessonNotFoundError):
        store.get([LessonId(lesson.id)])


def test_keys_of_any_length_are_stored_and_found(store: PostgresStore) -> None:
    long = "x" * 4_000
    events = [make_event(key=long), make_event(key=long + "y")]
    assert store.append_events(events) == 2
    assert store.append_events(events) == 0
    lesson = make_lesson(id=long, path="src/" + long, topic_key=long, insight=long, error_signature=long)
    store.put([lesson], {})
    assert store.get([LessonId(long)]) == [lesson]
    for where in ({"path": "src/" + long}, {"topic_key": long}):
        assert store.find(LessonFilter(project=PROJECT, **where)) == [lesson]  # type: ignore[arg-type]
    assert store.find(LessonFilter(project=PROJECT, path="src/" + long + "z")) == []
    assert store.check() == []
    assert store.purge([LessonId(long)])["lessons"] == 1
