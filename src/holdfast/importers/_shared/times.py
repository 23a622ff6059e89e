"""Reads times as other programs write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from holdfast.lean.plain import parse_instant


def instant(value: Any) -> datetime | None:
    """Return a time from ISO text, or from seconds or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, str) and value:
            return parse_instant(value.strip())
        if isinstance(value, (int, float)) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
