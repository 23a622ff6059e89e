"""Sync: documents of shared lessons both ways, their feed live, and lessons in bulk as JSON lines."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field

from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import ProjectId, State
from holdfast.errors import ForbiddenError, IllegalTransitionError, NotFoundError
from holdfast.lean.texts import dumps
from holdfast.ports.store import LogFilter
from holdfast.publishing.remote import sealed
from holdfast.publishing.remote import server as remote
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.reading import Digits, Flag, Words
from holdfast.surfaces.rest.table import Op, OpAnswer, Strict
from holdfast.team import review

PROJECT = "/projects/{project}"


class FeedQuery(Strict):
    """From which position on."""

    after: Annotated[Digits, Field(ge=0, lt=2**53)] = 0
    limit: Annotated[Digits, Field(ge=1, le=1_000)] = 1_000


class ChangesQuery(Strict):
    """From which position on."""

    after: Annotated[Digits | None, Field(ge=0, lt=2**53, description="By default only what changes from now on")] = (
        None
    )


def list_documents(call: OpCall) -> OpAnswer:
    """Return the documents that changed after a position, in the order of their positions."""
    query = call.asks(FeedQuery)
    project = ProjectId(call.project.id)
    changed, after = call.feed(query.after, query.limit)
    last = call.stores.documents.last_seqs([project]).get(project, 0)
    return OpAnswer(
        value={
            "format": remote.FORMAT,
            "documents": [view for _, view in changed],
            "after": after,
            "last": last,
            "more": after < last,
        }
    )


def send_documents(call: OpCall) -> OpAnswer:
    """Join the documents into the project's, and return what became of each."""
    incoming = [remote.take(each.model_dump()) for each in call.says(models.DocumentsIn).documents]
    desk, memory = call.desk, call.memory
    sender = remote.Sender(
        member=call.caller.actor,
        name=call.caller.name,
        may_confirm=lambda lesson: not memory.services.must_wait(lesson),
        confirm=lambda lesson: _confirms(desk, lesson),
        note_saved=lambda lessons: review.note_saved(call.team, call.caller, call.project, lessons),
    )
    merged = remote.merge(memory.services, memory.location, call.stores.documents, incoming, sender)
    fates = {each.fate for each in merged}
    project = ProjectId(call.project.id)
    last = call.stores.documents.last_seqs([project]).get(project, 0)
    return OpAnswer(
        value={"results": [views.fate(each) for each in merged], "last": last},
        audit=("documents.send", call.project.id) if fates & {"accepted", "proposed"} else ("", ""),
        details={"documents": str(len(merged))},
    )


def _confirms(desk: review.Desk, lesson: Lesson) -> bool:
    """Record that the sender vouches for a stored lesson; return whether a rule of the team accepts it by that."""
    if not desk.caller.member or not desk.caller.may("judge"):
        return False
    try:
        return bool(review.confirm(desk, lesson.id).accepted_by)
    except (ForbiddenError, NotFoundError, IllegalTransitionError):
        return False  # their own proposal, another one's that they do not see, or one that is out of use by now


def list_sealed(call: OpCall) -> OpAnswer:
    """Return the caller's sealed documents that changed after a position, in the order of their positions."""
    query = call.asks(FeedQuery)
    return OpAnswer(value=sealed.sealed_feed(call.stores.documents, _person(call), query.after, query.limit))


def send_sealed(call: OpCall) -> OpAnswer:
    """Store sealed documents of the caller, unless another machine was faster, and return what became of each."""
    documents = [each.model_dump() for each in call.says(models.SealedListIn).sealed]
    results = sealed.store_sealed(call.stores.documents, call.shared.requests.clock, _person(call), documents)
    return OpAnswer(value={"results": results})


def _person(call: OpCall) -> str:
    """Return the member whose sealed documents they are. Raises ForbiddenError for a token that is not a person's own.

    A token for some projects reads nothing that a person keeps to themselves.
    """
    if not call.caller.member or call.caller.projects:
        raise ForbiddenError("sealed lessons need a person's own token for all projects", hint="holdfast login")
    return call.caller.member


def watch_changes(call: OpCall) -> OpAnswer:
    """Stream the documents as they change; `feed` does it."""
    return OpAnswer()


class ExportQuery(Strict):
    """Which lessons."""

    state: Annotated[tuple[State, ...], Words, Field(min_length=1)] = ("active",)


