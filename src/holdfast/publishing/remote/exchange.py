"""A client's sync with a team server: pull, join with memory, push; offline in between is the normal case.

1. Pull: documents that changed on the server since the last time are joined into the local table.
2. Sync: `publishing.sync` joins the table with memory as it does with the files of a repository. What the server
   accepted takes effect; what is only proposed waits in the inbox.
3. Push: rows that differ from what the server has are sent; what it answers is joined into the table again.

Every step may be repeated, and a run that is cut off loses nothing: what was not confirmed is sent again, and a
position in the feed only saves reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import ORGANISATION, Location
from holdfast.domain.statefamilies import REMOTE_POSITION
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError, QuotaExceededError, ServerError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import dumps, loads
from holdfast.ports.services import Services
from holdfast.publishing.lessonfile import Document, FileProblem
from holdfast.publishing.remote.server import FORMAT
from holdfast.publishing.remote.table import DocumentTable, Outgoing, in_batches
from holdfast.publishing.remote.wire import plain_document, read_document
from holdfast.publishing.sync import Syncing, SyncOutcome, SyncReport, sync
from holdfast.publishing.syncrecord import owner_of, shared_lessons

PULLED_AT_ONCE = 500
SENT_AT_ONCE = 200
SENT_BYTES = 500_000
"""The most that the documents of one request have together, unless it is one document."""
ROUNDS = 4
"""How often a run sends: what it sent may come back joined with what others sent at the same time."""


class DocumentServer(Protocol):
    """What a client asks of a server, as JSON objects. Each may be repeated. Raises ServerError."""

    def changes(self, project: ProjectId, after: int, limit: int) -> Mapping[str, Any]:
        """Return `documents`, those that changed beyond that position in order, with the `after` of the next call."""

    def send(self, project: ProjectId, documents: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return `results`, what became of each document, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Whom a project is synced with."""

    name: str
    """Its address, which tells its records from those of other servers."""
    share_new: bool = True
    """Whether every active lesson that is not private is shared; else only those that were shared one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeReport:
    """What a sync with a server did."""

    steps: tuple[SyncOutcome, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    received: int = 0
    """Documents of the server that differed from what was known here."""
    sent: int = 0
    """Documents that were sent."""
    proposed: int = 0
    """Those of them that wait for a reviewer."""
    refused: tuple[tuple[str, str], ...] = ()
    """Documents that the server refused in this run, each with the reason. They are sent again once they change."""
    shared: int = 0
    waiting: int = 0
    """Changes of others that wait for this machine's user."""
    conflicts: int = 0
    private: int = 0
    """Changes of this person's private lessons, from or to their other machines."""

    def count(self, verb: str) -> int:
        """Return how many steps have that verb."""
        return sum(step.verb == verb for step in self.steps)


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


def no_progress(what: str, done: int, total: int) -> None:
    """Show nothing."""


NOT_YOURS = "it is a rule of the organisation, which only its reviewers change: your change stays on this machine"


def exchange(
    services: Services,
    location: Location,
    server: DocumentServer,
    peer: Peer,
    *,
    share: Sequence[Lesson] = (),
    accept: bool = False,
    dry: bool = False,
    progress: Progress = no_progress,
) -> ExchangeReport:
    """Sync the project with the server and return what happened. Raises ServerError, after which it can be repeated.

    `share` are lessons to share even if `peer` shares none by itself; `accept` takes the changes that wait here. With
    `dry` memory and server stay as they are.
    """
    run = _Exchange(services, location, server, peer, progress)
    settled = None if share or accept else run.find_settled()
    if settled is not None:
        return settled
    run.note_begin()
    report = run.take_rules_of_organisation(dry)
    table = run.pull(location.project.id, peer.name)
    how = Syncing(
        channel=peer.name, accepted=table.accepted, accept=accept, dry=dry, share=tuple(share),
        share_new=peer.share_new,
    )  # fmt: skip
    for _ in range(ROUNDS):
        report = _added(report, sync(services, location, table, how))
        if dry or not run.push(table):
            break
        how = replace(how, accepted=table.accepted, share=())
    else:  # others are changing the same lessons at this moment: the next run goes on
        report = _added(report, sync(services, location, table, how))
        return run.with_counts(report)
    if not dry:
        run.note_end(report)
    return run.with_counts(report)


