"""Questions: recall, the brief of a session, topics and numbers."""

from __future__ import annotations

from collections import Counter

from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import render_instant
from holdfast.ports.store import LessonFilter
from holdfast.rendering.views import briefing_json
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged
from holdfast.surfaces.rest.table import Op, OpAnswer

PROJECT = "/projects/{project}"
COUNTED = 1_000
"""The newest lessons, among which topics and tags are counted."""


def recall(call: OpCall) -> OpAnswer:
    """Return the lessons that answer, best first."""
    asked_for = call.says(models.RecallIn)
    if set(asked_for.states) & set(WAITING):
        call.require("reviewer", "asking for lessons that wait")
    briefing = call.memory.recall(**asked_for.model_dump())
    return OpAnswer(value=briefing_json(briefing))


def brief(call: OpCall) -> OpAnswer:
    """Return what a session is told at its start, then for what it does first."""
    start = call.says(models.BriefIn)
    briefings = call.memory.brief(prompt=start.prompt, file=start.file, command=start.command)
    return OpAnswer(value={"briefings": [briefing_json(briefing) for briefing in briefings]})


def list_topics(call: OpCall) -> OpAnswer:
    """Return the topics and tags of the newest active lessons, the most frequent first."""
    where = LessonFilter(project=call.memory.location.project.id, states=("active",), limit=COUNTED)
    lessons = call.stores.store.find(where)
    counts: Counter[tuple[str, str]] = Counter()
    newest: dict[tuple[str, str], Lesson] = {}
    for lesson in lessons:
        names = {("tag", tag) for tag in lesson.tags}
        for key in names | ({("topic", lesson.topic_key)} if lesson.topic_key else set()):
            counts[key] += 1
            newest.setdefault(key, lesson)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    limit = call.asks(Paged).limit
    items = [
        {"name": name, "kind": kind, "lessons": count, "newest": render_instant(newest[kind, name].recorded_at)}
        for (kind, name), count in ordered[:limit]
    ]
    return OpAnswer(value={"items": items, "next": ""})


def read_stats(call: OpCall) -> OpAnswer:
    """Return how often lessons were told, and what came of it."""
    (sums,) = call.memory.stats()
    return OpAnswer(value=views.stats(sums))


OPERATIONS = (
    Op(
        method="POST", path=PROJECT + "/recall", name="recall", verb="read", call=recall, body=models.RecallIn,
        optional_body=True, writes=False, reads_after=True,
        summary="Find the lessons that matter to a question.", out=models.BriefingView,
        notes="Nothing is stored. Lessons that wait are never among the answers, unless a reviewer asks for them.",
    ),
    Op(
        method="POST", path=PROJECT + "/brief", name="brief", verb="read", call=brief, body=models.BriefIn,
        optional_body=True, writes=False, reads_after=True,
        summary="Read what a session is told: at its start, and for what it does first.", out=models.BriefView,
    ),
    Op(
        method="GET", path=PROJECT + "/topics", name="list_topics", verb="read", call=list_topics, query=Paged,
        summary="List topics and tags, the most frequent first.", out=models.Listing[models.TopicView],
        notes=f"Counted among the newest {COUNTED:,} active lessons.",
    ),
    Op(
        method="GET", path=PROJECT + "/stats", name="read_stats", verb="read", call=read_stats,
        summary="Read how often lessons were told, heeded and missed.", out=models.StatsView,
    ),
)  # fmt: skip
