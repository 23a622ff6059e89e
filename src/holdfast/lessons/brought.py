"""Brought: lessons that a repository brings as files, and that this memory has never taken in."""

from __future__ import annotations

from holdfast.domain.project import Location
from holdfast.domain.statefamilies import SYNCED, SYNCED_LESSONS
from holdfast.ports.services import Services


def count_brought(services: Services, location: Location) -> int:
    """Return how many lesson files the work tree has, if none of its project was ever synced here; else 0."""
    if services.store.get_state(SYNCED, location.project.id):
        return 0
    count = services.workspace.count_lesson_files(location)
    return 0 if count and services.store.get_rows(SYNCED_LESSONS, location.project.id) else count


def brought_words(count: int) -> str:
    """Say that the repository brings lessons; empty if it brings none."""
    what = "lesson that is" if count == 1 else "lessons that are"
    return f"this repository brings {count:,} {what} not in your memory" if count else ""


TAKE_IN = "holdfast sync"
"""The command to type: new lessons wait for review then."""
BROUGHT_REQUEST = "Tell the user once: `holdfast sync` reads them for review, `holdfast sync --accept` takes them."
"""For an agent, behind the words: only a person vouches for a repository's lessons."""
