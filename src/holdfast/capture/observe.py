"""Redacts what a host says, and stores its events: relative to the project, located and cut to size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

from holdfast.capture.tuning import HEAD_CHARACTERS, TAIL_CHARACTERS
from holdfast.domain.event import TEXT_LIMIT, Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import TIDIED
from holdfast.lean.texts import has_drive
from holdfast.ports.services import Services
from holdfast.redaction import fold, redact, redact_to
from holdfast.redaction.tables import BEGIN, END
from holdfast.text.globs import is_ignored, mentions_secrets

COMMAND_LIMIT = 4_000
"""Characters of a command that are kept."""
LIVE_MINUTES = 10
"""Age of an event up to which what is checked out now was checked out at its time."""
FILES_LIMIT = 200
"""Files of one event that are kept."""


def redacted(call: HookCall) -> HookCall:
    """Return the call without secrets and private spans, in its own words and in those of its events.

    It is the one redaction of a hook: what is stored, matched and logged comes from this call. The call's own words are
    cut to their head and tail. A text that stands in several fields is searched once.
    """
    known: dict[tuple[str, int], str] = {}

    def words(text: str, limit: int) -> str:
        if text and (text, limit) not in known:
            known[text, limit] = redact_to(text, limit)
        return known[text, limit] if text else ""

    return replace(
        call,
        events=tuple(_redacted_event(event, words) for event in call.events),
        prompt=words(ends_of(call.prompt), TEXT_LIMIT),
        command=words(ends_of(call.command), TEXT_LIMIT),
        search=words(ends_of(call.search), TEXT_LIMIT),
        error=words(ends_of(call.error), TEXT_LIMIT),
    )


def ends_of(text: str) -> str:
    """Return the head and the tail of a long text, to bound later searches.

    A tail that would begin within a private span or a key block begins after it instead, because nothing marks the
    rest as private once its opening mark is cut away.
    """
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return text
    low, begin = fold(text), len(text) - TAIL_CHARACTERS
    for opening, closing in (("<private>", "</private>"), (BEGIN.lower(), END.lower())):
        if low.rfind(opening, 0, begin) > low.rfind(closing, 0, begin):
            close = low.find(closing, begin)
            begin = close + len(closing) if close >= 0 else len(text)
    return f"{text[:HEAD_CHARACTERS]}\n{text[begin:]}"


def _redacted_event(event: Event, words: Callable[[str, int], str]) -> Event:
    """Return the event with redacted words; nothing of a text that a command with a file for secrets shows."""
    hidden = mentions_secrets(event.command)
    return replace(
        event,
        command=words(_clean(event.command), COMMAND_LIMIT),
        old="" if hidden else words(_clean(event.old), TEXT_LIMIT),
        new="" if hidden else words(_clean(event.new), TEXT_LIMIT),
        text="" if hidden else words(_clean(event.text), TEXT_LIMIT),
        text_length=event.text_length or len(event.text),
    )


def observe(services: Services, location: Location, events: Iterable[Event]) -> int:
    """Redact and store events from anywhere; return how many were new. See `store_events`."""
    return store_events(services, location, [_redacted_event(event, _redact) for event in events])


def store_events(services: Services, location: Location, events: Iterable[Event]) -> int:
    """Store redacted events; return how many were new, 0 when capture is switched off.

    What is stored contains no secret, no `<private>` span and nothing of an ignored path. An event that is only about
    ignored paths keeps its kind and tool, so that the sequence stays complete.
    """
    if not services.capture:
        return 0
    prepared = [prepare(services, location, event) for event in events]
    return services.store.append_events(prepared) if prepared else 0


def prepare(services: Services, location: Location, event: Event) -> Event:
    """Return a redacted event in the form in which it may be stored: located, without ignored paths."""
    inside = [
        path for path in (_inside(services, location, path, event.cwd) for path in event.files[:FILES_LIMIT]) if path
    ]
    files = tuple(dict.fromkeys(redact(path) for path in inside if not is_ignored(path, services.ignore)))
    is_live = services.clock.now() - event.at < timedelta(minutes=LIVE_MINUTES)
    prepared = replace(
        event,
        project=event.project or location.project.id,
        cwd=redact(_clean(event.cwd)) or location.root,
        # What is checked out now says nothing about an event from a transcript.
        branch=redact(_clean(event.branch)) or (location.branch if is_live else ""),
        commit=event.commit or (location.commit if is_live else ""),
        files=files,
    )
    outside = not inside and event.files and all(is_ignored(path, ()) for path in event.files)
    return replace(prepared, old="", new="", text="") if outside or (inside and not files) else prepared


def _inside(services: Services, location: Location, path: str, cwd: str) -> str:
    """Return the path relative to the root, or to the event's folder if that is of another machine; else empty."""
    clean = _clean(path)
    relative = services.workspace.relative(location, clean, cwd)
    if relative or not cwd:
        return relative
    stem, clean = cwd.replace("\\", "/").rstrip("/") + "/", clean.replace("\\", "/")
    if clean.startswith("/") or has_drive(clean):
        return _tidy(clean.removeprefix(stem)) if clean.startswith(stem) else ""
    return _tidy(clean)


def _tidy(path: str) -> str:
    """Return the path without `.` parts; empty when it contains `..`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "" if ".." in parts else "/".join(parts)


def _redact(text: str, limit: int) -> str:
    return redact_to(text, limit) if text else ""


def _clean(text: str) -> str:
    """Remove NUL characters, which neither SQLite nor a terminal handles."""
    return text.replace("\0", "") if "\0" in text else text


# Retention: drops old raw texts; lessons stay


def drop_old_texts(services: Services) -> int:
    """Drop the texts of events older than the retention window, once a day; return how many events had one.

    An event's kind, file, command and exit status stay. A window of 0 days keeps every text. Expired states are
    dropped as well.
    """
    now = services.clock.now()
    today = now.date().isoformat()
    if services.store.get_state(TIDIED) == today:
        return 0
    dropped = 0
    if services.retention_days > 0:
        dropped = services.store.erase_event_texts(now - timedelta(days=services.retention_days))
    services.store.expire_states(now)
    services.store.set_state(TIDIED, "", today)
    return dropped
