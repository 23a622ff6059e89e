"""A cursor that has each statement planned before it runs, and fails where a plan reads two partitions of one table.

A statement that names the organisation is planned for the one partition that holds it, without the help of a row-level
policy. The same property has an extension such as Citus send it to one server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
from tests.postgresql import Database

PARTITIONS = 4
"""Partitions of the schema that is planned for: two are enough to tell, four are seldom all alike."""
_PARTITION = re.compile(r"(.+)_p\d+")
_PLANNED = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


class PlanCheck:
    """Plans statements on a connection of its own, as superuser, to whom no policy applies."""

    def __init__(self, database: Database) -> None:
        self._connection = database.connect()
        self.statements: dict[str, set[str]] = {}
        """The tables in the plan of each statement seen so far."""

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def check(self, statement: Any, args: Any) -> None:
        """Raise AssertionError if the statement's plan reads two partitions of one table."""
        if not isinstance(statement, str) or not _PLANNED.match(statement) or statement in self.statements:
            return
        (plan,) = self._connection.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), args).fetchone() or ([],)
        partitions: dict[str, set[str]] = {}
        for relation in relations(plan[0]["Plan"]):
            if match := _PARTITION.fullmatch(relation):  # what writes names the whole table as well
                partitions.setdefault(match[1], set()).add(relation)
        for table, read in partitions.items():
            assert len(read) == 1, f"{len(read)} partitions of {table} are read by:\n{statement}"
        self.statements[statement] = set(partitions)

    def cursor_class(self) -> type[psycopg.Cursor[Any]]:
        """The class of cursors that check what they run."""
        check = self.check

        class Checked(psycopg.Cursor[Any]):
            def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
                check(query, params)
                return super().execute(query, params, **options)

            def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
                rows = list(params_seq)
                check(query, rows[0])
                super().executemany(query, rows, **options)

        return Checked


def relations(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the relations in a plan."""
    if "Relation Name" in plan:
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from relations(part)
