"""A person's private lessons on their own machines, by way of a server that cannot read them.

Each lesson is a document as in `exchange`, sealed (`sealing`) and stored under a keyed digest of its id. The server
cannot join what it cannot read, so a machine joins, and replaces a sealed document only if it has seen the version that
it replaces; else it gets that version, joins again and sends again. Tombstones are sealed documents too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.domain.project import PERSONAL, Location
from holdfast.domain.statefamilies import REMOTE_POSITION
from holdfast.domain.team import StoredDocument
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import InvalidValueError, ServerError, WrongKeyError
from holdfast.lean.texts import dumps
from holdfast.ports.services import Clock, Services
from holdfast.ports.team import Documents
from holdfast.publishing.lessonfile import Document, FileProblem, shared_id
from holdfast.publishing.remote.exchange import SENT_BYTES, number_in, read_position, unlike
from holdfast.publishing.remote.sealing import Seal
from holdfast.publishing.remote.table import DocumentTable, Outgoing, in_batches
from holdfast.publishing.remote.wire import plain_document, read_document
from holdfast.publishing.sync import Audience, Syncing, sync
from holdfast.publishing.syncrecord import owner_of

AUDIENCES: tuple[Audience, ...] = ("private", "own", "own private")
CHECK = shared_id("check of a key")
"""The id of a sealed value that says whether two machines have the same key."""
SEALED_LIMIT = 500_000
"""Characters of one sealed document."""
MOST_AT_ONCE = 1_000
PULLED_AT_ONCE = 500
SENT_AT_ONCE = 100
ROUNDS = 6
_SEALED = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


# The server's side: it joins nothing and reads nothing


def members_project(member: str) -> ProjectId:
    """Return the project in which a member's sealed documents are; nobody else reads it."""
    return ProjectId(PERSONAL + member)


def store_sealed(documents: Documents, clock: Clock, member: str, sealed: Sequence[Any]) -> list[dict[str, Any]]:
    """Store sealed documents and return what became of each: stored, unchanged, stale (with the present one), refused.

    Each names the position of the version that it replaces, 0 for a new one; if that is not the present version,
    nothing is replaced. Call it inside `changing`. Raises InvalidValueError for more than MOST_AT_ONCE.
    """
    if len(sealed) > MOST_AT_ONCE:
        raise InvalidValueError(f"at most {MOST_AT_ONCE:,} a call", hint="send them in several calls")
    project = members_project(member)
    stored = documents.hold(project, [item["id"] for item in sealed if not _refusal(item)])
    results: list[dict[str, Any]] = []
    for item in sealed:
        reason = _refusal(item)
        if reason:
            results.append({"id": _named(item), "status": "refused", "reason": reason})
            continue
        present = stored.get(item["id"])
        if present is not None and present.body == item["sealed"]:
            results.append({"id": present.id, "status": "unchanged", "seq": present.seq})
        elif (present.seq if present else 0) != item["seq"]:
            here = {"seq": present.seq, "sealed": present.body} if present else {"seq": 0}
            results.append({"id": item["id"], "status": "stale", **here})
        else:
            row = StoredDocument(
                id=item["id"], lesson=LessonId(""), accepted=True, at=clock.now(), body=item["sealed"]
            )  # fmt: skip
            stored[row.id] = documents.write(project, [row])[0]
            results.append({"id": row.id, "status": "stored", "seq": stored[row.id].seq})
    return results


def sealed_feed(documents: Documents, member: str, after: int, limit: int) -> dict[str, Any]:
    """Return the member's sealed documents that changed after that position, at most `limit`."""
    project = members_project(member)
    rows = documents.after(project, max(0, after), limit)
    return {
        "sealed": [{"id": row.id, "seq": row.seq, "sealed": row.body} for row in rows],
        "after": rows[-1].seq if rows else max(0, after),
        "last": documents.last_seqs([project]).get(project, 0),
    }


def _refusal(item: Any) -> str:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not _ID.fullmatch(item["id"]):
        return "a sealed document has an id"
    seq, text = item.get("seq"), item.get("sealed")
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < 0:
        return "seq is the position of the version that it replaces, 0 for none"
    if not isinstance(text, str) or not _SEALED.fullmatch(text):
        return "sealed is a text in base64"
    return f"more than {SEALED_LIMIT:,} characters" if len(text) > SEALED_LIMIT else ""


def _named(item: Any) -> str:
    return str(item.get("id", ""))[:40] if isinstance(item, dict) else ""


# The client's side


