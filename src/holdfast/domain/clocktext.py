"""Instants as text and back: aware UTC, fixed width, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.domain.errors import InvalidValueError


def render_instant(at: datetime) -> str:
    """`2026-11-21T08:45:29.123456Z`, always 27 characters."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_instant(text: str) -> datetime:
    """An aware UTC datetime from ISO 8601 text; text without a zone is taken as UTC.

    Raises InvalidValueError for anything else.
    """
    try:
        at = datetime.fromisoformat(text)
    except (TypeError, ValueError) as exc:
        raise InvalidValueError(f"not a time: {text!r}", hint="use ISO 8601, e.g. 2026-11-21T08:45:29Z") from exc
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
