"""LessonStore: lessons and every version of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId, State
from holdfast.errors import LessonNotFoundError
from holdfast.ports.filters import LessonFilter

if TYPE_CHECKING:
    from holdfast.ports.storecare import StoreCare


class LessonStore(Protocol):
    """Lessons as versions: a version is closed by its successor and never edited."""

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        """Write a version of each lesson and the record of the change, all in one transaction.

        `expected` maps an id to the `recorded_at` of the version it replaces (None: the lesson is new). That version
        is closed at the new one's `recorded_at`. A change whose id is already stored replaces that record, so that a
        long import can extend its one record batch by batch.

        Raises StaleWriteError, writing nothing, when the expected version is not the current one, and when a lesson
        with a new id states the rule of another living lesson: candidate, active or quarantined, of the same
        with a new id states the rule of another living lesson: candidate, active or quarantined, of the same
        scope level, project and kind, with an equal `text.words.duplicate_key`. Later versions of a known lesson are
        not compared, because a restored lesson may state what another lesson states by now.
        """

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """Return the lessons in the order of the ids, as known at that instant.

        Raises LessonNotFoundError for an unknown id, and for a lesson whose row is damaged.
        """

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        """Return the state and the time of recording of each lesson's current version; leave out unknown ids."""

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Return the lessons that match, newest first, ties by id."""


def get_readable(lessons: LessonStore, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
    """Return those of the lessons that can be read, in order; skip damaged and erased ones instead of raising."""
    try:
        return lessons.get(ids, as_of)
    except LessonNotFoundError:
        readable: list[Lesson] = []
        for id_ in ids:
            try:
                readable += lessons.get([id_], as_of)
            except LessonNotFoundError:
                continue
        return readable


def damage_words(care: StoreCare) -> str:
    """Return a notice for readers on rows that were left out; empty if there are none."""
    count = care.left_out()
    return f"{count} damaged {'row' if count == 1 else 'rows'} left out: holdfast doctor" if count else ""