class SealedServer(Protocol):
    """What a client asks of a server, as JSON objects. Each may be repeated. Raises HoldfastError."""

    def sealed_changes(self, after: int, limit: int) -> Mapping[str, Any]:
        """Return `sealed`, the caller's documents that changed beyond that position, `after` and `last`."""

    def send_sealed(self, sealed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return `results`, what became of each, in order."""


def check_key(server: SealedServer, seal: Seal) -> bool:
    """Return whether this is the first machine that seals anything there. Raises WrongKeyError for another key."""
    sent = {"id": CHECK, "seq": 0, "sealed": seal.seal(CHECK, {"check": 1})}
    result = _results(server.send_sealed([sent]), [CHECK])[0]
    if result["status"] == "stale":
        seal.open(CHECK, str(result.get("sealed", "")))
        raise WrongKeyError("the check of the key cannot be used")  # it opens, and yet it is not the same
    return bool(result["status"] == "stored")


def exchange_sealed(
    services: Services,
    location: Location,
    server: SealedServer,
    peer: str,
    seal: Seal,
    *,
    dry: bool = False,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> int:
    """Sync this person's private lessons of the project, and their own for all projects; return how many changed.

    Raises WrongKeyError before anything is changed if the person's other machines have another key.
    """
    run = _Sealed(services, location, server, peer, seal, progress)
    check_key(server, seal)
    run.pull()
    for _ in range(ROUNDS):
        for audience in AUDIENCES:
            how = Syncing(
                channel=run.channel(audience), accept=True, share_new=True, dry=dry, audience=audience
            )  # fmt: skip
            sync(services, location, run.table(audience), how)
        if dry or not run.push():
            break
    return len(run.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    project: ProjectId
    audience: Audience
    document: Document


class _Sealed:
    """One run: the tables by audience, and the pulls and pushes."""

    def __init__(
        self,
        services: Services,
        location: Location,
        server: SealedServer,
        peer: str,
        seal: Seal,
        progress: Callable[[str, int, int], None],
    ) -> None:
        self.services = services
        self.location = location
        self.server = server
        self.peer = peer
        self.seal = seal
        self.progress = progress
        self.changed: set[str] = set()
        """Documents that came in or went out."""
        self._tables: dict[tuple[ProjectId, Audience], DocumentTable] = {}

    def channel(self, audience: Audience) -> str:
        """Return the channel of that audience's record and table."""
        return f"{self.peer}\n~{audience}"

    def table(self, audience: Audience, project: ProjectId | None = None) -> DocumentTable:
        """Return the table of that audience, of this project unless another one is named."""
        owner = owner_project(audience, self.location.project.id if project is None else project)
        key = owner, audience
        if key not in self._tables:
            self._tables[key] = DocumentTable(self.services.store, owner, self.channel(audience))
        return self._tables[key]

    def pull(self) -> None:
        """Open what changed on the server and join it into the tables, those of other projects too."""
        owner = owner_of(ProjectId(""), f"{self.peer}\n~")
        after = read_position(self.services.store.get_state(REMOTE_POSITION, owner)).get("after", 0)
        while True:
            answer = self.server.sealed_changes(after, PULLED_AT_ONCE)
            last = number_in(answer, "last")
            if last < after:
                after = 0
                continue
            rows = answer.get("sealed")
            if not isinstance(rows, list):
                raise unlike("sealed")
            self._take([row for row in rows if row.get("id") != CHECK])
            before, after = after, number_in(answer, "after")
            self.services.store.set_state(REMOTE_POSITION, owner, dumps({"after": after}))
            self.progress("received", after, last)
            if after >= last or after <= before:
                return

    def push(self) -> int:
        """Send what the server does not have; return how much of it somebody else had changed first."""
        stale = 0
        for audience in AUDIENCES:
            table = self.table(audience)
            for batch in in_batches(table.outgoing(frozenset()), SENT_AT_ONCE, SENT_BYTES):
                stale += self._send(audience, table, batch)
        return stale

    def _send(self, audience: Audience, table: DocumentTable, some: Sequence[Outgoing]) -> int:
        project = owner_project(audience, self.location.project.id)
        ids = [self.seal.id_of(audience, project, item.document.id) for item in some]
        sealed = [
            {
                "id": id, "seq": table.seq_of(item.path),
                "sealed": self.seal.seal(
                    id, {"project": project, "audience": audience, "document": plain_document(item.document)}
                ),
            }
            for id, item in zip(ids, some, strict=True)
        ]  # fmt: skip
        results = _results(self.server.send_sealed(sealed), ids)
        stored = [
            (item, result) for item, result in zip(some, results, strict=True)
            if result["status"] in ("stored", "unchanged")
        ]  # fmt: skip
        table.note_sent([item for item, _ in stored], {})
        self.changed |= {item.document.id for item, _ in stored}
        table.note_seqs({item.document.id: number_in(result, "seq") for item, result in stored})
        refused = next((result for result in results if result["status"] == "refused"), None)
        if refused is not None:
            raise ServerError(f"the server refused a sealed lesson: {str(refused.get('reason', ''))[:200]}")
        stale = [result for result in results if result["status"] == "stale"]
        self._take([result for result in stale if result.get("sealed")])
        table.note_seqs(
            {item.document.id: 0 for item, result in zip(some, results, strict=True)
             if result["status"] == "stale" and not result.get("sealed")}
        )  # fmt: skip
        self.progress("sent", len(stored), len(some))
        return len(stale)

    def _take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Join sealed documents into the tables that they belong to. Raises WrongKeyError, changing nothing."""
        opened = [(self._open(row), number_in(row, "seq")) for row in rows]
        for each, seq in opened:
            if each is None:
                continue
            table = self.table(each.audience, each.project)
            if table.take([(each.document, True)]):
                self.changed.add(each.document.id)
            table.note_seqs({each.document.id: seq})

    def _open(self, row: Mapping[str, Any]) -> _Opened | None:
        """Return what is sealed; None for what a newer Holdfast sealed."""
        id = str(row.get("id", ""))
        plain = self.seal.open(id, str(row.get("sealed", "")))
        audience, project = plain.get("audience"), plain.get("project")
        read = read_document(plain.get("document"))
        if isinstance(read, FileProblem) or audience not in AUDIENCES or not isinstance(project, str):
            return None
        if id != self.seal.id_of(audience, project, read.document.id):
            return None
        return _Opened(project=ProjectId(project), audience=audience, document=read.document)


def owner_project(audience: Audience, project: ProjectId) -> ProjectId:
    """Return the project that a lesson for that audience belongs to; empty for a person's own for all projects."""
    return project if audience == "private" else ProjectId("")


def _results(answer: Mapping[str, Any], ids: Sequence[str]) -> list[Mapping[str, Any]]:
    rows = answer.get("results")
    if not isinstance(rows, list) or [row.get("id") for row in rows if isinstance(row, dict)] != list(ids):
        raise unlike("results")
    return rows
