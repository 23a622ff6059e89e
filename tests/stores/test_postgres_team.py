from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator

import psycopg
import pytest
from tests.contract.team_contract import AT, HARBOUR, TeamContract, document, entry, member
from tests.postgresql import Database
from tests.stores.plans import PARTITIONS, PlanCheck

from holdfast.domain.team import FIRST_ORGANISATION, Member, OrganisationId
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import StoreDeadlockError
from holdfast.ports.team import TeamServices
from holdfast.stores.postgresql import make_backend
from holdfast.stores.postgresql.backend import PostgresBackend, PostgresTeamStores
from holdfast.stores.postgresql.team import PostgresAuditLog
from holdfast.team import audit
from holdfast.testing.builders import FixedClock


@pytest.fixture(scope="module")
def plans(database: Database) -> Iterator[PlanCheck]:
    checked = PlanCheck(database)
    yield checked
    checked.close()


@pytest.fixture
def backend(database: Database, plans: PlanCheck) -> Iterator[PostgresBackend]:
    """A backend whose every statement is planned first: none may read two partitions."""
    made = make_backend({"url": database.store_url(1, partitions=PARTITIONS)})
    made._database.cursor_class = plans.cursor_class()
    with made as opened:
        yield opened


class TestPostgresqlTeam(TeamContract):
    @pytest.fixture
    def stores(self, backend: PostgresBackend, organisation: int) -> PostgresTeamStores:
        return backend.open(OrganisationId(organisation))


def fill(stores: PostgresTeamStores) -> None:
    stores.records.add(member("ada", email="ada@acme.org"))
    stores.records.add_up("lessons", 5)
    stores.documents.write(HARBOUR, [document("a")])
    stores.audit.append([entry(1)])


def test_every_statement_is_planned_for_one_partition(
    backend: PostgresBackend, plans: PlanCheck, organisation: int
) -> None:
    stores = backend.open(OrganisationId(organisation))
    fill(stores)
    look(stores)
    stores.records.expire(AT)
    assert {"team_records", "team_keys", "team_counters", "audit_log", "audit_heads", "documents"} <= set().union(
        *plans.statements.values()
    )


def look(stores: PostgresTeamStores) -> list[object]:
    """Return everything that reading finds."""
    return [
        stores.records.get(Member, "ada"),
        *stores.records.find(Member),
        *stores.records.find(Member, {"email": "ada@acme.org"}),
        stores.records.count(Member) or None,
        stores.records.add_up("lessons", 0) or None,
        *stores.documents.after(HARBOUR, 0),
        *stores.documents.get(HARBOUR, ["a"]),
        *stores.documents.of_lessons(HARBOUR, [LessonId("of a")]),
        stores.documents.last_seqs([HARBOUR])[HARBOUR] or None,
        stores.audit.last(),
        *stores.audit.read(),
    ]


class Forgetful(psycopg.Cursor):
    """A cursor that takes the organisation out of every condition, as a careless change of the SQL would."""

    def execute(self, query, params=None, **options):
        if isinstance(query, str):
            query = re.sub(r"\b((?:\w+\.)?org) = %s", r"%s::int IS NOT NULL", query)
        return super().execute(query, params, **options)


def test_the_policy_alone_keeps_organisations_apart(database: Database, organisation: int) -> None:
    with make_backend({"url": database.store_url(1, partitions=PARTITIONS)}) as backend:
        fill(backend.open(OrganisationId(organisation)))
        assert len([each for each in look(backend.open(OrganisationId(organisation))) if each is not None]) == 11
    careless = make_backend({"url": database.store_url(1, partitions=PARTITIONS)})
    careless._database.cursor_class = Forgetful
    with careless as backend:
        other = backend.open(OrganisationId(organisation + 300_000))
        assert [each for each in look(other) if each is not None] == []
        assert not other.records.remove(Member, "ada")
        assert other.records.remove_all(Member) == 0
        assert other.documents.remove_project(HARBOUR) == 0
    with make_backend({"url": database.store_url(1, partitions=PARTITIONS)}) as backend:
        assert len([each for each in look(backend.open(OrganisationId(organisation))) if each is not None]) == 11


