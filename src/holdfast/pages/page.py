"""The rows of the two tables, pages and actions, and what a page and an action answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from holdfast.domain.team import Verb

if TYPE_CHECKING:
    from holdfast.pages.view import Door, View

HTML = "text/html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A page to go to: its row's name, and the values of its path and query; the project is filled in."""

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page, ready to be rendered: as HTML by its template, as JSON by its data alone."""

    template: str
    """The file in `templates`, without `.html`."""
    data: Any
    """A record that holds everything the page says, under plain names, and no HTML."""
    title: str = ""
    """The page's heading and the window's title; empty: the row's."""
    status: int = 200
    media_type: str = HTML
    """For another one, `template` is the whole name of the file, such as `digest.atom`."""
    goal: Goal | None = None
    """The page to go to instead; a program gets the data all the same."""
    pictures: Callable[[], Mapping[str, Markup]] = dict
    """Draws the page's pictures, by name; called only where the page is rendered by its template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoValues:
    """The query of a page that has none, and the form of an action without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A page of the table."""

    path: str
    """Such as `/p/{project}/lessons/{lesson}`; the values of its parameters are in `View.parameters`."""
    name: str
    title: str
    make: Callable[[View, Any], Page]
    """Raises HoldfastError: NotFoundError and LessonNotFoundError are shown as 404, ForbiddenError as 403."""
    query: type[Any] = NoValues
    """A frozen dataclass: fields of str, int, bool, a Literal or a tuple of str, all with defaults."""
    verb: Verb = "read"
    """What a member of a team has to be allowed."""
    is_served_only: bool = False
    """Whether only a server has the page."""
    under: str = ""
    """The page of the navigation that it belongs to, where that is another one: a lesson is under `search`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """The action that takes back what was just done: its row's name, its parameters and the fields of its form."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionAnswer:
    """What an action did, for the person who asked for it."""

    message: str
    """One sentence, such as `Confirmed: Seed the clock before login tests.`"""
    to: Goal | None = None
    """The page to show next; None: the page from which the form was sent."""
    undo: UndoStep | None = None
    page: Page | None = None
    """A page to answer with at once, in place of going anywhere: a form to correct, or a secret that is shown once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRow:
    """An action of the table: what a POST to its address does."""

    path: str
    name: str
    verb: Verb
    act: Callable[[Door, Mapping[str, str], Any], ActionAnswer]
    """Called with the door, the parameters of the path, and the form."""
    form: type[Any] = NoValues
    """Like `PageRow.query`, read from the body."""
    is_served_only: bool = False
