"""Constants of capture, each with its unit. ARCHITECTURE.md says how they are guarded."""

from __future__ import annotations

LOOK_BACK = 3_000
"""Newest positions that are looked at for a sign of life of a host."""
DELIVERIES_READ = 500
"""Newest deliveries that are looked at for it."""
HEAD_CHARACTERS = 48_000
"""Characters at the beginning of a prompt, command or error that are looked at: a host may send megabytes."""
TAIL_CHARACTERS = 16_000
"""Characters at its end."""
