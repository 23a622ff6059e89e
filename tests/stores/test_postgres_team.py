from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.contract.team_contract import HARBOUR, TeamContract, document, entry, member
from tests.postgresql import Database

from holdfast.domain.team import FIRST_ORGANISATION, Member, OrganisationId
from holdfast.stores.postgresql.address import address_of
from holdfast.stores.postgresql.backend import PostgresBackend, PostgresTeamStores


@pytest.fixture
def backend(database: Database) -> Iterator[PostgresBackend]:
    with PostgresBackend(address_of(database.store_url())) as opened:
        yield opened


class TestPostgresqlTeam(TeamContract):
    @pytest.fixture
    def stores(self, backend: PostgresBackend, organisation: int) -> PostgresTeamStores:
        return backend.open(OrganisationId(organisation))


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
    ours.audit.append(entry(1))
    assert theirs.records.find(Member) == []
    assert theirs.records.find(Member, {"email": "ada@acme.org"}) == []
    assert theirs.documents.after(HARBOUR, 0) == []
    assert theirs.documents.last_seqs([HARBOUR]) == {HARBOUR: 0}
    assert theirs.audit.last() is None
    assert not theirs.records.remove(Member, "ada")
    theirs.records.add(member("ada", email="ada@acme.org"))
    theirs.audit.append(entry(1))
    assert theirs.documents.write(HARBOUR, [document("a")])[0].seq == 1


def test_the_program_cannot_change_the_audit_log(
    backend: PostgresBackend, database: Database, organisation: int
) -> None:
    backend.open(OrganisationId(organisation)).audit.append(entry(1))
    with database.connect("holdfast") as sql:
        for statement in ("UPDATE audit_log SET doc = ''", "DELETE FROM audit_log", "TRUNCATE audit_log"):
            with sql.transaction(force_rollback=True):
                sql.execute("SELECT set_config('role', 'holdfast_app', true)")
                sql.execute("SELECT set_config('holdfast.org', %s, true)", (str(organisation),))
                assert sql.execute("SELECT count(*) FROM audit_log").fetchone() == (1,)
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    sql.execute(statement)
