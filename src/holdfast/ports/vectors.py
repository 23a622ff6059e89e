"""Vectors: what embedders made of the lessons' texts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from holdfast.domain.vocabulary import LessonId
else:
    Protocol = object


class Vectors(Protocol):
    """Unit vectors of current versions, one for each lesson and embedder."""

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        """Keep unit vectors of lessons' current versions; a revised lesson's old vector is gone with its text."""
        ...

    def count_without_vector(self, embedder_id: str) -> int:
        """How many lessons `LessonFilter.without_vector` would find in all projects."""
        ...

    def drop_other_vectors(self, embedder_id: str) -> None:
        """Erase the vectors of every other embedder; stopped half-way, the rest goes with the next call."""
        ...
