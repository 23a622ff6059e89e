"""Organisations on two PostgreSQL clusters, and the move of one while clients write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest
from tests.contract.store_questions import assert_found, found, reachable
from tests.postgresql import Cluster, Clusters, Database
from tests.stores.plans import PARTITIONS

from holdfast.domain.vocabulary import LessonId
from holdfast.errors import InvalidValueError, LessonNotFoundError, StoreError, StoreLockedError
from holdfast.ports.store import LessonFilter
from holdfast.stores.postgresql import placement
from holdfast.stores.postgresql.address import address_of
from holdfast.stores.postgresql.database import Database as Pool
from holdfast.stores.postgresql.placement import HOME, Places
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.tenant import Tenant
from holdfast.testing.builders import PROJECT, make_event, make_lesson, next_version

WRITERS, WRITTEN = 3, 25


@pytest.fixture(scope="module")
def databases(cluster: Cluster, clusters: Clusters) -> list[Database]:
    """Three databases, two of them on a cluster of their own."""
    other = clusters.start()
    return [cluster.create_database("home"), other.create_database("east"), other.create_database("west")]


@pytest.fixture
def places(databases: list[Database]) -> Iterator[Places]:
    """What a server knows that is started with the three URLs."""
    made = make_places(databases)
    made.open()
    yield made
    made.close()


def make_places(databases: list[Database], timeout_s: float = 30.0) -> Places:
    pools = [Pool(address_of(database.store_url(1, partitions=PARTITIONS), timeout_s)) for database in databases]
    return Places(pools[0], dict(zip(("east", "west"), pools[1:], strict=True)))


def store_of(places: Places, organisation: int) -> PostgresStore:
    database = places.database_of(organisation)
    return PostgresStore(database, organisation, Tenant(database, organisation, places))


def rows_of(database: Database, organisation: int) -> dict[str, int]:
    """How many rows of the organisation each table has."""
    with database.connect() as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org'"
            " WHERE c.relkind = 'p' AND c.relnamespace = 'public'::regnamespace"
        ).fetchall()
        counts = {}
        for (table,) in tables:
            counting = f"SELECT count(*) FROM {table} WHERE org = {organisation}"
            counts[table] = (connection.execute(counting.encode()).fetchone() or (0,))[0]
    return {table: count for table, count in counts.items() if count}


def test_an_organisation_moves_with_all_that_it_has(
    places: Places, databases: list[Database], organisation: int
) -> None:
    store = store_of(places, organisation)
    lesson = reachable(store)
    store.append_events([make_event()])
    revised = next_version(lesson)
    store.put([revised], {lesson.id: lesson.recorded_at})
    current = reachable(store)
    stays = reachable(store_of(places, organisation + 500_000))
    before = rows_of(databases[0], organisation)
    for number, place in ((1, "east"), (2, "west"), (0, HOME)):
        assert places.move(organisation, place) == sum(before.values())
        assert rows_of(databases[number], organisation) == before
        assert [bool(rows_of(database, organisation)) for database in databases].count(True) == 1
        assert store.get([lesson.id]) == [revised]  # the same view follows
        assert_found(store_of(places, organisation), current, True)
        assert found(store_of(places, organisation), "match_tokens", text="Engine.connect", as_of=lesson.recorded_at)
    store.put([replace(revised, recorded_at=revised.recorded_at.replace(year=2030))], {lesson.id: revised.recorded_at})
    assert store_of(places, organisation + 500_000).get([stays.id]) == [stays]


def test_a_server_that_knows_of_no_move_follows_it(
    places: Places, databases: list[Database], organisation: int
) -> None:
    elsewhere = make_places(databases)
    elsewhere.open()
    first = reachable(store_of(elsewhere, organisation))
    places.move(organisation, "east")
    places.move(organisation, "west")
    other = store_of(elsewhere, organisation)
    assert other.get([first.id]) == [first]
    second = reachable(other)
    assert {lesson.id for lesson in store_of(places, organisation).find(LessonFilter(project=PROJECT))} == {
        first.id, second.id,
    }  # fmt: skip
    elsewhere.close()


def test_nothing_is_lost_while_clients_write(places: Places, databases: list[Database], organisation: int) -> None:
    acknowledged: list[LessonId] = []
    lock, started = threading.Lock(), threading.Barrier(WRITERS + 1)

    def write(number: int) -> None:
        started.wait()
        for count in range(WRITTEN):
            lesson = make_lesson(insight=f"Rule {count} of writer {number} in {organisation}")
            while True:
                try:
                    store_of(places, organisation).put([lesson], {})
                    break
                except StoreLockedError:
                    continue
            with lock:
                acknowledged.append(lesson.id)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    started.wait()
    for place in ("east", HOME, "west"):
        places.move(organisation, place)
    for thread in threads:
        thread.join()
    lessons = store_of(places, organisation).find(LessonFilter(project=PROJECT, limit=1_000))
    assert sorted(lesson.id for lesson in lessons) == sorted(acknowledged)
    assert len(acknowledged) == WRITERS * WRITTEN
    assert [bool(rows_of(database, organisation)) for database in databases] == [False, False, True]


def test_a_writer_that_waits_too_long_may_try_again(databases: list[Database], organisation: int) -> None:
    places = make_places(databases, timeout_s=0.2)
    places.open()
    with databases[0].connect() as mover, mover.transaction():
        mover.execute("SELECT pg_advisory_xact_lock(%s, %s)", (placement.MOVING, organisation))
        with pytest.raises(StoreLockedError):
            reachable(store_of(places, organisation))
        assert store_of(places, organisation).find(LessonFilter(project=PROJECT)) == []  # reading goes on
    reachable(store_of(places, organisation))
    places.close()


@pytest.mark.parametrize("step", ["before the new place has it", "before the old place lets go", "before all know"])
def test_a_move_that_was_killed_is_repeated(
    places: Places, databases: list[Database], organisation: int, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    lesson = reachable(store_of(places, organisation))
    with monkeypatch.context() as patched:
        if step == "before the new place has it":
            patched.setattr(placement, "_pass_numbers", _fail)
        elif step == "before the old place lets go":
            forward = placement._forward

            def fail_for_good(
                connection: placement.Connection, org: int, place: str, is_arriving: bool = False
            ) -> None:
                if not is_arriving:
                    _fail()
                forward(connection, org, place, is_arriving)

            patched.setattr(placement, "_forward", fail_for_good)
        else:
            patched.setattr(Places, "_settle", _fail)
        with pytest.raises(KeyboardInterrupt):
            places.move(organisation, "east")
    fresh = make_places(databases)
    fresh.open()
    if step == "before all know":
        with pytest.raises(StoreLockedError, match="is moving"):
            reachable(store_of(fresh, organisation))
    else:
        assert store_of(fresh, organisation).get([lesson.id]) == [lesson]
    fresh.move(organisation, "east")
    assert store_of(fresh, organisation).get([lesson.id]) == [lesson]
    assert [bool(rows_of(database, organisation)) for database in databases] == [False, True, False]
    fresh.close()


def _fail(*arguments: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_move_may_be_turned_back(
    places: Places, databases: list[Database], organisation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = reachable(store_of(places, organisation))
    with monkeypatch.context() as patched:
        patched.setattr(Places, "_settle", _fail)
        with pytest.raises(KeyboardInterrupt):
            places.move(organisation, "east")
    places.move(organisation, HOME)
    assert store_of(places, organisation).get([lesson.id]) == [lesson]
    assert [bool(rows_of(database, organisation)) for database in databases] == [True, False, False]


def test_a_server_without_places_refuses_to_write_for_an_organisation_that_left(
    places: Places, organisation: int
) -> None:
    reachable(store_of(places, organisation))
    places.move(organisation, "west")
    alone = PostgresStore(places.databases[HOME], organisation)
    with pytest.raises(StoreError, match="has moved to 'west'"):
        reachable(alone)
    with pytest.raises(LessonNotFoundError):
        alone.get([LessonId("x")])


def test_an_unknown_place_is_refused(places: Places, organisation: int) -> None:
    with pytest.raises(InvalidValueError, match="no such place"):
        places.move(organisation, "north")
    database = places.databases[HOME]
    with psycopg.connect(database.address.owner_conninfo()) as connection:
        connection.execute("INSERT INTO placements VALUES (%s, 'north', false)", (organisation,))
    with pytest.raises(StoreError, match="does not know"):
        store_of(places, organisation).find(LessonFilter())
