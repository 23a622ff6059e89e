"""The pages as files: for a repository's Pages, or to open from a disk (`holdfast export --format html`).

A page is made and rendered as for a browser, with `View.is_static`; its links become relative, and what leads to no
file of the site is no link. There are no forms, no script and nothing from elsewhere.

A site is for readers who may be anybody. So only confirmed lessons of the project are on it: none that is private, the
person's own, staged on a branch or waiting. What sessions said is left out unless it is asked for.

The time of the site is that of memory's last change, and no clock runs while it is made: the same memory over the same
code gives the same bytes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from posixpath import dirname, relpath
from typing import Any, cast

from holdfast.bootstrap import Memory
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId, State
from holdfast.errors import HoldfastError, NotFoundError
from holdfast.pages import table
from holdfast.pages.addresses import Addresses
from holdfast.pages.frame import STATIC, render, static_files
from holdfast.pages.lesson import LessonData
from holdfast.pages.page import NoValues, Page, PageRow
from holdfast.pages.reading import read_values
from holdfast.pages.view import ProjectLine, View
from holdfast.ports.services import Clock
from holdfast.ports.store import LessonFilter, LogFilter, SessionFilter, Store
from holdfast.redaction import redact
from holdfast.reports.lessonstory import Conversation

LESSONS_READ = 1_000
"""Lessons that are read at once."""
LIST_ROWS = 500
"""Lessons on one page of the list."""
NEWEST_SHOWN = 20
NO_AREA = "."
"""The area of lessons without an anchor."""
MOST_FOLLOWED = 500
"""Pages of one kind, such as maps of folders, that are made because others link to them."""
SECRET_LENGTH = 30
"""Characters from which a hidden lesson's rule is looked for in every page; shorter ones may be anybody's words."""
LISTS_REMEMBERED = 50
LEFT_OUT = "[private]"
"""What stands where a session said the words of a lesson that is not for others."""
NOWHERE = "#not-on-this-site"
SESSIONS = ("sessions", "session", "threads")
SHOWN = ("home", "search", "digest", "topics", "map", "map-graph", "stats", "lesson")
FOLLOWED: dict[str, frozenset[str]] = {
    "lesson": frozenset({"lesson"}), "session": frozenset({"session"}), "map": frozenset({"area", "all"}),
    "map-graph": frozenset({"area"}), "stats": frozenset({"weeks"}), "topics": frozenset({"topic"}),
    "digest": frozenset({"since", "all"}), "sessions": frozenset({"beyond"}), "threads": frozenset({"beyond"}),
}  # fmt: skip
"""By page, the values with which it is made where another page links to it; with others it is not on the site."""
FOR_READERS: dict[str, Mapping[str, str]] = {"digest": {"audience": "team", "since": "30d"}}
"""Values of a page that are others than a person's own."""
SESSIONS_READ = 2_000
SEEDS = ("home", "digest", "topics", "map", "stats", "sessions", "threads")
"""Pages that are made without a value; the others are made where one of them links there."""

