"""The server's side of sync: joins what clients send into its documents, and derives lessons from them.

A document has an accepted wording, which is served, and may have a pending one, which waits for a reviewer. Whoever may
confirm changes the accepted wording. Others' words are joined into the pending one: of a new document its lesson waits
as a candidate; of an accepted one a candidate that `refines` the lesson waits beside it. Nothing depends on the order
in which clients send, and sending twice changes nothing, because `lessonfile.join` is the only merge rule.

Every function here runs inside `stores.changing()`: the document, its lesson and the caller's own records are written
together or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from holdfast.curation.remember import find_same, same_rule
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson, Link, in_state
from holdfast.domain.project import ORGANISATION, Location
from holdfast.domain.team import StoredDocument
from holdfast.domain.vocabulary import LIVING, TRANSITIONS, LessonId, ScopeLevel, State
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.ledger import write_change
from holdfast.ports.services import Services
from holdfast.ports.store import get_readable
from holdfast.ports.team import Documents
from holdfast.publishing.lessonfile import (
    Document,
    FileProblem,
    LessonFile,
    digest,
    edit,
    join,
    settle,
    shared_id,
    split,
    tombstone,
)
from holdfast.publishing.remote.wire import load_document, plain_document, read_document
from holdfast.publishing.sharedlesson import new_lesson, revised, values_of

FORMAT = 1
"""Version of what travels; a client does not understand a newer one."""
MOST_AT_ONCE = 1_000
"""Documents of one call."""
CLOSED = ("superseded", "retired", "forgotten")
_OTHER_LEVEL: dict[ScopeLevel, ScopeLevel] = {"project": "team", "team": "project"}
Fate = Literal["accepted", "proposed", "unchanged", "refused"]


def _never(lesson: object) -> bool:
    return False


def _pass(lessons: Sequence[Lesson]) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends documents, and what the rules of the team let them do with a lesson."""

    member: str
    """Who it is, as it is written into documents; see `domain.team.TeamCaller.actor`."""
    name: str = ""
    """For people: the author of the lessons that they bring, and who changed a lesson, as its history tells it."""
    may_confirm: Callable[[Lesson], bool] = _never
    """Whether their word alone makes that lesson accepted."""
    confirm: Callable[[Lesson], bool] = _never
    """Records that they vouch for a stored lesson that waits; returns whether that made it active."""
    note_saved: Callable[[Sequence[Lesson]], None] = _pass
    """Called with the lessons that are new on the server, before any of them is confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One document as it was sent."""

    read: LessonFile | FileProblem
    confirm: bool = False
    """Whether it is active on the sender's machine: the sender vouches for its words."""
    id: str = ""
    """What the sender calls it; used where it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What became of a document that was sent."""

    id: str
    fate: Fate
    reason: str = ""
    seq: int = 0
    document: Document | None = None
    """The document as this sender is to have it."""
    is_accepted: bool = False
    is_own: bool = False
    """See `FeedItem`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """A document as one caller is to have it."""

    seq: int
    document: Document
    is_accepted: bool
    """Whether a reviewer, or a rule of the team, accepted these words."""
    is_own: bool = False
    """Whether the caller proposed these words: the caller's other machines take them as their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Some of a project's documents in the order of their last change."""

    items: tuple[FeedItem, ...]
    after: int
    """The position up to which everything was read."""
    last: int
    """The last position of the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """A document as its row holds it."""

    standing: Document | None = None
    """The accepted wording."""
    pending: Document | None = None
    """The wording that waits; it has seen everything that the accepted one has."""
    by: tuple[str, ...] = ()
    """Members whose words wait."""
    proposal: LessonId = ""  # type: ignore[assignment]
    """The candidate that holds the pending wording of an accepted lesson."""
    blocked: tuple[str, ...] = ()
    """Documents without a lesson of their own, because this one's lesson states their rule already."""

    @property
    def full(self) -> Document:
        """Everything that was ever sent, joined."""
        document = self.pending or self.standing
        if document is None:
            raise InvalidValueError("a document without any wording")
        return document


