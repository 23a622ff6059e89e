"""Requests of several callers at once, on PostgreSQL: they wait for each other in one order, and none fails."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from holdfast.errors import StoreDeadlockError
from holdfast.publishing.lessonfile import settle, shared_id
from holdfast.publishing.remote.wire import plain_document
from holdfast.surfaces.rest import writing
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.table import OpAnswer
from holdfast.team import audit
from tests.postgresql import Database

from .requests import fresh_words
from .world import SHOP, World, open_world

ROUNDS = 6


@pytest.fixture
def served(tmp_path: Path, database: Database) -> Iterator[World]:
    with open_world(tmp_path, database.store_url()) as opened:
        yield opened


def document() -> dict[str, object]:
    insight = fresh_words()
    values = {"kind": "convention", "title": insight[:60], "insight": insight, "valid_from": "2026-01-01T00:00:00Z"}
    return {**plain_document(settle(shared_id("convention", insight), values, None)), "confirm": True}


def test_writes_of_one_project_do_not_wait_for_each_other_in_a_circle(served: World) -> None:
    lessons = [served.lesson(fresh_words(), role="writer")["id"] for _ in range(ROUNDS)]
    answers: Counter[tuple[str, int]] = Counter()
    barrier = threading.Barrier(4)

    def state(number: int) -> int:
        return served.call(
            "POST", f"/projects/{SHOP}/lessons", role="writer", json={"insight": fresh_words()}
        ).status_code

    def send(number: int) -> int:
        body = {"documents": [document() for _ in range(3)]}
        return served.call("POST", f"/projects/{SHOP}/documents", role="reviewer", json=body).status_code

    def confirm(number: int) -> int:
        path = f"/projects/{SHOP}/lessons/{lessons[number]}/confirmations"
        return served.call("POST", path, role="author").status_code

    def administer(number: int) -> int:
        return served.call("POST", "/teams", json={"name": uuid4().hex}).status_code

    def run(act) -> None:
        barrier.wait()
        for number in range(ROUNDS):
            answers[act.__name__, act(number)] += 1

    threads = [threading.Thread(target=run, args=(act,)) for act in (state, send, confirm, administer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {status // 100 for _, status in answers} == {2}, answers
    verification = audit.verify(served.home.team.stores.audit)
    assert verification.faults == ()
    positions = served.home.team.stores.documents.after(SHOP, 0)
    assert len({each.seq for each in positions}) == len(positions)


def test_a_request_that_the_database_gave_up_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish, failures = writing.finish, [StoreDeadlockError("given up"), StoreDeadlockError("given up")]

    def fails_twice(call: OpCall, answer: OpAnswer) -> dict[str, str]:
        if failures:
            raise failures.pop()
        return finish(call, answer)

    with open_world(tmp_path) as world:
        monkeypatch.setattr(writing, "finish", fails_twice)
        assert world.lesson("Prefer ropes over chains")["insight"] == "Prefer ropes over chains"
        assert not failures
        assert len(world.call("GET", f"/projects/{SHOP}/lessons").json()["items"]) == 1
