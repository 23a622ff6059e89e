"""Each earlier schema on PostgreSQL is upgraded while servers of its own version go on writing to it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.postgresql import APP_ROLE, APPLICATION, OWNER, Cluster
from tests.postgresql import Database as OwnDatabase

from holdfast.errors import SchemaTooOldError
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import dumps
from holdfast.ports.store import EventFilter, LessonFilter, SessionFilter
from holdfast.stores._shared.rows import micros
from holdfast.stores.postgresql import make, schema
from holdfast.stores.postgresql.address import address_of
from holdfast.testing.builders import PROJECT, make_event, make_lesson

ORGANISATION = 7
WRITTEN = 30
"""Writes before the upgrade, and as many after it."""

_FIRST = (
    "INSERT INTO counters (org, name, owner, last) VALUES (%(org)s, 'events', '', 0) ON CONFLICT DO NOTHING",
    "SELECT last FROM counters WHERE org = %(org)s AND name = 'events' AND owner = '' FOR UPDATE",
    "INSERT INTO events (org, position, session, key, project, at, has_text, doc)"
    " SELECT %(org)s, last + 1, %(session)s, %(key)s, %(project)s, %(at)s, true, %(event)s FROM counters"
    " WHERE org = %(org)s AND name = 'events' AND owner = ''",
    "UPDATE counters SET last = last + 1 WHERE org = %(org)s AND name = 'events' AND owner = ''",
    "INSERT INTO lessons (org, row, id, recorded_at, owner, level, state, kind, branch, path_prefix, pinned, salience,"
    " valid_from, valid_to, topic_key, duplicate_key, files, doc) VALUES (%(org)s, nextval('row_numbers'), %(id)s,"
    " %(at)s, %(project)s, 'project', 'active', 'convention', '', '', false, 0.5, %(at)s, NULL, '', %(id)s, '{}',"
    " %(lesson)s)",
    "INSERT INTO state (org, family, owner, value, updated_at) VALUES (%(org)s, 'place', %(id)s, 'x', %(at)s)"
    " ON CONFLICT (org, family, owner) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
)
WRITES_OF: dict[int, tuple[str, ...]] = {1: _FIRST, 2: _FIRST, 3: _FIRST}
"""What a Holdfast of each earlier schema writes, as it was: never edit an entry, add one with each migration."""


def test_every_earlier_schema_has_an_entry() -> None:
    assert [*WRITES_OF] == [*range(1, schema.SCHEMA)]


class OldServer(threading.Thread):
    """Writes as a server of an earlier version does, until it has written enough after the upgrade."""

    def __init__(self, database: OwnDatabase, number: int) -> None:
        super().__init__()
        self.database, self.statements = database, WRITES_OF[number]
        self.acknowledged: list[tuple[str, str]] = []
        self.error: BaseException | None = None
        self.has_begun, self.is_upgraded = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            with self.database.connect(APPLICATION) as sql:
                after = 0
                while after < WRITTEN:
                    self.write(sql)
                    after += self.is_upgraded.is_set()
                    if len(self.acknowledged) == WRITTEN:
                        self.has_begun.set()
        except BaseException as exc:
            self.error = exc
        finally:
            self.has_begun.set()

    def write(self, sql: Any) -> None:
        lesson, event = make_lesson(), make_event()
        values = {
            "org": ORGANISATION, "session": event.session, "key": event.key, "project": PROJECT,
            "at": micros(lesson.recorded_at), "event": dumps(to_plain(event)), "id": lesson.id,
            "lesson": dumps(to_plain(lesson)),
        }  # fmt: skip
        with sql.transaction():
            sql.execute(f"SELECT set_config('role', '{APP_ROLE}', true)".encode())
            sql.execute("SELECT set_config('holdfast.org', %s, true)", (str(ORGANISATION),))
            for statement in self.statements:
                sql.execute(statement.encode(), values)
        self.acknowledged.append((lesson.id, event.key))


@pytest.mark.parametrize("number", range(1, schema.SCHEMA))
def test_a_schema_is_upgraded_while_servers_of_its_version_write(cluster: Cluster, number: int) -> None:
    database = cluster.create_database(f"from_{number}")
    address = address_of(database.store_url(ORGANISATION))
    with database.connect(OWNER) as owner:
        schema.upgrade(owner, address, APPLICATION, number)
        assert schema.look(owner, address.where) == number
    servers = [OldServer(database, number) for _ in range(2)]
    for server in servers:
        server.start()
    for server in servers:
        server.has_begun.wait(60)
    with make({"url": database.store_url(ORGANISATION)}) as store:
        for server in servers:
            server.is_upgraded.set()
        for server in servers:
            server.join()
            assert server.error is None
        acknowledged = [pair for server in servers for pair in server.acknowledged]
        lessons = store.find(LessonFilter(project=PROJECT, limit=100_000))
        assert {lesson.id for lesson in lessons} == {id_ for id_, _ in acknowledged}
        events = store.find_events(EventFilter(limit=100_000))
        assert sorted(event.key for _, event in events) == sorted(key for _, key in acknowledged)
        assert [position for position, _ in events] == [*range(1, len(events) + 1)]
        by_trust = store.count_by(LessonFilter(project=PROJECT, limit=100_000), "trust", 9)
        assert by_trust == {"agent": len(lessons)}
        assert sum(row.events for row in store.list_sessions(SessionFilter(project=PROJECT))) == len(events)
        store.put([make_lesson()], {})
    cluster.drop_database(database.name)


@pytest.mark.parametrize("number", range(1, schema.SCHEMA))
def test_an_older_schema_is_refused_where_it_must_not_be_upgraded(cluster: Cluster, number: int) -> None:
    database = cluster.create_database(f"old_{number}")
    with database.connect(OWNER) as owner:
        schema.upgrade(owner, address_of(database.store_url()), APPLICATION, number)
    with pytest.raises(SchemaTooOldError) as raised:
        make({"url": database.store_url(), "upgrade": "no"}).__enter__()
    assert f"has schema {number}" in str(raised.value)
    cluster.drop_database(database.name)
