"""Erasure: removes data from a store for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId


class Erasure(Protocol):
    """Erasing follows every derivation: rows, indexes, logs and the bytes of the file."""

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        """Erase the lessons with every version, text, vector and log record; return the number of rows by table.

        The events that a version quotes lose their raw texts. Its rule and quotes are removed from the other events,
        checkpoints and deliveries of the sessions in which the lesson was seen.
        The record of the change, if there is one, is stored in the same transaction.
        """

    def erase_event_texts(self, before: datetime) -> int:
        """Erase the raw texts of events that happened before that instant; return how many events had any.

        The events themselves stay.
        """
