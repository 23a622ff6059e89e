"""What every write does beside its operation, in the operation's own transaction.

Documents of changed lessons are written again, new lessons are noted with who proposed them, and the audit log gets its
entry. `team.answers` stores the answer to a request with an idempotency key in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import EmbedderError, StaleWriteError, StoreDeadlockError
from holdfast.ports.store import get_readable
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.table import OpAnswer
from holdfast.team import audit, review

R = TypeVar("R")

LONGEST_KEY = 200
"""Characters of an idempotency key."""
TRIES = 3
"""How often a write is tried that loses a race; each try is a transaction of its own."""
KEPT_HEADERS = ("ETag", "Location", "Holdfast-After")
"""Headers of an answer that are stored with it."""


def with_retries(write: Callable[[], R]) -> R:
    """Return the write's answer; repeat one that lost a race, reading everything anew."""
    for _ in range(TRIES - 1):
        try:
            return write()
        except (StaleWriteError, StoreDeadlockError):
            continue
    return write()


def take_turn(call: OpCall) -> None:
    """Wait until no other request writes to the project.

    Writes of a project end with its documents, and all of them take a number from one counter. Taken last, that counter
    would let two requests wait for each other in a circle: one of them has the audit log or a lesson by then.
    """
    if "project" in call.op.parameters:
        call.stores.documents.hold(ProjectId(call.parameters["project"]), [])


def finish(call: OpCall, answer: OpAnswer) -> dict[str, str]:
    """Write documents and the audit entry; return the header that says how far the project's feed is."""
    headers: dict[str, str] = {}
    if answer.changed:
        _publish(call, answer.changed)
    if "project" in call.op.parameters:
        project = ProjectId(call.parameters["project"])
        headers["Holdfast-After"] = str(call.stores.documents.last_seqs([project]).get(project, 0))
    action, target = answer.audit
    if action:
        audit.record(call.team, call.caller.actor, action, target, **answer.details)
    return headers


def _publish(call: OpCall, ids: Sequence[LessonId]) -> None:
    present: list[Lesson] = get_readable(call.stores.store, list(dict.fromkeys(ids)))
    # first, because what follows makes other writers of the organisation wait until this transaction ends
    with suppress(EmbedderError):  # then the lesson is found by its words alone
        call.memory.embed_written([lesson.id for lesson in present])
    review.note_saved(call.team, call.caller, call.project, present)
    call.publish(ids)
