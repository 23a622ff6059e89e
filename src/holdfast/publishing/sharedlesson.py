"""Shared lesson: a lesson of the store as the values of a document, and a document as a lesson of the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from holdfast.curation.forget import blanked
from holdfast.curation.tuning import CONFIDENCE, SAID_SALIENCE
from holdfast.domain.lesson import FROM_FILE, Anchor, Lesson, Link, Provenance, Scope, Triggers, Validity, in_state
from holdfast.domain.vocabulary import TRANSITIONS, LessonId, LinkKind, ProjectId, ScopeLevel, State, Trust
from holdfast.lean.plain import from_plain, parse_instant, render_instant, to_plain
from holdfast.publishing.lessonfile import ANCHOR_KEYS, EMPTY, ENDS, TEAM, Document, cleaned, united

OF_ORGANISATION = "organisation/1"
"""The detector of a rule of the organisation, which came from its server."""
TEXTS = ("title", "insight", "why", "how", "topic_key", "command", "error_signature", "revival")
LISTS = ("snippets", "globs", "tags")


def is_from_elsewhere(lesson: Lesson) -> bool:
    """Return whether others brought the lesson, by a file or a server."""
    return lesson.provenance.detector in (FROM_FILE, OF_ORGANISATION)


def values_of(
    lesson: Lesson,
    shared: Mapping[LessonId, LessonId],
    provenance: Mapping[str, str] | None,
    absent: Iterable[tuple[LinkKind, LessonId]] = (),
) -> dict[str, Any]:
    """Return the lesson's fields as files hold them: redacted, without what concerns only this machine.

    `shared` maps lessons to the ids that other machines use; links to lessons that are not shared are left out.
    `provenance` is what the file has stated from the beginning, if it exists. `absent` are links, as kind and shared
    id, that the file states and the lesson cannot have yet, because their targets are not in this store.
    """
    anchors = [
        {key: value for key, value in to_plain(anchor).items() if key in ANCHOR_KEYS} for anchor in lesson.anchors
    ]
    links = [{"kind": link.kind, "target": shared[link.target]} for link in lesson.links if link.target in shared]
    values = {
        **{name: getattr(lesson, name) for name in TEXTS},
        **{name: list(getattr(lesson, name)) for name in LISTS},
        "kind": lesson.kind,
        "state": lesson.state if lesson.state in ENDS else "active",
        "anchors": [anchor for anchor in _cleaned("anchors", anchors) if anchor.get("path")],
        "when": to_plain(lesson.when),
        "level": TEAM if lesson.scope.level == "team" else "",
        "path_prefix": lesson.scope.path_prefix,
        "valid_from": render_instant(lesson.validity.valid_from),
        "valid_to": render_instant(lesson.validity.valid_to) if lesson.validity.valid_to else "",
        "links": united([*links, *({"kind": kind, "target": target} for kind, target in absent)]),
        "provenance": _provenance(lesson) if provenance is None else dict(provenance),
    }
    return {name: _cleaned(name, values.get(name, empty)) for name, empty in EMPTY.items()}


def new_lesson(
    document: Document,
    project: ProjectId,
    local: Mapping[LessonId, LessonId],
    at: datetime,
    state: State,
    shared: Mapping[LessonId, LessonId] | None = None,
) -> Lesson:
    """Return the document as a lesson that is new to this store. Its trust is the file's claim only if accepted."""
    said_by: Trust = document.values["provenance"].get("said_by", "agent") if state == "active" else "repository"
    draft = Lesson(
        id=document.id,
        kind=document.values["kind"],
        title=document.values["title"],
        insight=document.values["insight"],
        scope=Scope(project=project),
        validity=Validity(valid_from=at),
        recorded_at=at,
        provenance=Provenance(
            detector=FROM_FILE,
            author=document.values["provenance"].get("author", ""),
            person_name=document.values["provenance"].get("person", ""),
        ),
        trust=said_by,
        confidence=CONFIDENCE[said_by],
        salience=SAID_SALIENCE,
        state=state,
    )
    return revised(draft, document, local, at, shared)


def revised(
    lesson: Lesson,
    document: Document,
    local: Mapping[LessonId, LessonId],
    at: datetime,
    shared: Mapping[LessonId, LessonId] | None = None,
) -> Lesson:
    """Return the lesson's next version from the document. A state that cannot follow the present one is not taken.

    `local` maps shared ids to lessons of this store, and `shared` maps lessons, and those that they replaced, to shared
    ids; without it, it is `local` turned round. Links to lessons that are not shared stay.
    """
    values = document.values
    if document.is_tombstone:
        return lesson if lesson.state == "forgotten" else blanked(in_state(lesson, "forgotten", at=at))
    shared = {lesson: id for id, lesson in local.items()} if shared is None else shared
    foreign = [link for link in lesson.links if shared.get(link.target, document.id) == document.id]
    links = [
        Link(kind=link["kind"], target=local[link["target"]]) for link in values["links"] if link["target"] in local
    ]
    begun = parse_instant(values["valid_from"]) if values["valid_from"] else lesson.validity.valid_from
    ended = parse_instant(values["valid_to"]) if values["valid_to"] else None
    fields: dict[str, Any] = {name: values[name] for name in TEXTS} | {name: tuple(values[name]) for name in LISTS}
    after = replace(
        lesson,
        kind=values["kind"],
        **fields,
        anchors=tuple(from_plain(Anchor, anchor) for anchor in values["anchors"]),
        when=from_plain(Triggers, values["when"]),
        scope=replace(lesson.scope, path_prefix=values["path_prefix"], level=_level(lesson, values["level"])),
        validity=Validity(valid_from=begun, valid_to=ended if ended and ended > begun else None),
        links=tuple(dict.fromkeys((*foreign, *links))),
        recorded_at=at,
    )
    state = values["state"]
    if state != (lesson.state if lesson.state in ENDS else "active") and state in TRANSITIONS[lesson.state]:
        after = replace(in_state(after, state, at=at), validity=after.validity)
    return after


def _level(lesson: Lesson, stated: str) -> ScopeLevel:
    """Return who may see the lesson: what its file says; a person's own lesson stays their own."""
    if lesson.scope.level == "user":
        return "user"
    return "team" if stated == TEAM else "project"


def _provenance(lesson: Lesson) -> dict[str, str]:
    """Return who said it and what found it. Quotes and sessions are left out: they are words of private sessions."""
    source = lesson.provenance
    stated = {
        "said_by": lesson.trust, "host": source.host, "detector": source.detector, "author": source.author,
        "person": source.person_name, "origin": source.origin,
    }  # fmt: skip
    return {key: value for key, value in stated.items() if value}


def _cleaned(name: str, value: Any) -> Any:
    """Return the value with every text redacted as in reading a file; items appear once, and none is empty."""
    if isinstance(value, str):
        return cleaned(name, value)
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            item = _cleaned(name, item)
            if item and item not in items:
                items.append(item)
        return items
    if isinstance(value, dict):
        return {key: rest for key, inner in value.items() if (rest := _cleaned(key, inner))}
    return value
