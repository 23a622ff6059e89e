"""What the log refuses, and by which index its records are found."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.ports.store import EventFilter, LogFilter
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_delivery, make_event, make_lesson

pytestmark = pytest.mark.needs_file("it is about SQLite's indexes")


@pytest.mark.parametrize("kind", [Event, Lesson])
def test_the_log_keeps_records_of_its_kinds_only(store: SqliteStore, kind: Any) -> None:
    with pytest.raises(InvalidValueError, match=f"the log has no records of type {kind.__name__}"):
        store.find_records(kind, LogFilter())
    with pytest.raises(InvalidValueError):
        store.record([make_delivery(), make_event() if kind is Event else make_lesson()])  # type: ignore[list-item]
    assert store.find_records(Delivery, LogFilter()) == []


def plan_of(store: SqliteStore, ask: Any) -> str:
    """How SQLite answers the last statement that the question runs."""
    statements: list[str] = []
    sql = store._connection.sql
    sql.set_trace_callback(statements.append)
    ask()
    sql.set_trace_callback(None)
    [statement] = [statement for statement in statements if statement.startswith("SELECT")]
    return " ".join(row[3] for row in sql.execute(f"EXPLAIN QUERY PLAN {statement}"))


@pytest.mark.parametrize(
    ("where", "index"),
    [
        ({"project": PROJECT}, "by_project"),
        ({"session": SessionId("s")}, "by_session"),
        ({"lesson": LessonId("l")}, "by_lesson"),
        ({"project": PROJECT, "session": SessionId("s")}, "by_session"),
        ({"project": PROJECT, "lesson": LessonId("l")}, "by_lesson"),
    ],
)
@pytest.mark.parametrize("kind", [Delivery, Outcome])
def test_records_are_found_by_the_narrowest_index(
    store: SqliteStore, kind: Any, where: dict[str, Any], index: str
) -> None:
    plan = plan_of(store, lambda: store.find_records(kind, LogFilter(**where)))
    assert f"USING INDEX {'deliveries' if kind is Delivery else 'outcomes'}_{index}" in plan


def test_changes_are_found_by_their_project(store: SqliteStore) -> None:
    plan = plan_of(store, lambda: store.find_records(Change, LogFilter(project=PROJECT)))
    assert "changes" in plan


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"project": PROJECT}, "events_by_project"),
        ({"project": PROJECT, "session": SessionId("s")}, "(session=?"),
        ({"project": PROJECT, "session": SessionId("s"), "kind": "prompt"}, "(session=? AND key>? AND key<?)"),
    ],
)
def test_events_are_found_by_their_session_where_one_is_requested(
    store: SqliteStore, where: dict[str, Any], words: str
) -> None:
    assert words in plan_of(store, lambda: store.find_events(EventFilter(**where)))
