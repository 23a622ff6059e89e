"""Questions: recall, the brief of a session, topics, the digest and numbers."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from holdfast.curation.review import WAITING
from holdfast.lean.plain import render_instant
from holdfast.rendering.views import briefing_json, report_json
from holdfast.reports.digest import Audience
from holdfast.reports.topics import TopicList
from holdfast.reports.tuning import TOPICS_READ
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged
from holdfast.surfaces.rest.reading import Instant
from holdfast.surfaces.rest.table import Op, OpAnswer, Strict

PROJECT = "/projects/{project}"
DAYS = 7
"""Days of a digest that names no beginning."""


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
    """Return the topics of the newest active lessons, those with most lessons first."""
    return _topics(call, call.memory.topics(sees=call.sees))


def rename_topic(call: OpCall) -> OpAnswer:
    """Give a topic another name, for all who read the project."""
    body = call.says(models.TopicRenaming)
    return _topics(call, call.memory.rename_topic(body.name, body.new, sees=call.sees), "topic.rename")


def merge_topics(call: OpCall) -> OpAnswer:
    """Make two topics one."""
    body = call.says(models.TopicMerging)
    return _topics(call, call.memory.merge_topics(body.name, body.into, sees=call.sees), "topic.merge")


def split_topic(call: OpCall) -> OpAnswer:
    """Take back the name of a topic, and every merge into it."""
    return _topics(call, call.memory.split_topic(call.says(models.TopicSplitting).name, sees=call.sees), "topic.split")


def _topics(call: OpCall, listed: TopicList, action: str = "") -> OpAnswer:
    limit = call.asks(Paged).limit if call.op.query is Paged else len(listed.topics)
    items = [
        {
            "name": topic.name,
            "kind": topic.kind,
            "lessons": topic.lessons,
            "newest": render_instant(topic.newest),
            "also": list(topic.also),
        }
        for topic in listed.topics[:limit]
    ]
    audit = (action, call.project.id) if action else ("", "")
    return OpAnswer(value={"items": items, "next": ""}, audit=audit)


class DigestQuery(Strict):
    """Which period, for whom."""

    since: Annotated[Instant | None, Field(description="By default 7 days ago")] = None
    until: Annotated[Instant | None, Field(description="By default now")] = None
    audience: Annotated[Audience, Field(description="`team`: only what every reader may see")] = "me"


def read_digest(call: OpCall) -> OpAnswer:
    """Return what happened to the project's memory in a period, as far as the caller may see it."""
    query = call.asks(DigestQuery)
    since = query.since or call.now() - timedelta(days=DAYS)
    made = call.memory.digest(since=since, until=query.until, audience=query.audience, sees=call.sees)
    return OpAnswer(value=report_json(made))


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
        summary="List the topics of a project, those with most lessons first.", out=models.Listing[models.TopicView],
        notes=f"A few dozen, found in the tags, folders and words of the newest {TOPICS_READ:,} active lessons.",
    ),
    Op(
        method="POST", path=PROJECT + "/topics/rename", name="rename_topic", verb="write", call=rename_topic,
        body=models.TopicRenaming, summary="Give a topic another name, for all readers.",
        out=models.Listing[models.TopicView],
    ),
    Op(
        method="POST", path=PROJECT + "/topics/merge", name="merge_topics", verb="write", call=merge_topics,
        body=models.TopicMerging, summary="Make two topics one, for all readers.",
        out=models.Listing[models.TopicView],
    ),
    Op(
        method="POST", path=PROJECT + "/topics/split", name="split_topic", verb="write", call=split_topic,
        body=models.TopicSplitting, summary="Take back the name of a topic, and every merge into it.",
        out=models.Listing[models.TopicView],
    ),
    Op(
        method="GET", path=PROJECT + "/digest", name="read_digest", verb="read", call=read_digest, query=DigestQuery,
        summary="Read what was learnt, changed, contradicted and resolved in a period, and what waits.",
        out=models.DigestView, notes="Most important first; of each sort a few are shown and all are counted. What "
        "went stale only a clone can tell. What waits is shown to who may see it.",
    ),
    Op(
        method="GET", path=PROJECT + "/stats", name="read_stats", verb="read", call=read_stats,
        summary="Read how often lessons were told, heeded and missed.", out=models.StatsView,
    ),
)  # fmt: skip
