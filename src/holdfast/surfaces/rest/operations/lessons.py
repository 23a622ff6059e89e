"""Lessons: list, state, read, revise, edit, retire, forget, purge; and what is behind one: versions, grounds, links."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from holdfast.client.operations import etag_of
from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.project import ORGANISATION
from holdfast.domain.vocabulary import LessonId, LessonKind, State, Trust
from holdfast.lessons.lookup import in_project
from holdfast.ports.store import LessonFilter, get_readable
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged
from holdfast.surfaces.rest.reading import Flag, Instant, Words
from holdfast.surfaces.rest.table import Op, OpAnswer, Strict
from holdfast.team import review

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HERE = "/projects/{project}/lessons"
ONE = HERE + "/{lesson}"
SIFTED = 2_000
"""Lessons that one page looks through for a tag or a trust, of which a store has no index."""


class LessonsQuery(Paged):
    """Which lessons; all conditions hold together."""

    state: Annotated[tuple[State, ...], Words, Field(min_length=1)] = ("active",)
    kind: Annotated[tuple[LessonKind, ...], Words] = ()
    path: Annotated[str, Field(max_length=1_000, description="Anchored to this file")] = ""
    tag: Annotated[str, Field(max_length=200)] = ""
    trust: Trust | None = None
    since: Annotated[Instant | None, Field(description="Valid since then or later")] = None
    as_of: Annotated[Instant | None, Field(description="As they were known then")] = None


class AsOf(Paged):
    """When."""


def list_lessons(call: OpCall) -> OpAnswer:
    """Return lessons, newest first. Those that wait are for reviewers and for who proposed them."""
    query = call.asks(LessonsQuery)
    where = _filter(call, query)
    lessons: list[Lesson] = []
    looked_at = 0
    last: Lesson | None = None
    while len(lessons) <= query.limit and looked_at < SIFTED:
        page = call.stores.store.find(where)
        looked_at += len(page)
        for lesson in page:
            if len(lessons) > query.limit:
                break
            last = lesson
            if _is_wanted(call, query, lesson):
                lessons.append(lesson)
        if len(page) < where.limit:
            last = None
            break
        where = replace(where, beyond=(page[-1].recorded_at, page[-1].id))
    end = lessons[query.limit - 1] if len(lessons) > query.limit else last
    items = [views.lesson(lesson) for lesson in lessons[: query.limit]]
    return OpAnswer(value={"items": items, "next": _cursor(call, end) if end else ""})


def _cursor(call: OpCall, lesson: Lesson) -> str:
    return call.cursor((lesson.recorded_at - EPOCH) // timedelta(microseconds=1), lesson.id)


def _filter(call: OpCall, query: LessonsQuery) -> LessonFilter:
    position = call.position(query.cursor)
    beyond = None
    if position:
        beyond = EPOCH + timedelta(microseconds=int(position[0])), LessonId(str(position[1]))
    memory = call.memory
    return LessonFilter(
        project=memory.location.project.id,
        states=query.state,
        kinds=query.kind,
        path=in_project(memory.services, memory.location, query.path) if query.path else "",
        as_of=query.as_of,
        beyond=beyond,
        limit=query.limit + 1,
    )


def _is_wanted(call: OpCall, query: LessonsQuery, lesson: Lesson) -> bool:
    has_tag = not query.tag or query.tag.lower() in (tag.lower() for tag in lesson.tags)
    has_trust = query.trust is None or lesson.trust == query.trust
    is_since = query.since is None or lesson.validity.valid_from >= query.since
    return has_tag and has_trust and is_since and (lesson.state not in WAITING or call.sees(lesson))


def add_lesson(call: OpCall) -> OpAnswer:
    """Store what is stated and return what it became."""
    body = call.says(models.LessonIn)
    fields = body.model_dump(exclude={"topic", "when", "trust"})
    when = Triggers(**body.when.model_dump(), edited=False) if body.when else None
    lesson = call.memory.remember(
        **fields, topic_key=body.topic, when=when, trust=_trust(call, body.trust), author=call.caller.name,
        scope="team" if call.project.id == ORGANISATION else "project",
    )  # fmt: skip
    return _saved(call, lesson, "lesson.remember", location=True)


def _trust(call: OpCall, stated: Trust) -> Trust:
    """Return the trust of what is stated: a program without a member cannot say that a person worded it."""
    return stated if call.caller.member else "agent"


def _saved(
    call: OpCall, lesson: Lesson, action: str, *, location: bool = False, also: tuple[LessonId, ...] = ()
) -> OpAnswer:
    rivals = call.memory.rivals(lesson) if lesson.state == "active" else []
    supersedes = [link.target for link in lesson.links if link.kind == "supersedes"]
    return OpAnswer(
        value=views.lesson(lesson) | {"contradicts": [rival.id for rival in rivals]},
        etag=etag_of(lesson),
        location=_path(call, lesson) if location else "",
        changed=(lesson.id, *supersedes, *also),
        audit=(action, lesson.id),
        details={"project": call.project.id, "state": lesson.state},
    )


def _path(call: OpCall, lesson: Lesson) -> str:
    from urllib.parse import quote

    return f"/v1/projects/{quote(call.project.id, safe='')}/lessons/{lesson.id}"


class ReadQuery(Paged):
    """Which version."""


def read_lesson(call: OpCall) -> OpAnswer:
    """Return one lesson with its entity tag."""
    lesson = call.lesson()
    return OpAnswer(value=views.lesson(lesson), etag=etag_of(lesson))


def revise_lesson(call: OpCall) -> OpAnswer:
    """Return the successor. For everybody but reviewers and owners it waits, and the lesson stays as it is."""
    lesson = call.changing_lesson()
    body = call.says(models.LessonChange)
    changes: dict[str, Any] = body.model_dump(exclude_none=True, exclude={"trust", "when"})
    when = body.when.model_dump(exclude_none=True) if body.when else None
    if "topic" in changes:
        changes["topic_key"] = changes.pop("topic")
    successor = call.memory.revise(
        lesson.id, author=call.caller.name, trust=_trust(call, body.trust), when=when, **changes
    )
    return _saved(call, successor, "lesson.revise", location=True, also=(lesson.id,))


def edit_lesson(call: OpCall) -> OpAnswer:
    """Return the lesson with another title, or told at other times."""
    lesson = call.changing_lesson()
    review.require_change(call.stores, call.caller, call.project, lesson)
    changes = call.says(models.WhenChange).model_dump(exclude_none=True)
    revive_when = changes.pop("revive_when", None)
    if changes or revive_when is None:
        lesson = call.memory.edit(lesson.id, author=call.caller.name, **changes)
    if revive_when is not None:
        lesson = call.memory.revive_when(lesson.id, revive_when, author=call.caller.name)
    return _saved(call, lesson, "lesson.edit")


def retire_lesson(call: OpCall) -> OpAnswer:
    """Return the lesson, retired until its condition holds."""
    lesson = call.changing_lesson()
    review.require_change(call.stores, call.caller, call.project, lesson)
    condition = call.says(models.Retirement).revive_when
    retired = call.memory.revive_when(lesson.id, condition, retire=True, author=call.caller.name)
    return _saved(call, retired, "lesson.retire")


def forget_lesson(call: OpCall) -> OpAnswer:
    """Take the lesson out of use for good; a marker stays."""
    lesson = call.changing_lesson()
    review.require_change(call.stores, call.caller, call.project, lesson)
    forgotten = call.memory.forget(lesson.id, author=call.caller.name)
    return _saved(call, forgotten, "lesson.forget")


def purge_lesson(call: OpCall) -> OpAnswer:
    """Erase every version of the lesson and everything derived from it."""
    lesson = call.changing_lesson()
    erased = call.memory.purge(lesson.id)
    review.erase_traces(call.team, [lesson.id])
    return OpAnswer(
        value={"id": lesson.id, "erased": erased}, changed=(lesson.id,), audit=("lesson.purge", lesson.id),
        details={"project": call.project.id},
    )  # fmt: skip


class UndoQuery(Strict):
    """What to do where the last change was a purge."""

    past_purges: Annotated[Flag, Field(description="Undo the last change that was no purge")] = False
    change: Annotated[str, Field(max_length=100, description="Undo exactly the change with this id")] = ""


def undo_change(call: OpCall) -> OpAnswer:
    """Undo the last change of the project's memory, or exactly one."""
    query = call.asks(UndoQuery)
    change = call.memory.undo(author=call.caller.name, past_purges=query.past_purges, change=query.change)
    return OpAnswer(
        value=views.whole(change), changed=change.lessons, audit=("project.undo", call.project.id),
        details={"lessons": str(len(change.lessons))},
    )  # fmt: skip


