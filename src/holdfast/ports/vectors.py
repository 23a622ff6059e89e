"""Vectors: the vectors that embedders made of the lessons' texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from holdfast.domain.vocabulary import LessonId


class Vectors(Protocol):
    """Unit vectors of current versions, one for each lesson and embedder."""

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        """Store unit vectors of lessons' current versions; revising a lesson drops its old vector."""

    def count_without_vector(self, embedder_id: str) -> int:
        """Count the lessons that `LessonFilter.without_vector` selects in all projects."""

    def drop_other_vectors(self, embedder_id: str) -> None:
        """Erase the vectors of every other embedder; if it is interrupted, the next call erases the rest."""
