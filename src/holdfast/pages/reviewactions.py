"""What a person decides on the review page: every decision says how it is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.pages.actions import make_undo, newest_change
from holdfast.pages.page import ActionAnswer, ActionRow, NoValues, UndoStep
from holdfast.pages.view import Door
from holdfast.upkeep.tidying.proposal import Step
from holdfast.upkeep.tidying.refusals import digest_of, refuse, reopen
from holdfast.upkeep.tidying.tidy import apply_step

DONE = {"merge": "Merged", "retitle": "New title", "retire": "Retired"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleForm:
    """Which lesson of a contradiction stays, and which one it closes."""

    lesson: str = ""
    over: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairForm:
    """Two lessons that both hold."""

    lesson: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepForm:
    """A step that tidying proposes; see `upkeep.tidying.proposal.Step`."""

    verb: str = ""
    lesson: str = ""
    replaces: tuple[str, ...] = ()
    title: str = ""
    by: str = ""
    words: tuple[str, ...] = ()

    def step(self) -> Step:
        """Return the step. Raises InvalidValueError for one that is none."""
        if self.verb not in DONE or not self.lesson:
            raise InvalidValueError("this is no step of a tidying", hint="open the review page again")
        return Step(
            verb=self.verb, lesson=LessonId(self.lesson), replaces=tuple(map(LessonId, self.replaces)),
            title=self.title, by=self.by, words=self.words,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenForm:
    """The refused step, by its digest."""

    step: str = ""


def accept(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Confirm a lesson that waits."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    lesson = door.accept(before.id)
    return ActionAnswer(message=f"Confirmed: {lesson.title}", undo=make_undo(door, before, newest))


def reject(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Retire a lesson that waits."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    lesson = door.reject(before.id)
    return ActionAnswer(message=f"Rejected: {lesson.title}", undo=make_undo(door, before, newest))


def keep(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """State that a lesson in doubt still holds."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    lesson = door.keep(before.id)
    return ActionAnswer(message=f"Still holds: {lesson.title}", undo=make_undo(door, before, newest))


def later(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Leave a lesson in doubt for later."""
    lesson = door.put_off(parameters["lesson"])
    undo = UndoStep(name="bring-back", parameters={"lesson": lesson.id})
    return ActionAnswer(message=f"Left for 7 days: {lesson.title}", undo=undo)


def bring_back(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """List a lesson again that was left for later."""
    lesson = door.bring_back(parameters["lesson"])
    return ActionAnswer(message=f"Listed again: {lesson.title}")


def settle(door: Door, parameters: Mapping[str, str], form: SettleForm) -> ActionAnswer:
    """Keep one lesson of a contradiction and close the other one."""
    before, newest = door.get(form.lesson), newest_change(door)
    lesson = door.settle(before.id, [form.over])
    message = f"Kept: {lesson.title}. Closed: {short_id(form.over)}"
    return ActionAnswer(message=message, undo=make_undo(door, before, newest))


def keep_both(door: Door, parameters: Mapping[str, str], form: PairForm) -> ActionAnswer:
    """State that both lessons of a contradiction hold."""
    before, newest = door.get(form.lesson), newest_change(door)
    door.keep_both(before.id, form.other)
    message = f"Both hold: {short_id(form.lesson)} and {short_id(form.other)}"
    return ActionAnswer(message=message, undo=make_undo(door, before, newest))


def act_apply_step(door: Door, parameters: Mapping[str, str], form: StepForm) -> ActionAnswer:
    """Apply one step of a tidying."""
    step = form.step()
    if isinstance(door, Memory):
        change = apply_step(door.services, door.location, step)
    else:
        change = door.apply_tidying(
            step.verb, step.lesson, replaces=step.replaces, title=step.title, by=step.by, words=step.words
        )
    lesson = door.get(step.lesson)
    return ActionAnswer(
        message=f"{DONE[step.verb]}: {lesson.title}",
        undo=UndoStep(name="undo", fields={"change": change.id}),
    )


def act_refuse_step(door: Door, parameters: Mapping[str, str], form: StepForm) -> ActionAnswer:
    """Refuse one step of a tidying."""
    digest = digest_of(form.step())
    if isinstance(door, Memory):
        refuse(door.services, door.location, digest)
    else:
        door.refuse_tidying(digest)
    return ActionAnswer(
        message=f"Refused, and not proposed again: {door.get(form.lesson).title}",
        undo=UndoStep(name="reopen-step", fields={"step": digest}),
    )


def act_reopen_step(door: Door, parameters: Mapping[str, str], form: ReopenForm) -> ActionAnswer:
    """Take the refusal of a step back."""
    if isinstance(door, Memory):
        reopen(door.services, door.location, form.step)
    else:
        door.refuse_tidying(form.step, reopen=True)
    return ActionAnswer(message="Proposed again.")


LESSON, REVIEW = "/p/{project}/lessons/{lesson}", "/p/{project}/review"
ACTIONS = (
    ActionRow(path=f"{LESSON}/accept", name="accept", verb="review", act=accept),
    ActionRow(path=f"{LESSON}/reject", name="reject", verb="review", act=reject),
    ActionRow(path=f"{LESSON}/keep", name="keep", verb="review", act=keep),
    ActionRow(path=f"{LESSON}/later", name="later", verb="review", act=later),
    ActionRow(path=f"{LESSON}/bring-back", name="bring-back", verb="review", act=bring_back),
    ActionRow(path=f"{REVIEW}/settle", name="settle", verb="review", act=settle, form=SettleForm),
    ActionRow(path=f"{REVIEW}/keep-both", name="keep-both", verb="review", act=keep_both, form=PairForm),
    ActionRow(path=f"{REVIEW}/apply-step", name="apply-step", verb="review", act=act_apply_step, form=StepForm),
    ActionRow(path=f"{REVIEW}/refuse-step", name="refuse-step", verb="review", act=act_refuse_step, form=StepForm),
    ActionRow(path=f"{REVIEW}/reopen-step", name="reopen-step", verb="review", act=act_reopen_step, form=ReopenForm),
)
