"""The searches of the in-memory store keep to the contract that every backend keeps to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import pytest

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LIVING, LessonId
from holdfast.lean.records import replace
from holdfast.ports.store import LessonFilter
from holdfast.testing._store_matches import PathContract, WordsContract
from holdfast.testing._store_search import SearchContract
from holdfast.testing.memorysearch import MemorySearch


class Versions(MemorySearch):
    """As much of a store as searches need."""

    def __init__(self) -> None:
        self.versions: list[Lesson] = []
        self.vectors: dict[str, dict[LessonId, Sequence[float]]] = {}

    def known(self, as_of: datetime | None) -> Iterator[tuple[int, Lesson]]:
        for position, lesson in enumerate(self.versions, start=1):
            held, closed = lesson.validity, lesson.retracted_at
            if as_of is None:
                is_known = closed is None
            else:
                is_true = held.valid_from <= as_of and (held.valid_to is None or held.valid_to > as_of)
                is_known = lesson.recorded_at <= as_of and (closed is None or closed > as_of)
                is_known = is_known and (is_true or lesson.state not in LIVING)
            if is_known:
                yield position, lesson

    def put(self, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None]) -> None:
        for lesson in lessons:
            for position, before in enumerate(self.versions):
                if before.id == lesson.id and before.retracted_at is None:
                    self.versions[position] = replace(before, retracted_at=lesson.recorded_at)
            self.versions.append(lesson)

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        self.vectors.setdefault(embedder_id, {}).update(vectors)

    def find(self, where: LessonFilter) -> list[Lesson]:
        return [one for _, one in self.known(None) if one.scope.branch or not where.staged]

    def check(self) -> list[object]:
        return []


class TestMemorySearch(SearchContract, WordsContract, PathContract):
    @pytest.fixture
    def store(self) -> Versions:
        return Versions()
