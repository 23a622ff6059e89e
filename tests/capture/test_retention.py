"""Retention: raw text goes after its time, everything else stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.capture.observe import drop_old_texts
from holdfast.domain.statefamilies import ASKED, PLACE
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, Store
from holdfast.testing.builders import FixedClock, make_event

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def parts_of(store: Store, days: int = 90) -> Services:
    nothing = object()
    return Services(
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


@pytest.mark.parametrize("days", [0, 90])
def test_states_go_with_old_texts_when_their_days_are_over(store: Store, days: int) -> None:
    for family in (ASKED, PLACE):
        store.set_state(family, "s1", "yes")
    for later_days, stays in ((ASKED.kept_days - 2, "yes"), (ASKED.kept_days + 2, "")):
        later = datetime.now(UTC) + timedelta(days=later_days)
        drop_old_texts(replace(parts_of(store, days), clock=FixedClock(later)))
        assert (store.get_state(ASKED, "s1"), store.get_state(PLACE, "s1")) == (stays, "yes")
