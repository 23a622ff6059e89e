"""The schema's history: numbered SQL files, each applied once, under an advisory lock, in a transaction of its own.

A file first expands: it adds what the new version writes and leaves what the previous one uses, so that servers of both
versions work during an upgrade. A later file contracts. Its first line, `-- needs: N`, names the oldest schema whose
Holdfast still works with the database after it.

A file writes tables as `CREATE TABLE name (org int NOT NULL, ...) PARTITION BY HASH (org);`. The partitions, the policy
and the rights of the application's role follow by themselves. No other table has a column `org`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from holdfast.errors import SchemaTooNewError, StoreError, StoreReadOnlyError
from holdfast.stores.postgresql.address import Address

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
SCHEMA = max(int(name[:4]) for name in os.listdir(FOLDER) if name.endswith(".sql"))
"""The number of the last migration: what this Holdfast writes."""
APP_ROLE = "holdfast_app"
OLDEST_SERVER, OLDEST_VECTOR = 160_000, (0, 8)
PARTITIONED = " PARTITION BY HASH (org)"
LOCK = 7_166_453_305_531_884_645
"""The key of the advisory lock under which a schema changes: `cthdlfas` as a number of eight bytes."""
WAIT_S = 60
"""How long an upgrade waits for another one, and for statements on a table that it changes."""
EXTENSION_HINT = (
    "on the database server: apt install postgresql-{major}-pgvector (Debian, Ubuntu, from apt.postgresql.org), "
    "or dnf install pgvector_{major}; then, as a superuser: CREATE EXTENSION vector"
)
Connection = psycopg.Connection[tuple[Any, ...]]


def look(connection: Connection, where: str) -> int:
    """Return the number of the database's schema, as far as this Holdfast knows it; 0 for an empty one.

    Raises SchemaTooNewError.
    """
    (there,) = connection.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone() or (False,)
    if not there:
        return 0
    row = connection.execute("SELECT number, needs FROM migrations ORDER BY number DESC LIMIT 1").fetchone()
    number, needs = row or (0, 0)
    if needs > SCHEMA:
        raise SchemaTooNewError(
            f"{where} has schema {number}, which needs a Holdfast that knows {needs}; this one knows {SCHEMA}",
            hint="upgrade: pip install -U holdfast-memory",
        )
    return min(int(number), SCHEMA)


def upgrade(connection: Connection, address: Address, login: str, last: int = SCHEMA) -> None:
    """Apply the migrations that the database lacks, up to number `last`. Several processes may do it at once.

    The role `login` may then act as the application.
    """
    _require_server(connection, address.where)
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".sql") and int(name[:4]) <= last:
            _apply(connection, name, address)
    if not may_act(connection, login):
        grant = SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE").format(Identifier(APP_ROLE), Identifier(login))
        with suppress(psycopg.errors.InsufficientPrivilege):  # `require_role` says what to do
            connection.execute(grant)


def may_act(connection: Connection, login: str) -> bool:
    """Return whether the role may act as the application."""
    (may,) = connection.execute("SELECT pg_has_role(%s, %s, 'SET')", (login, APP_ROLE)).fetchone() or (False,)
    return bool(may)


def require_role(connection: Connection, where: str) -> None:
    """Raise StoreReadOnlyError if the connection's role may not act as the application."""
    (login,) = connection.execute("SELECT current_user").fetchone() or ("",)
    if not may_act(connection, login):
        raise StoreReadOnlyError(
            f"{where}: this role is no member of {APP_ROLE}",
            hint=f"let an administrator run: GRANT {APP_ROLE} TO the role of the URL",
        )


