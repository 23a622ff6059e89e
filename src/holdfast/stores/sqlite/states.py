"""Rows of the table `state`: removes expired values, and purged lessons from values."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from holdfast.domain.statefamilies import FAMILIES, without_lesson
from holdfast.stores.sqlite.rows import micros
from holdfast.text.purging import Purging

DAY = 86_400_000_000
"""Microseconds of a day."""


def expire(sql: sqlite3.Connection, now: datetime) -> int:
    """Erase the values older than their family's days; return how many."""
    return sum(
        sql.execute(
            "DELETE FROM state WHERE family = ? AND updated_at < ?",
            (family.name, micros(now) - family.kept_days * DAY),
        ).rowcount
        for family in FAMILIES
        if family.kept_days
    )


def forget_lesson(sql: sqlite3.Connection, lesson: str) -> int:
    """Remove a purged lesson from the values that name lessons, and its own values; return how many changed."""
    count = 0
    for family in FAMILIES:
        if family.owner == "lesson":
            owned = "DELETE FROM state WHERE family = ? AND owner = ?"
            count += sql.execute(owned, (family.name, lesson)).rowcount
        if family.names_lessons:
            count += _edit(sql, family.name, lesson, lambda value: without_lesson(value, lesson))
    _drop_empty(sql, count)
    return count


def forget_words(sql: sqlite3.Connection, purging: Purging) -> int:
    """Remove purged lessons' words from the values that hold words of sessions; return how many values changed."""
    count = sum(_edit(sql, family.name, "", purging.moments) for family in FAMILIES if family.holds_words)
    _drop_empty(sql, count)
    return count


def _edit(sql: sqlite3.Connection, family: str, holding: str, edit: Callable[[str], str]) -> int:
    """Edit the family's values that hold the text, all of them if it is ""; return how many changed."""
    rows = sql.execute(
        "SELECT owner, value FROM state WHERE family = ? AND instr(value, ?)", (family, holding)
    ).fetchall()
    edited = [(rest, family, owner) for owner, value in rows if (rest := edit(value)) != value]
    sql.executemany("UPDATE state SET value = ? WHERE family = ? AND owner = ?", edited)
    return len(edited)


def _drop_empty(sql: sqlite3.Connection, changed: int) -> None:
    if changed:
        sql.execute("DELETE FROM state WHERE value = ''")
