"""Calls that read no session count in the record, and end where the limits of a day or the time are reached."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.backfill.distilling import MeteredModel, open_metered
from holdfast.backfill.distilrecord import spent, waiting
from holdfast.errors import ModelError
from holdfast.ports.plugins import Completion
from holdfast.settings import Settings, load_settings
from holdfast.testing.builders import FixedClock


class Scripted:
    id = "scripted"

    def __init__(self, *answers: Completion | ModelError) -> None:
        self.answers = list(answers)

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        return answer


@pytest.fixture
def settings(home: Path) -> Settings:
    return replace(load_settings(), distil_calls_a_day=2, distil_dollars_a_day=1.0)


def test_calls_and_failures_count_and_the_limit_of_a_day_holds(settings: Settings) -> None:
    clock = FixedClock()
    answer = Completion(text="{}", input_tokens=7, output_tokens=3, cost_usd=0.25)
    model = MeteredModel(Scripted(answer, ModelError("no network"), answer), settings, clock, 1.0)
    assert model.complete("p", 1.0) == answer
    with pytest.raises(ModelError, match="no network"):
        model.complete("p", 1.0)
    with pytest.raises(ModelError, match="the limit is calls_a_day = 2"):
        model.complete("p", 1.0)
    today = spent(settings, clock.now())
    assert (today.calls, today.input_tokens, today.output_tokens, today.cost_usd) == (2, 7, 3, 0.25)
    assert waiting(settings) == []


def test_no_call_begins_after_the_time_is_over(settings: Settings) -> None:
    clock = FixedClock()
    model = MeteredModel(Scripted(Completion(text="{}")), settings, clock, 10.0)
    clock.advance(10.0)
    with pytest.raises(ModelError, match="no time is left"):
        model.complete("p", 1.0)
    assert spent(settings, clock.now()).calls == 0


@pytest.mark.parametrize(("model", "after_sessions"), [("", True), ("agent", False)])
def test_without_the_users_consent_there_is_no_model(settings: Settings, model: str, after_sessions: bool) -> None:
    chosen = replace(settings, distil_model=model, distil_after_sessions=after_sessions)
    assert open_metered(chosen, FixedClock()) is None


def test_a_model_that_cannot_be_made_is_an_error_of_models(settings: Settings) -> None:
    chosen = replace(settings, distil_model="vscode", distil_after_sessions=True)
    with pytest.raises(ModelError, match="cannot run without a terminal"):
        open_metered(chosen, FixedClock())