def take(plain: Any) -> Incoming:
    """Return one entry of a request, read as a lesson's file is."""
    if not isinstance(plain, dict):
        return Incoming(read=FileProblem(path="", reason="a document is an object with id, values and stamps"))
    known = {key: plain.get(key) for key in ("id", "values", "stamps") if key in plain}
    unknown = sorted(str(key) for key in plain if key not in ("id", "values", "stamps", "confirm"))
    read = FileProblem(path="", reason=f"unknown key {unknown[0][:40]!r}") if unknown else read_document(known)
    return Incoming(read=read, confirm=plain.get("confirm") is True, id=str(plain.get("id", ""))[:100])


def merge(
    services: Services, location: Location, documents: Documents, incoming: Sequence[Incoming], sender: Sender
) -> list[Merged]:
    """Join the documents into the project's and return what became of each, in order.

    Sending the same again changes nothing. What cannot be read or is not allowed is refused with a reason, and the
    others are taken. Raises InvalidValueError for more than MOST_AT_ONCE.
    """
    if len(incoming) > MOST_AT_ONCE:
        raise InvalidValueError(f"at most {MOST_AT_ONCE:,} documents a call", hint="send them in several calls")
    work = _Work(services, location, documents, sender.member, sender.name)
    work.hold([item.read.document for item in incoming if isinstance(item.read, LessonFile)])
    fates = [_take(work, item, sender) for item in incoming]
    work.write()
    sender.note_saved(work.saved)
    rows = {**work.rows, **work.written}
    for id in dict.fromkeys(work.to_confirm):
        lesson = work.lessons[work.wordings[id].proposal or work.lesson_of[id]]
        if sender.confirm(lesson):
            changed = [lesson.id, work.lesson_of[id]]
            published = publish(services, location, documents, changed, member=sender.member)
            rows.update((row.id, row) for row in published)
    return [_merged(fate, rows.get(fate.id), sender.member) for fate in fates]


def publish(
    services: Services, location: Location, documents: Documents, lessons: Sequence[LessonId], *, member: str = ""
) -> list[StoredDocument]:
    """Rewrite the documents of lessons that an operation on the server changed; return their rows.

    A new lesson gets a document. A lesson that a person's private memory or a task's state holds gets none.
    """
    work = _Work(services, location, documents, member)
    present = {lesson.id: lesson for lesson in get_readable(services.store, list(dict.fromkeys(lessons)))}
    work.hold_lessons(present.values(), [id for id in lessons if id not in present])
    for lesson in present.values():
        if _is_shared(lesson, location):
            work.follow(lesson)
    for id in lessons:
        if id not in present and (row := work.by_lesson.get(id)):
            work.erase(row)
    work.write()
    return list(work.written.values())


def feed(
    services: Services,
    location: Location,
    documents: Documents,
    after: int,
    limit: int,
    *,
    member: str = "",
    sees: Callable[[Lesson], bool] = _never,
) -> FeedPage:
    """Return the documents that changed after that position, at most `limit`, as that member is to have them.

    What is only proposed goes to whoever proposed it, and to those who see its lesson, because they decide about it.
    """
    project = location.project.id
    rows = documents.after(project, max(0, after), limit)
    last = documents.last_seqs([project]).get(project, 0)
    waiting = [row.lesson for row in rows if not row.accepted and row.lesson]
    seen = {lesson.id for lesson in get_readable(services.store, waiting) if sees(lesson)}
    items = [item for row in rows if (item := item_for(row, member, row.lesson in seen)) is not None]
    return FeedPage(items=tuple(items), after=rows[-1].seq if rows else max(after, 0), last=last)


def item_for(row: StoredDocument, member: str, sees_proposals: bool) -> FeedItem | None:
    """Return the row's document as that member is to have it; None where it is not the member's to see yet."""
    wordings = load_wordings(row)
    if wordings.pending is not None and member and member in wordings.by:
        return FeedItem(seq=row.seq, document=wordings.pending, is_accepted=False, is_own=True)
    if wordings.standing is not None:
        return FeedItem(seq=row.seq, document=wordings.standing, is_accepted=True)
    if wordings.pending is not None and sees_proposals:
        return FeedItem(seq=row.seq, document=wordings.pending, is_accepted=False)
    return None


