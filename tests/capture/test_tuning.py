"""The edges of capture: what is just inside, and what is not."""

from __future__ import annotations

import pytest

from holdfast.capture.sessionevents import activity, newest_position
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import make_event


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 9, 17])
def test_the_newest_position_is_found_in_a_store_of_any_size(store: SqliteStore, count: int) -> None:
    store.append_events([make_event() for _ in range(count)])
    assert newest_position(store) == count


def test_commands_are_counted_by_how_they_ended(store: SqliteStore) -> None:
    store.append_events([
        make_event(kind="tool_result", command="make", exit_code=0),
        make_event(kind="tool_result", command="make", exit_code=None),
        make_event(kind="tool_failure", command="make", exit_code=None),
        make_event(kind="tool_result", exit_code=0),
    ])  # fmt: skip
    heard = activity(store)["claude-code"]
    assert (heard.commands, heard.failures, heard.kinds) == (2, 1, ("tool_result", "tool_failure"))
