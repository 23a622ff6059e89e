"""Turns a question into a query for the retrievers: its words, the paths and names in them, the time it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId, LessonKind, State
from holdfast.errors import EmbedderError, InvalidValueError, PluginNotFoundError
from holdfast.lessons.staging import seen_here
from holdfast.ports.services import Services
from holdfast.recall.embed import embed_question
from holdfast.recall.tuning import TEXT_LIMIT
from holdfast.redaction import redact
from holdfast.text.named import clues_in
from holdfast.text.signature import error_signature
from holdfast.text.timespan import span_in


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWords:
    """What the words of a question name."""

    text: str
    """The words, shortened."""
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    error: str = ""
    """The whole text, if it is an error."""
    since: datetime | None = None
    until: datetime | None = None


def question(
    services: Services,
    location: Location,
    text: str = "",
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    command: str = "",
    error: str = "",
    as_of: datetime | None = None,
    states: Sequence[State] = ("active",),
    kinds: Sequence[LessonKind] = (),
    all_projects: bool = False,
) -> Query:
    """Return the query for a question asked at a location. Paths, identifiers and errors in the text inform it, too.

    Raises InvalidValueError for a value that is no text, and for an `as_of` without a time zone.
    """
    for name, value in (("text", text), ("command", command), ("error", error)):
        if not isinstance(value, str):
            raise InvalidValueError(f"{name} must be a text, not {type(value).__name__}")
    if as_of is not None and as_of.tzinfo is None:
        raise InvalidValueError("as_of must be an aware time", hint="add a zone, e.g. 2026-11-21T08:45:29Z")
    now = services.clock.now()
    names = read_question(services, location, text, as_of or now, paths)
    return Query(
        project=location.project.id,
        text=names.text,
        paths=names.paths,
        symbols=tuple(dict.fromkeys([*symbols, *names.symbols])),
        command=command,
        error=error or names.error,
        staged=seen_here(services, location),
        prefix=location.prefix,
        as_of=as_of,
        at=None if as_of else now,
        since=names.since,
        until=names.until,
        states=tuple(states),
        kinds=tuple(kinds),
        all_projects=all_projects,
    )


def read_question(
    services: Services, location: Location, text: str, now: datetime, paths: Sequence[str] = ()
) -> AskedWords:
    """Return what a question names; `paths` are files that it is about besides."""
    text = shorten(text)
    since, until = span_in(text, now) or (None, None)
    clues = clues_in(text)
    relative = [services.workspace.relative(location, path) for path in (*paths, *clues.paths)]
    return AskedWords(
        text=text,
        paths=tuple(dict.fromkeys(path for path in relative if path)),
        symbols=tuple(dict.fromkeys(clues.symbols)),
        error=text if error_signature(text) else "",
        since=since,
        until=until,
    )


def shorten(text: str) -> str:
    """Return the head and the tail of a long text, where a pasted log has its essential lines."""
    if len(text) <= TEXT_LIMIT:
        return text
    return text[: TEXT_LIMIT // 2] + "\n" + text[-TEXT_LIMIT // 2 :]


def with_vector(services: Services, query: Query, local: bool = False) -> tuple[Query, str]:
    """Return the query with its text's vector if there is an embedder, and a note on why it is missing or partial.

    With `local`, only an embedder on this machine is used, for words that are redacted already, as a hook's are.
    """
    if not query.text.strip() or query.vector:
        return query, ""
    try:
        embedder = services.embedder()
        if embedder is None or (local and not getattr(embedder, "is_local", False)):
            return query, ""
        # the endpoint may be somebody else's
        placed = embed_question(services, query.text if local else redact(query.text))
    except (EmbedderError, InvalidValueError, PluginNotFoundError) as exc:
        return query, f"without vectors: {exc}"
    return replace(query, vector=placed.vector, embedder_id=placed.embedder_id), placed.missing


def without(ids: Iterable[LessonId], query: Query) -> Query:
    """Return the query with these lessons excluded."""
    return replace(query, exclude=tuple(dict.fromkeys([*query.exclude, *ids])))