def page_json(page: FeedPage) -> dict[str, Any]:
    """Return a page of the feed as a client reads it."""
    documents = [
        {**plain_document(item.document), "seq": item.seq, "accepted": item.is_accepted, "own": item.is_own}
        for item in page.items
    ]
    return {"format": FORMAT, "documents": documents, "after": page.after, "last": page.last}


def results_json(merged: Sequence[Merged]) -> dict[str, Any]:
    """Return what became of sent documents as a client reads it."""
    return {
        "format": FORMAT,
        "results": [
            {
                "id": each.id, "status": each.fate, "reason": each.reason, "seq": each.seq,
                "accepted": each.is_accepted, "own": each.is_own,
                "document": plain_document(each.document) if each.document else None,
            }
            for each in merged
        ],
    }  # fmt: skip


def load_wordings(row: StoredDocument) -> Wordings:
    """Return the content of a row. One without a body is of a lesson that was purged: its tombstone stands."""
    if not row.body:
        return Wordings(standing=tombstone(LessonId(row.id), "convention"))
    plain = loads(row.body)
    standing, pending = plain.get("standing"), plain.get("pending")
    return Wordings(
        standing=load_document(standing) if standing else None,
        pending=load_document(pending) if pending else None,
        by=tuple(plain.get("by", ())),
        proposal=LessonId(plain.get("proposal", "")),
        blocked=tuple(plain.get("blocked", ())),
    )


