"""Erasure: what is taken out of a store for good."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Protocol

    from holdfast.domain.records import Change
    from holdfast.domain.vocabulary import LessonId
else:
    Protocol = object


class Erasure(Protocol):
    """Erasing follows every derivation: rows, indexes, logs and the bytes of a file."""

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        """Erase the lessons, every version, their text, vectors and log records; rows erased by table.

        The events that a version quotes lose their raw texts, and its rule and quotes are taken out of the other
        events, checkpoints and deliveries of the sessions it was seen in.
        The record of the change, if there is one, is kept in the same transaction.
        """
        ...

    def erase_event_texts(self, before: datetime) -> int:
        """Erase the raw texts of events that happened before that instant; returns how many events had any.

        That they happened stays known.
        """
        ...
