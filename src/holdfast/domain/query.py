"""Query: what is asked of memory."""

from __future__ import annotations

from datetime import datetime

from holdfast.domain.vocabulary import LessonId, LessonKind, ProjectId, State
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.symbol import Neighbour


class Query(Frozen):
    """A question to memory. Every field narrows or informs; an empty query asks for what matters in general."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Lessons of this project and of the user; empty: the user's own only."""
    text: str = ""
    paths: tuple[str, ...] = ()
    """Files in play, relative to the project's root."""
    symbols: tuple[str, ...] = ()
    """Definitions in play, qualified where known (`Store.put`); with `paths`, those of these files."""
    linked: tuple[Neighbour, ...] = ()
    """Files that the files in play are linked to: by imports, by being edited together."""
    command: str = ""
    """The command about to run, as typed."""
    error: str = ""
    """Error output to be answered, as printed."""
    code: str = ""
    """What is about to be written into a file or run, whole: literal triggers are looked for in it."""
    occasions: tuple[str, ...] = ()
    """What begins now: `standing` for a session, `edit go` for a language, `test`, `commit`, ... for a command."""
    staged: tuple[LessonId, ...] | None = None
    """Of the project's lessons that are staged on a branch, those that are seen here; None: all are."""
    prefix: str = ""
    """Where in the project the question is asked from (the working folder, relative to the root)."""
    as_of: datetime | None = None
    """Answer as of that instant, in both times; None: what is known now."""
    at: datetime | None = None
    """When it is asked: what no longer holds then, or not yet, is left out. None: validity is not looked at."""
    since: datetime | None = None
    until: datetime | None = None
    """The time a question names, [since, until): `list_recent` keeps to what holds since then, nothing else does."""
    states: tuple[State, ...] = ("active",)
    kinds: tuple[LessonKind, ...] = ()
    """Empty: every kind."""
    exclude: tuple[LessonId, ...] = ()
    """Never answer with these (already shown in the session)."""
    all_projects: bool = False
    vector: tuple[float, ...] = ()
    """The text's embedding, unit length; empty without an embedder."""
    embedder_id: str = ""