def last_exchange(services: Services, project: ProjectId, peer: str) -> dict[str, Any]:
    """Return what is known of the last sync: `at` and `after`; empty before the first."""
    return read_position(services.store.get_state(REMOTE_POSITION, owner_of(project, peer)))


class _Exchange:
    """One run: the pulls and pushes, and what they counted."""

    def __init__(
        self, services: Services, location: Location, server: DocumentServer, peer: Peer, progress: Progress
    ) -> None:
        self.services = services
        self.location = location
        self.server = server
        self.peer = peer
        self.progress = progress
        self.received = 0
        self.sent = 0
        self.proposed = 0
        self.problems: list[FileProblem] = []
        self.refused: dict[str, str] = {}

    def take_rules_of_organisation(self, dry: bool) -> ExchangeReport:
        """Bring the rules of the organisation into this project; they are only read here."""
        table = self.pull(ORGANISATION, self._rules)
        how = Syncing(channel=self._rules, accepted=table.accepted, dry=dry, level="team")
        report = _added(ExchangeReport(), sync(self.services, self.location, table, how))
        self.refused |= {item.document.id: NOT_YOURS for item in table.outgoing(frozenset())}
        return report

    def pull(self, project: ProjectId, channel: str) -> DocumentTable:
        """Join what changed on the server into the table, and return it."""
        owner = owner_of(self.location.project.id, channel)
        table = DocumentTable(self.services.store, self.location.project.id, channel)
        known = read_position(self.services.store.get_state(REMOTE_POSITION, owner))
        after = known.get("after", 0)
        while True:
            answer = self.server.changes(project, after, PULLED_AT_ONCE)
            last = number_in(answer, "last")
            if last < after:  # the server lost what it had: an older copy of its database was restored
                table.forget_sent()
                after = 0
                continue
            documents, problems = _documents(answer)
            self.problems += problems
            self.received += table.take(documents)
            before, after = after, number_in(answer, "after")
            self._note(owner, {**known, "after": after})
            self.progress("received", after, last)
            if after >= last or after <= before:
                return table

    def push(self, table: DocumentTable) -> int:
        """Send what the server does not have; return how many of its answers differed from what is known here."""
        differing = 0
        full: QuotaExceededError | None = None
        for batch in in_batches(table.outgoing(self._confirmed()), SENT_AT_ONCE, SENT_BYTES):
            try:
                differing += self._send(table, batch)
            except QuotaExceededError as exc:  # what the server has already takes no more room
                full = exc
                differing += self._send(table, [item for item in batch if item.is_known])
        if full is not None:
            raise full
        return differing

    def _send(self, table: DocumentTable, some: Sequence[Outgoing]) -> int:
        if not some:
            return 0
        plain = [{**plain_document(item.document), "confirm": item.confirm} for item in some]
        answer = self.server.send(self.location.project.id, plain)
        results = _results(answer, [item.document.id for item in some])
        refusals = {id: result["reason"] for id, result in results.items() if result["status"] == "refused"}
        table.note_sent(some, refusals)
        self.refused |= refusals
        self.sent += len(some) - len(refusals)
        self.proposed += sum(result["status"] == "proposed" for result in results.values())
        self.progress("sent", self.sent, self.sent)
        back = [result for id, result in results.items() if id not in refusals and result.get("document")]
        return table.take([_one(result["document"], result) for result in back])

    def _confirmed(self) -> frozenset[str]:
        """Return the documents that somebody here vouches for: whose lessons are active here, or were ended here."""
        entries = shared_lessons(self.services.store, owner_of(self.location.project.id, self.peer.name))
        states = self.services.store.current_versions(list(entries))
        waiting = {lesson for lesson, (state, _) in states.items() if state in WAITING}
        return frozenset(entry.id for lesson, entry in entries.items() if entry.ours and lesson not in waiting)

    def find_settled(self) -> ExchangeReport | None:
        """Return the report if nothing has changed since the last run, here or on the server; else None.

        It asks for the last positions only, and reads no document.
        """
        known = self._known(self.peer.name)
        if known.get("extent") != self._extent():
            return None
        for project, channel in ((ORGANISATION, self._rules), (self.location.project.id, self.peer.name)):
            after = self._known(channel).get("after", 0)
            if number_in(self.server.changes(project, after, 1), "last") != after:
                return None
        self._note(owner_of(self.location.project.id, self.peer.name), {**known, "at": self._now()})
        return ExchangeReport(shared=known.get("shared", 0), waiting=known.get("waiting", 0))

    def note_begin(self) -> None:
        """Forget that nothing was left to do: if this run is cut off, the next one looks at everything again."""
        known = self._known(self.peer.name)
        known.pop("extent", None)
        self._note(owner_of(self.location.project.id, self.peer.name), known)

    def note_end(self, report: ExchangeReport) -> None:
        """Remember when the project was synced, and the size of the store as it was then."""
        counts = {"extent": self._extent(), "shared": report.shared, "waiting": report.waiting}
        known = {**self._known(self.peer.name), "at": self._now(), **counts}
        self._note(owner_of(self.location.project.id, self.peer.name), known)

    def with_counts(self, report: ExchangeReport) -> ExchangeReport:
        """Return the report with what was sent, received and refused."""
        return replace(
            report, received=self.received, sent=self.sent, proposed=self.proposed,
            refused=tuple(self.refused.items()), problems=(*self.problems, *report.problems),
        )  # fmt: skip

    def _known(self, channel: str) -> dict[str, Any]:
        owner = owner_of(self.location.project.id, channel)
        return read_position(self.services.store.get_state(REMOTE_POSITION, owner))

    def _extent(self) -> list[int]:
        extent = self.services.store.extent()
        return [extent.versions, extent.lessons]

    def _now(self) -> str:
        return render_instant(self.services.clock.now())

    @property
    def _rules(self) -> str:
        return f"{self.peer.name}\n{ORGANISATION}"

    def _note(self, owner: str, position: Mapping[str, Any]) -> None:
        self.services.store.set_state(REMOTE_POSITION, owner, dumps(dict(position)))


