"""Query: a question to memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import LessonId, LessonKind, ProjectId, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to memory. Each field narrows or informs it; an empty query asks for what matters in general."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Lessons of this project and of the user; empty: the user's own only."""
    text: str = ""
    paths: tuple[str, ...] = ()
    """Files in play, relative to the project's root."""
    symbols: tuple[str, ...] = ()
    """Definitions in play, qualified where known (`Store.put`); with `paths`, the definitions of those files."""
    linked: tuple[Neighbour, ...] = ()
    """Files linked to the files in play: by imports, or by being edited together."""
    command: str = ""
    """The command about to run, as typed."""
    error: str = ""
    """Error output to find answers for, as printed."""
    code: str = ""
    """The whole text about to be written into a file or run; literal triggers are matched against it."""
    occasions: tuple[str, ...] = ()
    """What begins now: `standing` for a session, `edit go` for a language; `test`, `commit`, ... for a command."""
    staged: tuple[LessonId, ...] | None = None
    """The lessons staged on a branch that are visible here; None: all staged lessons are."""
    prefix: str = ""
    """The working folder from which the question is asked, relative to the root."""
    as_of: datetime | None = None
    """Answer as of that instant, in both times; None: by what is known now."""
    at: datetime | None = None
    """The time of the question: lessons that do not hold at it are left out. None: ignore validity."""
    since: datetime | None = None
    until: datetime | None = None
    """The time that a question names, [since, until). Only `list_recent` uses it: it returns what holds since then."""
    states: tuple[State, ...] = ("active",)
    kinds: tuple[LessonKind, ...] = ()
    """Empty: every kind."""
    exclude: tuple[LessonId, ...] = ()
    """Lessons to leave out (already shown in the session)."""
    all_projects: bool = False
    vector: tuple[float, ...] = ()
    """The text's embedding, unit length; empty without an embedder."""
    embedder_id: str = ""
