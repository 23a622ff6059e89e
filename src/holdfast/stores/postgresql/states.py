"""Values that Holdfast stores about its own work, by family and owner."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256

from holdfast.domain.statefamilies import FAMILIES, ROW_FAMILIES, RowFamily, StateFamily, without_lesson
from holdfast.lean.plain import clean
from holdfast.stores._shared.purging import Purging
from holdfast.stores._shared.rows import micros
from holdfast.stores.postgresql.rows import key, keys
from holdfast.stores.postgresql.tenant import Sql

DAY = 86_400_000_000
"""Microseconds of a day."""


def read(sql: Sql, family: StateFamily, owner: str) -> str:
    """Return the owner's value; empty if there is none."""
    return _read(sql, family, owner, "")


def _read(sql: Sql, family: StateFamily, owner: str, locking: str) -> str:
    reading = f"SELECT value FROM state WHERE org = %s AND family = %s AND owner = %s{locking}"
    row = sql.execute(reading, (sql.org, family.name, key(owner))).fetchone()
    return row[0] if row else ""


def read_all(sql: Sql, cells: Sequence[tuple[StateFamily, str]]) -> list[str]:
    """Return the value of each pair of family and owner, in order; empty where there is none."""
    names = [(family.name, key(owner)) for family, owner in cells]
    rows = sql.execute(
        "SELECT s.family, s.owner, s.value FROM unnest(%s::text[], %s::text[]) q (family, owner)"
        " JOIN state s ON s.org = %s AND s.family = q.family AND s.owner = q.owner",
        ([family for family, _ in names], [owner for _, owner in names], sql.org),
    )
    values: dict[tuple[str, str], str] = {(family, owner): value for family, owner, value in rows}
    return [values.get(name, "") for name in names]


def write(sql: Sql, family: StateFamily, owner: str, value: str) -> None:
    """Write the value with the machine's time; an empty value deletes the row."""
    names = (sql.org, family.name, key(owner))
    if not value:
        sql.execute("DELETE FROM state WHERE org = %s AND family = %s AND owner = %s", names)
        return
    sql.execute(
        "INSERT INTO state (org, family, owner, value, updated_at) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (org, family, owner) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        (*names, value, time.time_ns() // 1_000),
    )


def set_value(sql: Sql, family: StateFamily, owner: str, value: str) -> None:
    """Write the value unless it is there already: then nobody waits, and many writers set what does not change."""
    if read(sql, family, owner) != clean(value):
        edit(sql, family, owner, lambda _: value)


def edit(sql: Sql, family: StateFamily, owner: str, change: Callable[[str], str]) -> str:
    """Replace the value by what `change` makes of it; nobody else edits it until the transaction ends."""
    lock(sql, "state", family.name, owner)  # the name, because there may be no row yet
    before = _read(sql, family, owner, " FOR UPDATE")  # and the row, because a purge takes words out of it
    value = clean(change(before))
    if value != before:
        write(sql, family, owner, value)
    return value


def read_rows(sql: Sql, family: RowFamily, owner: str, names: Sequence[str] | None) -> dict[str, str]:
    """Return the owner's values by key, in the order of the keys; only of `names`, if they are given."""
    only, args = ("", ()) if names is None else (" AND key = ANY(%s::text[])", (keys(names),))
    rows = sql.execute(
        f"SELECT name, value FROM state_rows WHERE org = %s AND family = %s AND owner = %s{only} ORDER BY name",
        (sql.org, family.name, key(owner), *args),
    )
    return dict(rows.fetchall())


def write_rows(sql: Sql, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
    """Replace the values of these keys; an empty one removes its row. Return how many changed."""
    wanted = {clean(name): clean(value) for name, value in values.items()}
    lock(sql, "rows", family.name, owner)
    before = read_rows(sql, family, owner, [*wanted])
    changed = {name: value for name, value in wanted.items() if value != before.get(name, "")}
    rows = [(sql.org, family.name, key(owner), key(name), name, value) for name, value in changed.items() if value]
    sql.executemany(
        "INSERT INTO state_rows (org, family, owner, key, name, value) VALUES (%s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (org, family, owner, key) DO UPDATE SET value = excluded.value",
        rows,
    )
    sql.execute(
        "DELETE FROM state_rows WHERE org = %s AND family = %s AND owner = %s AND key = ANY(%s::text[])",
        (sql.org, family.name, key(owner), keys(name for name, value in changed.items() if not value)),
    )
    return len(changed)


def lock(sql: Sql, *names: str) -> None:
    """Wait for every other transaction of this organisation that locked these names, and lock them."""
    digest = sha256("\0".join((str(sql.org), *map(clean, names))).encode()).digest()
    sql.execute("SELECT pg_advisory_xact_lock(%s)", (int.from_bytes(digest[:8], signed=True),))


def expire(sql: Sql, now: datetime) -> int:
    """Erase the values older than their family's days; return how many."""
    return sum(
        sql.execute(
            "DELETE FROM state WHERE org = %s AND family = %s AND updated_at < %s",
            (sql.org, family.name, micros(now) - family.kept_days * DAY),
        ).rowcount
        for family in FAMILIES
        if family.kept_days
    )


def forget_lesson(sql: Sql, lesson: str) -> int:
    """Remove a purged lesson from the values that name lessons, and its own values; return how many changed."""
    count = 0
    for family in FAMILIES:
        if family.owner == "lesson":
            owned = "DELETE FROM state WHERE org = %s AND family = %s AND owner = %s"
            count += sql.execute(owned, (sql.org, family.name, key(lesson))).rowcount
        if family.names_lessons:
            count += _edit_values(sql, family.name, lesson, lambda value: without_lesson(value, lesson))
    _drop_empty(sql, count)
    return count


def forget_words(sql: Sql, purging: Purging) -> int:
    """Remove purged lessons' words from the values that hold words of sessions; return how many values changed."""
    count = sum(_edit_values(sql, family.name, "", purging.moments) for family in FAMILIES if family.holds_words)
    _drop_empty(sql, count)
    holding = "left(owner, length(%s)) = %s AND right(value, length(%s)) = %s"
    for family in ROW_FAMILIES:
        for begin, end in purging.files if family.holds_words else ():
            texts = (sql.org, family.name, *(key(begin), key(begin), clean(end), clean(end)))
            count += sql.execute(f"DELETE FROM state_rows WHERE org = %s AND family = %s AND {holding}", texts).rowcount
    return count


def _edit_values(sql: Sql, family: str, holding: str, change: Callable[[str], str]) -> int:
    """Edit the family's values that hold the text, all of them if it is ""; return how many changed."""
    rows = sql.execute(
        "SELECT owner, value FROM state WHERE org = %s AND family = %s AND (%s = '' OR strpos(value, %s) > 0)"
        " ORDER BY owner FOR UPDATE",
        (sql.org, family, holding, holding),
    ).fetchall()
    edited = [(rest, sql.org, family, owner) for owner, value in rows if (rest := change(value)) != value]
    sql.executemany("UPDATE state SET value = %s WHERE org = %s AND family = %s AND owner = %s", edited)
    return len(edited)


def _drop_empty(sql: Sql, changed: int) -> None:
    if changed:
        sql.execute("DELETE FROM state WHERE org = %s AND value = ''", (sql.org,))
