"""Records for tests, built the same way everywhere: pass what matters, the other fields are plausible and valid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor, Lesson, Scope, Validity
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.vocabulary import EventId, LessonId, ProjectId, SessionId
from holdfast.lean.texts import uuid7
from holdfast.text.titles import make_title

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
"""The time at which every test begins."""
PROJECT = ProjectId("project-a")
SESSION = SessionId("session-1")

_numbers = count()


def make_id() -> str:
    """Return a new UUID version 7; ids of one test run grow and never repeat."""
    number = next(_numbers)
    return uuid7(int(START.timestamp() * 1000) + number, number.to_bytes(10, "big"))


class FixedClock:
    """A clock that stands still except for a microsecond with every call of `now`; `advance` moves it."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at
        self.elapsed = 0.0

    def now(self) -> datetime:
        """Return a time a microsecond later than the last answer."""
        self.at += timedelta(microseconds=1)
        return self.at

    def elapsed_s(self) -> float:
        """Return the seconds advanced so far."""
        return self.elapsed

    def new_id(self) -> str:
        """Return a new UUID version 7."""
        return make_id()

    def advance(self, seconds: float) -> datetime:
        """Advance the clock and return the new time."""
        self.at += timedelta(seconds=seconds)
        self.elapsed += seconds
        return self.at


def make_event(**over: Any) -> Event:
    """Return an event of `SESSION` in `PROJECT`: a prompt by default, with a new id and key."""
    made = EventId(over.pop("id", "") or make_id())
    text = over.get("text", "please fix the login test")
    plain: dict[str, Any] = {
        "session": SESSION,
        "host": "claude-code",
        "kind": "prompt",
        "at": START,
        "key": made,
        "project": PROJECT,
        "cwd": "/home/dev/app",
        "text": text,
        "text_length": len(text),
    }
    return Event(**{**plain, **over, "id": made})


def make_lesson(**over: Any) -> Lesson:
    """Return an active lesson of `PROJECT`, with a new id and a rule of its own, because a store has each rule once.

    Shorthands beside the fields: `project`, `prefix` and `branch` make the scope, `path` and `symbol` an anchor
    (`paths` several), `valid_from` and `valid_to` the validity (by default from START on).
    """
    scope = Scope(
        level=over.pop("level", "project"),
        project=over.pop("project", PROJECT),
        path_prefix=over.pop("prefix", ""),
        branch=over.pop("branch", ""),
    )
    paths = tuple(over.pop("paths", ())) or tuple(filter(None, (over.pop("path", ""),)))
    symbol = over.pop("symbol", "")
    identity = over.pop("id", "") or make_id()
    insight = over.pop("insight", f"Seed the clock before login tests; they fail near midnight otherwise ({identity}).")
    recorded = over.pop("recorded_at", START)
    plain: dict[str, Any] = {
        "id": LessonId(identity),
        "kind": "convention",
        "title": make_title(insight),
        "insight": insight,
        "scope": scope,
        "validity": Validity(
            valid_from=over.pop("valid_from", min(START, recorded)), valid_to=over.pop("valid_to", None)
        ),
        "recorded_at": recorded,
        "anchors": tuple(Anchor(path=path, symbol=symbol) for path in paths),
        "state": "active",
    }
    return Lesson(**{**plain, **over})


def next_version(lesson: Lesson, seconds: float = 60, **changes: Any) -> Lesson:
    """Return the lesson recorded again that many seconds later, with changes."""
    at = lesson.recorded_at + timedelta(seconds=seconds)
    return replace(lesson, recorded_at=at, retracted_at=None, **changes)


def make_delivery(**over: Any) -> Delivery:
    """Return a delivery in `SESSION` of `PROJECT`, before a file."""
    plain: dict[str, Any] = {
        "id": make_id(), "at": START, "project": PROJECT, "session": SESSION, "host": "claude-code",
        "moment": "before_file", "lesson": LessonId("lesson-1"), "rank": 1, "score": 0.5,
        "reason": "anchored to src/app.py",
    }  # fmt: skip
    return Delivery(**{**plain, **over})


def make_outcome(**over: Any) -> Outcome:
    """Return the outcome of a lesson that was heeded."""
    plain: dict[str, Any] = {
        "id": make_id(), "at": START, "project": PROJECT, "session": SESSION, "lesson": LessonId("lesson-1"),
        "verdict": "heeded",
    }  # fmt: skip
    return Outcome(**{**plain, **over})


def make_checkpoint(**over: Any) -> Checkpoint:
    """Return the working state of a task called `login`."""
    plain: dict[str, Any] = {
        "id": make_id(), "at": START, "project": PROJECT, "session": SESSION, "task": "login",
        "goal": "make the login test pass",
    }  # fmt: skip
    return Checkpoint(**{**plain, **over})


def make_change(**over: Any) -> Change:
    """Return the change of a lesson that was remembered."""
    plain: dict[str, Any] = {
        "id": make_id(), "at": START, "project": PROJECT, "verb": "remember", "lessons": (LessonId("lesson-1"),),
    }  # fmt: skip
    return Change(**{**plain, **over})
