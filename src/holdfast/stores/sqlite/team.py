"""What a server stores beside lessons, in the same file: records, audit log, documents (`ports.team`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.team import AuditEntry, StoredDocument, TeamRecord
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.lean.plain import clean
from holdfast.ports.team import PAGE, T
from holdfast.stores._shared.rows import clean_all, instant, micros
from holdfast.stores._shared.teamrows import (
    entry_document,
    keys_of,
    read_entry,
    read_record,
    require_next,
    row_of,
    taken,
    the_key,
)
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.lessons import ASKED_AT_ONCE
from holdfast.stores.sqlite.rows import slots

_DOCUMENT = "id, seq, lesson, accepted, at, body"


class SqliteRecords:
    """`ports.team.Records`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, record: TeamRecord) -> None:
        with self._connection.writing() as sql:
            if sql.execute("SELECT 1 FROM team_records WHERE kind = ? AND id = ?", row_of(record)[:2]).fetchone():
                raise taken(record, "id")
            _write(sql, record)

    def add_missing(self, records: Sequence[TeamRecord]) -> list[str]:
        ids: list[str] = []
        with self._connection.writing() as sql:
            for record in records:
                known = "SELECT 1 FROM team_records WHERE kind = ? AND id = ?"
                if not sql.execute(known, row_of(record)[:2]).fetchone():
                    _write(sql, record)
                    ids.append(record.id)
        return ids

    def put(self, record: TeamRecord) -> None:
        with self._connection.writing() as sql:
            _write(sql, record)

    def get(self, kind: type[T], id_: str) -> T | None:
        with self._connection.reading() as sql:
            row = sql.execute(
                "SELECT doc FROM team_records WHERE kind = ? AND id = ?", (kind.KIND, clean(id_))
            ).fetchone()
            return read_record(kind, row[0]) if row else None

    def find(
        self, kind: type[T], where: Mapping[str, str] | None = None, *, after: str = "", limit: int = PAGE
    ) -> list[T]:
        chosen, args = _chosen(kind, where)
        with self._connection.reading() as sql:
            rows = sql.execute(
                f"SELECT doc FROM team_records WHERE kind = ? AND id IN ({chosen} AND id > ? ORDER BY id LIMIT ?)"
                " ORDER BY id",
                (kind.KIND, *args, clean(after), max(0, min(limit, PAGE))),
            )
            records = [read_record(kind, doc) for (doc,) in rows]
        return [record for record in records if record is not None]

    def count(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        chosen, args = _chosen(kind, where)
        with self._connection.reading() as sql:
            (number,) = sql.execute(f"SELECT count(*) FROM ({chosen})", args).fetchone()
            return int(number)

    def remove(self, kind: type[TeamRecord], id_: str) -> bool:
        with self._connection.writing() as sql:
            return _remove(sql, kind.KIND, [clean(id_)]) > 0

    def remove_all(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        chosen, args = _chosen(kind, where)
        with self._connection.writing() as sql:
            return _remove(sql, kind.KIND, [id_ for (id_,) in sql.execute(chosen, args).fetchall()])

    def add_up(self, counter: str, amount: int, keep_until: datetime | None = None) -> int:
        name = clean(counter)
        if not amount:
            with self._connection.reading() as sql:
                row = sql.execute("SELECT value FROM team_counters WHERE name = ?", (name,)).fetchone()
                return int(row[0]) if row else 0
        with self._connection.writing() as sql:
            return _count_up(sql, name, amount, keep_until)

    def expire(self, now: datetime) -> int:
        at = micros(now)
        with self._connection.writing() as sql:
            rows = sql.execute("SELECT kind, id FROM team_records WHERE keep_until <= ?", (at,)).fetchall()
            for kind, id_ in rows:
                _remove(sql, kind, [id_])
            return len(rows) + sql.execute("DELETE FROM team_counters WHERE keep_until <= ?", (at,)).rowcount

    def hold(self, name: str) -> None:
        """Do nothing: a writing transaction has the whole file to itself from its beginning."""


class SqliteAuditLog:
    """`ports.team.AuditLog`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hold_last(self) -> AuditEntry | None:
        return self.last()  # a writing transaction has the whole file to itself

    def last(self) -> AuditEntry | None:
        with self._connection.reading() as sql:
            row = sql.execute("SELECT json_extract(doc, '$.seq'), doc FROM audit_head").fetchone()
            return read_entry(*row) if row else None

    def append(self, entries: Sequence[AuditEntry]) -> None:
        if not entries:
            return
        with self._connection.writing() as sql:
            row = sql.execute("SELECT json_extract(doc, '$.seq') FROM audit_head").fetchone()
            require_next(row[0] if row else 0, entries)
            rows = [(entry.seq, entry_document(entry)) for entry in entries]
            sql.executemany("INSERT INTO audit_log (seq, doc) VALUES (?, ?)", rows)
            sql.execute("INSERT OR REPLACE INTO audit_head (one, doc) VALUES (1, ?)", (rows[-1][1],))

    def read(self, *, after: int = 0, limit: int = PAGE, newest_first: bool = False) -> list[AuditEntry]:
        order = "seq < ? OR ? = 0 ORDER BY seq DESC" if newest_first else "seq > ? OR ? < 0 ORDER BY seq"
        with self._connection.reading() as sql:
            rows = sql.execute(
                f"SELECT seq, doc FROM audit_log WHERE {order} LIMIT ?", (after, after, max(0, min(limit, PAGE)))
            )
            return [read_entry(seq, doc) for seq, doc in rows]


class SqliteDocuments:
    """`ports.team.Documents`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def hold(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        return self.get(project, ids)  # a writing transaction has the whole file to itself

    def get(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        return {document.id: document for document in self._find(project, "id", ids)}

    def of_lessons(self, project: ProjectId, lessons: Sequence[LessonId]) -> dict[LessonId, StoredDocument]:
        return {document.lesson: document for document in self._find(project, "lesson", lessons)}

    def write(self, project: ProjectId, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        owner = clean(project)
        with self._connection.writing() as sql:
            last = _count_up(sql, _feed(owner), len(documents), None) if documents else 0
            written = []
            for seq, document in enumerate(documents, start=last - len(documents) + 1):
                row = (
                    clean(document.id), seq, clean(document.lesson), document.accepted, micros(document.at),
                    clean(document.body),
                )  # fmt: skip
                sql.execute(
                    f"INSERT OR REPLACE INTO documents (project, {_DOCUMENT}) VALUES (?, {slots(len(row))})",
                    (owner, *row),
                )
                written.append(_document(*row))
            return written

    def after(self, project: ProjectId, seq: int, limit: int = PAGE) -> list[StoredDocument]:
        with self._connection.reading() as sql:
            rows = sql.execute(
                f"SELECT {_DOCUMENT} FROM documents WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?",
                (clean(project), seq, max(0, min(limit, PAGE))),
            )
            return [_document(*row) for row in rows]

    def last_seqs(self, projects: Sequence[ProjectId]) -> dict[ProjectId, int]:
        seqs = dict.fromkeys(projects, 0)
        with self._connection.reading() as sql:
            for project in seqs:
                row = sql.execute("SELECT value FROM team_counters WHERE name = ?", (_feed(clean(project)),)).fetchone()
                seqs[project] = int(row[0]) if row else 0
        return seqs

    def remove_project(self, project: ProjectId) -> int:
        with self._connection.writing() as sql:
            return sql.execute("DELETE FROM documents WHERE project = ?", (clean(project),)).rowcount

    def _find(self, project: ProjectId, column: str, values: Sequence[str]) -> list[StoredDocument]:
        wanted = clean_all(dict.fromkeys(values))
        documents: list[StoredDocument] = []
        with self._connection.reading() as sql:
            for start in range(0, len(wanted), ASKED_AT_ONCE):
                some = wanted[start : start + ASKED_AT_ONCE]
                rows = sql.execute(
                    f"SELECT {_DOCUMENT} FROM documents WHERE project = ? AND {column} IN ({slots(len(some))})",
                    (clean(project), *some),
                )
                documents += [_document(*row) for row in rows]
        return documents


def _write(sql: sqlite3.Connection, record: TeamRecord) -> None:
    row = row_of(record)
    kind, id_ = row[:2]
    keys = keys_of(record)
    for field, value in keys:
        if (
            field in record.UNIQUE
            and sql.execute(
                "SELECT 1 FROM team_keys WHERE kind = ? AND field = ? AND value = ? AND id <> ?",
                (kind, field, value, id_),
            ).fetchone()
        ):
            raise taken(record, field)
    _remove(sql, kind, [id_])
    sql.execute("INSERT INTO team_records (kind, id, keep_until, doc) VALUES (?, ?, ?, ?)", row)
    sql.executemany(
        "INSERT INTO team_keys (kind, field, value, id) VALUES (?, ?, ?, ?)",
        [(kind, field, value, id_) for field, value in keys],
    )


def _remove(sql: sqlite3.Connection, kind: str, ids: Iterable[str]) -> int:
    count = 0
    for id_ in ids:
        sql.execute("DELETE FROM team_keys WHERE kind = ? AND id = ?", (kind, id_))
        count += sql.execute("DELETE FROM team_records WHERE kind = ? AND id = ?", (kind, id_)).rowcount
    return count


def _chosen(kind: type[TeamRecord], where: Mapping[str, str] | None) -> tuple[str, tuple[str, ...]]:
    """Return SQL, which a condition may follow, that selects the ids of the records of a question."""
    key = the_key(kind, where)
    if key is None:
        return "SELECT id FROM team_records WHERE kind = ?", (kind.KIND,)
    return "SELECT id FROM team_keys WHERE kind = ? AND field = ? AND value = ?", (kind.KIND, *key)


def _count_up(sql: sqlite3.Connection, name: str, amount: int, keep_until: datetime | None) -> int:
    row = sql.execute(
        "INSERT INTO team_counters (name, value, keep_until) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value RETURNING value",
        (name, amount, None if keep_until is None else micros(keep_until)),
    ).fetchone()
    return int(row[0])


def _feed(project: str) -> str:
    """Return the name of the counter of a project's documents."""
    return f"feed {project}"


def _document(id_: str, seq: int, lesson: str, accepted: Any, at: int, body: str) -> StoredDocument:
    return StoredDocument(id=id_, seq=seq, lesson=LessonId(lesson), accepted=bool(accepted), at=instant(at), body=body)
