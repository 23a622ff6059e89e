"""The rows of the table, by subject, in the order in which they are listed."""

from __future__ import annotations

from holdfast.surfaces.rest.operations import (
    accounts,
    judging,
    lessons,
    organisations,
    projects,
    questions,
    server,
    sessions,
    syncing,
    tidying,
)
from holdfast.surfaces.rest.table import Op

SUBJECTS: dict[str, tuple[Op, ...]] = {
    "Server": server.OPERATIONS,
    "Questions": questions.OPERATIONS,
    "Lessons": lessons.OPERATIONS,
    "Review": (*judging.OPERATIONS, *tidying.OPERATIONS),
    "Sessions": sessions.OPERATIONS,
    "Sync": syncing.OPERATIONS,
    "Projects": projects.OPERATIONS,
    "Organisation": organisations.OPERATIONS,
    "Accounts": accounts.OPERATIONS,
}
"""Headings, in the order in which they are read, with their operations."""
OPERATIONS: tuple[Op, ...] = tuple(op for ops in SUBJECTS.values() for op in ops)
SUBJECT_OF = {op.name: subject for subject, ops in SUBJECTS.items() for op in ops}
