"""A clock that is set back, or that was ahead at one write, never blocks a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from holdfast import Memory
from holdfast.testing.builders import FixedClock

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
CHANGES: dict[str, Callable[[Memory, str], object]] = {
    "revise": lambda memory, ref: memory.revise(ref, why="measured"),
    "forget": lambda memory, ref: memory.forget(ref),
    "topic": lambda memory, ref: memory.remember("Berth 4 is for tugs", topic_key="berth/4"),
    "merge": lambda memory, ref: memory.remember("Berth 4 is for pilots", topic_key="berth/4", why="measured"),
    "confirm": lambda memory, ref: memory.confirm(ref),
    "undo": lambda memory, ref: memory.undo(),
    "import": lambda memory, ref: memory.import_lessons(
        ['{"kind":"decision","insight":"Berth 4 is for pilots","why":"measured"}'], accept=True
    ),
}


def set_clock(memory: Memory, at: datetime) -> None:
    memory.services = replace(memory.services, clock=FixedClock(at))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("back", [timedelta(days=1), timedelta(days=3_652), -timedelta(days=7_305)], ids=str)
def test_what_was_written_by_a_clock_ahead_can_be_changed(memory: Memory, change: str, back: timedelta) -> None:
    """Back a day; back ten years; and a write by a clock twenty years ahead, then now."""
    set_clock(memory, NOW if back > timedelta() else NOW - back)
    old = memory.remember("Berth 4 is for pilots", kind="decision", topic_key="berth/4")
    set_clock(memory, NOW - back if back > timedelta() else NOW)
    CHANGES[change](memory, old.id)
    after = memory.get(old.id)
    assert after.recorded_at == old.recorded_at + timedelta(microseconds=1)
    assert memory.changes(limit=2)[0].lessons
    assert memory.services.store.check() == []


def test_undo_takes_back_the_change_made_last_not_the_one_dated_last(memory: Memory) -> None:
    set_clock(memory, NOW)
    first = memory.remember("Berth 4 is for pilots")
    set_clock(memory, NOW - timedelta(days=1))
    second = memory.remember("Berth 5 is for tugs")
    assert memory.undo().lessons == (second.id,)
    assert memory.get(first.id).state == "active"
    assert memory.undo().lessons == (first.id,)


def test_a_checkpoint_saved_after_the_clock_was_set_back_is_the_current_one(memory: Memory) -> None:
    set_clock(memory, NOW)
    memory.save_checkpoint("Measure the tide", task="tides")
    set_clock(memory, NOW - timedelta(days=1))
    memory.save_checkpoint("Report the tide", task="tides")
    current = memory.checkpoint()
    assert current is not None
    assert current.goal == "Report the tide"
