"""The page of topics, and what a person does to one: rename it, merge it into another, split it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.domain.lesson import Lesson
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.pages.page import ActionAnswer, ActionRow, Goal, Page, PageRow, UndoStep
from holdfast.pages.view import Door, View
from holdfast.ports.store import get_readable
from holdfast.reports.topics import LessonTopic, TopicList

LESSONS_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsQuery:
    """The topic whose lessons are listed."""

    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsData:
    """What the page of topics says."""

    topics: TopicList
    chosen: LessonTopic | None
    lessons: tuple[Lesson, ...]
    """Lessons of the chosen topic, newest first."""
    most: int
    """Lessons of the largest topic."""
    may_rename: bool


def make_topics(view: View, query: TopicsQuery) -> Page:
    """Return the topics, and the lessons of one."""
    topics = view.memory.topics(sees=view.sees)
    chosen = topics.named(query.topic) if query.topic else None
    lessons = get_readable(view.memory.services.store, chosen.ids[:LESSONS_SHOWN]) if chosen else []
    data = TopicsData(
        topics=topics,
        chosen=chosen,
        lessons=tuple(view.visible(lessons)),
        most=max((topic.lessons for topic in topics.topics), default=1),
        may_rename=view.may("write"),
    )
    return Page(template="topics", data=data, title=f"Topic: {chosen.name}" if chosen else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameForm:
    """The topic and its new name."""

    name: str
    new: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeForm:
    """The topic and the one that it becomes a part of."""

    name: str
    into: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitForm:
    """The topic that gets its own names back."""

    name: str


def rename(door: Door, parameters: Mapping[str, str], form: RenameForm) -> ActionAnswer:
    """Give a topic another name."""
    if not form.new.strip():
        raise InvalidValueError("no new name", hint="type the name that the topic should have")
    door.rename_topic(form.name, form.new)
    new = " ".join(form.new.split())
    return ActionAnswer(
        message=f"The topic {form.name} is now {new}.",
        to=Goal(name="topics", parameters={"topic": new}),
        undo=UndoStep(name="rename-topic", fields={"name": new, "new": form.name}),
    )


def merge(door: Door, parameters: Mapping[str, str], form: MergeForm) -> ActionAnswer:
    """Make a topic a part of another one."""
    if not form.into:
        raise InvalidValueError("no second topic", hint="choose the topic that both become")
    door.merge_topics(form.name, form.into)
    return ActionAnswer(
        message=f"{form.name} is a part of the topic {form.into} now.",
        to=Goal(name="topics", parameters={"topic": form.into}),
        undo=UndoStep(name="split-topic", fields={"name": form.into}),
    )


def split(door: Door, parameters: Mapping[str, str], form: SplitForm) -> ActionAnswer:
    """Take back the name of a topic, and every merge into it."""
    try:
        door.split_topic(form.name)
    except NotFoundError as exc:
        raise InvalidValueError(str(exc), hint="reload the page") from exc
    return ActionAnswer(message=f"{form.name} is as it was found again.", to=Goal(name="topics"))


PAGES = (
    PageRow(path="/p/{project}/topics", name="topics", title="Topics", make=make_topics, query=TopicsQuery),
)  # fmt: skip
ACTIONS = (
    ActionRow(path="/p/{project}/topics/rename", name="rename-topic", verb="write", act=rename, form=RenameForm),
    ActionRow(path="/p/{project}/topics/merge", name="merge-topics", verb="write", act=merge, form=MergeForm),
    ActionRow(path="/p/{project}/topics/split", name="split-topic", verb="write", act=split, form=SplitForm),
)