_REMOVED = re.compile(r"<(form|dialog|button|script)\b.*?</\1>\s*", re.DOTALL)
_LEADS_NOWHERE = re.compile(rf' (?:xlink:)?href="(?:{NOWHERE}|/(?!static/))[^"]*"')
_LOADED = re.compile(r'(?:href|src)="(?:\.\./)*static/([^"]+)"')
_ASSET = re.compile(rf'(?<=["(]){STATIC}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """The options of a site."""

    states: tuple[State, ...] = ("active",)
    with_sessions: bool = False
    """Whether what sessions said is on it: quotes in their conversation, sessions and threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLesson:
    """A lesson in a list of the site."""

    id: LessonId
    title: str
    kind: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaLine:
    """A folder of the project, or none, and the lessons about it."""

    name: str
    """Empty for lessons without code."""
    count: int
    address: str
    """Where its lessons are listed, relative to the page; empty where they are on the page itself."""
    lessons: tuple[ListedLesson, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListData:
    """Lessons by area."""

    areas: tuple[AreaLine, ...]
    count: int
    next: str
    """The address of the next page of an area's lessons; empty on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteHomeData:
    """The first page of a site."""

    project: ProjectLine
    at: datetime
    """When memory last changed."""
    count: int
    kinds: tuple[tuple[str, int], ...]
    newest: tuple[ListedLesson, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingData:
    """Why there is nothing behind a link."""

    detail: str


def count_lessons(memory: Memory, how: Publishing) -> int:
    """Return how many lessons the site will have a page for."""
    return len(_public(memory, how.states))


def make_site(memory: Memory, how: Publishing) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of each file of the site.

    Raises HoldfastError rather than to yield a page that holds the words of a lesson that is not for others.
    """
    lessons = _public(memory, how.states)
    site = _Site(memory, how, lessons)
    loaded: set[str] = set()
    for path, html in site.pages():
        loaded.update(_LOADED.findall(html))
        yield path, html.encode("utf-8", "replace")
    for address, file in static_files().items():
        if address.removeprefix(STATIC) in loaded:
            yield address.lstrip("/"), file.content
    yield ".nojekyll", b""


class _Stopped:
    """A clock that stands still, so that a site says the same whenever it is made."""

    def __init__(self, at: datetime, inner: Clock) -> None:
        self._at = at
        self._inner = inner

    def now(self) -> datetime:
        """Return the time of the site."""
        return self._at

    def elapsed_s(self) -> float:
        """Return 0: no deadline passes, so that nothing is left out on a slow machine."""
        return 0.0

    def new_id(self) -> str:
        """Return a new id."""
        return self._inner.new_id()


class _ReadOnce:
    """A store whose lessons are read once: many pages of a site ask for the same ones."""

    def __init__(self, store: Store, lessons: Sequence[Lesson]) -> None:
        self._store = store
        self._found: dict[LessonFilter, list[Lesson]] = {}
        self._by_id = {lesson.id: lesson for lesson in lessons}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """Return the lessons in the order of the ids; raise as the store does."""
        if as_of is not None:
            return self._store.get(ids, as_of)
        if unread := [each for each in dict.fromkeys(ids) if each not in self._by_id]:
            self._by_id.update(zip(unread, self._store.get(unread), strict=True))
        return [self._by_id[each] for each in ids]

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Return the lessons that fit, as they were at the first question."""
        if where not in self._found:
            if len(self._found) >= LISTS_REMEMBERED:
                self._found.clear()
            self._found[where] = self._store.find(where)
        return self._found[where]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A page of the site, to be made."""

    name: str
    path: str
    values: tuple[tuple[str, str], ...] = ()


class _FileAddresses(Addresses):
    """Addresses of files, relative to the page that is rendered; what is not on the site leads nowhere."""

    def __init__(self, rows: Mapping[str, PageRow], named: Mapping[str, frozenset[str]]) -> None:
        """`named` has, by page, the ids of what the site has a page for."""
        super().__init__(tuple(rows.values()), ())
        self._named = named
        self._counts: dict[str, int] = {}
        self.here = "index.html"
        self.wanted: deque[_Target] = deque()
        self.known: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}

    def link(self, name: str, values: Mapping[str, object]) -> str:
        """Return the way from the present page to that one."""
        path = self.path_of(name, values)
        return relpath(path, dirname(self.here) or ".") if path else NOWHERE

    def action(self, name: str, values: Mapping[str, object]) -> str:
        """Return that no action leads anywhere."""
        return NOWHERE

    def has_action(self, name: str) -> bool:
        """Return that there is no action."""
        return False

    def path_of(self, name: str, values: Mapping[str, object]) -> str:
        """Return the file of a page, which is made if it is not known yet; empty if it is not on the site."""
        if name == "projects":
            name = "home"
        row = self.row(name)
        pairs = ((key, "true" if value is True else str(value)) for key, value in values.items() if value)
        chosen = tuple(sorted(pair for pair in pairs if pair[0] != "project"))
        if row is None or not FOLLOWED.get(name, frozenset()).issuperset(key for key, _ in chosen):
            return ""
        if name in self._named and not (chosen and chosen[0][1] in self._named[name]):
            return ""
        key = name, chosen
        if key not in self.known:
            if chosen and name not in self._named and self._counts.get(name, 0) >= MOST_FOLLOWED:
                return ""
            self._counts[name] = self._counts.get(name, 0) + 1
            self.known[key] = _file_name(name, chosen)
            self.wanted.append(_Target(name=name, path=self.known[key], values=chosen))
        return self.known[key]


def _file_name(name: str, values: Sequence[tuple[str, str]]) -> str:
    if name == "home":
        return "index.html"
    if name == "lesson":
        return f"lessons/{values[0][1]}.html"
    if not values:
        return f"{name}.html"
    words = "-".join(re.findall(r"[a-z0-9]+", "-".join(value for _, value in values).lower()))[:48]
    digest = sha256(repr(tuple(values)).encode()).hexdigest()[:8]
    return f"{name}/{words}-{digest}.html" if words else f"{name}/{digest}.html"


class _Site:
    """One site: its lessons, its addresses, and what no page may hold."""

    def __init__(self, memory: Memory, how: Publishing, lessons: Sequence[Lesson]) -> None:
        self._how = how
        self._lessons = lessons
        self._at = _last_change(memory, lessons)
        stopped = _Stopped(self._at, memory.services.clock)
        read_once = cast("Store", _ReadOnce(memory.services.store, lessons))
        services = replace(memory.services, clock=stopped, store=read_once)
        self._memory = memory.with_services(services)
        names = (*SHOWN, *SESSIONS) if how.with_sessions else SHOWN
        rows = {row.name: row for row in table.PAGES if row.name in names}
        rows["home"] = replace(rows["home"], make=self._make_home, query=NoValues)
        rows["search"] = PageRow(path="/p/{project}/search", name="search", title="Lessons", make=self._make_list)
        self._rows = rows
        self._public = frozenset(lesson.id for lesson in lessons)
        self._addresses = _FileAddresses(rows, {"lesson": frozenset(self._public), "session": self._sessions()})
        self._hidden = _hidden_words(memory, lessons)
        project = memory.location.project
        self._project = ProjectLine(id=project.id, name=project.name)
        self._areas = _by_area(lessons)

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield (path, text) of each page, first those that every site has, then what they link to."""
        addresses = self._addresses
        for name in (*SEEDS, "search"):
            if name in self._rows:
                addresses.path_of(name, {})
        for lesson in self._lessons:
            addresses.path_of("lesson", {"lesson": lesson.id})
        while addresses.wanted:
            target = addresses.wanted.popleft()
            yield target.path, self._checked(target.path, self._page(target))
        yield from self._lists()

    def _sessions(self) -> frozenset[str]:
        """Return the sessions that have a page: the newest ones, if they were asked for."""
        if not self._how.with_sessions:
            return frozenset()
        where = SessionFilter(project=self._memory.location.project.id, limit=SESSIONS_READ)
        return frozenset(row.session for row in self._memory.services.store.list_sessions(where))

    def _page(self, target: _Target) -> str:
        row = self._rows[target.name]
        values = dict(target.values)
        parameters: dict[str, str] = {name: values.pop(name) for name in ("lesson", "session") if name in values}
        self._addresses.here = target.path
        view = self._view(parameters)
        values = {**FOR_READERS.get(target.name, {}), **values}
        try:
            page = row.make(view, read_values(row.query, list(values.items())))
        except NotFoundError as exc:  # what is linked is gone, such as a file from the work tree
            page = Page(template="site-missing", title=row.title, data=MissingData(detail=str(exc)))
        if isinstance(page.data, LessonData) and not self._how.with_sessions:
            page = replace(page, data=_without_sessions(page.data))
        return self._html(row, page, view, target.path)

    def _view(self, parameters: Mapping[str, str]) -> View:
        return View(
            now=self._at, addresses=self._addresses, opened=self._memory, of=self._project, way=self._memory,
            projects=(self._project,), parameters={"project": self._project.id, **parameters},
            verbs=frozenset(("read",)), role="reader", sees=self._sees, is_static=True,
        )  # fmt: skip

    def _sees(self, lesson: Lesson) -> bool:
        """Return whether readers may see a lesson: one of the site, or an earlier wording that ended."""
        return lesson.id in self._public or (
            lesson.state in ("superseded", "retired") and _is_for_others(lesson, self._project.id)
        )

    def _html(self, row: PageRow, page: Page, view: View, path: str) -> str:
        html = _REMOVED.sub("", render(row, page, view))
        html = _LEADS_NOWHERE.sub("", html)
        up = "../" * path.count("/")
        return redact(_ASSET.sub(f"{up}{STATIC.lstrip('/')}", html))

    def _checked(self, path: str, html: str) -> str:
        """Return the page without the words of lessons that are not for others.

        Only what sessions said may hold them; on a site without sessions they are a fault, and HoldfastError is raised.
        """
        leaks = [words for words in self._hidden if words in html]
        for words in leaks if self._how.with_sessions else ():
            html = html.replace(words, LEFT_OUT)
        if leaks and not self._how.with_sessions:
            raise HoldfastError(
                f"{path} would hold the words of a lesson that is not for others, so nothing was written",
                hint="please report it: holdfast doctor --report",
            )
        return html

    # The first page, and lessons by area in place of the search

    def _make_home(self, view: View, query: Any) -> Page:
        counts: dict[str, int] = {}
        for lesson in self._lessons:
            counts[lesson.kind] = counts.get(lesson.kind, 0) + 1
        kinds = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        data = SiteHomeData(
            project=self._project, at=self._at, count=len(self._lessons), kinds=tuple(kinds),
            newest=tuple(map(_listed, self._lessons[:NEWEST_SHOWN])),
        )  # fmt: skip
        return Page(template="site-home", title=self._project.name, data=data)

    def _make_list(self, view: View, query: Any) -> Page:
        is_long = len(self._lessons) > LIST_ROWS
        areas = tuple(
            AreaLine(
                name=name, count=len(lessons), address=_list_path(name, 1) if is_long else "",
                lessons=() if is_long else tuple(map(_listed, lessons)),
            )
            for name, lessons in self._areas.items()
        )  # fmt: skip
        return Page(template="site-lessons", data=ListData(areas=areas, count=len(self._lessons), next=""))

    def _lists(self) -> Iterator[tuple[str, str]]:
        """Yield the lists of each area, where they do not fit on one page."""
        for name, lessons in self._areas.items() if len(self._lessons) > LIST_ROWS else ():
            for number, start in enumerate(range(0, len(lessons), LIST_ROWS), 1):
                part = lessons[start : start + LIST_ROWS]
                has_next = start + LIST_ROWS < len(lessons)
                path = _list_path(name, number)
                area = AreaLine(name=name, count=len(lessons), address="", lessons=tuple(map(_listed, part)))
                following = relpath(_list_path(name, number + 1), dirname(path)) if has_next else ""
                page = Page(
                    template="site-lessons", title=name or "Lessons without code",
                    data=ListData(areas=(area,), count=len(lessons), next=following),
                )  # fmt: skip
                self._addresses.here = path
                row = replace(self._rows["search"], name="search-area", under="search")
                yield path, self._checked(path, self._html(row, page, self._view({}), path))


def _public(memory: Memory, states: tuple[State, ...]) -> list[Lesson]:
    """Return the lessons of the site, newest first."""
    project = memory.location.project.id
    where = LessonFilter(project=project, states=states, limit=LESSONS_READ)
    lessons: list[Lesson] = []
    while page := memory.services.store.find(where):
        lessons += [lesson for lesson in page if _is_for_others(lesson, project) and lesson.state in states]
        where = replace(where, offset=where.offset + len(page))
    return sorted(lessons, key=lambda lesson: (lesson.recorded_at, lesson.id), reverse=True)


def _is_for_others(lesson: Lesson, project: str) -> bool:
    scope = lesson.scope
    is_of_project = scope.project == project and scope.level != "user" and not scope.branch
    return is_of_project and not lesson.private and not profile_of(lesson.kind).is_working_state


def _hidden_words(memory: Memory, lessons: Sequence[Lesson]) -> list[str]:
    """Return the rules of private lessons and of the person's own, escaped, that no lesson of the site contains."""
    public = "\n".join("\n".join((lesson.insight, lesson.why, lesson.how)) for lesson in lessons)
    where = LessonFilter(project=memory.location.project.id, limit=LESSONS_READ)
    words: list[str] = []
    while page := memory.services.store.find(where):
        for lesson in page:
            is_hidden = lesson.private or lesson.scope.level == "user"
            if is_hidden and len(lesson.insight) >= SECRET_LENGTH and lesson.insight not in public:
                words.append(escape(lesson.insight))
        where = replace(where, offset=where.offset + len(page))
    return words


def _last_change(memory: Memory, lessons: Sequence[Lesson]) -> datetime:
    project = memory.location.project.id
    changes = memory.services.store.find_records(Change, LogFilter(project=project, limit=1))
    sessions = memory.services.store.list_sessions(SessionFilter(project=project, limit=1))
    times = [change.at for change in changes] + [session.last for session in sessions]
    return max([*times, *(lesson.recorded_at for lesson in lessons[:1])], default=datetime(2000, 1, 1, tzinfo=UTC))


def _by_area(lessons: Sequence[Lesson]) -> dict[str, list[Lesson]]:
    """Return the lessons by the first folders of the code that they are about, by name; those without code last."""
    areas: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        for name in sorted({_area_of(path) for path in lesson.paths}) or [""]:
            areas.setdefault(name, []).append(lesson)
    return dict(sorted(areas.items(), key=lambda pair: (not pair[0], pair[0])))


def _area_of(path: str) -> str:
    return "/".join(path.split("/")[:-1][:2]) or NO_AREA


def _list_path(area: str, number: int) -> str:
    return _file_name("lists", (("area", area), ("page", str(number))))


def _listed(lesson: Lesson) -> ListedLesson:
    return ListedLesson(id=lesson.id, title=lesson.title, kind=lesson.kind, state=lesson.state)


def _without_sessions(data: LessonData) -> LessonData:
    """Return what a lesson's page says without what sessions and people said."""
    story = data.story
    story = replace(
        story, conversation=Conversation(), origin=replace(story.origin, session=""), sessions=(), sessions_more=0
    )  # fmt: skip
    return replace(data, story=story, said=(), actions=())
