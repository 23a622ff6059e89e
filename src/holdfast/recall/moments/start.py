"""At a session's start and after a compaction: the state of the task, and the brief."""

from __future__ import annotations

from dataclasses import replace

from holdfast.curation.taskstate import STATE_TOKENS, render
from holdfast.domain.briefing import Briefing
from holdfast.domain.statefamilies import LEARNING_TROUBLE
from holdfast.domain.vocabulary import LessonId
from holdfast.outcomes.holdout import is_withheld
from holdfast.recall.brief import Room, session_brief
from holdfast.recall.moments.context import MomentContext


def session_start(context: MomentContext) -> Briefing:
    """Deliver the state of the task and the brief; to an agent that was told before, only what is new."""
    call, services = context.call, context.services
    context.checkpoint = context.restorable(own=True)
    task = ""
    if context.checkpoint is not None:
        task = render(context.checkpoint, min(STATE_TOKENS, context.budget // 3))
    task = "\n".join(filter(None, (_trouble(context), task)))
    profile = context.host_profile
    room = Room(tokens=min(context.budget, profile.start_tokens), characters=profile.start_characters)

    def drawn(lesson: LessonId) -> bool:
        return is_withheld(call.session, lesson, services.holdout)

    briefing, context.withheld = session_brief(
        services,
        context.location,
        room,
        task=task,
        leave_out=context.known_lessons,
        learnt_in="" if context.forgot else call.session,
        is_withheld=drawn if services.holdout else None,
    )
    if context.known_lessons and not (briefing.entries or task):
        return Briefing(moment=context.moment)
    return replace(briefing, moment=context.moment)


def _trouble(context: MomentContext) -> str:
    """Return the line that says why sessions are not learnt from any more; a session is told once, at its start."""
    if context.moment != "session_start" or context.told or context.call.agent:
        return ""
    return context.services.store.get_state(LEARNING_TROUBLE)
