from __future__ import annotations

from datetime import timedelta
from math import log, log1p

import pytest

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking import tuning
from holdfast.ranking.ranker import FEATURES, features, judge, last_part
from holdfast.testing.builders import START, make_lesson


def row(**values: float) -> tuple[float, ...]:
    return tuple(values.get(name, 0.0) for name in FEATURES)


def test_by_words_alone_a_better_text_score_beats_a_younger_lesson() -> None:
    old, young = row(text=1.0, age=5.0), row(text=0.4, age=1.0)
    assert judge([old, young])[0] == 1.0


def test_with_a_file_in_play_the_younger_lesson_of_it_is_first() -> None:
    old, young = row(path=0.5, text=1.0, age=5.0), row(path=0.5, text=0.4, age=1.0)
    assert judge([old, young])[1] == 1.0


def test_the_best_has_one_and_every_other_less() -> None:
    worths = judge([row(text_rank=0.09), row(text_rank=0.05), row()])
    assert worths[0] == 1.0
    assert worths == sorted(worths, reverse=True)


def test_the_last_part_of_a_symbol_is_its_own_name() -> None:
    assert [last_part(symbol) for symbol in ("Store.put#2", "store::Store::Put", "put")] == ["put", "put", "put"]


def test_each_feature_is_what_its_name_says() -> None:
    lesson = make_lesson(kind="decision", insight="Round the ledger.", path="ledger.py", symbol="Ledger.round")
    shares = tuple(
        RetrieverShare(lane=name, rank=rank, raw=raw, share=0.1)
        for name, rank, raw in (("path", 1, 0.8), ("exact", 1, 0.5), ("vector", 1, 0.3), ("text", 6, 1.5))
    )
    rank = 1 / (tuning.RANK_OFFSET + 6), 1 / (tuning.RANK_OFFSET + 1)
    known = features(
        lesson,
        shares,
        0.4,
        3.0,
        1,
        {"round", "sum"},
        {"round", "post"},
        START + timedelta(days=30),
        ("round", "ledger"),
    )
    age = log1p(tuning.AGE_SCALE * 30 / 720)
    assert known == pytest.approx((*rank, 0.8, 1 / 3, 0.5, 0.4, 0.5, 0.3, 0.5, log(2), age))
    crowded = features(lesson, shares, 0.4, 0.0, 10, (), (), None, ("round", "ledger"))
    assert crowded == pytest.approx((*rank, 0.8 / (1 + log(10)), 0, 0, 0.4, 0, 0.3, 0.5, log(2), 0))


@pytest.mark.parametrize(
    ("answered", "weights"),
    [("vector", tuning.WITH_VECTORS), ("path", tuning.WORDS_ALONE), ("", tuning.WORDS_WITHOUT_PLACE)],
)
def test_what_answered_chooses_the_weights(answered: str, weights: tuple[float, ...]) -> None:
    base = {answered: 1.0} if answered else {}
    for name in ("text_rank", "coverage", "age"):
        best, other = sorted(judge([row(**base, **{name: 1.0}), row(**base)]), reverse=True)
        assert tuning.SOFTNESS * log(best / other) == pytest.approx(abs(weights[FEATURES.index(name)]))
    assert judge([]) == []
