"""Lesson lines: a lesson as one JSON object for export, and the lesson a line of an import states.

Only `kind` and `insight` are required. The keys and their order are a contract: keys are added, never changed.
"""

from __future__ import annotations

from holdfast.domain.clocktext import parse_instant, render_instant
from holdfast.domain.errors import InvalidValueError
from holdfast.domain.frozen import Frozen
from holdfast.domain.jsontext import dumps, loads
from holdfast.domain.lesson import Anchor, Lesson, Link, Provenance, Scope, Validity, title_of
from holdfast.domain.plain import from_plain, to_plain
from holdfast.domain.vocabulary import TRUSTS, LessonId, ProjectId, SessionId
from holdfast.service.remember import CONFIDENCE, SALIENCE
from holdfast.service.statement import clean, clean_all, doubt, texts, with_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from holdfast.domain.vocabulary import Trust

LINE_LIMIT = 1_000_000
"""Characters of a line; a longer one is not a lesson."""
KEYS = (
    "id", "kind", "title", "insight", "why", "how", "snippets", "files", "symbols", "anchors", "tags", "topic_key",
    "created_at", "valid_from", "valid_to", "state", "trust", "confidence", "salience", "scope", "project",
    "path_prefix", "branch", "pinned", "error_signature", "command", "sessions_seen", "revival", "provenance", "links",
)  # fmt: skip
"""What a line may hold, in the order of an export. `created_at` is when it became known; `scope` is the level."""
COPIED = (
    "kind", "title", "insight", "why", "how", "snippets", "tags", "topic_key", "pinned", "error_signature", "command",
    "revival",
)  # fmt: skip


class LessonLine(Frozen):
    """What one line states: a lesson whose files are not anchored yet, and how much of it was said."""

    lesson: Lesson
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    """The line's keys that were understood."""
    ignored: tuple[str, ...] = ()
    """The line's keys that were not."""


def parse_line(text: str, *, project: ProjectId, trust: Trust, at: datetime, new_id: Callable[[], str]) -> LessonLine:
    """What the line states, for that project unless it names its own; trusted at most as far as `trust`.

    Raises InvalidValueError with the reason, for people, when it cannot be a lesson.
    """
    stated = _object(text)
    ignored = tuple(key for key in stated if key not in KEYS)
    stated = {key: _redacted_deep(value) for key, value in stated.items() if key in KEYS and value is not None}
    if "id" in stated and not _is_uuid(stated["id"]):
        ignored += ("id",)  # another program's numbering: the words decide whether the lesson is known already
        del stated["id"]
    try:
        return _line(stated, ignored, project, trust, at, new_id)
    except (TypeError, AttributeError, ValueError, RecursionError) as exc:
        if isinstance(exc, InvalidValueError):
            raise
        raise InvalidValueError(f"a value has the wrong type: {exc}") from exc


def _redacted_deep(value: Any) -> Any:
    """The JSON value with every text in it redacted, also those of anchors and quotes."""
    from holdfast.text.redaction import redact

    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted_deep(item) for item in value]
    return {key: _redacted_deep(held) for key, held in value.items()} if isinstance(value, dict) else value


def render_line(lesson: Lesson, *, with_project: bool) -> str:
    """The lesson as one line of JSON, its words redacted anew; the project's id only for other projects' lessons."""
    anchors = to_plain(lesson.anchors)
    for_people = {
        "files": [*lesson.paths, *lesson.globs],
        "symbols": list(lesson.symbols),
        "anchors": anchors,
        "created_at": render_instant(lesson.recorded_at),
        "valid_from": _unless_same(lesson.validity.valid_from, lesson.recorded_at),
        "valid_to": render_instant(lesson.validity.valid_to) if lesson.validity.valid_to else None,
        "scope": lesson.scope.level,
        "project": lesson.scope.project if with_project else "",
        "path_prefix": lesson.scope.path_prefix,
        "branch": lesson.scope.branch,
        "provenance": _redacted_provenance(lesson.provenance),
        "links": to_plain(lesson.links),
        "sessions_seen": list(lesson.sessions_seen),
        "error_signature": lesson.error_signature,
    }
    plain = {key: for_people[key] if key in for_people else getattr(lesson, key) for key in KEYS}
    texts_again = {
        key: _redacted(plain[key]) for key in ("title", "insight", "why", "how", "snippets", "tags", "command")
    }
    plain.update(texts_again)
    return dumps({key: value for key, value in plain.items() if value not in (None, "", [], (), {}, False)})


