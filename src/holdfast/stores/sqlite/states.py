"""Rows of the table `state`: removes expired values, and purged lessons from values."""

from __future__ import annotations

from holdfast.domain.statefamilies import FAMILIES, without_lesson
from holdfast.stores.sqlite.rows import micros

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

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
            rows = sql.execute(
                "SELECT owner, value FROM state WHERE family = ? AND instr(value, ?)", (family.name, lesson)
            ).fetchall()
            for owner, value in rows:
                rest = without_lesson(value, lesson)
                if rest != value:
                    sql.execute("UPDATE state SET value = ? WHERE family = ? AND owner = ?", (rest, family.name, owner))
                    count += 1
    if count:
        sql.execute("DELETE FROM state WHERE value = ''")
    return count


def forget_words(sql: sqlite3.Connection, purging: Purging) -> int:
    """Remove purged lessons' words from the values that hold words of sessions; return how many values changed."""
    count = 0
    for family in (family for family in FAMILIES if family.holds_words):
        rows = sql.execute("SELECT owner, value FROM state WHERE family = ?", (family.name,)).fetchall()
        for owner, value in rows:
            rest = purging.moments(value)
            if rest != value:
                sql.execute("UPDATE state SET value = ? WHERE family = ? AND owner = ?", (rest, family.name, owner))
                count += 1
    if count:
        sql.execute("DELETE FROM state WHERE value = ''")
    return count
