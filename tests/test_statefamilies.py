"""How long what was noted of a session stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.domain import statefamilies
from holdfast.domain.statefamilies import FAMILIES
from tests.contract.memorystore import MemoryStore

OF_A_SESSION = sorted(family.name for family in FAMILIES if family.kept_days == statefamilies.SESSION_DAYS)


def test_some_families_go_with_their_session() -> None:
    assert {"learned", "states", "asked"} <= set(OF_A_SESSION)


@pytest.mark.parametrize(("days", "stays"), [(364.9, True), (365.1, False)])
@pytest.mark.parametrize("name", OF_A_SESSION)
def test_what_was_noted_of_a_session_stays_for_a_year(name: str, days: float, stays: bool) -> None:
    (family,) = [family for family in FAMILIES if family.name == name]
    store = MemoryStore()
    store.set_state(family, "x", "lit")
    store.expire_states(datetime.now(UTC) + timedelta(days=days))
    assert bool(store.get_state(family, "x")) is stays