def list_changes(call: OpCall) -> OpAnswer:
    """Return the newest changes of the project's memory: ids and verbs, no words."""
    limit = call.asks(LogQuery).limit
    changes = [
        change
        for change in call.memory.changes(limit)
        if call.caller.may("review") or _names_visible(call, change.lessons)
    ]
    return OpAnswer(value={"items": [views.whole(change) for change in changes], "next": ""})


def _names_visible(call: OpCall, ids: tuple[LessonId, ...]) -> bool:
    return all(call.sees(lesson) for lesson in get_readable(call.stores.store, ids))


class LogQuery(Paged):
    """How many."""


def list_history(call: OpCall) -> OpAnswer:
    """Return every version of the lesson, of those before it and of its successors, oldest first."""
    lesson = call.lesson()
    versions = [version for version in call.memory.lineage(lesson.id) if call.sees(version.lesson)]
    return OpAnswer(value={"items": [views.version(version) for version in versions], "next": ""})


def read_evidence(call: OpCall) -> OpAnswer:
    """Return who said the lesson, on what evidence, and what followed where it was told."""
    lesson = call.lesson()
    return OpAnswer(value=views.evidence(call.memory.explain(lesson.id), call.memory.surrounding(lesson)))


def list_links(call: OpCall) -> OpAnswer:
    """Return the links from the lesson, and those of the lessons that it is linked to back to it."""
    lesson = call.lesson()
    targets = [other for other in get_readable(call.stores.store, [x.target for x in lesson.links]) if call.sees(other)]
    seen = {other.id for other in targets}
    links = [{"kind": x.kind, "source": lesson.id, "target": x.target} for x in lesson.links if x.target in seen]
    links += [
        {"kind": x.kind, "source": other.id, "target": lesson.id}
        for other in targets
        for x in other.links
        if x.target == lesson.id
    ]
    return OpAnswer(value={"items": links, "next": ""})


