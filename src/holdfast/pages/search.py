"""Search: lessons and sessions by words or newest first, narrowed down by facets that are plain links."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

from holdfast.errors import InvalidValueError
from holdfast.pages.page import Page, PageRow
from holdfast.pages.reading import WrongQueryError
from holdfast.pages.view import View
from holdfast.reports.marking import Marks, marks_of
from holdfast.reports.search import (
    FacetList,
    LessonSearch,
    Searcher,
    SearchRequest,
    SessionSearch,
    search_lessons,
    search_sessions,
)

Place = Literal["lessons", "sessions"]
MOST_CHARACTERS = 2_000
"""Characters of a question that are searched for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery(SearchRequest):
    """What is searched, where, and by what it is narrowed down."""

    place: Place = "lessons"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchData:
    """What the search page says."""

    query: SearchQuery
    is_cut: bool
    """The question is longer than what is searched for."""
    lessons: LessonSearch | None
    sessions: SessionSearch | None
    facets: tuple[FacetList, ...]
    chosen: tuple[FacetList, ...]
    """The facets by which the results are narrowed down."""
    next: str

    @property
    def marks(self) -> Marks:
        """What is marked in texts."""
        return marks_of(self.query.q)

    def values(self, **changes: object) -> dict[str, object]:
        """Return the query of this page with changes, from its first page on, without values at their default."""
        record = replace(self.query, after="")
        named: dict[str, object] = {each.name: getattr(record, each.name) for each in fields(record)}
        named |= changes
        return {each.name: named[each.name] for each in fields(record) if named[each.name] != each.default}

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the question narrows the results down."""
        return bool(self.values(q="", place="lessons", why=False))


def make_search(view: View, query: SearchQuery) -> Page:
    """Return the search page."""
    memory = view.memory
    searcher = Searcher(
        services=memory.services, location=memory.location, now=view.now, sees=view.sees,
        sees_waiting=not view.is_served or view.may("review"), has_code=not view.is_served,
    )  # fmt: skip
    request = replace(query, q=query.q[:MOST_CHARACTERS])
    try:
        lessons = search_lessons(searcher, request) if query.place == "lessons" else None
        sessions = search_sessions(searcher, request) if query.place == "sessions" else None
    except InvalidValueError as exc:
        raise WrongQueryError(str(exc), hint=exc.hint) from exc
    facets = lessons.facets if lessons else sessions.facets if sessions else ()
    data = SearchData(
        query=query, is_cut=len(query.q) > MOST_CHARACTERS, lessons=lessons, sessions=sessions,
        facets=tuple(facet for facet in facets if not facet.chosen),
        chosen=tuple(facet for facet in facets if facet.chosen),
        next=lessons.next if lessons else sessions.next if sessions else "",
    )  # fmt: skip
    return Page(template="search", data=data, title="Search")


PAGES = (
    PageRow(path="/p/{project}/search", name="search", title="Search", make=make_search, query=SearchQuery),
)  # fmt: skip
