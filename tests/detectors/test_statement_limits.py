"""The numbers that the detector of statements goes by, each at its boundary."""

from __future__ import annotations

import pytest

from holdfast.detectors import statements
from holdfast.detectors.statements import Turn, _model, _reading, _worth, judge
from holdfast.detectors.statements._features import describe_session
from holdfast.text.prompts import read_prompt
from tests.boundaries import Boundary, each
from tests.detectors.golden import ROOT, window
from tests.detectors.test_limits import event, find

RULES = (
    "We always seed the clock before login tests, never after them.",
    "Never commit to main directly in this repo.",
    "We should never edit this package by hand.",
)


def stated(text: str) -> list[str]:
    return [candidate.insight for candidate in find("statements", event("prompt", text))]


def rule_of(size: int) -> str:
    rule = "We always seed the clock before login tests, never after them"
    return (rule + ", in each of the harbours" * 40)[: size - 2] + "x."


def sentences_read(count: int, on_one_line: bool = False) -> bool:
    text = ("The beacon is lit. " if on_one_line else "The beacon is lit.\n") * count
    return len(_reading.read(text).sentences) == count


def is_sentence(size: int) -> bool:
    return len(_reading.read(("x " * size)[: size - 1] + "x").sentences) == 1


def added(deviations: float) -> float:
    """What a feature of weight 1 adds that is so many deviations from its mean."""
    return _model.add_features(0.0, {"x": (1.0, 2.0, 1.0)}, {"x": 1 + 2 * deviations})


def kind_by(bias: float) -> str:
    """The kind of a text whose phrases name a decision, where another kind is ahead by that much."""
    (place,) = describe_session([Turn("assistant", "We decided to seed the clock, and rejected the other approach.")])
    assert place is not None
    ahead = {"decision": _model.Linear(0.0, {}), "preference": _model.Linear(bias, {})}
    return _model.name_kind(place, ahead)  # type: ignore[arg-type]


LIMITS = [
    Boundary(statements, "MOST_PER_TURN", 2, 3, lambda n: len(stated("\n".join(RULES[:n]))) == n, True, False),
    Boundary(statements, "LONGEST", 500, 501, lambda n: stated(rule_of(n)) != [], True, False),
    Boundary(
        statements, "SHORTEST", 20, 19, lambda n: stated(f"Never edit {'x' * (n - 12)}.") != [], True, False
    ),
    Boundary(_reading, "SENTENCE_LENGTH", 800, 801, is_sentence, True, False),
    Boundary(_reading, "SENTENCE_LIMIT", 160, 161, sentences_read, True, False),
    Boundary(_reading, "SENTENCE_LIMIT", 160, 161, lambda n: sentences_read(n, on_one_line=True), True, False),
    Boundary(_model, "SURE", 3.0, 3.01, lambda ahead: kind_by(ahead - 0.005), "decision", "preference"),
    Boundary(_model, "CLIP", 4.0, 4.1, lambda value: added(value) == value, True, False),
    Boundary(_model, "CLIP", 4.0, 4.1, lambda value: added(-value) == -value, True, False),
]  # fmt: skip


@each(LIMITS)
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()


@pytest.mark.parametrize(
    ("sentence", "confidence"),
    [
        ("We should never edit this package.", 0.75),  # judged 0.40005
        ("We should never import the clock.", 0.6),  # judged 0.3997
        ("Always read the service from the service.", 0.6),  # judged 0.200006
        ("We only open this package for all environments.", 0.2),  # judged 0.19993
    ],
)
def test_a_norm_is_raised_from_the_probability_that_its_words_have(sentence: str, confidence: float) -> None:
    assert statements.NORM_WORTH == ((0.4, 0.75), (0.2, 0.6))
    (candidate,) = find("statements", event("prompt", sentence))
    assert candidate.confidence == confidence


def test_a_reviewers_sentence_is_worth_three_quarters_of_its_probability() -> None:
    assert statements.REVIEW_SHARE == 0.75
    events = window(ROOT / "statements/finds/review_comment.json")
    candidates = [candidate for candidate in find("statements", *events) if "review" in candidate.tags]
    assert candidates
    for candidate in candidates:
        (prompt,) = [some for some in events if some.id == candidate.evidence[0].event]
        place = describe_session([statements._turn(some) for some in events])[events.index(prompt)]
        assert place is not None
        utterance, features = place
        probability = max(
            _worth.shipped().probability(
                "user", sentence.words, _worth.describe(utterance, features, number, prompt.text)
            )
            for number, sentence in enumerate(utterance.reading.sentences)
            if sentence.end == candidate.evidence[0].end
        )
        assert candidate.confidence == round(0.75 * probability, 3)
        assert any(part.kind == "review" for part in read_prompt(prompt.text).parts)


@pytest.mark.parametrize(("weights", "shift"), [([4.0], 2 / 21), ([1.0] * 20, 0.25), ([1.0] * 60, 0.375), ([], 0.0)])
def test_half_of_a_sessions_mean_is_taken_off_and_half_of_that_at_twenty_turns(
    weights: list[float], shift: float
) -> None:
    assert (_model.CENTRE, _model.CENTRE_TURNS) == (0.5, 20)
    assert _model.session_shift([*weights, None]) == pytest.approx(shift)


def test_a_turn_without_words_is_muted_and_takes_no_part_in_the_mean() -> None:
    (verdict,) = judge([Turn("assistant", "```\nmake\n```")])
    assert verdict is not None
    assert verdict.weight == _model.MUTED == -9.0
    assert _model.session_shift([1.0, -9.0]) == _model.session_shift([1.0])
    spoken = Turn("assistant", "The root cause is that the timer stops before the queue is empty.")
    beside = judge([spoken, Turn("assistant", "```\nmake\n```")])[1]
    assert beside is not None
    assert beside.weight == -9.0, "nothing is taken off it"


@pytest.mark.parametrize(("value", "counted"), [(-5.0, -4.0), (-3.9, -3.9), (0.0, 0.0), (3.9, 3.9), (5.0, 4.0)])
def test_a_feature_counts_up_to_four_deviations(value: float, counted: float) -> None:
    assert added(value) == pytest.approx(counted)
