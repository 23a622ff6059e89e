"""Purging: erases a lesson and everything derived from it from the rows, the indexes and the file's bytes.

States expire here, too, and lose purged lessons and their words.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import FAMILIES, without_lesson
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import dumps, loads
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.eventlog import TABLES
from holdfast.stores.sqlite.fulltext import index_again
from holdfast.stores.sqlite.rows import DAMAGED, clean, document, micros, record_of

_BY_ROW = {"anchors": "lesson", "tokens": "lesson", "triggers": "lesson", "vectors": "lesson", "lesson_text": "rowid"}
ERASED_AT_ONCE = 2_000
"""Vectors erased in one transaction."""
_BY_ID = ("deliveries", "outcomes", "change_lessons")
DAY = 86_400_000_000
"""Microseconds of a day."""
Plain = dict[str, Any]
PURGED = "[purged]"
"""Replaces a removed sentence."""
SHORTEST_SENTENCE = 12
"""Characters of a sentence that is looked for elsewhere: shorter ones stand in many texts that say something else."""
RAW = ("text", "old", "new")
"""Fields of an event that hold what was said and written. Its other fields hold what was done to which file."""

DAY = 86_400_000_000
"""Microseconds of a day."""


def purge(sql: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Erase the lessons; return the number of rows erased by table, without tables that lost none.

    The events themselves stay, but lose their words: see `_drop_words`. A change that names other lessons too keeps
    those and loses its summary. Links of other lessons to an erased id stay, because an id reveals nothing.
    """
    purging = Purging(_versions(sql, ids))
    erased = _drop_words(sql, purging)
    index_again(sql, purging.sessions)
    erased["state"] = forget_words(sql, purging)

    def count(table: str, cursor: sqlite3.Cursor) -> None:
        erased[table] = erased.get(table, 0) + max(0, cursor.rowcount)

    for id_ in dict.fromkeys(clean(id_) for id_ in ids):
        for (row,) in sql.execute("SELECT row FROM lessons WHERE id = ?", (id_,)).fetchall():
            for table, column in _BY_ROW.items():
                count(table, sql.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,)))
        count("lessons", sql.execute("DELETE FROM lessons WHERE id = ?", (id_,)))
        aside = "DELETE FROM set_aside WHERE source = 'lessons' AND json_extract(columns, '$.id') = hex(?)"
        count("set_aside", sql.execute(aside, (id_,)))
        erased["changes"] = erased.get("changes", 0) + _purge_changes(sql, id_)
        for table in _BY_ID:
            count(table, sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (id_,)))
        erased["state"] = erased.get("state", 0) + forget_lesson(sql, id_)
    if erased.get("lessons"):
        # Deleted text, even of versions closed long ago, stays in the index's segments until they are merged.
        sql.execute("INSERT INTO lesson_text (lesson_text) VALUES ('optimize')")
    return {table: rows for table, rows in erased.items() if rows}


def _versions(sql: sqlite3.Connection, ids: Sequence[str]) -> Iterator[Lesson]:
    """Yield every readable version of the lessons."""
    for id_ in dict.fromkeys(map(clean, ids)):
        for (doc,) in sql.execute("SELECT doc FROM lessons WHERE id = ?", (id_,)):
            try:
                yield record_of(Lesson, doc)
            except DAMAGED:
                continue


def _drop_words(sql: sqlite3.Connection, purging: Purging) -> dict[str, int]:
    """Remove the lessons' words from the records of their sessions; return the number of rows changed by content."""
    changed: dict[str, int] = {}
    for session in purging.sessions:
        for name, kind, without in purging.steps():
            table = "events" if kind is Event else TABLES[kind][0]
            rows = [
                _rewrite(sql, table, position, doc, without(doc)) for position, doc in _documents(sql, table, session)
            ]
            changed[name] = changed.get(name, 0) + sum(rows)
    return changed


