"""A streaming standby answers reads that it is far enough for; the primary answers the others, and all writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Thread

import psycopg
import pytest
from tests.contract.store_questions import assert_found, reachable
from tests.contract.team_contract import HARBOUR, document
from tests.postgresql import Cluster, Clusters, Database
from tests.stores.plans import PARTITIONS

from holdfast.domain.statefamilies import PLACE
from holdfast.domain.team import OrganisationId
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import LessonNotFoundError
from holdfast.ports.store import LessonFilter
from holdfast.stores.postgresql import replicas
from holdfast.stores.postgresql.address import address_of
from holdfast.stores.postgresql.backend import PostgresBackend
from holdfast.stores.postgresql.database import Database as Pool
from holdfast.stores.postgresql.eventlog import read_counters
from holdfast.stores.postgresql.replicas import ReadingTenant, Replicas
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.tenant import Tenant
from holdfast.testing.builders import PROJECT

ORG = 3
WAIT_S = 60.0


class Pair:
    """A primary with a standby, and their pools."""

    def __init__(self, clusters: Clusters) -> None:
        self.primary = clusters.start()
        self.database = self.primary.create_database("team")
        self.pool = Pool(address_of(self.database.store_url(ORG, partitions=PARTITIONS)))
        self.pool.open()
        self.standby: Cluster = self.primary.standby()
        self.address = address_of(Database(self.standby, "team").store_url(ORG))
        self.replicas = Replicas([self.address])
        self.replicas.open()
        self.replica = self.replicas.find(ORG, lambda tenant: True)
        assert self.replica is not None

    def store(self) -> PostgresStore:
        """The store as a reader of the replica has it."""
        return PostgresStore(self.pool, ORG, ReadingTenant(Tenant(self.pool, ORG), self.replicas, self.replica))

    def versions(self) -> int:
        """How many versions the primary has: what a reader has seen."""
        return Tenant(self.pool, ORG).read(lambda sql: read_counters(sql, "versions"))

    def with_versions(self, number: int) -> Pool | None:
        """The replica, if it has so many versions."""
        return self.replicas.find(ORG, lambda tenant: tenant.read(lambda sql: read_counters(sql, "versions")) >= number)

    def catch_up(self) -> None:
        """Wait until the standby has all. Another thread looks: this one may hold a transaction of one instant."""

        def wait() -> None:
            until = time.monotonic() + WAIT_S
            while self.with_versions(self.versions()) is None and time.monotonic() < until:
                time.sleep(0.01)
            looks.append(self.with_versions(self.versions()))

        looks: list[Pool | None] = []
        waiting = Thread(target=wait)
        waiting.start()
        waiting.join()
        assert looks != [None], "the standby never caught up"

    def pause(self, is_paused: bool) -> None:
        """Have the standby receive changes without replaying them, or replay them again."""
        with self.standby.connect() as connection:
            connection.execute(f"SELECT pg_wal_replay_{'pause' if is_paused else 'resume'}()".encode())


@pytest.fixture(scope="module")
def pair(clusters: Clusters) -> Iterator[Pair]:
    made = Pair(clusters)
    yield made
    made.replicas.close()
    made.pool.close()


def test_the_standby_answers_every_search(pair: Pair) -> None:
    lesson = reachable(PostgresStore(pair.pool, ORG))
    pair.catch_up()
    assert_found(pair.store(), lesson, True)
    assert_found(pair.store(), lesson, True, as_of=lesson.recorded_at)
    with pair.replica.connection() as connection:
        assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)


def test_who_has_seen_more_than_the_standby_reads_from_the_primary(pair: Pair) -> None:
    pair.catch_up()
    pair.pause(True)
    seen = pair.versions()
    lesson = reachable(PostgresStore(pair.pool, ORG))
    assert pair.with_versions(seen) is pair.replica
    assert pair.with_versions(seen + 1) is None
    with pytest.raises(LessonNotFoundError):
        pair.store().get([lesson.id])
    pair.pause(False)
    pair.catch_up()
    assert pair.with_versions(seen + 1) is pair.replica
    assert pair.store().get([lesson.id]) == [lesson]


def test_what_was_written_is_read_by_the_same_request(pair: Pair) -> None:
    pair.catch_up()
    pair.pause(True)
    store = pair.store()
    with store.reading():
        before = len(store.find(LessonFilter(project=PROJECT)))
        lesson = reachable(store)
        assert len(store.find(LessonFilter(project=PROJECT))) == before + 1
    with store.changing():
        store.set_state(PLACE, "/a", "secret")
    assert store.get_state(PLACE, "/a") == "secret"
    assert store.get([lesson.id]) == [lesson]
    pair.pause(False)


def test_reads_of_one_answer_see_one_instant_of_the_standby(pair: Pair) -> None:
    pair.catch_up()
    store = pair.store()
    with store.reading():
        before = store.find(LessonFilter(project=PROJECT))
        reachable(PostgresStore(pair.pool, ORG))
        pair.catch_up()
        assert store.find(LessonFilter(project=PROJECT)) == before
    assert len(store.find(LessonFilter(project=PROJECT))) == len(before) + 1


def test_a_reader_of_a_server_is_answered_by_a_replica_that_has_the_documents_it_saw(pair: Pair) -> None:
    east = pair.primary.create_database("east")
    places = {"east": address_of(east.store_url(partitions=PARTITIONS))}
    with PostgresBackend(pair.pool.address, replicas=[pair.address], places=places) as backend:
        first, second = (backend.open(OrganisationId(ORG)).documents for _ in range(2))

        def reads_replica(after: int) -> bool:
            stores = backend.open_to_read(OrganisationId(ORG), HARBOUR, after)
            return isinstance(stores.store.tenant, ReadingTenant)

        seen = first.write(HARBOUR, [document("a")])[0].seq
        while not reads_replica(seen):
            time.sleep(0.01)
        answer = backend.open_to_read(OrganisationId(ORG), HARBOUR, seen)
        assert [each.id for each in answer.documents.after(HARBOUR, 0)] == ["a"]
        pair.pause(True)
        more = second.write(HARBOUR, [document("b")])[0].seq
        assert (reads_replica(seen), reads_replica(more)) == (True, False)
        answer = backend.open_to_read(OrganisationId(ORG), HARBOUR, more)
        assert [each.id for each in answer.documents.after(HARBOUR, 0)] == ["a", "b"]
        pair.pause(False)
        backend.move(OrganisationId(ORG), "east")
        while reads_replica(more):
            time.sleep(0.01)
        answer = backend.open_to_read(OrganisationId(ORG), HARBOUR, more)
        assert [each.id for each in answer.documents.after(HARBOUR, 0)] == ["a", "b"]
        backend.move(OrganisationId(ORG), "home")


def test_a_standby_that_fails_rests_and_the_primary_answers(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "RESTS_S", 60)
    lesson = reachable(PostgresStore(pair.pool, ORG))
    pair.catch_up()
    store = pair.store()
    assert store.get([lesson.id]) == [lesson]
    pair.standby.kill()
    assert store.get([lesson.id]) == [lesson]
    pair.standby.start()
    assert pair.with_versions(0) is None  # it is not asked
    pair.replicas._rests_until.clear()
    monkeypatch.setattr(replicas, "RESTS_S", 0)
    while pair.with_versions(0) is None:
        time.sleep(0.01)
    with pytest.raises(LessonNotFoundError):
        pair.store().get([LessonId("unknown")])


def test_a_server_starts_without_its_replica(clusters: Clusters, pair: Pair) -> None:
    lost = address_of(f"postgresql://holdfast@/team?host={pair.primary.folder}-lost")
    several = Replicas([lost, pair.address])
    several.open()
    pair.catch_up()
    assert [several.find(ORG, lambda tenant: True) is not None for _ in range(3)] == [True] * 3
    several.close()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(lost.conninfo)
