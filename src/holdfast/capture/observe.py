"""Observe: stores a host's events, redacted, relative to the project, located and cut to size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from holdfast.domain.event import TEXT_LIMIT, Event
from holdfast.domain.project import Location
from holdfast.lean.texts import has_drive
from holdfast.ports.services import Services
from holdfast.redaction import redact, redact_to
from holdfast.text.globs import is_ignored, mentions_secrets

COMMAND_LIMIT = 4_000
"""Characters of a command that are kept."""
LIVE_MINUTES = 10
"""Age of an event up to which what is checked out now was checked out at its time."""
FILES_LIMIT = 200
"""Files of one event that are kept."""


def observe(services: Services, location: Location, events: Iterable[Event]) -> int:
    """Store the events; return how many were new, 0 when capture is switched off.

    What is stored contains no secret, no `<private>` span and nothing of an ignored path. An event that is only about
    ignored paths keeps its kind and tool, so that the sequence stays complete.
    """
    if not services.capture:
        return 0
    prepared = [prepare(services, location, event) for event in events]
    return services.store.append_events(prepared) if prepared else 0


def prepare(services: Services, location: Location, event: Event) -> Event:
    """Return the event in the form in which it may be stored."""
    inside = [
        path for path in (_inside(services, location, path, event.cwd) for path in event.files[:FILES_LIMIT]) if path
    ]
    files = tuple(dict.fromkeys(redact(path) for path in inside if not is_ignored(path, services.ignore)))
    is_live = services.clock.now() - event.at < timedelta(minutes=LIVE_MINUTES)
    hidden = _is_hidden(event, inside, files, services.ignore)
    return replace(
        event,
        project=event.project or location.project.id,
        cwd=redact(_clean(event.cwd)) or location.root,
        # What is checked out now says nothing about an event from a transcript.
        branch=redact(_clean(event.branch)) or (location.branch if is_live else ""),
        commit=event.commit or (location.commit if is_live else ""),
        files=files,
        command=_text(event.command, COMMAND_LIMIT),
        old="" if hidden else _text(event.old, TEXT_LIMIT),
        new="" if hidden else _text(event.new, TEXT_LIMIT),
        text="" if hidden else _text(event.text, TEXT_LIMIT),
        text_length=event.text_length or len(event.text),
    )


def _is_hidden(event: Event, inside: list[str], files: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """Return whether the event is only about ignored paths, or its command names a file for secrets."""
    if inside and not files:
        return True
    outside = not inside and event.files and all(is_ignored(path, ()) for path in event.files)
    return bool(outside) or mentions_secrets(event.command)


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


def _text(text: str, limit: int) -> str:
    return redact_to(_clean(text), limit) if text else ""


def _clean(text: str) -> str:
    """Remove NUL characters, which neither SQLite nor a terminal handles."""
    return text.replace("\0", "") if "\0" in text else text
