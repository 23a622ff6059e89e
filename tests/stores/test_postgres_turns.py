"""The search of turns on PostgreSQL: turns of others with higher scores hide none of the project's own."""

from __future__ import annotations

import pytest
from tests.postgresql import Database

from holdfast.domain.event import spoken_prefix
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.stores.postgresql import make, turns
from holdfast.testing.builders import PROJECT, make_event


@pytest.mark.parametrize("looked_up", [1, 3, 1_000])
def test_turns_of_another_project_do_not_hide_those_that_are_asked_for(
    database: Database, organisation: int, monkeypatch: pytest.MonkeyPatch, looked_up: int
) -> None:
    monkeypatch.setattr(turns, "LOOKED_UP", looked_up)
    spoken = [("other", ProjectId("other"), "harbour") for _ in range(5)]
    spoken += [("own", PROJECT, "the harbour is closed"), ("own", PROJECT, "harbour " + "and much else " * 9)]
    with make({"url": database.store_url(organisation)}) as store:
        store.append_events([
            make_event(
                session=SessionId(f"{session}-{number}"), project=project, text=text,
                key=f"{spoken_prefix('prompt')}{number}",
            )
            for number, (session, project, text) in enumerate(spoken)
        ])  # fmt: skip
        matches = store.search_turns(Query(project=PROJECT, text="harbour"), 4).matches
        assert [match.turn.session for match in matches] == ["own-5", "own-6"]
        best = store.search_turns(Query(project=PROJECT, text="harbour"), 1).matches
        assert [match.turn.session for match in best] == ["own-5"]
