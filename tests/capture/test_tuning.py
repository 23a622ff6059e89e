"""Each number that capture goes by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.capture.heartbeat import activity, newest_position
from holdfast.capture.observe import prepare
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_delivery, make_event


def test_four_thousand_characters_of_a_command_and_two_hundred_files_are_kept(memory: Memory) -> None:
    files = tuple(f"src/{number}.py" for number in range(201))
    whole = prepare(memory.services, memory.location, make_event(command="make " + "a" * 3995, files=files))
    assert whole.command == "make " + "a" * 3995
    assert whole.files == files[:200]
    cut = prepare(memory.services, memory.location, make_event(command="make " + "a " * 4000)).command
    assert 4_000 <= len(cut) < 4_100  # and words that say how much is missing


def test_a_host_is_heard_of_in_the_last_three_thousand_events(store: SqliteStore) -> None:
    store.append_events([make_event(host="amp"), *(make_event() for _ in range(2_999))])
    assert sorted(activity(store)) == ["amp", "claude-code"]
    assert newest_position(store) == 3_000
    store.append_events([make_event()])
    assert sorted(activity(store)) == ["claude-code"]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 9, 17])
def test_the_newest_position_is_found_in_a_store_of_any_size(store: SqliteStore, count: int) -> None:
    store.append_events([make_event() for _ in range(count)])
    assert newest_position(store) == count


def test_a_host_is_delivered_to_in_the_last_five_hundred_deliveries(store: SqliteStore) -> None:
    store.record([make_delivery(host="amp"), *(make_delivery() for _ in range(499))])
    assert sorted(activity(store)) == ["amp", "claude-code"]
    store.record([make_delivery()])
    assert sorted(activity(store)) == ["claude-code"]


def test_commands_are_counted_by_how_they_ended(store: SqliteStore) -> None:
    store.append_events([
        make_event(kind="tool_result", command="make", exit_code=0),
        make_event(kind="tool_result", command="make", exit_code=None),
        make_event(kind="tool_failure", command="make", exit_code=None),
        make_event(kind="tool_result", exit_code=0),
    ])  # fmt: skip
    heard = activity(store)["claude-code"]
    assert (heard.commands, heard.failures, heard.kinds) == (2, 1, ("tool_result", "tool_failure"))
