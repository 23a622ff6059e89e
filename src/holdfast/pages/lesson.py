"""The page of one lesson: the verdict first, then code, quote and history, and what a person does about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.client.client import Client
from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson
from holdfast.domain.team import Confirmation, Flag
from holdfast.domain.vocabulary import LIVING, LessonId
from holdfast.pages.lessonform import find_lesson
from holdfast.pages.page import Page, PageRow
from holdfast.pages.view import View
from holdfast.reports.lessonstory import LessonStory, Section, tell_lesson
from holdfast.text.searchkeys import area_of

MEMBERS_READ = 1_000
"""Members whose names are looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonQuery:
    """Which part of the page is given whole."""

    whole: Section = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfIt:
    """What a person says of the lesson: that it holds, or what is wrong with it."""

    reason: str
    """`confirmed`, `stale`, `incorrect` or `duplicate`."""
    at: datetime
    by: str = ""
    note: str = ""
    of: LessonId = ""  # type: ignore[assignment]
    """The lesson that it repeats; empty where that is not known."""
    is_against: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonData:
    """What the page of a lesson says."""

    story: LessonStory
    said: tuple[SaidOfIt, ...] = ()
    """Confirmations and flags that count now, the newest first."""
    areas: tuple[str, ...] = ()
    """The areas of its files, as the search page names them."""
    actions: tuple[str, ...] = ()
    """Names of the actions that the reader may take on the lesson as it is."""


def make_lesson(view: View, query: LessonQuery) -> Page:
    """Return the page of a lesson. Raises LessonNotFoundError for one that the reader may not see."""
    memory = view.memory
    story = tell_lesson(memory.services, memory.location, find_lesson(view).id, sees=view.sees, whole=query.whole)
    areas = tuple(dict.fromkeys(area_of(path) for path in story.lesson.paths))
    data = LessonData(
        story=story, said=tuple(_said(view, story.lesson)), areas=areas, actions=tuple(_actions(view, story))
    )
    title = "A forgotten lesson" if story.lesson.state == "forgotten" else story.lesson.title
    return Page(template="lesson", title=title, data=data)


def _said(view: View, lesson: Lesson) -> list[SaidOfIt]:
    """Return what people say of the lesson: on a server its members, over a person's own file that person."""
    confirmations: list[Confirmation] = []
    flags: list[Flag] = []
    names: dict[str, str] = {}
    if not view.is_served:
        flags = view.memory.flags(lesson.id)
    elif isinstance(view.way, Client):
        flags, confirmations = list(view.way.flags(lesson.id)), list(view.way.confirmations(lesson.id))
        if flags or confirmations:
            names = {member.id: member.name for member in view.way.members(limit=MEMBERS_READ)}
    statements = [
        SaidOfIt(reason=each.reason, at=each.at, by=names.get(each.member, each.member), note=each.note, of=each.of)
        for each in flags
    ]
    statements += [
        SaidOfIt(reason="confirmed", at=each.at, by=names.get(each.member, each.member), is_against=False)
        for each in confirmations
    ]
    return sorted(statements, key=lambda each: each.at, reverse=True)


def _actions(view: View, story: LessonStory) -> list[str]:
    state = story.lesson.state
    is_waiting, is_living = state in WAITING, state in LIVING
    may_change = view.may("review") or (is_waiting and view.may("write"))
    wanted = {
        "accept": is_waiting and view.may("review"),
        "reject": is_waiting and view.may("review"),
        "confirm": is_living and view.may("judge") and (view.is_served or not is_waiting),
        "flag": is_living and view.may("judge"),
        "edit": state not in ("superseded", "forgotten") and view.may("write"),
        "retire": is_living and may_change,
        "forget": state != "forgotten" and may_change,
        "restore": (state == "retired" or bool(story.restorable)) and view.may("review"),
        "settle": is_living and view.may("review"),
        "keep-both": is_living and view.may("review"),
        "undo": story.undoable is not None and story.undoable.id != story.restorable and view.may("review"),
    }
    return [name for name, holds in wanted.items() if holds and view.addresses.has_action(name)]


PAGES = (
    PageRow(
        path="/p/{project}/lessons/{lesson}", name="lesson", title="Lesson", make=make_lesson, query=LessonQuery,
        under="search",
    ),
)  # fmt: skip
