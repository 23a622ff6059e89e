"""Tidying: a reviewer applies or refuses one step that is proposed for a project's memory."""

from __future__ import annotations

from holdfast.domain.vocabulary import LessonId
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.table import Op, OpAnswer
from holdfast.upkeep.tidying.proposal import Step
from holdfast.upkeep.tidying.refusals import refuse, reopen
from holdfast.upkeep.tidying.tidy import apply_step

STEPS = "/projects/{project}/tidying"


def apply_tidying(call: OpCall) -> OpAnswer:
    """Apply one step as a change of its own."""
    body = call.says(models.TidyStepIn)
    lesson, *replaced = [call.changing_lesson(ref).id for ref in (body.lesson, *body.replaces)]
    step = Step(
        verb=body.verb, lesson=lesson, replaces=tuple(map(LessonId, replaced)), title=body.title, by=body.by,
        words=body.words,
    )  # fmt: skip
    memory = call.memory
    change = apply_step(memory.services, memory.location, step, author=call.caller.name)
    return OpAnswer(
        value=views.whole(change), changed=change.lessons, audit=("tidying.apply", call.project.id),
        details={"lessons": str(len(change.lessons))},
    )  # fmt: skip


def refuse_tidying(call: OpCall) -> OpAnswer:
    """Record that one step is not to be proposed again, or take that back."""
    body = call.says(models.TidyRefusal)
    memory = call.memory
    decide = reopen if body.reopen else refuse
    decide(memory.services, memory.location, body.step)
    return OpAnswer(
        value={"step": body.step, "refused": not body.reopen}, audit=("tidying.refuse", call.project.id),
        details={"step": body.step},
    )  # fmt: skip


OPERATIONS = (
    Op(
        method="POST", path=STEPS + "/applied", name="apply_tidying", verb="review", call=apply_tidying,
        body=models.TidyStepIn, summary="Apply one step of a tidying.", out=dict, idempotent=True,
        notes="A step that would lose a person's rule, a number or a negation is refused. Undo takes it back.",
    ),
    Op(
        method="POST", path=STEPS + "/refused", name="refuse_tidying", verb="review", call=refuse_tidying,
        body=models.TidyRefusal, summary="Do not propose one step of a tidying again.", out=models.TidyRefusalView,
        idempotent=True,
    ),
)  # fmt: skip