def _documents(sql: sqlite3.Connection, table: str, session: str) -> list[tuple[int, dict[str, Any]]]:
    documents: list[tuple[int, dict[str, Any]]] = []
    for position, doc in sql.execute(f"SELECT position, doc FROM {table} WHERE session = ?", (session,)).fetchall():
        try:
            plain = loads(doc)
        except InvalidValueError:
            continue
        if isinstance(plain, dict):
            documents.append((position, plain))
    return documents


def _rewrite(sql: sqlite3.Connection, table: str, position: int, before: dict[str, Any], after: dict[str, Any]) -> int:
    if after == before:
        return 0
    return sql.execute(f"UPDATE {table} SET doc = ? WHERE position = ?", (dumps(after), position)).rowcount


def erase_other_vectors(connection: Connection, embedder_id: str) -> int:
    """Erase some vectors of other embedders, few enough that nobody waits long; return how many, 0 at the end."""
    with connection.reading() as sql:
        positions = sql.execute(
            "SELECT position FROM vectors WHERE embedder < ? OR embedder > ? LIMIT ?",
            (clean(embedder_id), clean(embedder_id), ERASED_AT_ONCE),
        ).fetchall()
    if positions:
        with connection.writing() as sql:
            sql.executemany("DELETE FROM vectors WHERE position = ?", positions)
    return len(positions)


def drop_texts(sql: sqlite3.Connection, before: str) -> int:
    """Remove the raw texts from events that happened before that instant; return how many events had any."""
    raw = [f"'$.{name}'" for name in RAW]
    has_text = " OR ".join(f"json_extract(doc, {name}) IS NOT NULL" for name in raw)
    dropped = sql.execute(
        f"UPDATE events SET doc = json_remove(doc, {', '.join(raw)})"
        f" WHERE CASE WHEN json_valid(doc) THEN json_extract(doc, '$.at') < ? AND ({has_text}) END",
        (before,),
    ).rowcount
    if dropped:
        old = "SELECT DISTINCT session FROM turns WHERE at < ?"
        index_again(sql, [session for (session,) in sql.execute(old, (micros(parse_instant(before)),)).fetchall()])
    return dropped


def _purge_changes(sql: sqlite3.Connection, id_: str) -> int:
    rows: list[tuple[str, str]] = sql.execute(
        "SELECT id, doc FROM changes WHERE id IN (SELECT change FROM change_lessons WHERE lesson = ?)", (id_,)
    ).fetchall()
    for change_id, doc in rows:
        try:
            change = record_of(Change, doc)
        except DAMAGED:  # its other content is unknown, and a purge must rather erase too much than too little
            sql.execute("DELETE FROM changes WHERE id = ?", (change_id,))
            continue
        rest = tuple(lesson for lesson in change.lessons if lesson != id_)
        if rest:
            shortened: Any = record_of(Change, doc, lessons=rest, summary="")
            sql.execute("UPDATE changes SET doc = ? WHERE id = ?", (document(shortened)[1], change_id))
        else:
            sql.execute("DELETE FROM changes WHERE id = ?", (change_id,))
    return len(rows)


def expire_states(sql: sqlite3.Connection, now: datetime) -> int:
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
            count += _edit_values(sql, family.name, lesson, lambda value: without_lesson(value, lesson))
    _drop_empty(sql, count)
    return count


def forget_words(sql: sqlite3.Connection, purging: Purging) -> int:
    """Remove purged lessons' words from the values that hold words of sessions; return how many values changed."""
    count = sum(_edit_values(sql, family.name, "", purging.moments) for family in FAMILIES if family.holds_words)
    _drop_empty(sql, count)
    return count


def _edit_values(sql: sqlite3.Connection, family: str, holding: str, edit: Callable[[str], str]) -> int:
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


