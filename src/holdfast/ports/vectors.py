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

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]], only: bool = False) -> int:
        """Keep unit vectors of lessons' current versions; a revised lesson's old vector is gone with its text.

        With none to keep it answers how many lessons `LessonFilter.without_vector` would find, else 0. With `only`,
        vectors of every other embedder are erased; stopped half-way, the rest goes with the next such call.
        """
        ...
