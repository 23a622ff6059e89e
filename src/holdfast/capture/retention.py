"""Retention: drops old raw texts; lessons stay."""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.statefamilies import TIDIED
from holdfast.ports.services import Services


def drop_old_texts(services: Services) -> int:
    """Drop the texts of events older than the retention window, once a day; return how many events had one.

    An event's kind, file, command and exit status stay. A window of 0 days keeps every text. Expired states are
    dropped as well.
    """
    now = services.clock.now()
    today = now.date().isoformat()
    if services.store.get_state(TIDIED) == today:
        return 0
    dropped = 0
    if services.retention_days > 0:
        dropped = services.store.erase_event_texts(now - timedelta(days=services.retention_days))
    services.store.expire_states(now)
    services.store.set_state(TIDIED, "", today)
    return dropped
