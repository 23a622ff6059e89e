"""Copies of an organisation's memory in a SQLite file, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contract.store_questions import EMBEDDER, assert_found, minutes, reachable
from tests.postgresql import Database

from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import PLACE, SYNCED_LESSONS
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import LessonNotFoundError, StoreError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter, Store
from holdfast.stores.postgresql import make
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.sqlite import make as make_sqlite
from holdfast.testing.builders import (
    PROJECT,
    make_change,
    make_checkpoint,
    make_delivery,
    make_event,
    make_lesson,
    make_outcome,
    next_version,
)

organisations = itertools.count(500_000)


@pytest.fixture
def store(database: Database) -> Iterator[PostgresStore]:
    with make({"url": database.store_url(next(organisations))}) as opened:
        yield opened


@pytest.fixture
def other(database: Database) -> Iterator[PostgresStore]:
    with make({"url": database.store_url(next(organisations))}) as opened:
        yield opened


LONG = "long/" * 300 + "path.py"


def fill(store: Store) -> LessonId:
    """Write something of everything; return the lesson that every method finds."""
    lesson = reachable(store)
    revised = next_version(lesson, insight="Make the SQLAlchemy engine once for each process")
    store.put([revised], {lesson.id: lesson.recorded_at}, make_change(lessons=(lesson.id,)))
    store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
    purged = make_lesson(insight="gone", level="user", project="")
    store.put([purged, make_lesson(path=LONG, state="retired"), make_lesson(state="forgotten")], {})
    store.purge([purged.id])
    store.append_events([make_event(text="Where is the pier?"), make_event(kind="tool_result", command="pytest")])
    store.record([make_delivery(), make_outcome(), make_checkpoint()])
    store.set_state(PLACE, "/a", "1")
    store.set_rows(SYNCED_LESSONS, "project-a", {"a": "1", LONG: "2"})
    return lesson.id


def content(store: Store) -> list[object]:
    """Return what a store answers to a caller, without vectors."""
    lessons = store.find(LessonFilter(all_projects=True, states=("active", "retired", "forgotten")))
    past = [store.get([lesson.id], as_of=lesson.recorded_at) for lesson in lessons]
    first = store.find(LessonFilter(project=PROJECT, as_of=minutes(0.5)))
    logs = [store.find_records(kind, LogFilter()) for kind in (Change, Checkpoint, Delivery, Outcome)]
    events = store.find_events(EventFilter())
    rows = store.get_rows(SYNCED_LESSONS, "project-a")
    return [lessons, past, first, logs, events, store.get_state(PLACE, "/a"), rows, store.extent(), store.check()]


def test_a_copy_is_a_file_that_a_person_can_open(store: PostgresStore, tmp_path: Path) -> None:
    id_ = fill(store)
    store.write_copy(str(tmp_path / "copy.db"))
    with make_sqlite({"url": f"sqlite://{tmp_path}/copy.db"}) as copy:
        assert content(copy) == content(store)
        assert_found(copy, copy.get([id_])[0], True)
        assert copy.find(LessonFilter(project=PROJECT, path=LONG, states=("retired",)))


def test_a_copy_replaces_all_of_an_organisation_and_nothing_of_another(
    store: PostgresStore, other: PostgresStore, tmp_path: Path
) -> None:
    id_ = fill(store)
    before = content(store)
    stays = make_lesson()
    other.put([stays], {})
    other.append_events([make_event()])
    store.write_copy(str(tmp_path / "copy.db"))
    known = other.content()
    assert known == PostgresStore(other.tenant.database, other.tenant.org).content() != store.content()
    other.take_copy(str(tmp_path / "copy.db"))
    assert other.content() != known, "what a process keeps of the lessons before is not used again"
    assert content(other) == before == content(store)
    assert_found(other, other.get([id_])[0], True)
    with pytest.raises(LessonNotFoundError):
        other.get([stays.id])
    more = replace(make_event(), text="one more")
    other.append_events([more])
    assert other.find_events(EventFilter())[-1] == (3, more), "positions go on after those of the copy"


def test_a_persons_own_memory_moves_to_a_server(store: PostgresStore, tmp_path: Path) -> None:
    with make_sqlite({"url": f"sqlite://{tmp_path}/memory.db"}) as own:
        id_ = fill(own)
        expected = content(own)
    store.take_copy(str(tmp_path / "memory.db"))
    assert content(store) == expected
    assert_found(store, store.get([id_])[0], True)


def test_a_damaged_row_is_copied_as_it_is(store: PostgresStore, other: PostgresStore, tmp_path: Path) -> None:
    lesson, event = make_lesson(), make_event()
    store.put([lesson], {})
    store.append_events([event])
    store.tenant.write(lambda sql: sql.execute("UPDATE lessons SET doc = '{' WHERE org = %s", (sql.org,)))
    store.tenant.write(lambda sql: sql.execute("UPDATE events SET doc = 'x' WHERE org = %s", (sql.org,)))
    store.write_copy(str(tmp_path / "copy.db"))
    other.take_copy(str(tmp_path / "copy.db"))
    assert other.set_aside() == {"lessons": 1, "events": 1}
    assert other.extent().versions == 1


def test_a_copy_that_fails_changes_nothing(store: PostgresStore, tmp_path: Path) -> None:
    fill(store)
    before = content(store)
    (tmp_path / "bad.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError):
        store.take_copy(str(tmp_path / "bad.db"))
    with pytest.raises(StoreError):
        store.write_copy(str(tmp_path / "bad.db"))
    assert content(store) == before


def test_what_others_write_meanwhile_does_not_stay_beside_a_copy(
    store: PostgresStore, other: PostgresStore, tmp_path: Path
) -> None:
    fill(store)
    store.write_copy(str(tmp_path / "copy.db"))
    with ThreadPoolExecutor(1) as threads:
        with other.changing():
            other.set_state(PLACE, "/meanwhile", "1")
            taken = threads.submit(other.take_copy, str(tmp_path / "copy.db"))
            wait([taken], 0.5)  # it has to wait for this transaction
        taken.result()
    assert other.get_state(PLACE, "/meanwhile") == ""
    assert content(other) == content(store)
