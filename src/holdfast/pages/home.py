"""Home: what an agent is told now, what changed since the last look, what waits, and whether memory works."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from holdfast.curation.review import WAITING
from holdfast.domain.briefing import Briefing
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId, ProjectId, State
from holdfast.errors import StoreError
from holdfast.freshness.notice import load_states
from holdfast.outcomes.threads import is_worth_naming, load_threads
from holdfast.pages.health import STALE, MemoryHealth, look_at_health
from holdfast.pages.page import Goal, NoValues, Page, PageRow
from holdfast.pages.view import ProjectLine, View
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.recall.brief import changed_since_prepared
from holdfast.recall.tuning import CHANGES_BEFORE_PREPARED

FIRST_LOOK = timedelta(days=7)
"""What is new to somebody who looks for the first time."""
CHANGES_READ = 300
"""Newest changes of memory that are read."""
CHANGES_LOOKED_AT = 40
"""Newest changed lessons that are read."""
CHANGES_SHOWN = 8
SEEN_UNCONFIRMED = 500
"""So many of the newest unconfirmed lessons are looked at to count those that a member without review may see."""
COUNTED = 1_000
"""How far lessons are counted."""
VERBS = {
    "learn": "learnt", "remember": "saved", "accept": "confirmed", "confirm": "confirmed again", "revise": "replaced",
    "reject": "rejected", "forget": "forgotten", "retire": "retired", "wake": "in use again", "undo": "taken back",
    "settle": "contradiction settled", "import": "imported", "sync": "synced", "merge": "merged",
    "stage": "kept for its branch", "rescue": "told everywhere", "promote": "given to every project",
    "reanchor": "followed to where its code is", "backfill": "found in the history", "edit": "edited",
    "feedback": "judged", "purge": "erased",
}  # fmt: skip
"""Words for what a change did to a lesson."""
FORGOTTEN = "A forgotten lesson"
"""The title of a tombstone."""
_IN_LINE = re.compile(r"(- )?\[?([0-9a-f]{4,8})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLine:
    """A line of the brief, and the lesson whose id it begins with."""

    text: str
    lesson: LessonId | None = None
    before: str = ""
    """What stands before the id."""
    id_text: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """A lesson, and what was done to it last."""

    lesson: LessonId
    title: str
    words: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """Something that waits for a person, and the page where they decide."""

    name: str
    number: int
    words: str
    page: str
    """The page's name, and what of it to show."""
    query: Mapping[str, str] = field(default_factory=dict)
    is_capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeData:
    """What the home page says."""

    project: ProjectLine
    branch: str
    brief: str
    """Exactly what a session that starts now is told; empty: nothing."""
    brief_lines: tuple[ToldLine, ...]
    tokens: int
    lessons_told: int
    degraded: str
    """Why the brief is weaker than usual; empty: it is not."""
    confirmed: int
    unconfirmed: int
    since: datetime
    """The last look, or a week ago."""
    is_first_look: bool
    changes: tuple[ChangeLine, ...]
    has_more_changes: bool
    waiting: tuple[WaitingLine, ...]
    health: MemoryHealth
    health_words: str
    health_tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectsData:
    """The projects that the reader may see."""

    projects: tuple[ProjectLine, ...]


def make_home(view: View, query: NoValues) -> Page:
    """Return the home page of a project."""
    memory = view.memory
    start = _brief(view)
    text = "\n\n".join(briefing.text for briefing in start if briefing.text)
    since = view.last_look or view.now - FIRST_LOOK
    changes, more = _changes(view, since)
    unconfirmed, suspicious = _unconfirmed(view), _count(view, "quarantined")
    health = look_at_health(memory, view.now, is_served=view.is_served)
    return Page(
        template="home",
        title=view.project.name,
        data=HomeData(
            project=view.project,
            branch=memory.location.branch,
            brief=text,
            brief_lines=tuple(_brief_lines(start, text)),
            tokens=sum(briefing.tokens for briefing in start),
            lessons_told=len(_told_ids(start)),
            degraded="; ".join(briefing.degraded for briefing in start if briefing.degraded),
            confirmed=_count(view, "active"),
            unconfirmed=unconfirmed,
            since=since,
            is_first_look=view.last_look is None,
            changes=changes,
            has_more_changes=more,
            waiting=tuple(line for line in _waiting(view, unconfirmed + suspicious) if line.number),
            health=health,
            health_words=health.words,
            health_tone=health.tone,
        ),
    )


def make_projects(view: View, query: NoValues) -> Page:
    """Return the list of projects; where there is one, its home page."""
    only = Goal(name="home", parameters={"project": view.projects[0].id}) if len(view.projects) == 1 else None
    return Page(template="projects", data=ProjectsData(projects=view.projects), goal=only)