def dump_wordings(wordings: Wordings) -> str:
    """Return the row's text; `load_wordings` reads it back."""
    plain: dict[str, Any] = {}
    if wordings.standing is not None:
        plain["standing"] = plain_document(wordings.standing)
    if wordings.pending is not None:
        plain["pending"] = plain_document(wordings.pending)
    for name in ("by", "proposal", "blocked"):
        if value := getattr(wordings, name):
            plain[name] = list(value) if isinstance(value, tuple) else value
    return dumps(plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fate:
    id: str
    fate: Fate
    reason: str = ""


def _take(work: _Work, item: Incoming, sender: Sender) -> _Fate:
    """Join one document into the work."""
    if isinstance(item.read, FileProblem):
        return _Fate(id=item.id, fate="refused", reason=item.read.reason)
    document, doubt = item.read.document, item.read.doubt
    wordings = work.wordings.get(document.id)
    if wordings is None:
        full = document
    else:
        full = join(wordings.full, document)
        if full == wordings.full and not (item.confirm and wordings.pending is not None and not doubt):
            return _Fate(id=document.id, fate="unchanged")
    may_confirm = item.confirm and not doubt and sender.may_confirm(work.draft(full))
    if wordings is not None and not may_confirm and (reason := _reason_against_closing(wordings, document, sender)):
        return _Fate(id=document.id, fate="refused", reason=reason)
    if may_confirm or _is_own_end(wordings, full, sender):
        work.accept(document.id, full)
        return _Fate(id=document.id, fate="accepted")
    work.propose(document.id, full, doubt)
    if item.confirm and not doubt and work.lesson_that_waits(document.id):
        work.to_confirm.append(document.id)
    return _Fate(id=document.id, fate="proposed")


def _reason_against_closing(wordings: Wordings, document: Document, sender: Sender) -> str:
    """Return why the sender may not end that lesson; empty if the document does not end it, or may."""
    if document.values["state"] not in CLOSED:
        return ""
    if wordings.standing is not None and wordings.standing.values["state"] == "active":
        return "only a reviewer ends a lesson that the team has accepted; flag it instead"
    if wordings.standing is None and wordings.by and set(wordings.by) != {sender.member}:
        return "only its author or a reviewer ends a lesson that waits"
    return ""


def _is_own_end(wordings: Wordings | None, full: Document, sender: Sender) -> bool:
    """Return whether the document ends a lesson that only the sender has proposed, so nobody else has to agree."""
    is_own = wordings is None or (wordings.standing is None and set(wordings.by) <= {sender.member})
    return is_own and full.values["state"] in CLOSED


def _merged(fate: _Fate, row: StoredDocument | None, member: str) -> Merged:
    """Return the answer; a document that the rules of the team accepted in the end counts as accepted."""
    item = item_for(row, member, True) if row is not None else None
    kind = fate.fate
    if item is not None and item.is_accepted and kind == "proposed":
        kind = "accepted"
    return Merged(
        id=fate.id, fate=kind, reason=fate.reason, seq=row.seq if row else 0,
        document=item.document if item else None, is_accepted=bool(item and item.is_accepted),
        is_own=bool(item and item.is_own),
    )  # fmt: skip


def _is_shared(lesson: Lesson, location: Location) -> bool:
    is_here = lesson.scope.project == location.project.id and lesson.scope.level != "user"
    return is_here and not lesson.private and not profile_of(lesson.kind).is_working_state


class _Work:
    """Changes of one project's documents and lessons, kept in memory until `write`."""

    def __init__(
        self, services: Services, location: Location, documents: Documents, member: str, name: str = ""
    ) -> None:
        self.name = name or member
        self.services = services
        self.location = location
        self.documents = documents
        self.member = member
        self.project = location.project.id
        self.rows: dict[str, StoredDocument] = {}
        self.wordings: dict[str, Wordings] = {}
        self.by_lesson: dict[LessonId, str] = {}
        """Documents by the lesson that is derived from them, or that holds their pending wording."""
        self.changed: dict[str, None] = {}
        self.lesson_of: dict[str, LessonId] = {}
        self.lessons: dict[LessonId, Lesson] = {}
        self.after: dict[LessonId, Lesson] = {}
        self.expected: dict[LessonId, datetime | None] = {}
        self.to_confirm: list[str] = []
        self.written: dict[str, StoredDocument] = {}
        self.saved: list[Lesson] = []
        """Lessons that are new in the store."""

    # Reading

    def hold(self, documents: Sequence[Document]) -> None:
        """Lock and read the documents, those that they link to, and their lessons."""
        targets = [link["target"] for document in documents for link in document.values["links"]]
        self._read(list(dict.fromkeys([*(document.id for document in documents), *targets])))

    def hold_lessons(self, lessons: Iterable[Lesson], gone: Sequence[LessonId]) -> None:
        """Lock and read the documents of these lessons, and of those that they link to."""
        lessons = list(lessons)
        targets = [link.target for lesson in lessons for link in lesson.links]
        ids = list(dict.fromkeys([*(lesson.id for lesson in lessons), *gone, *targets]))
        known = self.documents.of_lessons(self.project, ids)
        likely = [shared_id(lesson.kind, lesson.insight) for lesson in lessons if lesson.id not in known]
        self._read(list(dict.fromkeys([*(row.id for row in known.values()), *likely])))
        self.lessons.update((lesson.id, lesson) for lesson in lessons)

    def _read(self, ids: Sequence[str]) -> None:
        missing = [id for id in ids if id not in self.rows]
        rows = self.documents.hold(self.project, missing) if missing else {}
        for row in rows.values():
            wordings = load_wordings(row)
            self.rows[row.id], self.wordings[row.id] = row, wordings
            self.lesson_of[row.id] = row.lesson
            if row.lesson:
                self.by_lesson[row.lesson] = row.id
            if wordings.proposal:
                self.by_lesson[wordings.proposal] = row.id
        wanted = [id for row in rows.values() for id in (row.lesson, self.wordings[row.id].proposal) if id]
        known = get_readable(self.services.store, list(dict.fromkeys(wanted)))
        self.lessons.update((lesson.id, lesson) for lesson in known)

    def lesson_that_waits(self, document: str) -> bool:
        """Return whether a lesson holds the document's pending wording."""
        return (self.wordings[document].proposal or self.lesson_of.get(document)) in self.lessons

    def draft(self, document: Document) -> Lesson:
        """Return the document as a lesson that is not stored, for the rules of the team to look at."""
        if document.is_tombstone:
            lesson = self.lessons.get(self.lesson_of.get(document.id, LessonId("")))
            document = replace(document, values={**document.values, "title": "forgotten", "insight": "forgotten"})
            return lesson or replace(self._new(document, "candidate"), state="candidate")
        return self._new(document, "candidate")

    # One document

    def accept(self, id: str, full: Document) -> None:
        """Make the wording the accepted one."""
        wordings = self.wordings.get(id, Wordings())
        standing, rivals = split(full)
        if wordings.proposal and (waiting := self.lessons.get(wordings.proposal)) and waiting.state in LIVING:
            self._put(waiting, in_state(waiting, "retired", at=self._now()))
        self._keep(id, replace(wordings, standing=standing, pending=None, by=(), proposal=LessonId("")))
        self._derive(id, standing, "active")
        self._free(id)
        for rival in rivals:
            self._read([rival.id])
            known = self.wordings.get(rival.id)
            self.accept(rival.id, join(known.full, rival) if known else rival)

    def propose(self, id: str, full: Document, doubt: str) -> None:
        """Let the wording wait."""
        wordings = self.wordings.get(id, Wordings())
        by = tuple(dict.fromkeys((*wordings.by, self.member)))
        self._keep(id, replace(wordings, pending=full, by=by))
        state: State = "quarantined" if doubt else "candidate"
        if wordings.standing is None:
            self._derive(id, full, state)
        else:
            self._derive_proposal(id, full, state)

    def erase(self, id: str) -> None:
        """Let a tombstone stand, because the lesson was purged."""
        gone = tombstone(LessonId(id), self.wordings[id].full.values["kind"])
        self._keep(id, Wordings(standing=gone, blocked=self.wordings[id].blocked))
        self._free(id)

    def follow(self, lesson: Lesson) -> None:
        """Let the lesson's document say what the lesson says by now."""
        id = self.by_lesson.get(lesson.id, "")
        wordings = self.wordings.get(id)
        if wordings is not None and wordings.proposal == lesson.id:
            self._follow_proposal(id, wordings, lesson)
            return
        if wordings is None:
            id = self._document_for(lesson)
            wordings = self.wordings.get(id)
        if wordings is not None and lesson.state == "superseded" and self._has_successor(lesson, id):
            return
        self.lesson_of[id] = lesson.id
        self.by_lesson[lesson.id] = id
        base = (wordings.standing or wordings.pending) if wordings else None
        document = self._document(id, lesson, base)
        if wordings is None or wordings.standing is None:
            if lesson.state in ("candidate", "quarantined"):
                by = tuple(dict.fromkeys((*(wordings.by if wordings else ()), self.member)))
                self._keep(id, replace(wordings or Wordings(), pending=document, by=by))
            else:
                standing = document if wordings is None else join(wordings.full, document)
                self._keep(id, replace(wordings or Wordings(), standing=standing, pending=None, by=()))
        else:
            pending = join(wordings.pending, document) if wordings.pending else None
            self._keep(id, replace(wordings, standing=document, pending=pending))
        self._free(id)

    def _follow_proposal(self, id: str, wordings: Wordings, lesson: Lesson) -> None:
        """Let a decision about a pending wording take effect: accepted, edited while it waits, or rejected."""
        full = wordings.full
        if lesson.state == "active":
            former = self.lessons.get(self.lesson_of.get(id, LessonId("")))
            if former is not None and former.scope.level != lesson.scope.level:
                scope = replace(lesson.scope, level=former.scope.level)
                self._put(lesson, replace(lesson, scope=scope, recorded_at=self._now()))
                lesson = self.lessons[lesson.id]
            self.lesson_of[id], self.by_lesson[lesson.id] = lesson.id, id
            standing, rivals = split(self._document(id, lesson, full))
            self._keep(id, replace(wordings, standing=standing, pending=None, by=(), proposal=LessonId("")))
            for rival in rivals:
                self._read([rival.id])
                self.accept(rival.id, rival)
        elif lesson.state in LIVING:
            self._keep(id, replace(wordings, pending=self._document(id, lesson, full)))
        else:
            standing = wordings.standing or full
            taken_back = edit(full, **{**standing.values, "rivals": []})
            self._keep(id, replace(wordings, standing=taken_back, pending=None, by=(), proposal=LessonId("")))
        self._free(id)

    def _document_for(self, lesson: Lesson) -> str:
        """Return the document that a lesson without one belongs to: its predecessor's, its rule's, or a new one."""
        for link in lesson.links:
            former = self.by_lesson.get(link.target, "")
            if link.kind == "supersedes" and former and lesson.state in LIVING:
                before = self.lessons.get(self.lesson_of.get(former, LessonId("")))
                if before is None or before.state == "superseded":
                    return former
        id = shared_id(lesson.kind, lesson.insight)
        holder = self.lessons.get(self.lesson_of.get(id, LessonId("")))
        if id in self.wordings and holder is not None and holder.id != lesson.id and holder.state in LIVING:
            return shared_id("lesson", lesson.id)
        if id in self.wordings and self.wordings[id].full.is_tombstone:
            return shared_id("lesson", lesson.id)
        return str(id)

    def _has_successor(self, lesson: Lesson, id: str) -> bool:
        """Return whether another lesson of this change replaces the lesson and goes on with its document."""
        return any(
            link.kind == "supersedes" and link.target == lesson.id and other.state in LIVING
            for other in self.lessons.values()
            for link in other.links
        )

    def _document(self, id: str, lesson: Lesson, base: Document | None) -> Document:
        """Return the lesson as its document; what the server cannot show of the links stays."""
        if lesson.state == "forgotten":
            return tombstone(LessonId(id), lesson.kind)
        shared = {local: document for local, document in self._shared().items() if document != id}
        values = values_of(lesson, shared, base.values["provenance"] if base else None)
        if base is not None:
            values["rivals"] = base.values["rivals"]
            unseen = [link for link in base.values["links"] if not self.lesson_of.get(link["target"])]
            values["links"] = [*values["links"], *(link for link in unseen if link not in values["links"])]
            if sorted(map(dumps, values["links"])) == sorted(map(dumps, base.values["links"])):
                values["links"] = base.values["links"]
        return settle(LessonId(id), values, base.stamps if base else None)

    # Lessons

    def _new(self, document: Document, state: State) -> Lesson:
        lesson = new_lesson(document, self.project, self._locals(), self._now(), state, self._shared())
        if self.project == ORGANISATION:
            lesson = replace(lesson, scope=replace(lesson.scope, level="team"))
        author = lesson.provenance.author or self.name
        return replace(lesson, provenance=replace(lesson.provenance, author=author))

    def _derive(self, id: str, document: Document, state: State) -> None:
        """Write the document's lesson in that state, or note which lesson states its rule already."""
        lesson = self.lessons.get(self.lesson_of.get(id, LessonId("")))
        if lesson is not None:
            self._put(lesson, self._next(lesson, document, state))
            return
        if document.values["state"] != "active":
            self.lesson_of.setdefault(id, LessonId(id))
            return
        draft = self._new(document, state)
        if draft.id in self.after or self.services.store.current_versions([draft.id]):
            draft = replace(draft, id=shared_id("project", self.project, id))
        same = self._same(draft)
        if same is not None:
            self._block(id, same, state)
            return
        self.lesson_of[id], self.by_lesson[draft.id] = draft.id, id
        self.lessons[draft.id] = self.after[draft.id] = draft
        self.expected[draft.id] = None

    def _derive_proposal(self, id: str, document: Document, state: State) -> None:
        """Write the candidate that shows a pending wording in the review queue."""
        wordings = self.wordings[id]
        link = Link(kind="refines", target=self.lesson_of[id])
        proposal = self.lessons.get(wordings.proposal)
        if proposal is not None and proposal.state in LIVING:
            after = revised(proposal, document, self._locals(), self._now(), self._shared())
            links = tuple(dict.fromkeys((*after.links, link)))
            self._put(proposal, replace(after, links=links, state=state))
            return
        if document.values["state"] != "active" or self.lesson_of[id] not in self.lessons:
            return
        draft = self._new(document, state)
        draft = replace(
            draft,
            id=shared_id("proposal", self.project, id, digest(plain_document(document))),
            links=(*draft.links, link),
        )
        if self._same(draft) is not None:  # other words for the same rule; a store has one lesson of a rule and level
            draft = replace(draft, scope=replace(draft.scope, level=_OTHER_LEVEL[draft.scope.level]))
        if self._same(draft) is not None or self.services.store.current_versions([draft.id]):
            return
        self.lessons[draft.id] = self.after[draft.id] = draft
        self.expected[draft.id] = None
        self.by_lesson[draft.id] = id
        self._keep(id, replace(wordings, proposal=draft.id))

    def _next(self, lesson: Lesson, document: Document, state: State) -> Lesson:
        """Return the lesson's next version; it becomes active or waits only if the document says that it holds."""
        now = self._now()
        after = revised(lesson, document, self._locals(), now, self._shared())
        if document.values["state"] != "active" or after.state == state or state not in TRANSITIONS[after.state]:
            return after
        if state != "active":
            return after if after.state == "active" else replace(after, state=state)
        said_by = document.values["provenance"].get("said_by", "agent")
        return replace(in_state(after, "active", at=now), validity=after.validity, trust=said_by)

    def _same(self, draft: Lesson) -> Lesson | None:
        for lesson in self.after.values():
            if lesson.state in LIVING and lesson.id != draft.id and same_rule(lesson) == same_rule(draft):
                return lesson
        same = find_same(self.services, draft)
        return same if same is not None and same.id not in self.after else None

    def _block(self, id: str, same: Lesson, state: State) -> None:
        """Let the lesson that states the rule already stand for the document, until it says something else."""
        self.lesson_of[id] = LessonId("")
        if same.id not in self.by_lesson:
            known = self.documents.of_lessons(self.project, [same.id])
            self._read([row.id for row in known.values()])
        holder = self.by_lesson.get(same.id, "")
        if not holder or holder == id:
            return
        wordings = self.wordings[holder]
        self._keep(holder, replace(wordings, blocked=tuple(dict.fromkeys((*wordings.blocked, id)))))
        if state == "active" and wordings.standing is None and same.state == "candidate":
            self.accept(holder, wordings.full)

    def _free(self, id: str) -> None:
        """Give lessons to the documents whose rule this one's lesson no longer states."""
        wordings = self.wordings[id]
        if not wordings.blocked:
            return
        self._keep(id, replace(wordings, blocked=()))
        self.write_lessons()
        self._read(wordings.blocked)
        for other in wordings.blocked:
            if other in self.wordings and not self.lesson_of.get(other):
                waiting = self.wordings[other]
                self._derive(other, waiting.standing or waiting.full, "active" if waiting.standing else "candidate")
                self.changed[other] = None

    def _put(self, before: Lesson, after: Lesson) -> None:
        if replace(after, recorded_at=before.recorded_at) == before:
            return
        self.lessons[before.id] = self.after[before.id] = after
        self.expected.setdefault(before.id, before.recorded_at)

    def _keep(self, id: str, wordings: Wordings) -> None:
        self.wordings[id] = wordings
        self.changed[id] = None

    def _locals(self) -> dict[LessonId, LessonId]:
        return {LessonId(document): lesson for document, lesson in self.lesson_of.items() if lesson}

    def _shared(self) -> dict[LessonId, LessonId]:
        return {lesson: LessonId(document) for lesson, document in self.by_lesson.items()}

    def _now(self) -> datetime:
        return self.services.clock.now()

    # Writing

    def write_lessons(self) -> None:
        """Write the lessons that changed."""
        if self.after:
            lessons = list(self.after.values())
            written = write_change(
                self.services, self.location, "sync", lessons, self.expected, actor=self.name
            ).lessons
            self.lessons.update((lesson.id, lesson) for lesson in written)
            self.saved += [lesson for lesson in written if self.expected.get(lesson.id) is None]
            self.after, self.expected = {}, {}

    def write(self) -> None:
        """Write lessons, then documents."""
        self.write_lessons()
        now = self._now()
        rows = []
        for id in self.changed:
            wordings = self.wordings[id]
            row = StoredDocument(
                id=id, lesson=self.lesson_of.get(id, LessonId("")), accepted=wordings.standing is not None,
                at=now, body=dump_wordings(wordings),
            )  # fmt: skip
            before = self.rows.get(id)
            if before is None or (before.body, before.lesson) != (row.body, row.lesson):
                rows.append(row)
        self.written = {row.id: row for row in self.documents.write(self.project, rows)} if rows else {}
