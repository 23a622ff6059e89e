"""`holdfast topics`: the names under which lessons are found, which a person may rename and merge."""

from __future__ import annotations

import click

from holdfast.bootstrap import Memory
from holdfast.lean.texts import counted
from holdfast.rendering.views import report_json
from holdfast.reports.topics import TopicList
from holdfast.surfaces.cli.frame import Call, command, group
from holdfast.surfaces.cli.screen import note, say, table


@group(
    "holdfast topics", "holdfast topics show migrations", "holdfast topics rename 'db' 'database'", folder=True,
    json=True, invoke_without_command=True,
)  # fmt: skip
def topics(call: Call) -> None:
    """List the topics of this project's lessons with their counts; rename and merge them.

    Topics are found in tags, folders and words that several lessons share. What you rename or merge stays so, in this
    memory: names are not synchronised. On a team's server they are those of its own pages.
    """
    with call.open() as memory:
        _answer(call, memory.topics())


@command("holdfast topics show migrations", of=topics, memory=True)
@click.argument("name")
def show(call: Call, memory: Memory, name: str) -> None:
    """List the lessons of the topic NAME, newest first."""
    topic = memory.topics().named(name)
    lessons = [memory.get(id_) for id_ in topic.ids]
    if not call.answer(report_json(topic)):
        say(*table([[lesson.id[-8:], lesson.kind, lesson.title] for lesson in lessons], ("id", "kind", "title")))
        note(counted(len(lessons), "lesson"))


@command("holdfast topics rename 'db' 'database'", of=topics, memory=True)
@click.argument("name")
@click.argument("new")
def rename(call: Call, memory: Memory, name: str, new: str) -> None:
    """Give the topic NAME the name NEW."""
    renamed = memory.rename_topic(name, new)
    if not call.answer(report_json(renamed)):
        say(f"{name} is now {renamed.named(new).name}")
        note(f"to undo: holdfast topics split '{renamed.named(new).name}'")


@command("holdfast topics merge 'db' 'database'", of=topics, memory=True)
@click.argument("name")
@click.argument("into")
def merge(call: Call, memory: Memory, name: str, into: str) -> None:
    """Make the topic NAME a part of the topic INTO."""
    merged = memory.merge_topics(name, into)
    if not call.answer(report_json(merged)):
        topic = merged.named(into)
        say(f"{topic.name}: {counted(topic.lessons, 'lesson')}, those of {', '.join(topic.also) or name} among them")
        note(f"to undo: holdfast topics split '{topic.name}'")


@command("holdfast topics split 'database'", of=topics, memory=True)
@click.argument("name")
def split(call: Call, memory: Memory, name: str) -> None:
    """Take back the name of the topic NAME, and everything that was merged into it."""
    left = memory.split_topic(name)
    if not call.answer(report_json(left)):
        say(f"{name} is as it was found again")


def _answer(call: Call, listed: TopicList) -> None:
    if call.answer(report_json(listed)):
        return
    rows = [
        [topic.name, f"{topic.lessons:,}", f"{topic.newest:%Y-%m-%d}", ", ".join(topic.also)] for topic in listed.topics
    ]
    say(*table(rows, ("topic", "lessons", "newest", "also")))
    have = "has" if listed.without == 1 else "have"
    rest = f"; {listed.without:,} of {counted(listed.lessons, 'lesson')} {have} none" if listed.lessons else ""
    note(f"{counted(len(listed.topics), 'topic')}{rest}")
    if not listed.topics:
        note("a topic needs three confirmed lessons with the same tag, folder or words")
