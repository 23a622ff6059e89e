"""The schema on PostgreSQL: the organisation comes first in every key, and no role of the program can leave it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from tests.postgresql import APPLICATION, OWNER, SUPERUSER, Clusters
from tests.postgresql import Database as OwnDatabase

from holdfast.errors import SchemaTooNewError, StoreError, StoreReadOnlyError
from holdfast.stores.postgresql import make, schema
from holdfast.stores.postgresql.address import address_of
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.schema import APP_ROLE

GLOBAL_TABLES = {"migrations", "organisations", "placements"}
"""Tables without an organisation: they hold no words of anybody."""
TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"


@pytest.fixture
def sql(database: OwnDatabase) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection to a database with the schema."""
    with make({"url": database.store_url()}), database.connect() as connection:
        yield connection


def names(sql: psycopg.Connection[Any], query: str, *args: object) -> list[str]:
    return [name for (name,) in sql.execute(query.encode(), args)]


def test_every_table_but_the_global_ones_belongs_to_organisations(sql: psycopg.Connection[Any]) -> None:
    tables = set(names(sql, f"{TABLES} AND NOT relispartition"))
    tenant_tables = set(names(sql, f"{TABLES} AND NOT relispartition AND relkind = 'p'"))
    assert len(tenant_tables) > 15
    assert tables - tenant_tables <= GLOBAL_TABLES


def test_every_key_index_and_foreign_key_begins_with_the_organisation(sql: psycopg.Connection[Any]) -> None:
    columns = (
        "SELECT c.relname || '.' || i.relname, a.attname FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid"
        " JOIN pg_class i ON i.oid = x.indexrelid LEFT JOIN pg_attribute a ON a.attrelid = c.oid"
        " AND a.attnum = x.indkey[0] WHERE c.relkind = 'p' AND i.relam = 'btree'::regam"
    )
    btrees = sql.execute(SQL("SELECT oid FROM pg_am WHERE amname = 'btree'")).fetchone()
    assert btrees is not None
    indexes = sql.execute(columns.replace("'btree'::regam", str(btrees[0])).encode()).fetchall()
    assert len(indexes) > 30
    assert {index for index, first in indexes if first != "org"} == set()
    foreign = (
        "SELECT c.conname, a.attname FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid"
        " AND a.attnum = c.conkey[1] JOIN pg_class t ON t.oid = c.conrelid WHERE c.contype = 'f' AND t.relkind = 'p'"
    )
    assert [key for key, first in sql.execute(foreign.encode()) if first != "org"] == []


def test_every_tenants_table_forces_its_policy_and_so_does_each_partition(sql: psycopg.Connection[Any]) -> None:
    of_tenants = f"{TABLES} AND (relkind = 'p' OR relispartition)"
    assert names(sql, f"{of_tenants} AND NOT (relrowsecurity AND relforcerowsecurity)") == []
    policies = sql.execute("SELECT tablename, permissive, cmd, qual FROM pg_policies").fetchall()
    assert {table for table, *_ in policies} == set(names(sql, f"{TABLES} AND relkind = 'p'"))
    assert {tuple(policy) for _, *policy in policies} == {
        ("PERMISSIVE", "ALL", "(org = (NULLIF(current_setting('holdfast.org'::text, true), ''::text))::integer)")
    }


def test_the_role_of_the_program_owns_nothing_and_cannot_bypass_a_policy(sql: psycopg.Connection[Any]) -> None:
    roles = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = %s"
    for role in (APP_ROLE, APPLICATION):
        assert sql.execute(roles, (role,)).fetchone() == (False,)
    owned = "SELECT relname FROM pg_class WHERE relowner = ANY(%s::regrole[])"
    assert sql.execute(owned, ([APP_ROLE, APPLICATION],)).fetchall() == []
    parts = names(sql, f"{TABLES} AND relispartition AND has_table_privilege(%s, oid, 'SELECT')", APP_ROLE)
    assert parts == [], "a partition has no policy of its own, so only its parent may be asked"
    assert names(sql, f"{TABLES} AND has_table_privilege(%s, oid, 'TRUNCATE, REFERENCES, TRIGGER')", APP_ROLE) == []


@pytest.mark.parametrize("partitions", [0, 4])
def test_a_database_can_have_another_number_of_partitions(clusters: Clusters, cluster: Any, partitions: int) -> None:
    database = cluster.create_database(f"partitions_{partitions}")
    with make({"url": database.store_url(1, partitions=partitions)}) as store:
        assert store.check() == []
    with database.connect() as sql:
        tables = names(sql, f"{TABLES} AND NOT relispartition")
        own = GLOBAL_TABLES.intersection(tables)
        assert len(names(sql, TABLES)) == len(tables) + (len(tables) - len(own)) * partitions
        assert set(names(sql, f"{TABLES} AND NOT relispartition AND NOT relforcerowsecurity")) == own
    cluster.drop_database(database.name)


