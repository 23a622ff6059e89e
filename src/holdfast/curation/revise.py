"""Revise: closes a lesson and adds its successor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from holdfast.curation.conflicts import settle_saved
from holdfast.curation.tuning import TRIGGER_LENGTH, TRIGGERS_MOST
from holdfast.domain.lesson import Lesson, Link, Triggers, Validity, in_state, next_instant
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LIVING, TRANSITIONS, TRUSTS, LessonId, Trust
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.plain import field_names
from holdfast.lean.texts import short_id
from holdfast.lessons.anchoring import renew
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import require_version, resolve
from holdfast.lessons.material import Material, recent_events, repeated_in
from holdfast.lessons.statement import SAID, anchors_of, checked_title, clean, clean_all, doubt, said, texts, with_title
from holdfast.ports.services import Services
from holdfast.text.occasions import COMMAND_KINDS
from holdfast.text.orders import reservation
from holdfast.text.titles import make_title
from holdfast.text.triggers import derive_triggers, restated

FIELDS = (
    "kind", "title", "insight", "why", "how", "snippets", "files", "symbols", "tags", "topic_key",
    "confidence", "salience", "pinned", "private",
)  # fmt: skip
"""Fields that a revision may change; the others say where a lesson comes from."""
PROVEN: tuple[Trust, ...] = ("person", "verified")
"""Sources whose lessons nobody below them replaces."""
WORDS = frozenset({"kind", "insight", "how"})
"""Fields from which triggers are derived."""
RESTATED = frozenset({"insight", "why", "how", "snippets", "files", "symbols"})
"""Fields whose change implies that the lesson holds for the present code."""


def revise(
    services: Services,
    location: Location,
    ref: str,
    changes: Mapping[str, Any],
    *,
    author: str,
    trust: Trust = "person",
    when: Mapping[str, Any] | None = None,
    expected: datetime | None = None,
) -> Lesson:
    """Return the successor, active and linked to the lesson it supersedes. It also restates a retired or forgotten one.

    `when` are triggers that change with it, as `edit` takes them. `expected` is the `recorded_at` of the version that
    the caller has read. Raises InvalidValueError for an unknown field, for no change at all and for an impossible
    value; IllegalTransitionError for a lesson that already has a successor; StaleWriteError for another version.
    """
    for name in changes:
        if name not in FIELDS:
            raise InvalidValueError(f"a lesson's {name} cannot be revised", hint=f"one of {', '.join(FIELDS)}")
    triggers = _checked(when or {})
    if trust not in TRUSTS:
        raise InvalidValueError(f"unknown trust {trust!r}", hint=f"one of {', '.join(TRUSTS)}")
    doubtful = doubt(trust, changes)
    if doubtful:
        raise InvalidValueError(
            f"only a person may make this revision: {doubtful}", hint="run holdfast revise at a terminal"
        )
    cleaned = clean_all(changes)

    def step() -> Lesson:
        old = resolve(services, location, ref)
        require_version(old, expected)
        draft = _changed(services, location, old, cleaned, triggers, trust, author)
        return succeed(services, location, old, draft, author=author)

    return settle_saved(services, location, with_retries(step), author=author)


def is_persons(lesson: Lesson) -> bool:
    """Return whether a person stated or accepted the lesson and it is active: only a person may close it."""
    return lesson.trust == "person" and lesson.state == "active"


def may_close(draft: Lesson, old: Lesson) -> bool:
    """Return whether the draft may take the lesson's place: nobody replaces what a person said or a run has proved by
    less than that.
    """
    return old.state != "active" or old.trust not in PROVEN or TRUSTS.index(draft.trust) <= TRUSTS.index(old.trust)


def succeed(services: Services, location: Location, old: Lesson, draft: Lesson, *, author: str) -> Lesson:
    """Replace `old` by `draft` as a new active lesson, in one write; return the new lesson.

    A person's lesson stays if somebody else revises it, and a proved one if an agent does: the draft waits, linked to
    it as `refines`, and replaces it when a person accepts the draft. A draft that waits for another reason closes
    nothing either.

    Raises IllegalTransitionError when `old` was superseded already.
    """
    if old.state == "superseded":
        raise IllegalTransitionError(
            f"lesson {short_id(old.id)} was superseded already",
            hint=f"holdfast show {short_id(old.id)} names its successor",
        )
    if old.state != "active" and (draft.trust not in ("person", "verified") or draft.state == "candidate"):
        # A lesson that a person has not accepted, or has rejected, does not become active in another wording.
        waits = old.state in ("candidate", "quarantined")
        draft = replace(draft, state=old.state if waits else "candidate")
    elif not may_close(draft, old) or draft.state == "candidate":
        return _propose(services, location, old, draft, author)
    at = next_instant(old.recorded_at, services.clock.now())
    links = (*(link for link in draft.links if link.kind != "supersedes"), Link(kind="supersedes", target=old.id))
    new = replace(
        draft,
        id=LessonId(services.clock.new_id()),
        recorded_at=at,
        retracted_at=None,
        validity=Validity(valid_from=at),
        links=links,
    )
    closed = _closed(old, new)
    expected = {**{lesson.id: old.recorded_at for lesson in closed}, new.id: None}
    return write_change(services, location, "revise", [*closed, new], expected, actor=author).lessons[-1]


def _propose(services: Services, location: Location, old: Lesson, draft: Lesson, author: str) -> Lesson:
    """Put `draft` into the inbox as a revision of `old`, which stays as it is."""
    at = services.clock.now()
    links = (*(link for link in draft.links if link.kind != "refines"), Link(kind="refines", target=old.id))
    proposed = replace(
        draft,
        id=LessonId(services.clock.new_id()),
        recorded_at=at,
        retracted_at=None,
        validity=Validity(valid_from=at),
        state="candidate",
        topic_key="",  # the present lesson keeps the key
        pinned=False,
        links=links,
    )
    return write_change(services, location, "remember", [proposed], {proposed.id: None}, actor=author).lessons[0]


def _closed(old: Lesson, new: Lesson) -> list[Lesson]:
    """Return the old lesson's last version: superseded if its state allows, else retired; empty if it has ended."""
    for state in ("superseded", "retired"):
        if state in TRANSITIONS[old.state]:
            return [in_state(old, state, at=new.recorded_at)]
    return []


