"""Judges worth: the probability that an engineer of the project would keep a sentence as a lesson.

It is a logistic regression over the sentence's words (identifiers masked), its shape and cues, its turn, and the turns
around it. `scripts/train_worth.py` fits it on sessions of several repositories that careful readers labelled, and
calibrates it for each speaker. The weights are data (`worth.json`); judging a sentence takes a few hundred
multiplications.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp, log1p, sqrt
from typing import Any, NamedTuple

from holdfast.detectors.statements._features import Utterance, describe_sentence
from holdfast.detectors.statements._model import add_features

VERSION = "1"
"""Grows with every change of a feature; weights of another version are not used."""

_PLAN = re.compile(r"\s*(?:Implement the following plan|#+ |Here is the plan)", re.IGNORECASE)
_PASTED = re.compile(r"^(?:\s{4,}\S|\s*at \S+\(|[\w./-]+\.\w+:\d+)", re.MULTILINE)


class Worth(NamedTuple):
    """The fitted model."""

    bias: float
    grams: dict[str, tuple[float, float]]
    """Word or pair of words to its rarity (idf) and weight."""
    features: dict[str, tuple[float, float, float]]
    """Feature to mean, deviation and weight."""
    calibration: dict[str, tuple[float, float, float]]
    """Slope, offset and ceiling by speaker: probability = min(ceiling, sigmoid(slope x log-odds + offset))."""

    def probability(self, role: str, words: Sequence[str], described: Mapping[str, float]) -> float:
        """Return the calibrated probability, 0 to 1. `role` is user or agent."""
        slope, offset, ceiling = self.calibration[role]
        return min(ceiling, 1 / (1 + exp(-max(-30.0, min(30.0, slope * self.weigh(words, described) + offset)))))

    def weigh(self, words: Sequence[str], described: Mapping[str, float]) -> float:
        """Return the log-odds before calibration."""
        total = add_features(self.bias, self.features, described)
        counts: dict[str, int] = {}
        for gram in grams(words):
            if gram in self.grams:
                counts[gram] = counts.get(gram, 0) + 1
        norm, dot = 0.0, 0.0
        for gram, count in counts.items():
            idf, weight = self.grams[gram]
            value = idf * (1 + log1p(count - 1))
            norm += value * value
            dot += value * weight
        return total + (dot / sqrt(norm) if norm else 0.0)


def grams(words: Sequence[str]) -> list[str]:
    """Return the sentence's words and pairs of neighbouring words; its first two words also count as an opening."""
    first = ["^" + " ".join(words[:2])] if words else []
    return [*words, *(f"{a} {b}" for a, b in pairwise(words)), *first]


def describe(utterance: Utterance, turn_features: Mapping[str, float], at: int, text: str) -> dict[str, float]:
    """Return features of one sentence: its own, its turn's and its place. Prefixes say which they are."""
    described = {f"s_{name}": value for name, value in describe_sentence(utterance, at).items()}
    described.update({f"t_{name}": value for name, value in turn_features.items()})
    described["sentences"] = log1p(len(utterance.reading.sentences))
    described["plan"] = float(bool(_PLAN.match(text)))
    described["pasted"] = log1p(len(_PASTED.findall(text[:8_000])))
    if utterance.role == "user":
        described.update({f"u_{name}": described[name] for name in ("s_notable", "s_length", "sentences", "plan")})
        described["u_question"] = float("?" in utterance.reading.sentences[at].words)
    return described


@cache
def shipped() -> Worth:
    """Return the model that comes with the package."""
    return parse(json.loads(files(__package__).joinpath("worth.json").read_text("utf-8")))


def parse(stored: Mapping[str, Any]) -> Worth:
    """Return the model from its stored form."""
    return Worth(
        stored["bias"],
        {gram: (idf, weight) for gram, (idf, weight) in stored["grams"].items()},
        {name: (mean, deviation, weight) for name, (mean, deviation, weight) in stored["features"].items()},
        {role: (slope, offset, ceiling) for role, (slope, offset, ceiling) in stored["calibration"].items()},
    )