class Purging:
    """The words of some lessons, in all versions, and the records without them. Pass the events first."""

    def __init__(self, versions: Iterable[Lesson]) -> None:
        sessions: set[str] = set()
        sentences: set[str] = set()
        self._quoted_events: set[str] = set()
        for lesson in versions:
            sessions |= {lesson.provenance.session, *lesson.sessions_seen}
            self._quoted_events |= {span.event for span in lesson.provenance.evidence}
            sentences |= {lesson.insight, *(span.quote for span in lesson.provenance.evidence)}
        self.sessions = sorted(sessions - {""})
        """The sessions in which the lessons were seen; their records have to be cleaned."""
        telling = (sentence for sentence in sentences if len(sentence) >= SHORTEST_SENTENCE)
        self._sentences = sorted(telling, key=lambda sentence: (-len(sentence), sentence))
        self._pattern = _pattern(self._sentences)
        self._emptied: list[str] = []

    def steps(self) -> list[tuple[str, type[Any], Callable[[Plain], Plain]]]:
        """Return the steps in order: what to count, the type of record, and the function that cleans a record."""
        return [
            ("event_texts", Event, self.event),
            ("checkpoint_texts", Checkpoint, self.checkpoint),
            ("delivery_triggers", Delivery, lambda plain: self.mention(plain, "trigger")),
            ("outcome_notes", Outcome, lambda plain: self.mention(plain, "trigger")),
            ("outcome_notes", Outcome, lambda plain: self.mention(plain, "note")),
        ]

    def event(self, plain: Plain) -> Plain:
        """Return the event without its raw texts if a lesson quotes it, otherwise without the lessons' sentences."""
        if plain.get("id") in self._quoted_events:
            self._emptied += [str(plain[name]) for name in RAW if name in plain]
            return {name: value for name, value in plain.items() if name not in RAW}
        return self.checkpoint(plain)

    def checkpoint(self, plain: Plain) -> Plain:
        """Return the record without the lessons' sentences in any field."""
        return {name: self._without(value) for name, value in plain.items()}

    def mention(self, plain: Plain, name: str) -> Plain:
        """Return the record with PURGED in the field if it begins erased text, else without the lessons' sentences."""
        text = str(plain.get(name, ""))
        if not text:
            return plain
        begun = " ".join(text.rstrip("…").split())
        sources = (" ".join(source.split()) for source in (*self._emptied, *self._sentences))
        is_said = len(begun) >= SHORTEST_SENTENCE and any(begun in source for source in sources)
        return {**plain, name: PURGED if is_said else self._without(text)}

    def moments(self, value: str) -> str:
        """Return a lesson's stored moments without those that rest on erased text, or say it or begin to say it."""
        try:
            entries = loads(value)
        except InvalidValueError:
            return ""
        if not isinstance(entries, list):
            return ""
        rest = [entry for entry in entries if isinstance(entry, dict) and not self._tells(entry)]
        return value if len(rest) == len(entries) else dumps(rest) if rest else ""

    def _tells(self, moment: Plain) -> bool:
        if moment.get("session") not in self.sessions:
            return False
        if moment.get("event") in self._quoted_events:
            return True
        texts = [str(moment.get(name, "")) for name in ("text", "error")]
        return any(self._pattern.search(text) or self._begins_at_end(text) for text in texts)

    def _begins_at_end(self, text: str) -> bool:
        """Return whether a text that was cut ends with the beginning of a sentence."""
        ends = {text[at:].casefold() for at in range(max(0, len(text) - SHORTEST_SENTENCE + 1))}
        return any(sentence.casefold().startswith(tuple(ends)) for sentence in self._sentences)

    def _without(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._pattern.sub(PURGED, value)
        return [self._without(item) for item in value] if isinstance(value, list) else value


def _pattern(sentences: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of the sentences in any case, with any white space, with or without their full stop."""
    bare = (sentence.strip().rstrip(".!?…;,: ") for sentence in sentences)
    spelt = [r"\s+".join(map(re.escape, text.split())) for text in bare if text]
    return re.compile("|".join(spelt) or r"(?!)", re.IGNORECASE)
