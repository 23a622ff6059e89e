"""What a person does to one lesson: confirm, flag, edit, retire, forget, restore, undo.

Each is `act(door, parameters, form)`. The door is the memory itself, or a server's operations with the browser's token,
so that rights, review, documents and the audit log stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.client.answers import LessonJudgements
from holdfast.curation.forget import NOT_CHANGES
from holdfast.curation.review import WAITING
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.team import FlagReason
from holdfast.errors import ForbiddenError, HoldfastError, InvalidValueError, StaleWriteError, TakenError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import short_id
from holdfast.pages.lessonform import EditForm, changed_fields, edit_page, in_force
from holdfast.pages.page import ActionAnswer, ActionRow, Goal, NoValues, UndoStep
from holdfast.pages.view import Door

CHANGES_LOOKED_AT = 20
"""Newest changes among which those of a decision are looked for."""
TITLE_SHOWN = 60
"""Characters of a title that a message names."""
LESSON = "/p/{project}/lessons/{lesson}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagForm:
    """What is wrong with a lesson."""

    reason: FlagReason = "stale"
    note: str = ""
    of: str = ""
    """The lesson that a duplicate repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireForm:
    """Until when a lesson is of no use."""

    revive_when: str = ""
    """Such as `numpy>=2`; empty: for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoForm:
    """What to undo: changes by their ids, the newest first, or what was said of a lesson."""

    change: tuple[str, ...] = ()
    withdraw: str = ""
    """The lesson of which a confirmation or a flag is taken back."""


def confirm(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Say that the lesson holds. Over a person's own file a lesson that waits is accepted by that."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    if isinstance(door, Memory):
        if before.state in WAITING:
            door.accept(before.id)
        else:
            door.confirm(before.id)
        return ActionAnswer(message=f"Confirmed: {_name(before)}", undo=make_undo(door, before, newest))
    judged: LessonJudgements = door.confirm(before.id)
    if judged.accepted_by:
        words = f"Confirmed, and by that accepted: {_name(before)}"
        return ActionAnswer(message=words, undo=make_undo(door, before, newest))
    return ActionAnswer(message=f"Confirmed: {_name(before)}", undo=_withdrawing(before))


def flag(door: Door, parameters: Mapping[str, str], form: FlagForm) -> ActionAnswer:
    """Say that the lesson is stale, incorrect or a duplicate."""
    lesson = door.get(parameters["lesson"])
    door.flag(lesson.id, form.reason, note=form.note.strip(), of=form.of.strip() if form.reason == "duplicate" else "")
    return ActionAnswer(message=f"Flagged as {form.reason}: {_name(lesson)}", undo=_withdrawing(lesson))


def retire(door: Door, parameters: Mapping[str, str], form: RetireForm) -> ActionAnswer:
    """Take the lesson out of use, until a condition holds or for good."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    after = door.retire(before.id, form.revive_when.strip())
    until = f" until {after.revival}" if after.revival else ""
    return ActionAnswer(message=f"Retired{until}: {_name(before)}", undo=make_undo(door, before, newest))


