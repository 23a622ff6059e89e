"""Applies the linear models: whether a turn is a statement worth keeping, of which kind, and in which sentence.

The weights are data (`weights.json`, written by `scripts/train_statements.py`); judging takes a few hundred
multiplications in plain Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any, NamedTuple

from holdfast.detectors.statements._features import (
    VERSION,
    Turn,
    Utterance,
    describe_sentence,
    describe_session,
    describe_topic,
    mute,
    named_kind,
    sure_kinds,
)
from holdfast.detectors.statements._reading import Sentence
from holdfast.domain.vocabulary import LessonKind
from holdfast.errors import InvalidValueError

CLIP = 4.0
"""Standardised features are cut at this many deviations: one odd turn must not decide."""
CENTRE = 0.5
"""Share of a session's mean that is taken off its turns: sessions differ in how much they state."""
CENTRE_TURNS = 20
"""Turns at which half of that share applies; a short window tells little about its mean."""
SURE = 3.0
"""Log-odds that a phrase which all but names a kind adds to it."""
MUTED = -9.0
"""Log-odds of a turn that holds no words of its speaker."""


def add_features(
    total: float, features: Mapping[str, tuple[float, float, float]], described: Mapping[str, float]
) -> float:
    """The log-odds with what each feature adds: its standardised value, cut at CLIP, times its weight."""
    for name, (mean, deviation, weight) in features.items():
        value = (described.get(name, 0.0) - mean) / deviation
        total += weight * (CLIP if value > CLIP else -CLIP if value < -CLIP else value)
    return total


class Linear(NamedTuple):
    """A linear model: bias and, by feature, mean, deviation and weight."""

    bias: float
    features: dict[str, tuple[float, float, float]]

    def weigh(self, described: Mapping[str, float]) -> float:
        """Return the log-odds for the features."""
        return add_features(self.bias, self.features, described)


class ModelWeights(NamedTuple):
    """All models of this detector, fitted together."""

    turn: Linear
    threshold: float
    """Centred log-odds from which a turn counts as a statement."""
    slope: float
    """With `offset`: probability = sigmoid(slope x log-odds + offset), fitted on turns that the model had not seen."""
    offset: float
    kinds: dict[LessonKind, Linear]
    sentence: Linear


class Classification(NamedTuple):
    """The detector's result for one turn."""

    weight: float
    """Centred log-odds; they order turns, but are no probability."""
    probability: float
    """The probability that somebody would want this turn remembered, 0 to 1."""
    found: bool
    kind: LessonKind
    sentences: tuple[Sentence, ...]
    """If found, the sentence most like the statement, then others with positive log-odds."""


def judge(turns: Sequence[Turn], weights: ModelWeights | None = None) -> list[Classification | None]:
    """Return a verdict for every text turn of a session so far, None for a tool's. Deterministic."""
    weights = weights or shipped()
    described = describe_session(turns)
    raw = [None if turn is None else weigh_turn(turn, weights.turn) for turn in described]
    shift = session_shift(raw)
    return [
        None
        if turn is None or weight is None
        else _verdict(turn, weight if weight == MUTED else weight - shift, weights)
        for turn, weight in zip(described, raw, strict=True)
    ]


def judge_turn(text: str, role: str = "assistant", weights: ModelWeights | None = None) -> Classification:
    """Return the verdict on a single turn of that role (`user` or `assistant`), without a session."""
    verdict = judge([Turn(role, text)], weights)[0]
    if verdict is None:
        raise InvalidValueError(f"a turn of role {role!r} cannot be judged", hint="use user or assistant")
    return verdict


def weigh_turn(described: tuple[Utterance, dict[str, float]], model: Linear) -> float:
    """Return the log-odds of one turn before centring; `MUTED` if it holds no words of its speaker."""
    utterance, features = described
    return MUTED if mute(utterance) else model.weigh(features)


def session_shift(raw: Sequence[float | None]) -> float:
    """Return what to subtract from every turn's log-odds: a share of the session's mean that grows with its turns."""
    spoken = [weight for weight in raw if weight is not None and weight != MUTED]
    return CENTRE * sum(spoken) / (len(spoken) + CENTRE_TURNS) if spoken else 0.0


def _verdict(described: tuple[Utterance, dict[str, float]], weight: float, weights: ModelWeights) -> Classification:
    utterance, _ = described
    is_statement = weight >= weights.threshold
    kind = name_kind(described, weights.kinds)
    probability = 1 / (1 + exp(-(weights.slope * weight + weights.offset)))
    telling = _telling(utterance, weights.sentence) if is_statement else ()
    return Classification(weight, probability, is_statement, kind, telling)


def name_kind(
    described: tuple[Utterance, dict[str, float]], kinds: Mapping[LessonKind, Linear], sentence: int | None = None
) -> LessonKind:
    """Return the likeliest kind of what the turn states, by the fitted log-odds plus a bonus for sure phrases.

    With a sentence's number, the kind that this sentence names itself takes precedence, since a turn may state two
    things.
    """
    utterance, features = described
    named = "" if sentence is None else named_kind(utterance, sentence)
    if named in kinds:
        return named  # type: ignore[return-value]
    topic, sure = describe_topic(utterance, features), sure_kinds(utterance)
    return max(kinds, key=lambda kind: kinds[kind].weigh(topic) + SURE * (kind in sure))


def _telling(utterance: Utterance, model: Linear) -> tuple[Sentence, ...]:
    ranked = rank_sentences(utterance, model)
    return tuple(
        sentence for at, (weight, sentence) in enumerate(ranked) if at == 0 or (weight > 0 and not sentence.announces)
    )


def rank_sentences(utterance: Utterance, model: Linear) -> list[tuple[float, Sentence]]:
    """Return the turn's sentences with their log-odds, the likeliest statement first, then by position."""
    sentences = utterance.reading.sentences
    weighed = [(model.weigh(describe_sentence(utterance, at)), sentences[at]) for at in range(len(sentences))]
    return sorted(weighed, key=lambda weighted: (-weighted[0], weighted[1].start))


@cache
def shipped() -> ModelWeights:
    """Return the weights of the package. Raises InvalidValueError if they belong to other features."""
    return parse_weights(json.loads(files(__package__).joinpath("weights.json").read_text("utf-8")))


def parse_weights(stored: Mapping[str, Any]) -> ModelWeights:
    """Return weights from their stored form."""
    if stored["provenance"]["features"] != VERSION:
        raise InvalidValueError(
            "the weights of the statements detector belong to another version of its features",
            hint="reinstall holdfast",
        )
    return ModelWeights(
        turn=_linear(stored["turn"]),
        threshold=stored["threshold"],
        slope=stored["slope"],
        offset=stored["offset"],
        kinds={kind: _linear(model) for kind, model in stored["kinds"].items()},
        sentence=_linear(stored["sentence"]),
    )


def _linear(stored: Mapping[str, Any]) -> Linear:
    return Linear(stored["bias"], {name: (m, d, w) for name, (m, d, w) in stored["features"].items()})
