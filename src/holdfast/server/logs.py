"""The server's log: one line for each request and each event, as JSON or, on a terminal, as text.

A line holds ids, templates of routes, numbers and words of our own. It holds no word of a lesson, a query or a token:
an exception is logged by its type and the places in the code, without its message, and what other libraries log
is reduced to where they logged it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("holdfast.server")
FRAMES = 12
"""The innermost places of an exception that are logged."""
SPEAKING = ("holdfast", "uvicorn")
"""Loggers whose messages hold nothing of a request."""
FACTS = "facts"
"""The attribute of a record that holds its fields."""


def log(level: int, event: str, /, **facts: Any) -> None:
    """Log an event with its facts: ids, numbers and words of closed sets."""
    LOGGER.log(level, event, extra={FACTS: facts})


def log_failure(event: str, exc: BaseException, /, **facts: Any) -> None:
    """Log that something failed, with the exception's type and places, not with its message."""
    LOGGER.error(event, exc_info=exc, extra={FACTS: facts})


def log_config(level: str, form: str) -> dict[str, Any]:
    """Return the configuration of logging for one process, for `logging.config`."""
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    formatter = PlainLines if is_text else JsonLines
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "holdfast.server": {"level": level.upper(), "handlers": ["stderr"], "propagate": False},
            "uvicorn": {"level": "WARNING", "handlers": ["stderr"], "propagate": False},
        },
    }


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return what may be said of a record."""
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    speaks = record.name.partition(".")[0] in SPEAKING
    event = record.getMessage().strip() if speaks else f"{record.name}: a message of {record.module}:{record.lineno}"
    facts = {"at": at, "level": record.levelname.lower(), "event": event, "process": record.process}
    facts |= getattr(record, FACTS, {})
    exc = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    return facts if exc is None else {**facts, "error": type(exc).__name__, "where": places_of(exc)}


def places_of(exc: BaseException) -> list[str]:
    """Return the innermost places of the exception and of what it came from, as `file:line function`."""
    places: list[str] = []
    cause: BaseException | None = exc
    while cause is not None and len(places) < FRAMES:
        frames = traceback.extract_tb(cause.__traceback__)[-FRAMES:]
        places += [f"{frame.filename.rpartition('/site-packages/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
        cause = cause.__cause__ or cause.__context__
        if cause is not None:
            places.append(f"from {type(cause).__name__}")
    return places[:FRAMES]


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return json.dumps(facts_of(record), ensure_ascii=True, default=str)


class PlainLines(logging.Formatter):
    """Writes a record for a person who watches."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = facts_of(record)
        head = f"{facts.pop('at')[11:19]} {facts.pop('level'):7} {facts.pop('event')}"
        facts.pop("process")
        where = facts.pop("where", [])
        return "\n  ".join([" ".join([head, *(f"{name}={value}" for name, value in facts.items())]), *where])
