from __future__ import annotations

import logging

import anyio
import pytest

from holdfast.domain.team import IdempotentAnswer
from holdfast.errors import StoreLockedError
from holdfast.server import upkeep as serving
from holdfast.team import answers, audit
from holdfast.team.upkeep import tidy
from tests.team.office import Office


def test_what_is_past_its_time_goes_once_an_hour_and_the_heads_are_returned(any_office: Office) -> None:
    office = any_office
    answers.keep_answer(office.team, office.admin, "k", "d", status=200, headers=(), body="")
    heads = dict(tidy(office.backend, office.clock))
    assert heads[office.number] == audit.head(office.team.stores.audit)
    assert office.records.count(IdempotentAnswer) == 1
    assert office.number not in dict(tidy(office.backend, office.clock))
    office.clock.advance(25 * 3600)
    assert office.number in dict(tidy(office.backend, office.clock))
    assert office.records.count(IdempotentAnswer) == 0


def test_the_server_logs_the_heads_and_goes_on_after_a_failure(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runs = []

    def first_fails(*arguments: object) -> object:
        runs.append(arguments)
        if len(runs) == 1:
            raise StoreLockedError("locked")
        return tidy(office.backend, office.clock)

    monkeypatch.setattr(serving, "tidy", first_fails)

    async def run() -> None:
        with anyio.move_on_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serving.keep_tidy, office.backend, office.clock, 0.01)
                while len(runs) < 3:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()

    with caplog.at_level(logging.INFO, logger="holdfast.server"):
        anyio.run(run)
    heads = [record.facts["head"] for record in caplog.records if record.message == "audit_head"]
    assert heads == [audit.head(office.team.stores.audit).render()]
    assert next(record.message for record in caplog.records) == "upkeep_failed"