def chain(backend: PostgresBackend, organisation: int) -> PostgresAuditLog:
    """Return a log of twelve entries."""
    team = TeamServices(stores=backend.open(OrganisationId(organisation)), clock=FixedClock(), random_bytes=os.urandom)
    for number in range(12):
        with team.stores.changing():
            audit.record(team, "ada", "token.issue", f"t{number}", role="reader")
    return team.stores.audit


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE audit_log SET doc = replace(doc, 'ada', 'eve') WHERE org = {org} AND seq = 5", "entry 5 was changed"),
        ("DELETE FROM audit_log WHERE org = {org} AND seq = 5", "entry 5 is missing"),
        ("DELETE FROM audit_log WHERE org = {org} AND seq > 10", "entries 11 to 12 are missing"),
        (
            "UPDATE audit_log SET seq = CASE seq WHEN 5 THEN -8 ELSE -5 END WHERE org = {org} AND seq IN (5, 8);"
            "UPDATE audit_log SET seq = -seq WHERE org = {org} AND seq < 0",
            "entry 8 stands at position 5",
        ),
    ],
)
def test_what_the_owner_of_the_database_does_to_the_log_is_named(
    backend: PostgresBackend, database: Database, organisation: int, change: str, fault: str
) -> None:
    log = chain(backend, organisation)
    assert audit.verify(log).faults == ()
    with database.connect() as sql:
        sql.execute(change.format(org=organisation).encode())
    assert audit.verify(log).faults[0] == fault


def test_organisations_are_numbered_from_the_second(backend: PostgresBackend) -> None:
    first = backend.organisations()
    assert first[0] == FIRST_ORGANISATION
    made = [backend.create(), backend.create()]
    assert made == [max(first) + 1, max(first) + 2]
    assert backend.organisations() == [*first, *made]


def test_no_organisation_sees_or_takes_another_ones_rows(backend: PostgresBackend, organisation: int) -> None:
    ours, theirs = backend.open(OrganisationId(organisation)), backend.open(OrganisationId(organisation + 100_000))
    ours.records.add(member("ada", email="ada@acme.org"))
    ours.documents.write(HARBOUR, [document("a")])
    ours.audit.append([entry(1)])
    assert theirs.records.find(Member) == []
    assert theirs.records.find(Member, {"email": "ada@acme.org"}) == []
    assert theirs.documents.after(HARBOUR, 0) == []
    assert theirs.documents.last_seqs([HARBOUR]) == {HARBOUR: 0}
    assert theirs.audit.last() is None
    assert not theirs.records.remove(Member, "ada")
    theirs.records.add(member("ada", email="ada@acme.org"))
    theirs.audit.append([entry(1)])
    assert theirs.documents.write(HARBOUR, [document("a")])[0].seq == 1


def test_the_program_cannot_change_the_audit_log(
    backend: PostgresBackend, database: Database, organisation: int
) -> None:
    backend.open(OrganisationId(organisation)).audit.append([entry(1)])
    with database.connect("holdfast") as sql:
        for statement in ("UPDATE audit_log SET doc = ''", "DELETE FROM audit_log", "TRUNCATE audit_log"):
            with sql.transaction(force_rollback=True):
                sql.execute("SELECT set_config('role', 'holdfast_app', true)")
                sql.execute("SELECT set_config('holdfast.org', %s, true)", (str(organisation),))
                assert sql.execute("SELECT count(*) FROM audit_log").fetchone() == (1,)
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    sql.execute(statement)


def test_who_is_ended_as_a_deadlock_has_written_nothing_and_may_repeat_it(
    backend: PostgresBackend, organisation: int
) -> None:
    both = threading.Barrier(2)
    errors: list[Exception] = []

    def write(name: str, names: tuple[str, str]) -> None:
        stores = backend.open(OrganisationId(organisation))

        def change(meets: bool) -> None:
            with stores.changing():
                stores.records.hold(names[0])
                stores.records.put(member(name))
                if meets:
                    both.wait()
                stores.records.hold(names[1])

        try:
            change(True)
        except StoreDeadlockError as exc:
            errors.append(exc)
            assert stores.records.get(Member, name) is None
            change(False)

    threads = [
        threading.Thread(target=write, args=arguments) for arguments in (("ada", ("a", "b")), ("bob", ("b", "a")))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 1
    assert backend.open(OrganisationId(organisation)).records.count(Member) == 2
