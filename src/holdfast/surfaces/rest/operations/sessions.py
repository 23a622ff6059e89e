"""Sessions: the events that clients send, what is stored of them, and the states of tasks."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import Field

from holdfast.client.session import HOST, context_of
from holdfast.curation.review import WAITING
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import HoldfastError, InvalidValueError, NotFoundError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.ports.store import EventFilter, SessionFilter, get_readable
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged
from holdfast.surfaces.rest.reading import Instant
from holdfast.surfaces.rest.table import Op, OpAnswer
from holdfast.team import quotas

PROJECT = "/projects/{project}"


def add_events(call: OpCall) -> OpAnswer:
    """Store events, redacted; return how many were new."""
    lines = cast("list[models.EventIn]", call.lines)
    quotas.spend(call.team, "events_a_day", len(lines))
    stored = call.memory.append([_event(call, line) for line in lines])
    return OpAnswer(value={"received": len(lines), "stored": stored})


def _event(call: OpCall, line: models.EventIn) -> Event:
    fields = line.model_dump(exclude={"id", "session"})
    new_id = call.shared.requests.clock.new_id
    return Event(**fields, id=EventId(line.id or new_id()), session=SessionId(line.session))


def report_call(call: OpCall) -> OpAnswer:
    """Store what an agent reports, and return what it is told then."""
    quotas.spend(call.team, "events_a_day", 1)
    payload = call.says(models.CallIn).model_dump()
    try:
        text = call.memory.answer_hook(HOST, payload)
    except HoldfastError as exc:
        raise InvalidValueError(f"not a call of {HOST}: {exc}") from None
    return OpAnswer(value={"context": context_of(text)})


def learn_session(call: OpCall) -> OpAnswer:
    """Learn from a session's events; what is new waits where the team's rules say so."""
    report = call.memory.learn(SessionId(call.parameters["session"]))
    written = report.lessons
    lessons = get_readable(call.stores.store, written)
    value = {
        "found": report.found,
        "active": [lesson.id for lesson in lessons if lesson.state == "active"],
        "waiting": [lesson.id for lesson in lessons if lesson.state in WAITING],
    }
    return OpAnswer(
        value=value,
        changed=written,
        audit=("session.learn", call.project.id) if written else ("", ""),
        details={"lessons": str(len(written))},
    )


class SessionsQuery(Paged):
    """Which sessions."""

    branch: Annotated[str, Field(max_length=500, description="Only sessions with an event on this branch")] = ""
    host: Annotated[str, Field(max_length=200, description="Only sessions of this agent program")] = ""
    since: Annotated[Instant | None, Field(description="Only sessions with an event at this time or later")] = None
    until: Annotated[Instant | None, Field(description="Only sessions that began before this time")] = None


def list_sessions(call: OpCall) -> OpAnswer:
    """Return the sessions that match, the one with the newest event first."""
    query = call.asks(SessionsQuery)
    position = call.position(query.cursor)
    where = SessionFilter(
        project=call.memory.location.project.id, branch=query.branch, host=query.host,
        since=query.since, until=query.until,
        beyond=(parse_instant(str(position[0])), SessionId(str(position[1]))) if position else None,
        limit=query.limit + 1,
    )  # fmt: skip
    rows = call.stores.store.list_sessions(where)
    page = views.page(rows, query.limit, views.session, lambda row: call.cursor(render_instant(row.last), row.session))
    return OpAnswer(value=page)


def read_session(call: OpCall) -> OpAnswer:
    """Return the events of a session in the order in which they arrived."""
    query = call.asks(Paged)
    after = int(next(iter(call.position(query.cursor)), 0))
    where = EventFilter(
        project=call.memory.location.project.id, session=SessionId(call.parameters["session"]), after=after,
        limit=query.limit + 1,
    )  # fmt: skip
    rows = call.stores.store.find_events(where)
    if not rows and not after:
        raise NotFoundError("there is no such session in this project")
    page = views.page(rows, query.limit, lambda row: views.event(*row), lambda row: call.cursor(row[0]))
    return OpAnswer(value=page)


def list_checkpoints(call: OpCall) -> OpAnswer:
    """Return the states of tasks, newest first, closed ones included."""
    records = call.memory.checkpoints(call.asks(CheckpointsQuery).limit)
    return OpAnswer(value={"items": [views.whole(record) for record in records], "next": ""})


class CheckpointsQuery(Paged):
    """How many."""


class TaskQuery(Paged):
    """Which task."""

    task: Annotated[str, Field(max_length=200, description="By default the newest")] = ""


def read_checkpoint(call: OpCall) -> OpAnswer:
    """Return the present state of a task."""
    record = call.memory.checkpoint(call.asks(TaskQuery).task)
    if record is None:
        raise NotFoundError("no task is open")
    return OpAnswer(value=views.whole(record))


def add_checkpoint(call: OpCall) -> OpAnswer:
    """Store the state of a task."""
    body = call.says(models.CheckpointIn)
    fields = body.model_dump(exclude={"goal", "session"})
    record = call.memory.save_checkpoint(body.goal, session=SessionId(body.session), **fields)
    return OpAnswer(value=views.whole(record))


def close_checkpoint(call: OpCall) -> OpAnswer:
    """Close the newest state of a task."""
    record = call.memory.close_checkpoint(call.asks(TaskQuery).task)
    if record is None:
        raise NotFoundError("no task is open")
    return OpAnswer(value=views.whole(record))


OPERATIONS = (
    Op(
        method="GET", path=PROJECT + "/sessions", name="list_sessions", verb="read", call=list_sessions,
        query=SessionsQuery, summary="List sessions, the one with the newest event first.",
        out=models.Listing[models.SessionView],
    ),
    Op(
        method="GET", path=PROJECT + "/sessions/{session}", name="read_session", verb="read", call=read_session,
        query=Paged, summary="Read the events of a session.", out=models.Listing[models.EventView],
    ),
    Op(
        method="POST", path=PROJECT + "/events", name="add_events", verb="capture", call=add_events,
        line=models.EventIn, summary="Store events of sessions, a JSON document a line.", out=models.StoredView,
        idempotent=True, errors=(402,),
        notes="An event is stored once, however often it is sent: (session, key) identifies it. Texts are redacted.",
    ),
    Op(
        method="POST", path=PROJECT + "/calls", name="report_call", verb="capture", call=report_call,
        body=models.CallIn, errors=(402,), summary="Report a step of an agent's session, and read what it is told.",
        out=models.ContextView,
        notes="What `Session` of the Python SDK sends: a step in the shape of a hook's payload.",
    ),
    Op(
        method="POST", path=PROJECT + "/sessions/{session}/learn", name="learn_session", verb="capture",
        call=learn_session, errors=(402,), summary="Learn from a session.", out=models.LearntView, idempotent=True,
    ),
    Op(
        method="GET", path=PROJECT + "/checkpoints", name="list_checkpoints", verb="read", call=list_checkpoints,
        query=CheckpointsQuery, summary="List the states of tasks, newest first.",
        out=models.Listing[models.CheckpointView],
    ),
    Op(
        method="POST", path=PROJECT + "/checkpoints", name="add_checkpoint", verb="write", call=add_checkpoint,
        body=models.CheckpointIn, summary="Save the state of a task.", out=models.CheckpointView, status=201,
        idempotent=True,
    ),
    Op(
        method="GET", path=PROJECT + "/checkpoint", name="read_checkpoint", verb="read", call=read_checkpoint,
        query=TaskQuery, summary="Read the present state of a task.", out=models.CheckpointView,
    ),
    Op(
        method="DELETE", path=PROJECT + "/checkpoint", name="close_checkpoint", verb="write", call=close_checkpoint,
        query=TaskQuery, summary="Close a task: there is nothing to go on with.", out=models.CheckpointView,
    ),
)  # fmt: skip
