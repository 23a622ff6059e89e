"""Retention: old raw text is dropped, lessons never are."""

from __future__ import annotations

from datetime import timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.service.parts import Parts

TIDIED = "tidied"
"""Mark: the day on which old texts were last looked for."""


def drop_old_texts(parts: Parts) -> int:
    """Drop the texts of events older than the retention window, once a day; returns how many events had one.

    What an event was, of which file or command and how it ended stays. A window of 0 days keeps everything.
    """
    today = parts.clock.now().date().isoformat()
    if parts.retention_days <= 0 or parts.store.mark(TIDIED) == today:
        return 0
    before = parts.clock.now() - timedelta(days=parts.retention_days)
    dropped = parts.store.purge([], before).get("event_texts", 0)
    parts.store.mark(TIDIED, today)
    return dropped
