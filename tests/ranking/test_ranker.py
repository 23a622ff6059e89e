from __future__ import annotations

from holdfast.ranking.ranker import FEATURES, judge


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
