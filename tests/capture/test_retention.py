"""Retention: raw text goes after its time, everything else stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from holdfast import Memory
from holdfast.capture.retention import drop_old_texts
from holdfast.domain.lesson import Scope
from holdfast.lean.records import replace
from holdfast.ports.parts import Parts
from holdfast.ports.store import EventFilter, Store
from holdfast.testing.builders import FixedClock, make_change, make_event, make_lesson

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def parts_of(store: Store, days: int = 90) -> Parts:
    nothing = object()
    return Parts(
        store=store, workspace=nothing, clock=FixedClock(NOW), host=nothing, detectors=nothing, embedder=nothing,
        retention_days=days,
    )  # type: ignore[arg-type]  # fmt: skip


def texts(store: Store) -> list[tuple[str, str]]:
    return [(event.text, event.new) for _, event in store.find_events(EventFilter())]


def keep(store: Store) -> None:
    old = make_event(key="old", at=NOW - timedelta(days=91), text="said long ago", new="x = 1", command="make")
    store.append_events([old, replace(old, key="new", at=NOW - timedelta(days=89), text="said lately")])


def test_texts_older_than_the_window_are_dropped_and_the_events_stay(store: Store) -> None:
    keep(store)
    assert drop_old_texts(parts_of(store)) == 1
    assert texts(store) == [("", ""), ("said lately", "x = 1")]
    assert [event.command for _, event in store.find_events(EventFilter())] == ["make", "make"]


def test_it_is_done_once_a_day(store: Store) -> None:
    assert drop_old_texts(parts_of(store)) == 0
    keep(store)
    assert drop_old_texts(parts_of(store)) == 0
    assert ("said long ago", "x = 1") in texts(store)


def test_a_window_of_no_days_keeps_everything(store: Store) -> None:
    keep(store)
    assert drop_old_texts(parts_of(store, days=0)) == 0
    assert ("said long ago", "x = 1") in texts(store)


def test_a_lesson_that_nobody_confirmed_in_sixty_days_is_retired(memory: Memory) -> None:
    old, young = (
        make_lesson(
            insight=f"Rule {days}", state="probation", recorded_at=datetime.now(UTC) - timedelta(days=days),
            scope=Scope(project=memory.place.project.id),
        )
        for days in (61, 59)
    )  # fmt: skip
    memory.parts.store.put([old, young], {old.id: None, young.id: None}, make_change())
    assert memory.end_probation() == 1
    assert memory.end_probation() == 0
    assert [lesson.insight for lesson in memory.lessons(states=("probation",))] == ["Rule 59"]
    assert [lesson.insight for lesson in memory.lessons(states=("retired",))] == ["Rule 61"]
