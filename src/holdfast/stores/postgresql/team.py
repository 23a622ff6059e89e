"""What a server stores beside lessons: records, audit log, documents. `ports.team` documents every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.team import AuditEntry, StoredDocument, TeamRecord
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.lean.plain import clean
from holdfast.lean.texts import dumps, loads
from holdfast.ports.team import PAGE, T
from holdfast.stores._shared.rows import instant, micros
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
from holdfast.stores.postgresql.rows import key, keys
from holdfast.stores.postgresql.states import lock
from holdfast.stores.postgresql.tenant import Sql, Tenant

_DOCUMENT = "id, seq, lesson, accepted, at, names, body"


class PostgresRecords:
    """`ports.team.Records`."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant

    def add(self, record: TeamRecord) -> None:
        self._tenant.write(lambda sql: _write(sql, record, is_new=True))

    def add_missing(self, records: Sequence[TeamRecord]) -> list[str]:
        return self._tenant.write(lambda sql: _add_missing(sql, records)) if records else []

    def put(self, record: TeamRecord) -> None:
        self._tenant.write(lambda sql: _write(sql, record, is_new=False))

    def get(self, kind: type[T], id_: str) -> T | None:
        row = self._tenant.read(
            lambda sql: sql.execute(
                "SELECT doc FROM team_records WHERE org = %s AND kind = %s AND id = %s", (sql.org, kind.KIND, key(id_))
            ).fetchone()
        )
        return read_record(kind, row[0]) if row else None

    def find(
        self, kind: type[T], where: Mapping[str, str] | None = None, *, after: str = "", limit: int = PAGE
    ) -> list[T]:
        chosen, args = _chosen(kind, where)
        rows = self._tenant.read(
            lambda sql: sql.execute(
                f"SELECT r.doc FROM ({chosen} AND id > %s ORDER BY id LIMIT %s) c"
                " JOIN team_records r ON r.org = %s AND r.kind = %s AND r.id = c.id ORDER BY r.id",
                (sql.org, *args, key(after), max(0, min(limit, PAGE)), sql.org, kind.KIND),
            ).fetchall()
        )
        records = (read_record(kind, doc) for (doc,) in rows)
        return [record for record in records if record is not None]

    def count(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        chosen, args = _chosen(kind, where)
        return self._tenant.read(lambda sql: _number(sql, f"SELECT count(*) FROM ({chosen}) c", (sql.org, *args)))

    def remove(self, kind: type[TeamRecord], id_: str) -> bool:
        return self._tenant.write(lambda sql: _remove(sql, kind.KIND, [key(id_)])) > 0

    def remove_all(self, kind: type[TeamRecord], where: Mapping[str, str] | None = None) -> int:
        chosen, args = _chosen(kind, where)

        def work(sql: Sql) -> int:
            ids = [id_ for (id_,) in sql.execute(chosen, (sql.org, *args)).fetchall()]
            return _remove(sql, kind.KIND, ids)

        return self._tenant.write(work)

    def add_up(self, counter: str, amount: int, keep_until: datetime | None = None) -> int:
        name = key(counter)
        if not amount:
            return self._tenant.read(lambda sql: _counted(sql, name))
        return self._tenant.write(lambda sql: _count_up(sql, name, amount, keep_until))

    def expire(self, now: datetime) -> int:
        at = micros(now)

        def work(sql: Sql) -> int:
            rows = sql.execute(
                "SELECT kind, id FROM team_records WHERE org = %s AND keep_until <= %s", (sql.org, at)
            ).fetchall()
            for kind, id_ in rows:
                _remove(sql, kind, [id_])
            counters = sql.execute("DELETE FROM team_counters WHERE org = %s AND keep_until <= %s", (sql.org, at))
            return len(rows) + counters.rowcount

        return self._tenant.write(work)

    def hold(self, name: str) -> None:
        self._tenant.write(lambda sql: lock(sql, "name", name))


class PostgresAuditLog:
    """`ports.team.AuditLog`."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant

    def hold_last(self) -> AuditEntry | None:
        def work(sql: Sql) -> AuditEntry | None:
            lock(sql, "audit log")
            return _last(sql)

        return self._tenant.write(work)

    def last(self) -> AuditEntry | None:
        return self._tenant.read(_last)

    def append(self, entries: Sequence[AuditEntry]) -> None:
        def work(sql: Sql) -> None:
            lock(sql, "name", "audit log")
            last = _last(sql)
            require_next(last.seq if last else 0, entries)
            rows = [(sql.org, entry.seq, entry_document(entry)) for entry in entries]
            sql.executemany("INSERT INTO audit_log (org, seq, doc) VALUES (%s, %s, %s)", rows)
            sql.execute(
                "INSERT INTO audit_heads (org, seq, doc) VALUES (%s, %s, %s)"
                " ON CONFLICT (org) DO UPDATE SET seq = excluded.seq, doc = excluded.doc",
                rows[-1],
            )

        if entries:
            self._tenant.write(work)

    def read(self, *, after: int = 0, limit: int = PAGE, newest_first: bool = False) -> list[AuditEntry]:
        if newest_first:
            order, after = "seq < %s ORDER BY seq DESC", after or 2**62
        else:
            order = "seq > %s ORDER BY seq"
        rows = self._tenant.read(
            lambda sql: sql.execute(
                f"SELECT seq, doc FROM audit_log WHERE org = %s AND {order} LIMIT %s",
                (sql.org, after, max(0, min(limit, PAGE))),
            ).fetchall()
        )
        return [read_entry(seq, doc) for seq, doc in rows]


class PostgresDocuments:
    """`ports.team.Documents`."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant

    def hold(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        def work(sql: Sql) -> list[StoredDocument]:
            lock(sql, "feed", key(project))
            return _find(sql, project, "id", ids)

        return {document.id: document for document in self._tenant.write(work)}

    def get(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        documents = self._tenant.read(lambda sql: _find(sql, project, "id", ids))
        return {document.id: document for document in documents}

    def of_lessons(self, project: ProjectId, lessons: Sequence[LessonId]) -> dict[LessonId, StoredDocument]:
        documents = self._tenant.read(lambda sql: _find(sql, project, "lesson", lessons))
        return {document.lesson: document for document in documents}

    def write(self, project: ProjectId, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        if not documents:
            return []
        return self._tenant.write(lambda sql: _write_documents(sql, project, documents))

    def after(self, project: ProjectId, seq: int, limit: int = PAGE) -> list[StoredDocument]:
        rows = self._tenant.read(
            lambda sql: sql.execute(
                f"SELECT {_DOCUMENT} FROM documents WHERE org = %s AND project = %s AND seq > %s ORDER BY seq LIMIT %s",
                (sql.org, key(project), seq, max(0, min(limit, PAGE))),
            ).fetchall()
        )
        return [_document(*row) for row in rows]

    def last_seqs(self, projects: Sequence[ProjectId]) -> dict[ProjectId, int]:
        feeds = {key(_feed(project)): project for project in projects}
        rows = self._tenant.read(
            lambda sql: sql.execute(
                "SELECT name, value FROM team_counters WHERE org = %s AND name = ANY(%s)", (sql.org, list(feeds))
            ).fetchall()
        )
        return {**dict.fromkeys(projects, 0), **{feeds[name]: value for name, value in rows}}

    def remove_project(self, project: ProjectId) -> int:
        return self._tenant.write(
            lambda sql: (
                sql.execute("DELETE FROM documents WHERE org = %s AND project = %s", (sql.org, key(project))).rowcount
            )
        )


def purge(sql: Sql, lessons: Sequence[str]) -> dict[str, int]:
    """Erase what a server stores about the lessons, whose ids are keys; return the number of rows by table."""
    records = sql.execute("DELETE FROM team_records WHERE org = %s AND kind = 'idempotent_answer'", (sql.org,)).rowcount
    for kind in ("confirmation", "flag"):
        rows = sql.execute(
            "SELECT id FROM team_keys WHERE org = %s AND kind = %s AND field = 'lesson' AND value = ANY(%s::text[])",
            (sql.org, kind, list(lessons)),
        ).fetchall()
        records += _remove(sql, kind, [id_ for (id_,) in rows])
    named = (
        "SELECT project, id FROM documents WHERE org = %s AND lesson = ANY(%s::text[]) AND body <> ''"
        " ORDER BY project, id"
    )
    documents = sql.execute(named, (sql.org, list(lessons))).fetchall()
    for project, id_ in documents:
        lock(sql, "feed", key(project))
        sql.execute(
            "UPDATE documents SET body = '', seq = %s WHERE org = %s AND project = %s AND id = %s",
            (_count_up(sql, key(_feed(project)), 1), sql.org, project, id_),
        )
    return {"team_records": records, "documents": len(documents)}


def _number(sql: Sql, statement: str, args: Sequence[Any]) -> int:
    row = sql.execute(statement, args).fetchone()
    return int(row[0]) if row else 0


def _write(sql: Sql, record: TeamRecord, *, is_new: bool) -> None:
    kind, id_, keep_until, doc = row_of(record)
    id_ = key(id_)
    values = [(field, key(value)) for field, value in keys_of(record)]
    unique = sorted(pair for pair in values if pair[0] in record.UNIQUE)
    for field, value in unique:  # in one order, so that two who take the same values do not wait for each other
        lock(sql, "unique", kind, field, value)
    for field, value in unique:
        owner = sql.execute(
            "SELECT 1 FROM team_keys WHERE org = %s AND kind = %s AND field = %s AND value = %s AND id <> %s",
            (sql.org, kind, field, value, id_),
        )
        if owner.fetchone():
            raise taken(record, field)
    otherwise = "NOTHING" if is_new else "UPDATE SET keep_until = excluded.keep_until, doc = excluded.doc"
    written = sql.execute(
        "INSERT INTO team_records (org, kind, id, keep_until, doc) VALUES (%s, %s, %s, %s, %s)"
        f" ON CONFLICT (org, kind, id) DO {otherwise}",
        (sql.org, kind, id_, keep_until, doc),
    )
    if not written.rowcount:
        raise taken(record, "id")
    sql.execute("DELETE FROM team_keys WHERE org = %s AND kind = %s AND id = %s", (sql.org, kind, id_))
    sql.executemany(
        "INSERT INTO team_keys (org, kind, field, value, id) VALUES (%s, %s, %s, %s, %s)",
        [(sql.org, kind, field, value, id_) for field, value in dict.fromkeys(values)],
    )


def _add_missing(sql: Sql, records: Sequence[TeamRecord]) -> list[str]:
    # in order, so that two who add the same ones do not wait for each other
    by_key = dict(sorted(((key(record.id), record) for record in records), key=lambda pair: pair[0]))
    rows = {id_: row_of(record) for id_, record in by_key.items()}
    kind = records[0].KIND
    written = sql.execute(
        "INSERT INTO team_records (org, kind, id, keep_until, doc)"
        " SELECT %s, %s, * FROM unnest(%s::text[], %s::bigint[], %s::text[])"
        " ON CONFLICT (org, kind, id) DO NOTHING RETURNING id",
        (sql.org, kind, list(rows), [row[2] for row in rows.values()], [row[3] for row in rows.values()]),
    ).fetchall()
    new = {id_ for (id_,) in written}
    sql.executemany(
        "INSERT INTO team_keys (org, kind, field, value, id) VALUES (%s, %s, %s, %s, %s)",
        [
            (sql.org, kind, field, value, id_)
            for id_ in rows
            if id_ in new
            for field, value in dict.fromkeys((field, key(value)) for field, value in keys_of(by_key[id_]))
        ],
    )
    return [record.id for id_, record in by_key.items() if id_ in new]


def _remove(sql: Sql, kind: str, ids: Sequence[str]) -> int:
    args = (sql.org, kind, list(ids))
    count = sql.execute("DELETE FROM team_records WHERE org = %s AND kind = %s AND id = ANY(%s)", args).rowcount
    sql.execute("DELETE FROM team_keys WHERE org = %s AND kind = %s AND id = ANY(%s)", args)
    return count


def _chosen(kind: type[TeamRecord], where: Mapping[str, str] | None) -> tuple[str, tuple[str, ...]]:
    """Return SQL, which a condition may follow, that selects the ids of a question's records, and its arguments.

    The organisation is the first argument, which is left to the caller.
    """
    pair = the_key(kind, where)
    if pair is None:
        return "SELECT id FROM team_records WHERE org = %s AND kind = %s", (kind.KIND,)
    field, value = pair
    return (
        "SELECT id FROM team_keys WHERE org = %s AND kind = %s AND field = %s AND value = %s",
        (kind.KIND, field, key(value)),
    )


def _counted(sql: Sql, name: str) -> int:
    return _number(sql, "SELECT value FROM team_counters WHERE org = %s AND name = %s", (sql.org, name))


def _count_up(sql: Sql, name: str, amount: int, keep_until: datetime | None = None) -> int:
    return _number(
        sql,
        "INSERT INTO team_counters (org, name, value, keep_until) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (org, name) DO UPDATE SET value = team_counters.value + excluded.value RETURNING value",
        (sql.org, name, amount, None if keep_until is None else micros(keep_until)),
    )


def _last(sql: Sql) -> AuditEntry | None:
    row = sql.execute("SELECT seq, doc FROM audit_heads WHERE org = %s", (sql.org,)).fetchone()
    return read_entry(*row) if row else None


def _feed(project: str) -> str:
    """Return the name of the counter of a project's documents."""
    return f"feed {key(project)}"


def _write_documents(sql: Sql, project: str, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    lock(sql, "feed", key(project))
    last = _count_up(sql, key(_feed(project)), len(documents))
    rows = []
    for seq, document in enumerate(documents, start=last - len(documents) + 1):
        id_, lesson = clean(document.id), clean(document.lesson)
        short = (key(id_), key(lesson))
        names = "" if short == (id_, lesson) else dumps([id_, lesson])
        rows.append((short[0], seq, short[1], document.accepted, micros(document.at), names, clean(document.body)))
    sql.executemany(
        f"INSERT INTO documents (org, project, {_DOCUMENT}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (org, project, id) DO UPDATE SET seq = excluded.seq, lesson = excluded.lesson,"
        " accepted = excluded.accepted, at = excluded.at, names = excluded.names, body = excluded.body",
        [(sql.org, key(project), *row) for row in rows],
    )
    return [_document(*row) for row in rows]


def _find(sql: Sql, project: str, column: str, values: Sequence[str]) -> list[StoredDocument]:
    rows = sql.execute(
        f"SELECT {_DOCUMENT} FROM documents WHERE org = %s AND project = %s AND {column} = ANY(%s)",
        (sql.org, key(project), keys(dict.fromkeys(values))),
    )
    return [_document(*row) for row in rows]


def _document(id_: str, seq: int, lesson: str, accepted: bool, at: int, names: str, body: str) -> StoredDocument:
    if names:
        id_, lesson = loads(names)
    return StoredDocument(id=id_, seq=seq, lesson=LessonId(lesson), accepted=bool(accepted), at=instant(at), body=body)
