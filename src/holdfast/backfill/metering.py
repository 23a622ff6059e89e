"""Counts calls of the user's model that read no session, such as those of `tidy`, in the record of distillation."""

from __future__ import annotations

from math import inf

from holdfast.backfill.distilling import open_model
from holdfast.backfill.distilrecord import limit_reached, record_call
from holdfast.errors import ModelError
from holdfast.ports.clock import Clock
from holdfast.ports.model import Completion, LanguageModel
from holdfast.settings import Settings


def open_metered(settings: Settings, clock: Clock, until_s: float = inf) -> LanguageModel | None:
    """Return the model that the user lets read sessions, with its calls counted; None if there is none.

    No call begins after the clock's elapsed seconds `until_s`. Raises ModelError.
    """
    if not settings.learns_after_sessions:
        return None
    return MeteredModel(open_model(settings), settings, clock, until_s)


class MeteredModel:
    """A model whose calls are recorded, and end where the limits of a day are reached."""

    def __init__(self, model: LanguageModel, settings: Settings, clock: Clock, until_s: float) -> None:
        self.id = model.id
        self._model = model
        self._settings = settings
        self._clock = clock
        self._until_s = until_s

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer and record its cost. Raises ModelError, also where nothing may be sent."""
        if reached := limit_reached(self._settings, self._clock.now()):
            raise ModelError(reached, hint=f"edit [distil] in {self._settings.config_path}, or wait")
        if self._clock.elapsed_s() >= self._until_s:
            raise ModelError("no time is left for another call")
        try:
            completion = self._model.complete(prompt, timeout_s)
        except ModelError:
            record_call(self._settings, {"tidying": "failed", "model": self.id}, self._clock.now())
            raise
        cost = {
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
            "cost_usd": completion.cost_usd,
        }
        record_call(self._settings, {"tidying": "answered", "model": self.id, **cost}, self._clock.now())
        return completion