def _changed(
    services: Services,
    location: Location,
    old: Lesson,
    changes: Mapping[str, Any],
    triggers: Mapping[str, Any],
    trust: Trust,
    author: str,
) -> Lesson:
    """Return the successor's fields; `triggers` replace those of their kinds."""
    fields = {name: value for name, value in changes.items() if name not in ("files", "symbols")}
    if old.state == "forgotten" and not fields.get("insight"):
        raise InvalidValueError("a forgotten lesson has no words left", hint="restate it: give the whole insight")
    if "insight" in fields or "title" in fields:
        own = {name: fields.get(name, getattr(old, name)) for name in SAID}
        title = checked_title(fields.get("title", ""), trust, said(own))
        fields = {**fields, "title": with_title({"insight": own["insight"], "title": title})["title"]}
    if "files" in changes or "symbols" in changes:
        files = texts("files", changes.get("files", (*old.paths, *old.globs)))
        fields["anchors"], fields["globs"] = anchors_of(
            services,
            location,
            _from_root(location, files, "files" in changes),
            texts("symbols", changes.get("symbols", old.symbols)),
        )
    elif RESTATED & set(changes):
        fields["anchors"] = tuple(renew(services, location, anchor) or anchor for anchor in old.anchors)
    if all(getattr(old, name) == value for name, value in fields.items()) and _with_triggers(old, triggers) == old:
        raise InvalidValueError("nothing to revise: no field would change", hint="give at least one new value")
    provenance = replace(old.provenance, author=author)
    revised = replace(old, **fields, provenance=provenance, trust=trust, state="active")
    if WORDS.intersection(fields):
        stands = old.when.standing
        before = derive_triggers(old.kind, old.trust, old.insight, old.how, standing=stands)
        after = derive_triggers(revised.kind, trust, revised.insight, revised.how, standing=stands)
        revised = replace(revised, when=restated(old.when, before, after))
    revised = _with_triggers(revised, triggers)
    if services.must_wait(revised):
        return replace(revised, state="candidate")
    if trust in PROVEN:
        return revised
    said_now = [getattr(revised, name) for name in ("title", "insight", "why", "how") if name in fields]
    read = Material(services, location, recent_events(services, location))
    waits = reservation("\n".join(said_now)) or repeated_in(read, said_now)
    return replace(revised, state="candidate") if waits else revised


def _with_triggers(lesson: Lesson, triggers: Mapping[str, Any]) -> Lesson:
    """Return the lesson with these kinds of triggers replaced; as it is where none of them differs."""
    if all(getattr(lesson.when, name) == value for name, value in triggers.items()):
        return lesson
    return replace(lesson, when=replace(lesson.when, **triggers, edited=True))


def _from_root(location: Location, files: tuple[str, ...], typed: bool) -> tuple[str, ...]:
    """Return typed files as they are, and existing ones as absolute paths, independent of the working folder."""
    if typed:
        return files
    return tuple(name if "*" in name else f"{location.root}/{name}" for name in files)


# Edit: changes when a lesson is told, and its title. Its insight, id and history stay; `revise` changes words


def edit(
    services: Services,
    location: Location,
    ref: str,
    changes: Mapping[str, Any],
    *,
    author: str,
    expected: datetime | None = None,
) -> Lesson:
    """Return the lesson with those trigger fields changed, or its title; an empty list removes a kind of triggers.

    An empty title is made of the insight anew. Raises InvalidValueError for no change, for an impossible trigger and
    for a title that names only a topic or does not keep the lesson's meaning; IllegalTransitionError for a lesson that
    is not living; StaleWriteError as `revise` does.
    """
    fields = _checked({name: value for name, value in changes.items() if name != "title"})
    title = clean(*texts("title", changes["title"])) if "title" in changes else None

    def step() -> Lesson:
        old = resolve(services, location, ref)
        require_version(old, expected)
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
        if name == "work" and trigger not in COMMAND_KINDS:
            raise InvalidValueError(f"unknown kind of command {trigger!r}", hint=f"one of {', '.join(COMMAND_KINDS)}")
