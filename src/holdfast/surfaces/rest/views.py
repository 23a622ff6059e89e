"""Turns records into the JSON of answers, as `models` describes it. What a record holds back stays back here, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from holdfast.capture.sessionevents import OUTCOME
from holdfast.curation.conflicts import Conflict
from holdfast.curation.explain import Explanation, Version
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.team import (
    AuditEntry,
    Confirmation,
    Flag,
    Invitation,
    Member,
    Organisation,
    Team,
    TeamProject,
    Token,
)
from holdfast.lean.plain import as_dict, render_instant, to_plain
from holdfast.outcomes.stats import Share, Stats
from holdfast.ports.store import SessionRow
from holdfast.publishing.remote.server import FeedItem, Merged
from holdfast.publishing.remote.wire import plain_document
from holdfast.rendering.views import lesson_json

T = TypeVar("T")

HIDDEN = ("KIND", "FIND_BY", "UNIQUE", "keep_until", "counts", "digest", "external_id")
"""Fields of records that no answer has: a digest is as good as a password to who can compute."""


def whole(record: Any) -> dict[str, Any]:
    """Return every field of a record, even those at their default, but for `HIDDEN`."""
    return {name: _value(value) for name, value in as_dict(record).items() if name not in HIDDEN}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return render_instant(value)
    if is_dataclass(value):
        return whole(value)
    if isinstance(value, tuple | list | frozenset):
        return [_value(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def lesson(record: Lesson) -> dict[str, Any]:
    """Return a lesson; whether it is fresh only a clone can tell."""
    return lesson_json(record, "unverified" if record.anchors else "unanchored")


def page(items: Sequence[T], limit: int, view: Callable[[T], Any], cursor: Callable[[T], str]) -> dict[str, Any]:
    """Return the first `limit` of the items, of which there may be one more, and the cursor of what follows."""
    shown = items[:limit]
    return {"items": [view(item) for item in shown], "next": cursor(shown[-1]) if len(items) > limit else ""}


def session(row: SessionRow) -> dict[str, Any]:
    """Return what the events of a session add up to."""
    return whole(row)


def organisation(record: Organisation) -> dict[str, Any]:
    """Return the organisation."""
    return whole(record)


def member(record: Member) -> dict[str, Any]:
    """Return a member; `team.members.shown_to` has taken the address out where the caller may not know it."""
    return whole(record)


def team(record: Team) -> dict[str, Any]:
    """Return a team."""
    return whole(record)


def project(record: TeamProject) -> dict[str, Any]:
    """Return a project without its CODEOWNERS, which may be long."""
    plain = whole(record)
    del plain["codeowners"]
    return plain


def token(record: Token) -> dict[str, Any]:
    """Return a token without its digest."""
    return whole(record)


def invitation(record: Invitation) -> dict[str, Any]:
    """Return an invitation without its digest."""
    return whole(record)


def flag(record: Flag) -> dict[str, Any]:
    """Return a flag."""
    return whole(record)


def confirmation(record: Confirmation) -> dict[str, Any]:
    """Return a confirmation."""
    return whole(record)


def entry(record: AuditEntry) -> dict[str, Any]:
    """Return an entry of the audit log."""
    return whole(record)


def version(record: Version) -> dict[str, Any]:
    """Return a version of a lesson and what differs from the one before."""
    differences = [to_plain(difference) for difference in record.differences]
    return {
        "lesson": lesson(record.lesson),
        "verb": record.verb,
        "actor": record.actor,
        "why": record.why,
        "differences": differences,
    }


def evidence(record: Explanation, surrounding: Sequence[Event]) -> dict[str, Any]:
    """Return why a lesson is believed."""
    source = record.lesson.provenance
    return {
        "evidence": [to_plain(span) for span in source.evidence],
        "provenance": to_plain(source),
        "standing": as_dict(record.standing) | {"estimate": record.standing.estimate},
        "decay": as_dict(record.decay),
        "deliveries": [to_plain(delivery) for delivery in record.history.deliveries],
        "outcomes": [to_plain(outcome) for outcome in record.history.outcomes],
        "changes": [to_plain(change) for change in record.history.changes],
        "surrounding": [{"kind": event.kind, "at": to_plain(event.at), "text": event.text} for event in surrounding],
    }


def conflict(record: Conflict) -> dict[str, Any]:
    """Return two lessons that cannot hold together."""
    return {
        "better": lesson(record.better),
        "worse": lesson(record.worse),
        "slot": record.slot,
        "values": list(record.values),
        "reason": record.reason,
        "sure": record.is_sure,
    }


def event(position: int, record: Event) -> dict[str, Any]:
    """Return an event as it is stored."""
    plain = {name: _value(value) for name, value in as_dict(record).items() if name not in ("cwd", "project")}
    return {"position": position, **plain, "key": record.key.removesuffix(OUTCOME)}


def stats(record: Stats) -> dict[str, Any]:
    """Return counts, and shares with their intervals."""
    plain = as_dict(record)
    for name, value in plain.items():
        if isinstance(value, Share):
            plain[name] = as_dict(value) | {"share": value.share}
        elif is_dataclass(value):
            plain[name] = as_dict(value)
    return plain


def item(record: FeedItem, of: str) -> dict[str, Any]:
    """Return a document of the feed, and the lesson that is derived from it."""
    plain: dict[str, Any] = {"seq": record.seq, "accepted": record.is_accepted, "own": record.is_own, "lesson": of}
    return plain | plain_document(record.document)


def fate(record: Merged) -> dict[str, Any]:
    """Return what became of a document that was sent."""
    return {
        "id": record.id,
        "status": record.fate,
        "reason": record.reason,
        "seq": record.seq,
        "accepted": record.is_accepted,
        "own": record.is_own,
        "document": plain_document(record.document) if record.document else None,
    }
