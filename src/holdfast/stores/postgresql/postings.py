"""The words of lessons: which terms a lesson has, and how much each counts in it."""

from __future__ import annotations

from holdfast.domain.lesson import Lesson
from holdfast.ranking.relevance import stem
from holdfast.ranking.tuning import TEXT_COLUMN_WEIGHTS
from holdfast.text.searchkeys import text_columns
from holdfast.text.words import terms


def term_weights(lesson: Lesson) -> dict[str, int]:
    """Return the stems of the lesson's words, each with the sum of the weights of the columns that have it."""
    weights: dict[str, int] = {}
    for weight, column in zip(TEXT_COLUMN_WEIGHTS, text_columns(lesson), strict=True):
        for term in dict.fromkeys(map(stem, terms(column))):
            weights[term] = weights.get(term, 0) + round(weight)
    return weights


def error_terms(lesson: Lesson) -> list[str]:
    """Return the words of the lesson's error signature, each once, not stemmed."""
    return list(dict.fromkeys(terms(lesson.error_signature)))