def forget(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Take the lesson out of use for good; its history stays."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    door.forget(before)
    return ActionAnswer(message=f"Forgotten: {_name(before)}", undo=make_undo(door, before, newest))


def restore(door: Door, parameters: Mapping[str, str], form: UndoForm) -> ActionAnswer:
    """Bring a forgotten lesson back by undoing that change, or a retired one by accepting it."""
    before, newest = door.get(parameters["lesson"]), newest_change(door)
    if before.state == "forgotten":
        if not form.change:
            raise InvalidValueError("it is not known by which change this was forgotten", hint="state it anew")
        _undo_all(door, form)
        after = door.get(before.id)
        return ActionAnswer(message=f"Restored: {_name(after)}")
    door.accept(before.id)
    return ActionAnswer(message=f"Restored: {_name(before)}", undo=make_undo(door, before, newest))


def undo(door: Door, parameters: Mapping[str, str], form: UndoForm) -> ActionAnswer:
    """Take back exactly what was done."""
    if form.withdraw:
        lesson = door.withdraw(form.withdraw)
        lesson = lesson.lesson if isinstance(lesson, LessonJudgements) else lesson
        return ActionAnswer(message=f"Taken back what you said of it: {_name(lesson)}")
    if not form.change:
        raise InvalidValueError("nothing says what to undo", hint="open the lesson: its page undoes its last change")
    change = _undo_all(door, form)
    first = next(iter(change.lessons), None)
    return ActionAnswer(message=f"Undone. It is as before: {_name(door.get(first))}" if first else "Undone.")


def _undo_all(door: Door, form: UndoForm) -> Change:
    """Undo the changes in order; return the record of the last undo."""
    undone = [door.undo(change=change) for change in form.change]
    return undone[-1]


# Editing


def edit(door: Door, parameters: Mapping[str, str], form: EditForm) -> ActionAnswer:
    """Save what was typed. Where it cannot be saved, the page comes again with it, and says why.

    Changed words make a successor; a changed title or condition alone changes the lesson itself. Somebody who may not
    change the lesson proposes a revision.
    """
    before, newest = in_force(door, door.get(parameters["lesson"])), newest_change(door)
    if form.version and form.version != render_instant(before.recorded_at):
        return ActionAnswer(message="", page=edit_page(before, form, _changed_meanwhile()))
    words, triggers = changed_fields(before, form)
    if not words and not triggers:
        return ActionAnswer(message="Nothing was changed.", to=_to(before))
    try:
        after = _save(door, before, words, triggers)
    except (StaleWriteError, TakenError) as problem:
        now = in_force(door, door.get(before.id))
        is_changed = now.id != before.id or now.recorded_at != before.recorded_at
        refusal = _changed_meanwhile() if is_changed else _stated_twice(problem, words)
        return ActionAnswer(message="", page=edit_page(now, form, refusal))
    except HoldfastError as problem:
        return ActionAnswer(message="", page=edit_page(before, form, problem))
    if after.state in WAITING and after.id != before.id and before.state not in WAITING:
        step = UndoStep(name="forget", parameters={"lesson": after.id})
        return ActionAnswer(message="Your revision waits for a reviewer.", to=_to(after), undo=step)
    return ActionAnswer(message=f"Saved: {_name(after)}", to=_to(after), undo=make_undo(door, before, newest))


def _changed_meanwhile() -> StaleWriteError:
    return StaleWriteError(
        "Somebody changed this lesson while you were writing.",
        hint="Nothing is lost: your text is below, theirs beside it where the two differ.",
    )


def _stated_twice(problem: HoldfastError, words: Mapping[str, str]) -> InvalidValueError:
    """Return why a lesson that nobody changed meanwhile was not saved: two lessons in use never state one rule."""
    if "insight" in words:
        return InvalidValueError(str(problem), hint="say what differs, or edit that lesson")
    return InvalidValueError(
        "Only a reviewer changes a lesson without changing its rule.",
        hint="Change the words of the rule, too: that is proposed to a reviewer.",
    )


def _save(door: Door, before: Lesson, words: Mapping[str, Any], triggers: Mapping[str, Any]) -> Lesson:
    if set(words) <= {"title"}:
        try:
            return door.edit(before, **words, **triggers)
        except ForbiddenError:
            pass  # then it is proposed, like other words
    if "insight" not in words or "title" in words:
        return door.revise(before, **words, when=triggers or None)
    try:  # a title that still says the same stays; otherwise the new rule gets its own
        return door.revise(before, **words, title=before.title, when=triggers or None)
    except InvalidValueError:
        return door.revise(before, **words, when=triggers or None)


# What the actions share


def newest_change(door: Door) -> str:
    """Return the id of the project's newest change, to be asked for before a decision; empty if there is none."""
    return next((change.id for change in door.changes(limit=1)), "")


def make_undo(door: Door, lesson: Lesson, newest: str) -> UndoStep | None:
    """Return the step that undoes what was done to the lesson since that change was the newest; None for nothing.

    One decision may be several changes: accepting a lesson may close one that contradicts it.
    """
    since = takewhile(lambda change: change.id != newest, door.changes(limit=CHANGES_LOOKED_AT))
    changes = [change.id for change in since if lesson.id in change.lessons and change.verb not in NOT_CHANGES]
    return UndoStep(name="undo", fields={"change": ",".join(changes)}) if changes else None


def _withdrawing(lesson: Lesson) -> UndoStep:
    return UndoStep(name="undo", fields={"withdraw": lesson.id})


def _to(lesson: Lesson) -> Goal:
    return Goal(name="lesson", parameters={"lesson": lesson.id})


def _name(lesson: Lesson) -> str:
    """Return the lesson's title for a message, with a full stop."""
    title = lesson.title if len(lesson.title) <= TITLE_SHOWN else lesson.title[: TITLE_SHOWN - 1].rstrip() + "…"
    return f"{title} ({short_id(lesson.id)})"


ACTIONS = (
    ActionRow(path=f"{LESSON}/confirm", name="confirm", verb="judge", act=confirm),
    ActionRow(path=f"{LESSON}/flag", name="flag", verb="judge", act=flag, form=FlagForm),
    ActionRow(path=f"{LESSON}/edit", name="edit", verb="write", act=edit, form=EditForm),
    ActionRow(path=f"{LESSON}/retire", name="retire", verb="write", act=retire, form=RetireForm),
    ActionRow(path=f"{LESSON}/forget", name="forget", verb="write", act=forget),
    ActionRow(path=f"{LESSON}/restore", name="restore", verb="review", act=restore, form=UndoForm),
    ActionRow(path="/p/{project}/undo", name="undo", verb="judge", act=undo, form=UndoForm),
)
