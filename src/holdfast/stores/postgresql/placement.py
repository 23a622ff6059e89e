"""Organisations on several databases: where each is, and how one moves.

An organisation is in the home database, unless a row of `placements` there names another place; that one may name a
third. Each transaction looks for such a row when it begins, so a program that does not know of a move yet follows it.

A move copies the organisation's rows while its writers wait, and then leaves a row that says where it went. A writer
that waits too long gets StoreLockedError and tries again. Until the old place has let go, a row in the new one says
that the organisation is still arriving. So a move that is killed leaves the organisation where it was, or unreachable
until the move is repeated, but never in two places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from holdfast.errors import InvalidValueError, StoreError
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.failures import translate

HOME = "home"
"""The name of the database that a server is started with."""
MOVING = 1_212_763_206
"""The first key of the advisory lock on an organisation: shared by its writers, held alone by a move."""
SPARE_NUMBERS = 10_000
"""How far row numbers in the new place begin behind those of the old one: others take some at this moment."""

Connection = psycopg.Connection[tuple[Any, ...]]


class Places:
    """The databases of a server by name, and where each organisation was found last. Threads share it."""

    def __init__(self, home: Database, others: Mapping[str, Database]) -> None:
        self.databases = {HOME: home, **others}
        self._names: dict[int, str] = {}

    def open(self) -> None:
        """Connect to every place."""
        for database in self.databases.values():
            database.open()

    def close(self) -> None:
        """Close every connection."""
        for database in self.databases.values():
            database.close()

    def database_of(self, org: int) -> Database:
        """Return the database in which the organisation was found last; at first, home."""
        return self.databases[self._names.get(org, HOME)]

    def follow(self, org: int, place: str) -> Database:
        """Return the database of that name, and remember that the organisation is there."""
        if place not in self.databases:
            raise StoreError(
                f"organisation {org} is in the place {place!r}, which this server does not know",
                hint="name its URL in serve.places",
            )
        self._names[org] = place
        return self.databases[place]

    def move(self, org: int, place: str) -> int:
        """Move an organisation, and return the number of rows that were copied.

        Raises InvalidValueError for an unknown place, StoreLockedError if writers do not end in time. A move that was
        interrupted is completed.
        """
        if place not in self.databases:
            raise InvalidValueError(f"no such place: {place!r}", hint=f"one of {', '.join(sorted(self.databases))}")
        source = self._find(org)
        copied = 0
        if source != place:
            copied = _copy(self.databases, source, place, org)
        self._settle(org, place)
        self._names[org] = place
        return copied

    def _find(self, org: int) -> str:
        """Return the place that has the organisation's rows."""
        place = HOME
        seen: dict[str, Forwarding | None] = {}
        while place not in seen:
            if place not in self.databases:
                self.follow(org, place)  # raises
            seen[place] = following = _forwarded(self.databases[place], org)
            if following is None:
                return place
            place = following.place
        # An interrupted move: the old place has let go, and the new one does not know yet.
        return next(name for name, following in seen.items() if following is not None and following.is_arriving)

    def _settle(self, org: int, place: str) -> None:
        """Let home and the new place say where the organisation is now."""
        if place != HOME:
            with _as_owner(self.databases[HOME]) as connection:
                _forward(connection, org, place)
        with _as_owner(self.databases[place]) as connection:
            connection.execute("DELETE FROM placements WHERE number = %s", (org,))


@contextmanager
def _as_owner(database: Database) -> Iterator[Connection]:
    """Lend a connection of the role that owns the tables, in one transaction."""
    try:
        with psycopg.connect(database.address.owner_conninfo()) as connection:
            connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{database.address.timeout_s:.0f}s",))
            yield connection
    except psycopg.Error as exc:
        raise translate(exc, database.where) from None


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Where an organisation is instead of here."""

    place: str
    is_arriving: bool
    """Whether it is on its way from there to here."""


def _forwarded(database: Database, org: int) -> Forwarding | None:
    with _as_owner(database) as connection:
        row = connection.execute("SELECT place, arriving FROM placements WHERE number = %s", (org,)).fetchone()
    return Forwarding(*row) if row else None


def _forward(connection: Connection, org: int, place: str, is_arriving: bool = False) -> None:
    connection.execute(
        "INSERT INTO placements (number, place, arriving) VALUES (%s, %s, %s)"
        " ON CONFLICT (number) DO UPDATE SET place = excluded.place, arriving = excluded.arriving",
        (org, place, is_arriving),
    )


def _copy(databases: Mapping[str, Database], source: str, target: str, org: int) -> int:
    """Copy the organisation's rows while nobody writes, commit them, and then take them out of the source."""
    with _as_owner(databases[source]) as reading:
        reading.execute("SELECT set_config('holdfast.org', %s, true)", (str(org),))
        reading.execute("SELECT pg_advisory_xact_lock(%s, %s)", (MOVING, org))
        tables = _tables(reading)
        with _as_owner(databases[target]) as writing:
            if _tables(writing) != tables:
                raise StoreError(f"the places {source} and {target} have different schemas", hint="upgrade both first")
            _forward(writing, org, source, is_arriving=True)
            writing.execute("SELECT set_config('holdfast.org', %s, true)", (str(org),))
            copied = sum(_copy_table(reading, writing, org, table, columns) for table, columns in tables.items())
            _pass_numbers(reading, writing)
        for table in tables:
            reading.execute(SQL("DELETE FROM {} WHERE org = %s").format(Identifier(table)), (org,))
        _forward(reading, org, target)
    return copied


def _tables(connection: Connection) -> dict[str, list[str]]:
    """Return the columns of each table that has rows of organisations."""
    rows = connection.execute(
        "SELECT c.relname, array_agg(a.attname::text ORDER BY a.attname) FROM pg_class c JOIN pg_attribute a"
        " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " GROUP BY c.relname HAVING bool_or(a.attname = 'org') ORDER BY c.relname"
    )
    return dict(rows.fetchall())


def _copy_table(reading: Connection, writing: Connection, org: int, table: str, columns: list[str]) -> int:
    names = SQL(", ").join(map(Identifier, columns))
    writing.execute(SQL("DELETE FROM {} WHERE org = %s").format(Identifier(table)), (org,))
    # Rows are not copied straight into a table with a policy: PostgreSQL refuses that.
    writing.execute(
        SQL("CREATE TEMPORARY TABLE arriving AS SELECT {} FROM {} LIMIT 0").format(names, Identifier(table))
    )
    leaving = SQL("COPY (SELECT {} FROM {} WHERE org = {}) TO STDOUT (FORMAT binary)").format(
        names, Identifier(table), org
    )
    with (
        reading.cursor().copy(leaving) as out,
        writing.cursor().copy(SQL("COPY arriving ({}) FROM STDIN (FORMAT binary)").format(names)) as into,
    ):
        for block in out:
            into.write(block)
    copied = writing.execute(
        SQL("INSERT INTO {} ({}) SELECT {} FROM arriving").format(Identifier(table), names, names)
    ).rowcount
    writing.execute("DROP TABLE arriving")
    return copied


def _pass_numbers(reading: Connection, writing: Connection) -> None:
    """Let new rows in the new place have higher numbers than those that arrived."""
    (last,) = reading.execute("SELECT last_value FROM row_numbers").fetchone() or (0,)
    writing.execute(
        "SELECT setval('row_numbers', %s::bigint) FROM row_numbers WHERE last_value < %s",
        (last + SPARE_NUMBERS, last + SPARE_NUMBERS // 2),
    )