def test_a_database_of_a_newer_holdfast_is_refused_if_it_needs_one(database: OwnDatabase) -> None:
    with make({"url": database.store_url()}) as store, database.connect() as sql:
        newer = "INSERT INTO migrations (number, name, needs) VALUES (9999, 'future', %s)"
        sql.execute(newer, (schema.SCHEMA,))
        with make({"url": database.store_url()}) as still_works:
            assert still_works.check() == store.check() == []
        sql.execute("UPDATE migrations SET needs = 9999 WHERE number = 9999")
        with pytest.raises(SchemaTooNewError) as raised:
            make({"url": database.store_url()}).__enter__()
        assert "9999" in str(raised.value)
        sql.execute("DELETE FROM migrations WHERE number = 9999")


def test_an_empty_database_is_never_refused(clusters: Clusters, cluster: Any) -> None:
    database = cluster.create_database("empty")
    with make({"url": database.store_url(), "upgrade": "no"}) as store:
        assert store.extent().versions == 0
    cluster.drop_database("empty")


def test_a_superusers_url_is_enough_and_still_bound_by_the_policy(clusters: Clusters) -> None:
    """As in a container: one role, no roles or extension made by hand."""
    bare = clusters.start()
    bare.execute(f"REVOKE {APP_ROLE} FROM {APPLICATION}")
    bare.execute(f"DROP ROLE {APP_ROLE}")
    bare.execute("CREATE DATABASE fresh")
    with make({"url": bare.url("fresh", SUPERUSER)}) as store:
        user = store.tenant.read(lambda sql: sql.execute("SELECT current_user, count(*) FROM lessons").fetchone())
        assert user == (APP_ROLE, 0)
    bare.stop()


def test_one_role_without_privileges_may_own_and_serve_a_database_that_was_prepared(cluster: Any) -> None:
    """As docs/howto/postgresql.md says, by the short way."""
    cluster.execute(f"CREATE DATABASE prepared OWNER {APPLICATION}")
    with make({"url": cluster.url("prepared", APPLICATION)}) as store:
        user = store.tenant.read(lambda sql: sql.execute("SELECT current_user, count(*) FROM lessons").fetchone())
        assert user == (APP_ROLE, 0)
    with cluster.connect("prepared", APPLICATION) as sql:
        sql.execute("INSERT INTO migrations (number, name, needs) VALUES (0, 'it is the owner', 0)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql.execute("INSERT INTO counters VALUES (1, 'x', '', 1)")
    cluster.drop_database("prepared")


def test_a_role_that_may_not_create_is_told_to_name_one_that_may(cluster: Any) -> None:
    database = cluster.create_database("owned")
    with pytest.raises(StoreReadOnlyError) as raised:
        make({"url": database.url}).__enter__()
    assert "owner=ROLE" in raised.value.hint
    cluster.drop_database("owned")


def test_a_role_that_is_no_member_is_told_what_to_grant(database: OwnDatabase) -> None:
    with make({"url": database.store_url()}), database.connect() as sql:
        sql.execute("CREATE ROLE stranger LOGIN")
        with pytest.raises(StoreReadOnlyError) as raised:
            make({"url": database.cluster.url(database.name, "stranger")}).__enter__()
        assert f"GRANT {APP_ROLE} TO" in raised.value.hint
        sql.execute("DROP ROLE stranger")


def test_a_missing_extension_is_named_with_its_package(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "missing", lambda connection: "the extension `vector` (pgvector) is not installed")
    database = cluster.create_database("bare")
    with pytest.raises(StoreError) as raised:
        make({"url": database.store_url()}).__enter__()
    assert "pgvector" in str(raised.value)
    assert re.search(r"apt install postgresql-\d\d-pgvector", raised.value.hint)
    cluster.drop_database("bare")


def test_old_servers_and_extensions_are_named(sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert schema.missing(sql) == ""
    monkeypatch.setattr(schema, "OLDEST_VECTOR", (99, 0))
    assert "pgvector" in schema.missing(sql)
    monkeypatch.setattr(schema, "OLDEST_SERVER", 990_000)
    assert re.search(r"PostgreSQL \d\d is too old", schema.missing(sql))


def test_a_database_that_cannot_hold_every_text_is_refused(cluster: Any) -> None:
    cluster.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreError, match="LATIN1"):
        make({"url": cluster.url("latin")}).__enter__()
    cluster.drop_database("latin")


def test_two_processes_may_migrate_at_once(cluster: Any) -> None:
    database = cluster.create_database("twice")
    address = address_of(database.store_url())
    first, second = Database(address), Database(address)
    with database.connect(OWNER) as holder:
        with holder.transaction():
            holder.execute(SQL("SELECT pg_advisory_xact_lock({})").format(schema.LOCK))
            threads = [threading.Thread(target=each.open) for each in (first, second)]
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join()
    with database.connect() as sql:
        assert sql.execute("SELECT count(*) FROM migrations").fetchone() == (schema.SCHEMA,)
    first.close()
    second.close()
    cluster.drop_database("twice")


def test_each_migration_says_what_it_needs_and_names_are_identifiers() -> None:
    numbers = []
    for name in sorted(os.listdir(schema.FOLDER)):
        with open(os.path.join(schema.FOLDER, name), encoding="utf-8") as file:
            first = file.readline()
        assert first.startswith("-- needs: "), name
        assert int(first.removeprefix("-- needs: ")) <= int(name[:4])
        numbers.append(int(name[:4]))
    assert numbers == list(range(1, schema.SCHEMA + 1))
    assert Identifier(APP_ROLE).as_string(None) == f'"{APP_ROLE}"'
