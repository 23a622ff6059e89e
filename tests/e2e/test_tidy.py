"""Two wordings of one rule become one line of the brief, and two again: by the commands of an installed Holdfast."""

from __future__ import annotations

from tests.e2e.conftest import Machine

FLOATS = "Store amounts of money as integer cents in the ledger table, never as floats"
FLOATS_TOO = "Money amounts stay integer cents everywhere in the ledger table and never become floats"


def test_what_an_agent_stated_twice_is_delivered_once_after_tidying(machine: Machine) -> None:
    for insight in (FLOATS, FLOATS_TOO):
        machine.holdfast("remember", insight)
    assert machine.holdfast("brief").count("integer cents") == 2
    assert "they say the same" in machine.holdfast("tidy")
    assert machine.holdfast("brief").count("integer cents") == 2
    machine.holdfast("tidy", "--apply")
    assert machine.holdfast("brief").count("integer cents") == 1
    assert len(machine.json("list")["lessons"]) == 1
    machine.holdfast("tidy", "--undo")
    assert machine.holdfast("brief").count("integer cents") == 2
