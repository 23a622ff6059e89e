"""Constants of capture, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

LIVE_MINUTES = 10
"""Age of an event up to which what is checked out now was checked out at its time."""
LOOK_BACK = 3_000
"""Newest positions that are looked at for a sign of life of a host."""
DELIVERIES_READ = 500
"""Newest deliveries that are looked at for it."""