def missing(connection: Connection) -> str:
    """Return what the database server lacks, in words; empty when it has all."""
    (version,) = connection.execute("SELECT current_setting('server_version_num')::int").fetchone() or (0,)
    if version < OLDEST_SERVER:
        return f"PostgreSQL {version // 10_000} is too old: 16 or later is needed"
    (encoding,) = connection.execute("SELECT current_setting('server_encoding')").fetchone() or ("",)
    if encoding != "UTF8":
        return f"the database's encoding is {encoding}: create one with ENCODING 'UTF8' TEMPLATE template0"
    row = connection.execute(
        "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    if row is None:
        return "the extension `vector` (pgvector) is not installed on the database server"
    text = row[1] or row[0]
    return "" if _version(text) >= OLDEST_VECTOR else f"pgvector {text} is too old: 0.8 or later is needed"


def missing_hint(connection: Connection) -> str:
    """Return what to install for what is missing."""
    return EXTENSION_HINT.format(major=connection.info.server_version // 10_000)


def _require_server(connection: Connection, where: str) -> None:
    if problem := missing(connection):
        raise StoreError(f"{where}: {problem}", hint=missing_hint(connection))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _apply(connection: Connection, name: str, address: Address) -> None:
    number = int(name[:4])
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{WAIT_S}s'")
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK})")
        if look(connection, address.where) >= number:
            return
        try:
            _write(connection, name, address)
        except psycopg.errors.InsufficientPrivilege as exc:
            raise StoreReadOnlyError(
                f"{address.where}: this role may not create tables, roles or the extension",
                hint="name a role that may: &owner=ROLE in HOLDFAST_STORE, or let an administrator connect once",
            ) from exc


def _write(connection: Connection, name: str, address: Address) -> None:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        script = file.read()
    needs = re.match(r"-- needs: (\d+)\n", script)
    assert needs, f"{name} begins with `-- needs: N`"
    if name.startswith("0001"):
        _prepare(connection)
    connection.execute(script if address.partitions else script.replace(PARTITIONED, ""))
    for table in _unfinished(connection):
        _finish(connection, table, address.partitions)
    connection.execute(
        "INSERT INTO migrations (number, name, needs) VALUES (%s, %s, %s)",
        (int(name[:4]), name.removesuffix(".sql"), int(needs[1])),
    )


def _prepare(connection: Connection) -> None:
    """Create what the first migration stands on: the extension, the application's role, the table of migrations."""
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute(
        f"DO $$ BEGIN IF to_regrole('{APP_ROLE}') IS NULL THEN CREATE ROLE {APP_ROLE} NOLOGIN NOBYPASSRLS; END IF;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )
    connection.execute(
        "CREATE TABLE migrations (number int PRIMARY KEY, name text NOT NULL, needs int NOT NULL,"
        " applied_at timestamptz NOT NULL DEFAULT now()); GRANT SELECT ON migrations TO PUBLIC"
    )
    (name,) = connection.execute("SELECT current_schema()").fetchone() or ("public",)
    connection.execute(SQL("GRANT USAGE ON SCHEMA {} TO {}").format(Identifier(name), Identifier(APP_ROLE)))


def _unfinished(connection: Connection) -> list[str]:
    """Return the tables of this schema with a column `org` that have no policy yet."""
    rows = connection.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org'"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND NOT c.relrowsecurity AND NOT a.attisdropped ORDER BY 1"
    )
    return [name for (name,) in rows]


def _finish(connection: Connection, table: str, partitions: int) -> None:
    """Give a new table of organisations its partitions, its policy, and the application's rights on it."""
    for number in range(partitions):
        part = f"{table}_p{number}"
        connection.execute(
            f"CREATE TABLE {part} PARTITION OF {table} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number});"
            f"ALTER TABLE {part} ENABLE ROW LEVEL SECURITY; ALTER TABLE {part} FORCE ROW LEVEL SECURITY"
        )
    connection.execute(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; ALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
        f"CREATE POLICY own_organisation ON {table}"
        " USING (org = nullif(current_setting('holdfast.org', true), '')::int)"
    )
    (granted,) = connection.execute("SELECT has_table_privilege(%s, %s, 'SELECT')", (APP_ROLE, table)).fetchone() or (
        False,
    )
    if not granted:
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {APP_ROLE}")
