"""Organisations see nothing of each other on PostgreSQL, even where the program's SQL forgets to say whose it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.contract.store_questions import EMBEDDER, every_method, found, reachable
from tests.postgresql import APP_ROLE, SUPERUSER, Database

from holdfast.domain.event import spoken_prefix
from holdfast.domain.query import Query
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import PLACE, SYNCED_LESSONS
from holdfast.domain.vocabulary import STATES
from holdfast.errors import LessonNotFoundError
from holdfast.ports.store import EventFilter, Extent, LessonFilter, LogFilter
from holdfast.stores.postgresql import make, tenant
from holdfast.stores.postgresql.copies import TABLES
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.testing.builders import (
    PROJECT,
    make_change,
    make_checkpoint,
    make_delivery,
    make_event,
    make_outcome,
    next_version,
)

EMPTY_AT_FIRST = {"set_aside"}
"""Tables that nothing in `fill` writes to."""


class Forgetful(psycopg.Cursor[Any]):
    """A cursor that takes the organisation out of every condition, as a careless change of the SQL would."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        if isinstance(query, str):
            query = re.sub(r"\b((?:\w+\.)?org) = %s", r"%s::int IS NOT NULL", query)
        return super().execute(query, params, **options)


@pytest.fixture
def full(database: Database, organisation: int) -> Iterator[PostgresStore]:
    """An organisation with something of everything."""
    with make({"url": database.store_url(organisation)}) as store:
        fill(store)
        yield store


@pytest.fixture
def empty(database: Database, organisation: int) -> Iterator[PostgresStore]:
    """The store of another organisation, whose SQL never says whose rows it wants."""
    with make({"url": database.store_url(organisation + 500_000)}) as store:
        store.tenant.database.close()
        store.tenant.database.cursor_class = Forgetful
        store.tenant.database.open()
        yield store


def fill(store: PostgresStore) -> None:
    lesson = reachable(store)
    store.put([next_version(lesson)], {lesson.id: lesson.recorded_at}, make_change(lessons=(lesson.id,)))
    store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
    prompt = spoken_prefix("prompt") + "1"
    store.append_events([make_event(kind="prompt", key=prompt, text="Where is the engine?", branch="main")])
    store.search_turns(Query(project=PROJECT, text="engine"), 5)
    store.record([make_delivery(), make_outcome(), make_checkpoint()])
    store.set_state(PLACE, "/a", "secret")
    store.set_rows(SYNCED_LESSONS, "project-a", {"a": "secret"})


def as_program(database: Database, organisation: int | None, statement: str) -> list[Any]:
    """Run a statement as the program's role, with the organisation set or not."""
    with database.connect() as sql, sql.transaction():
        sql.execute(f"SET LOCAL ROLE {APP_ROLE}".encode())
        if organisation is not None:
            sql.execute("SELECT set_config('holdfast.org', %s, true)", (str(organisation),))
        cursor = sql.execute(statement.encode())
        return cursor.fetchall() if cursor.description else [cursor.rowcount]


def test_a_table_shows_the_rows_of_one_organisation_or_none(
    database: Database, full: PostgresStore, organisation: int
) -> None:
    for table in TABLES:
        has = as_program(database, organisation, f"SELECT DISTINCT org FROM {table}")
        assert has == ([] if table in EMPTY_AT_FIRST else [(organisation,)]), table
        assert as_program(database, organisation + 1, f"SELECT * FROM {table}") == [], table
        assert as_program(database, None, f"SELECT * FROM {table}") == [], table


def test_no_row_of_another_organisation_can_be_written(
    database: Database, full: PostgresStore, organisation: int
) -> None:
    for table in TABLES:
        assert as_program(database, organisation + 1, f"DELETE FROM {table}") == [0], table
        assert as_program(database, None, f"UPDATE {table} SET org = org") == [0], table
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_program(database, organisation + 1, f"INSERT INTO counters VALUES ({organisation}, 'x', '', 1)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_program(database, organisation, f"UPDATE counters SET org = {organisation + 1}")
    assert full.check() == []
    assert full.extent() == Extent(lessons=1, versions=2, events=1)


def test_the_program_cannot_leave_its_role_and_its_tables_in_a_transaction(database: Database, full: object) -> None:
    for statement in (
        "SELECT * FROM lessons_p0", "ALTER TABLE lessons NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own_organisation ON lessons", "TRUNCATE lessons", "CREATE TABLE mine (org int)",
    ):  # fmt: skip
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_program(database, 1, statement)
    with pytest.raises(psycopg.Error):
        as_program(database, 1, "SET LOCAL row_security = off; SELECT count(*) FROM lessons")


def test_a_session_keeps_no_organisation_after_a_transaction(
    database: Database, full: PostgresStore, organisation: int
) -> None:
    with full.tenant.database.connection() as connection:
        assert connection.execute("SELECT current_setting('holdfast.org', true)").fetchone() in ((None,), ("",))
        assert connection.execute("SELECT current_user").fetchone() == ("holdfast",)


def test_sql_that_forgets_the_organisation_shows_nothing_of_another_one(
    full: PostgresStore, empty: PostgresStore
) -> None:
    (lesson,) = full.find(LessonFilter(project=PROJECT))
    assert empty.find(LessonFilter(all_projects=True, states=STATES)) == []
    with pytest.raises(LessonNotFoundError):
        empty.get([lesson.id])
    assert empty.current_versions([lesson.id]) == {}
    assert empty.find_events(EventFilter()) == []
    for kind in (Change, Checkpoint, Delivery, Outcome):
        assert empty.find_records(kind, LogFilter()) == []
    for method, question in every_method(lesson).items():
        assert found(empty, method, **question) == [], method
        assert found(empty, method, all_projects=True, **question) == [], method
    assert empty.search_turns(Query(project=PROJECT, text="engine"), 5).turns == 0
    assert empty.count_lessons(Query(project=PROJECT, states=STATES), 9) == 0
    assert empty.count_without_vector("other") == 0
    assert empty.get_state(PLACE, "/a") == ""
    assert empty.get_rows(SYNCED_LESSONS, "project-a") == {}
    assert empty.extent() == Extent()
    assert empty.check() == []
    text = empty.match_text(Query(project=PROJECT, text="sqlalchemy engine", states=STATES), 5, 0)
    assert (text.matches, text.lessons, [count for _, count in text.terms if count]) == ((), 0, [])


def test_without_the_policy_such_sql_would_show_it(
    database: Database, full: PostgresStore, organisation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is the policy that holds in the tests around."""
    lessons = full.find(LessonFilter(project=PROJECT))
    monkeypatch.setattr(tenant, "APP_ROLE", SUPERUSER)
    store = make({"url": f"{database.cluster.url(database.name)}&org={organisation + 500_000}"})
    store.tenant.database.cursor_class = Forgetful
    with store:
        assert lessons[0] in store.find(LessonFilter(project=PROJECT))


def test_writing_sql_that_forgets_the_organisation_changes_nothing_of_another_one(
    full: PostgresStore, empty: PostgresStore
) -> None:
    (lesson,) = full.find(LessonFilter(project=PROJECT))
    assert empty.purge([lesson.id]) == {}
    empty.drop_other_vectors("none")
    assert empty.set_aside() == {}
    empty.set_state(PLACE, "/a", "mine")
    empty.append_events([make_event()])
    assert full.get_state(PLACE, "/a") == "secret"
    assert full.find(LessonFilter(project=PROJECT)) == [lesson]
    assert len(full.find_events(EventFilter())) == 1
    assert found(full, "match_vector", vector=(1.0, 0.0, 0.0), embedder_id=EMBEDDER) == [lesson.id]
