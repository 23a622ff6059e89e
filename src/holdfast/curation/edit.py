"""Edit: changes when a lesson is told, and its title. Its insight, id and history stay; `revise` changes words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holdfast.curation.tuning import TRIGGER_LENGTH, TRIGGERS_MOST
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LIVING
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.plain import field_names
from holdfast.lean.texts import short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.lessons.statement import SAID, checked_title, clean, said, texts
from holdfast.ports.services import Services
from holdfast.ranking.aim import TASKS
from holdfast.text.occasions import COMMAND_KINDS
from holdfast.text.titles import make_title

WORK = (*TASKS, *COMMAND_KINDS)
"""Kinds of work and of commands that a trigger may name."""


def edit(services: Services, location: Location, ref: str, changes: Mapping[str, Any], *, author: str) -> Lesson:
    """Return the lesson with those trigger fields changed, or its title; an empty list removes a kind of triggers.

    An empty title is made of the insight anew. Raises InvalidValueError for no change, for an impossible trigger and
    for a title that names only a topic or does not keep the lesson's meaning; IllegalTransitionError for a lesson that
    is not living.
    """
    fields = _checked({name: value for name, value in changes.items() if name != "title"})
    title = clean(*texts("title", changes["title"])) if "title" in changes else None

    def step() -> Lesson:
        old = resolve(services, location, ref)
        if old.state not in LIVING:
            hint = f"holdfast show {short_id(old.id)}"
            raise IllegalTransitionError(
                f"lesson {short_id(old.id)} is {old.state}, so it is never delivered", hint=hint
            )
        when = replace(old.when, **fields, edited=True) if fields else old.when
        named = old.title if title is None else _titled(old, title)
        if when == replace(old.when, edited=bool(fields) or old.when.edited) and named == old.title:
            raise InvalidValueError(
                "nothing to edit: neither a trigger nor the title would change", hint="give a new one"
            )
        after = replace(old, when=when, title=named, recorded_at=services.clock.now())
        return write_change(services, location, "revise", [after], {old.id: old.recorded_at}, actor=author).lessons[0]

    return with_retries(step)


def _titled(lesson: Lesson, title: str) -> str:
    """Return the title for the lesson; one made of its insight for an empty one."""
    own = {name: getattr(lesson, name) for name in SAID}
    stated = checked_title(title, "person", said(own), "\n".join(span.quote for span in lesson.provenance.evidence))
    return stated or make_title(lesson.insight)


def triggers_of(stated: Mapping[str, Any]) -> Triggers:
    """Return the triggers that somebody states; raises InvalidValueError as `edit` does."""
    return Triggers(**_checked(stated))


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in changes.items():
        if name in ("standing", "edited"):
            if not isinstance(value, bool):
                raise InvalidValueError(f"{name} must be true or false")
            fields[name] = value
            continue
        if name not in field_names(Triggers):
            raise InvalidValueError(
                f"unknown kind of trigger {name!r}", hint=f"one of {', '.join(field_names(Triggers))}"
            )
        fields[name] = tuple(dict.fromkeys(filter(None, map(clean, texts(name, value)))))
        _check_each(name, fields[name])
    return fields


def _check_each(name: str, triggers: tuple[str, ...]) -> None:
    if len(triggers) > TRIGGERS_MOST or any(len(trigger) > TRIGGER_LENGTH for trigger in triggers):
        raise InvalidValueError(f"at most {TRIGGERS_MOST} {name} of at most {TRIGGER_LENGTH} characters")
    for trigger in triggers:
        if name == "literals" and len(trigger) < 3:
            raise InvalidValueError(
                f"{trigger!r} occurs in almost any text", hint="a literal needs at least 3 characters"
            )
        if name == "work" and trigger not in WORK:
            raise InvalidValueError(f"unknown work {trigger!r}", hint=f"one of {', '.join(dict.fromkeys(WORK))}")