def _added(report: ExchangeReport, synced: SyncReport) -> ExchangeReport:
    return replace(
        report, steps=(*report.steps, *synced.steps), problems=(*report.problems, *synced.problems),
        shared=synced.shared, waiting=synced.waiting, conflicts=max(report.conflicts, synced.conflicts),
    )  # fmt: skip


def read_position(text: str) -> dict[str, Any]:
    """Return what is known of the last sync; nothing if it cannot be read, so that everything is read again."""
    try:
        position = loads(text) if text else {}
    except InvalidValueError:
        return {}
    return position if isinstance(position, dict) and isinstance(position.get("after", 0), int) else {}


def _documents(answer: Mapping[str, Any]) -> tuple[list[tuple[Document, bool]], list[FileProblem]]:
    """Return the documents of an answer, each with whether it is accepted for this caller; and what cannot be read."""
    rows = answer.get("documents")
    if not isinstance(rows, list):
        raise unlike("documents")
    if answer.get("format", FORMAT) != FORMAT:
        raise ServerError("the server is newer than this Holdfast", hint="update Holdfast on this machine")
    documents: list[tuple[Document, bool]] = []
    problems: list[FileProblem] = []
    for row in rows:
        read = _read(row)
        if isinstance(read, FileProblem):
            problems.append(replace(read, path=str(row.get("id", ""))[:40]))
        else:
            documents.append((read.document, bool(row.get("accepted") or row.get("own"))))
    return documents, problems


def _one(plain: Any, about: Mapping[str, Any]) -> tuple[Document, bool]:
    read = _read(plain)
    if isinstance(read, FileProblem):
        raise unlike(read.reason)
    return read.document, bool(about.get("accepted") or about.get("own"))


def _read(plain: Any) -> Any:
    if not isinstance(plain, dict):
        raise unlike("a document is no object")
    return read_document({key: plain.get(key) for key in ("id", "values", "stamps")})


def _results(answer: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the results by document. Raises ServerError if they are not those of the documents that were sent."""
    rows = answer.get("results")
    if not isinstance(rows, list) or [row.get("id") for row in rows if isinstance(row, dict)] != list(ids):
        raise unlike("results")
    return {row["id"]: {"reason": "", **row} for row in rows}


def number_in(answer: Mapping[str, Any], name: str) -> int:
    """Return a number of the answer. Raises ServerError if it is none."""
    value = answer.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise unlike(name)
    return value


def unlike(what: str) -> ServerError:
    """Return the error for an answer that is not as it should be."""
    hint = "the server, or something between, answers otherwise than this Holdfast expects: update the older one"
    return ServerError(f"the server's answer cannot be used: {what}", hint=hint)
