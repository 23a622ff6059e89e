"""Tells whether a prompt continues a task."""

from __future__ import annotations

from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.tuning import OPENING_WORDS, SUBJECT_SHARED

GOING_ON = ("continue", "resume", "go on with", "carry on", "pick up where", "where we left")


def shares_subject(prompt: str, task: str) -> bool:
    """Return whether a prompt continues a task: it says so, or shares telling words with it."""
    opening = " ".join(prompt.lower().split()[:OPENING_WORDS])
    if any(phrase in opening for phrase in GOING_ON):
        return True
    telling = {stem for stem in stems_of(task) if stem not in EVERYDAY and len(stem) > 2}
    return len(telling & stems_of(prompt)) >= min(SUBJECT_SHARED, max(1, len(telling)))
