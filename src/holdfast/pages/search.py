"""Search: lessons and sessions by words or newest first, narrowed down by facets that are plain links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.domain.vocabulary import Freshness, LessonKind, State, Trust
from holdfast.pages.page import Page, PageRow
from holdfast.pages.reading import WrongQueryError
from holdfast.pages.view import View
from holdfast.reports.marking import Marks, marks_of
from holdfast.reports.search import (
    FacetList,
    LessonSearch,
    Period,
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
class SearchQuery:
    """What is searched, where, and by what it is narrowed down."""

    q: str = ""
    place: Place = "lessons"
    state: State | Literal[""] = ""
    kind: LessonKind | Literal[""] = ""
    area: str = ""
    path: str = ""
    person: str = ""
    tag: str = ""
    trust: Trust | Literal[""] = ""
    freshness: Freshness | Literal[""] = ""
    time: Period = ""
    month: str = ""
    host: str = ""
    branch: str = ""
    why: bool = False
    after: str = ""


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