def _line(
    stated: dict[str, Any], ignored: tuple[str, ...], project: ProjectId, trust: Trust, at: datetime,
    new_id: Callable[[], str],
) -> LessonLine:  # fmt: skip
    kept = clean_all({key: stated[key] for key in COPIED if key in stated})
    for key in ("error_signature", "command", "revival"):
        if key in kept:
            kept[key] = clean(kept[key])
    if "title" in kept:
        kept["title"] = title_of(kept["title"]) if kept["title"] else ""
    own_trust = _least(trust, stated.get("trust", trust))
    known = min(at, parse_instant(stated["created_at"])) if "created_at" in stated else at
    lesson = Lesson(
        id=LessonId(stated.get("id", "").lower() or new_id()),
        scope=_scope(stated, project),
        validity=_validity(stated, known),
        recorded_at=known,
        anchors=tuple(from_plain(Anchor, item) for item in stated.get("anchors", ())),
        globs=tuple(name for name in texts("files", stated.get("files", ())) if "*" in name),
        provenance=from_plain(Provenance, stated.get("provenance", {})),
        trust=own_trust,
        confidence=stated.get("confidence", CONFIDENCE[own_trust]),
        salience=stated.get("salience", SALIENCE),
        state=_state(stated, trust),
        links=tuple(from_plain(Link, item) for item in stated.get("links", ())),
        sessions_seen=tuple(map(SessionId, texts("sessions_seen", stated.get("sessions_seen", ())))),
        **with_title(_required(kept)),
    )
    files = tuple(name for name in texts("files", stated.get("files", ())) if "*" not in name)
    symbols = texts("symbols", stated.get("symbols", ()))
    return LessonLine(lesson=lesson, files=files, symbols=symbols, given=frozenset(stated), ignored=ignored)


def _object(text: str) -> dict[str, Any]:
    if len(text) > LINE_LIMIT:
        raise InvalidValueError(f"longer than {LINE_LIMIT:,} characters")
    try:
        stated = loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidValueError(f"not JSON: {exc}") from exc
    if not isinstance(stated, dict):
        raise InvalidValueError("not a JSON object")
    return stated


def _required(kept: dict[str, Any]) -> dict[str, Any]:
    for name in ("kind", "insight"):
        if not kept.get(name):
            raise InvalidValueError(f"{name} is missing")
    if not isinstance(kept.get("pinned", False), bool):
        raise InvalidValueError("pinned must be true or false")
    return kept


def _scope(stated: dict[str, Any], project: ProjectId) -> Scope:
    level = stated.get("scope", "project")
    if level not in ("user", "project", "team"):
        raise InvalidValueError(f"unknown scope {level!r}")
    owner = "" if level == "user" else ProjectId(str(stated.get("project") or project))
    prefix, branch = str(stated.get("path_prefix", "")), str(stated.get("branch", ""))
    return Scope(level=level, project=owner, path_prefix=prefix, branch=branch)  # type: ignore[arg-type]


def _validity(stated: dict[str, Any], known: datetime) -> Validity:
    begun = parse_instant(stated["valid_from"]) if "valid_from" in stated else known
    return Validity(valid_from=begun, valid_to=parse_instant(stated["valid_to"]) if "valid_to" in stated else None)


def _least(limit: Trust, own: Any) -> Trust:
    if own not in TRUSTS:
        raise InvalidValueError(f"unknown trust {own!r}")
    return TRUSTS[max(TRUSTS.index(limit), TRUSTS.index(own))]


def _state(stated: dict[str, Any], trust: Trust) -> Any:
    """The line's own state; an active lesson of an origin that is not trusted waits for a person."""
    own = stated.get("state", "active")
    if own in ("active", "candidate") and doubt(trust, stated):
        return "quarantined"
    return "candidate" if own == "active" and trust in ("repository", "tool") else own


def _is_uuid(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 36 and not value.lower().strip("0123456789abcdef-")


def _unless_same(one: datetime, other: datetime) -> str:
    return "" if one == other else render_instant(one)


def _redacted(value: Any) -> Any:
    from holdfast.text.redaction import redact

    return redact(value) if isinstance(value, str) else [redact(item) for item in value]


def _redacted_provenance(source: Provenance) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(source)
    for span in plain.get("evidence", ()):
        span["quote"] = _redacted(span["quote"])
    return plain
