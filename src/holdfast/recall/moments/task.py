"""Decides which task's state a session is told: the one it goes on with, and the one it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from holdfast.curation.taskstate import GOING_ON, current, is_work, matching
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import LessonId, Moment
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.tuning import CHECKPOINT_DAYS, OPENING_WORDS, SUBJECT_SHARED


def restorable(
    services: Services,
    location: Location,
    call: HookCall,
    moment: Moment,
    deliveries_told: Iterable[Delivery],
    own: bool,
) -> Checkpoint | None:
    """Return the state of this branch's task to tell without being asked; None if there is none, or it is known.

    `deliveries_told` are those that the agent still has in its context; `own` admits a state of this session, which it
    knows unless it was compacted or the agent saved it. Another session's state is told to one session; later ones are
    told only if their prompt is about it.
    """
    checkpoint = current(services, location)
    if checkpoint is None or checkpoint.id in {delivery.lesson for delivery in deliveries_told}:
        return None
    if services.clock.now() - checkpoint.at > timedelta(days=CHECKPOINT_DAYS):
        return None
    if checkpoint.session == call.session:
        is_lost = moment == "after_compaction" or not checkpoint.is_automatic
        return checkpoint if own and is_lost else None
    if not is_work(checkpoint):
        return None
    where = LogFilter(project=location.project.id, lesson=LessonId(checkpoint.id), limit=1)
    if not services.store.find_records(Delivery, where):
        return checkpoint
    about = f"{checkpoint.goal}\n{checkpoint.asked}\n{' '.join(checkpoint.next)}"
    return checkpoint if moment == "prompt" and shares_subject(call.prompt, about) else None


def asked_for(services: Services, location: Location, call: HookCall) -> Checkpoint | None:
    """Return the state that the prompt asks for (`where did we leave off with X?`); None if it asks for none."""
    return next(iter(matching(services, location, call.prompt, call.session)), None)


def shares_subject(prompt: str, task: str) -> bool:
    """Return whether a prompt continues a task: it says so, or shares telling words with it."""
    opening = " ".join(prompt.lower().split()[:OPENING_WORDS])
    if any(phrase in opening for phrase in GOING_ON):
        return True
    telling = {stem for stem in stems_of(task) if stem not in EVERYDAY and len(stem) > 2}
    return len(telling & stems_of(prompt)) >= min(SUBJECT_SHARED, max(1, len(telling)))