def export_lessons(call: OpCall) -> OpAnswer:
    """Return the project's lessons as lines, newest first."""
    states = call.asks(ExportQuery).state
    if set(states) & set(WAITING):
        call.require("reviewer", "exporting lessons that wait")
    return OpAnswer(lines=call.memory.export_lessons(states=states))


class ImportQuery(Strict):
    """How."""

    accept: Annotated[Flag, Field(description="Vouch for the lines: for reviewers")] = False
    dry: Annotated[Flag, Field(description="Write nothing, and say what would happen")] = False


def import_lessons(call: OpCall) -> OpAnswer:
    """Store the lessons of the lines as one change."""
    query = call.asks(ImportQuery)
    if query.accept:
        call.require("reviewer", "vouching for lines")
    lines = [dumps(_without_private(line.model_dump())) for line in cast("list[models.LineIn]", call.lines)]
    before = _last_change(call)
    report = call.memory.import_lessons(lines, accept=query.accept, origin=call.caller.name, dry=query.dry)
    change = _last_change(call)
    is_new = change is not None and (before is None or change.id != before.id)
    value: dict[str, Any] = {
        name: getattr(report, name) for name in ("added", "revised", "unchanged", "waiting", "quarantined", "conflicts")
    }
    value["failed"] = [{"line": number, "reason": reason} for number, reason in report.failed]
    value["ignored"] = dict(report.ignored)
    return OpAnswer(
        value=value,
        changed=change.lessons if change is not None and is_new else (),
        audit=("lessons.import", call.project.id) if is_new else ("", ""),
        details={"added": str(report.added), "revised": str(report.revised)},
    )


def _without_private(line: dict[str, Any]) -> dict[str, Any]:
    """Return the line in the project's own scope: a line cannot put a lesson into another project."""
    return {name: value for name, value in line.items() if name not in ("project", "scope", "private")}


def _last_change(call: OpCall) -> Change | None:
    where = LogFilter(project=call.memory.location.project.id, limit=1)
    return next(iter(call.stores.store.find_records(Change, where)), None)


OPERATIONS = (
    Op(
        method="GET", path=PROJECT + "/documents", name="list_documents", verb="read", call=list_documents,
        query=FeedQuery, reads_after=True, summary="Read the shared lessons that changed after a position.",
        out=models.DocumentsView,
        notes="`after` is the position to go on from. Deletions are documents, too.",
    ),
    Op(
        method="POST", path=PROJECT + "/documents", name="send_documents", verb="write", call=send_documents,
        body=models.DocumentsIn, errors=(402,), is_bulk=True,
        summary="Send shared lessons; each is joined with the server's.", out=models.FatesView,
        notes="Sending twice changes nothing, so no key is needed.",
    ),
    Op(
        method="GET", path="/me/sealed", name="list_sealed", verb="read", call=list_sealed, query=FeedQuery,
        summary="Read your own sealed lessons that changed after a position.", out=models.SealedListView,
        notes="They are sealed by your machines with a key that the server does not have.",
    ),
    Op(
        method="POST", path="/me/sealed", name="send_sealed", verb="write", call=send_sealed,
        body=models.SealedListIn, summary="Store your own sealed lessons.", out=models.SealedFatesView,
        notes="Each names the position of the version that it replaces. If that is not the present one, the answer has "
        "the present one, and nothing is replaced. Sending twice changes nothing.",
    ),
    Op(
        method="GET", path=PROJECT + "/changes", name="watch_changes", verb="read", call=watch_changes,
        query=ChangesQuery, medium="events", errors=(410,),
        summary="Follow the shared lessons as they change, as server-sent events.", out=models.DocumentView,
        notes="An event's id is its position. With `Last-Event-ID` the stream goes on after that position. It ends "
        "after five minutes; clients come back by themselves.",
    ),
    Op(
        method="GET", path=PROJECT + "/export", name="export_lessons", verb="read", call=export_lessons,
        query=ExportQuery, medium="ndjson", summary="Export lessons, a JSON document a line, newest first.",
        out=models.LineView,
    ),
    Op(
        method="POST", path=PROJECT + "/import", name="import_lessons", verb="write", call=import_lessons,
        query=ImportQuery, line=models.LineIn, summary="Import lessons, a JSON document a line, as one change.",
        out=models.ImportView, idempotent=True, errors=(402,),
        notes="Lines that this server did not export wait for a reviewer, unless a reviewer vouches for them.",
    ),
)  # fmt: skip
