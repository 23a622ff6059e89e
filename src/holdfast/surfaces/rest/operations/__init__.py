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
)
from holdfast.surfaces.rest.table import Op

OPERATIONS: tuple[Op, ...] = (
    *server.OPERATIONS,
    *questions.OPERATIONS,
    *lessons.OPERATIONS,
    *judging.OPERATIONS,
    *sessions.OPERATIONS,
    *syncing.OPERATIONS,
    *projects.OPERATIONS,
    *organisations.OPERATIONS,
    *accounts.OPERATIONS,
)