# The brief


def _brief(view: View) -> list[Briefing]:
    """Return what a session is told; its lines are prepared first where the learner has not done it."""
    memory = view.memory
    if not view.is_served and changed_since_prepared(memory.services, memory.location) > CHANGES_BEFORE_PREPARED:
        with suppress(StoreError):  # a store that cannot be written: the lines are made for this page alone
            memory.prepare_brief()
    return memory.brief()


def _told_ids(start: list[Briefing]) -> list[LessonId]:
    """Return the ids of the lessons in the brief, those for which another's line stands among them."""
    ids = [item.lesson.id for briefing in start for item in briefing.items]
    entries = [entry for briefing in start for entry in briefing.entries]
    return list(dict.fromkeys([*ids, *(id_ for entry in entries for id_ in (entry.id, *entry.also))]))


def _brief_lines(start: list[Briefing], text: str) -> Iterator[ToldLine]:
    """Yield the lines of the brief, each with the lesson whose id it begins with."""
    all_ids = _told_ids(start)
    for line in text.splitlines():
        matched = _IN_LINE.match(line)
        ids = [id_ for id_ in all_ids if matched and id_.endswith(matched[2])]
        if matched is None or len(ids) != 1:
            yield ToldLine(text=line)
        else:
            begin, end = matched.span(2)
            yield ToldLine(text=line, lesson=ids[0], before=line[:begin], id_text=matched[2], after=line[end:])


# What changed


def _changes(view: View, since: datetime) -> tuple[tuple[ChangeLine, ...], bool]:
    """Return the newest changes since then, a line for each lesson, and whether there are more."""
    store = view.memory.services.store
    where = LogFilter(project=ProjectId(view.project.id), since=since, limit=CHANGES_READ)
    newest: dict[LessonId, Change] = {}
    for change in store.find_records(Change, where):
        for lesson in change.lessons:
            newest.setdefault(lesson, change)
    ids = list(newest)[:CHANGES_LOOKED_AT]
    lessons = {lesson.id: lesson for lesson in view.visible(get_readable(store, ids))}
    lines = [_change_line(newest[id_], lessons[id_]) for id_ in ids if id_ in lessons]
    return tuple(lines[:CHANGES_SHOWN]), len(lines) > CHANGES_SHOWN or len(newest) > CHANGES_LOOKED_AT


def _change_line(change: Change, lesson: Lesson) -> ChangeLine:
    words = "waits for a decision" if lesson.state in WAITING and change.verb in ("learn", "remember") else ""
    title = FORGOTTEN if lesson.state == "forgotten" else lesson.title
    return ChangeLine(
        lesson=lesson.id, title=title, words=words or VERBS.get(change.verb, change.verb.replace("_", " ")),
        at=change.at,
    )  # fmt: skip


# What waits


def _count(view: View, state: State) -> int:
    """Count the project's lessons in that state, at most COUNTED."""
    where = LessonFilter(project=ProjectId(view.project.id), states=(state,), limit=COUNTED)
    return view.memory.services.store.count_by(where, "state", 1).get(state, 0)


def _unconfirmed(view: View) -> int:
    """Count the unconfirmed lessons, on a server only those that the reader may see."""
    if view.may("review"):
        return _count(view, "candidate")
    where = LessonFilter(project=ProjectId(view.project.id), states=("candidate",), limit=SEEN_UNCONFIRMED)
    return len(view.visible(view.memory.services.store.find(where)))


def _waiting(view: View, undecided: int) -> Iterator[WaitingLine]:
    memory = view.memory
    if view.may("review"):
        number = undecided
        words = "lesson waits for your decision" if number == 1 else "lessons wait for your decision"
        yield WaitingLine(
            name="unconfirmed",
            number=number,
            words=words,
            page="review",
            query={"kind": "waiting"},
            is_capped=number >= COUNTED,
        )
    if memory.location.has_work_tree:
        states = load_states(memory.services, memory.location).values()
        number = sum(state.freshness in STALE for state in states)
        words = f"{'lesson is' if number == 1 else 'lessons are'} about code that has changed"
        yield WaitingLine(name="stale", number=number, words=words, page="review", query={"kind": "stale"})
    threads = load_threads(memory.services, memory.location)
    number = sum(is_worth_naming(thread, view.now) for thread in threads)
    words = "failure has no cure yet" if number == 1 else "failures have no cure yet"
    yield WaitingLine(name="threads", number=number, words=words, page="threads", query={"standing": "open"})


PAGES = (
    PageRow(path="/", name="projects", title="Projects", make=make_projects),
    PageRow(path="/p/{project}/", name="home", title="Home", make=make_home),
)
