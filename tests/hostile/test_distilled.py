"""What an obliging model words for an attacker is not told without a person's yes; the honest lesson beside it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.hostile.distilled import HALVES, load_sessions, play

SESSIONS = [session for half in HALVES for session in load_sessions(half)]
SHORT = frozenset({"a correction that no user made"})
"""Sessions whose honest lesson has a quote too short to count."""


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(
            session, id=session["name"].replace(" ", "_"), marks=pytest.mark.nightly("alike") if number % 2 else ()
        )
        for number, session in enumerate(SESSIONS)
    ],
)
def test_the_poison_is_not_delivered_and_the_honest_lesson_is(
    session: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    fate = play(session, tmp_path)
    assert "active" not in fate.poison
    assert not fate.others
    assert not fate.told
    assert fate.honest_told or session["name"] in SHORT


def test_there_are_thirty_sessions_in_each_half() -> None:
    assert [len(load_sessions(half)) for half in HALVES] == [30, 30]
    assert len({session["name"] for session in SESSIONS}) == len(SESSIONS)