OPERATIONS = (
    Op(
        method="GET", path=HERE, name="list_lessons", verb="read", call=list_lessons, query=LessonsQuery,
        summary="List lessons, newest first.", out=models.Listing[models.LessonView],
        notes="Lessons that wait for a reviewer are shown to reviewers and to who proposed them.",
    ),
    Op(
        method="POST", path=HERE, name="add_lesson", verb="write", call=add_lesson, body=models.LessonIn, status=201,
        summary="State a lesson.", out=models.SavedView, idempotent=True, errors=(402,),
        notes="It waits for a reviewer, and is told to nobody, unless the team's rules say otherwise. Saying the same "
        "again adds no second lesson.",
    ),
    Op(
        method="GET", path=ONE, name="read_lesson", verb="read", call=read_lesson,
        summary="Read a lesson.", out=models.LessonView,
        notes="The id may be the end of one, at least four characters.",
    ),
    Op(
        method="PATCH", path=ONE, name="revise_lesson", verb="write", call=revise_lesson, body=models.LessonChange,
        summary="Replace a lesson by a better one.", out=models.SavedView, match="required", idempotent=True,
        errors=(402,),
        notes="The answer is the successor, which has an id of its own. Where the team's rules ask for it, the "
        "successor waits, and the lesson stays in force until a reviewer accepts the successor.",
    ),
    Op(
        method="DELETE", path=ONE, name="forget_lesson", verb="write", call=forget_lesson,
        summary="Take a lesson out of use for good.", out=models.SavedView, match="required",
        notes="A marker stays, and the history can be read. For reviewers, and for who proposed a lesson that waits.",
    ),
    Op(
        method="PATCH", path=ONE + "/when", name="edit_lesson", verb="write", call=edit_lesson, body=models.WhenChange,
        summary="Change when a lesson is told, or its title.", out=models.SavedView, match="optional", idempotent=True,
    ),
    Op(
        method="POST", path=ONE + "/retire", name="retire_lesson", verb="write", call=retire_lesson,
        body=models.Retirement, optional_body=True, match="optional", idempotent=True,
        summary="Retire a lesson, until a dependency changes or for good.", out=models.SavedView,
    ),
    Op(
        method="POST", path=ONE + "/purge", name="purge_lesson", verb="administer", call=purge_lesson,
        summary="Erase a lesson and everything derived from it.", out=dict[str, Any], match="optional",
        notes="Nothing brings it back. Stored answers of idempotency keys are erased, too.",
    ),
    Op(
        method="GET", path=ONE + "/history", name="list_history", verb="read", call=list_history,
        summary="List the versions of a lesson, of its predecessors and successors, oldest first.",
        out=models.Listing[models.VersionView],
    ),
    Op(
        method="GET", path=ONE + "/evidence", name="read_evidence", verb="read", call=read_evidence,
        summary="Read why a lesson is believed.", out=models.EvidenceView,
    ),
    Op(
        method="GET", path=ONE + "/links", name="list_links", verb="read", call=list_links,
        summary="List the links of a lesson.", out=models.Listing[models.LinkView],
    ),
    Op(
        method="GET", path="/projects/{project}/log", name="list_changes", verb="read", call=list_changes,
        query=LogQuery, summary="List the newest changes of a project's memory.",
        out=models.Listing[dict[str, Any]],
    ),
    Op(
        method="POST", path="/projects/{project}/undo", name="undo_change", verb="review", call=undo_change,
        query=UndoQuery,
        summary="Undo the last change of a project's memory.", out=dict[str, Any], idempotent=True,
        notes="A whole import is one change. A purge cannot be undone. `change` undoes exactly one, "
        "unless its lessons were changed again since.",
    ),
)  # fmt: skip
