"""Lesson lines: a lesson as one JSON object for export, and the lesson that a line of an import states.

Only `kind` and `insight` are required. The keys and their order are a contract: keys are added, never changed.

Anybody can write a line. Its claims about its own standing (trust, state, scope, pin, id, links, provenance) count only
in a line that this home exported and sealed (`curation.sealing`), or if a person accepts the file.
"""

from __future__ import annotations

from holdfast.curation.edit import triggers_of
from holdfast.curation.sealing import SEAL
from holdfast.curation.tuning import CONFIDENCE, LINE_LIMIT, SAID_SALIENCE, SALIENCE
from holdfast.domain.lesson import Anchor, Lesson, Link, Provenance, Scope, Triggers, Validity
from holdfast.domain.vocabulary import TRUSTS, LessonId, ProjectId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import from_plain, parse_instant, render_instant, to_plain
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import dumps, has_drive, loads
from holdfast.lessons.statement import LISTS, TEXTS, clean, clean_all, texts, with_title
from holdfast.lessons.suspicion import suspicion
from holdfast.text.titles import clipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from holdfast.curation.sealing import Sealer
    from holdfast.domain.vocabulary import Trust

KEYS = (
    "id", "kind", "title", "insight", "why", "how", "snippets", "files", "symbols", "anchors", "tags", "topic_key",
    "created_at", "valid_from", "valid_to", "state", "trust", "confidence", "salience", "scope", "project",
    "path_prefix", "branch", "pinned", "error_signature", "command", "sessions_seen", "revival", "provenance", "links",
    "when", SEAL,
)  # fmt: skip
"""The keys of a line, in the order of an export. `created_at` is when it became known; `scope` is the level."""
COPIED = (
    "kind", "title", "insight", "why", "how", "snippets", "tags", "topic_key", "pinned", "error_signature", "command",
    "revival",
)  # fmt: skip


OF_A_FILE = frozenset({
    "kind", "title", "insight", "why", "how", "snippets", "files", "symbols", "tags", "valid_from", "path_prefix",
    "branch", "error_signature", "command", "when",
})  # fmt: skip
"""Keys that count in a line for which nobody vouches: its words, their subject, and where and when they hold."""
IMPORTED = "jsonl/1"
"""Takes the place of the detector for a lesson from a line for which nobody vouched."""


class Intake(Frozen):
    """The options of reading lines."""

    project: ProjectId
    sealer: Sealer
    accept: bool = False
    """Whether a person vouches for the lines, so that their claims about their own standing count."""
    origin: str = ""
    """The origin of the lines, for provenance."""


class LessonLine(Frozen):
    """The content of one line: a lesson whose files are not anchored yet, and the keys that were present."""

    lesson: Lesson
    authority: str = "file"
    """Who vouches for it: `own` (this home exported it), `accepted` (a person) or `file` (nobody)."""
    exported: bool = False
    """Whether another home exported it."""
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    """The line's keys that were understood."""
    ignored: tuple[str, ...] = ()
    """The line's keys that were not understood."""


def parse_line(text: str, intake: Intake, *, at: datetime, new_id: Callable[[], str]) -> LessonLine:
    """Parse the line, for the intake's project unless an authorised line names its own.

    Raises InvalidValueError with a reason for people when it cannot be a lesson, or was changed since this home
    exported it.
    """
    stated = _object(text)
    seal = stated.pop(SEAL, None)
    authority = _authority(intake, stated, seal)
    ignored = tuple(key for key in stated if key not in KEYS)
    stated = {key: _redacted_deep(value) for key, value in stated.items() if key in KEYS and value is not None}
    if "id" in stated and not _is_uuid(stated["id"]):
        ignored += ("id",)  # another program's numbering: the words decide whether the lesson is known
        del stated["id"]
    try:
        if authority == "file":
            _check_other_standing(stated, intake.project)
            stated = {key: value for key, value in stated.items() if key in OF_A_FILE}
        line = _line(stated, ignored, intake.project, authority, at, new_id)
    except (TypeError, AttributeError, ValueError, RecursionError) as exc:
        if isinstance(exc, InvalidValueError):
            raise
        raise InvalidValueError(f"a value has the wrong type: {exc}") from exc
    if authority == "file":
        lesson = replace(line.lesson, provenance=Provenance(detector=IMPORTED, origin=clean(intake.origin)))
        return replace(line, lesson=lesson, exported=isinstance(seal, str))
    return line


def _authority(intake: Intake, stated: dict[str, Any], seal: object) -> str:
    origin = intake.sealer.judge(stated, seal)
    if origin == "own":
        return "own"
    if intake.accept:
        return "accepted"
    if origin == "changed":
        raise InvalidValueError("it was changed after this home exported it; use --accept to import it as it is now")
    return "file"


def _check_other_standing(stated: dict[str, Any], project: ProjectId) -> None:
    """Refuse what needs authority: another project's lessons, and lessons that have ended.

    The other keys are checked as well, so that a line is refused for the same mistakes whoever vouches for it.
    """
    if stated.get("project") not in (None, "", project):
        raise InvalidValueError("it belongs to another project; use --accept to import it")
    if stated.get("state", "active") not in ("active", "candidate", "quarantined"):
        raise InvalidValueError(f"it is {stated['state']} where it comes from; use --accept to import it")
    if not isinstance(stated.get("pinned", False), bool):
        raise InvalidValueError("pinned must be true or false")
    if not isinstance(stated.get("confidence", 0.5), (int, float)) or not isinstance(
        stated.get("salience", 0.5), (int, float)
    ):
        raise InvalidValueError("confidence and salience must be numbers")
    _trust(stated.get("trust", "person"))
    parse_instant(stated.get("created_at", "2000-01-01T00:00:00Z"))
    for name, record in (("anchors", Anchor), ("links", Link)):
        for item in stated.get(name, ()):
            from_plain(record, item)
    _check_places(stated)


def _check_places(stated: dict[str, Any]) -> None:
    """Raise InvalidValueError for a path that leaves the project's root."""
    paths = [str(item.get("path", "")) for item in stated.get("anchors", ())]
    paths += [name for name in texts("files", stated.get("files", ())) if "*" in name]
    for path in (*paths, str(stated.get("path_prefix", ""))):
        plain = path.replace("\\", "/")
        if plain.startswith("/") or has_drive(plain) or ".." in plain.split("/") or "\0" in plain:
            raise InvalidValueError(f"{path!r} is outside of the project")


def _redacted_deep(value: Any) -> Any:
    """Return the JSON value with every text in it redacted, including those of anchors and quotes."""
    from holdfast.redaction import redact

    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted_deep(item) for item in value]
    return {key: _redacted_deep(member) for key, member in value.items()} if isinstance(value, dict) else value


def render_line(lesson: Lesson, *, with_project: bool, sealer: Sealer) -> str:
    """Return the lesson as one line of JSON, its words redacted again and sealed; with the project's id if asked."""
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
        "when": _redacted_deep(to_plain(lesson.when)),
    }
    plain = {key: for_people[key] if key in for_people else getattr(lesson, key) for key in KEYS if key != SEAL}
    texts_again = {
        key: _redacted(plain[key]) for key in ("title", "insight", "why", "how", "snippets", "tags", "command")
    }
    plain.update(texts_again)
    stated = {key: value for key, value in plain.items() if value not in (None, "", [], (), {}, False)}
    seal = sealer.seal(stated)
    return dumps({**stated, SEAL: seal} if seal else stated)


def _line(
    stated: dict[str, Any], ignored: tuple[str, ...], project: ProjectId, authority: str, at: datetime,
    new_id: Callable[[], str],
) -> LessonLine:  # fmt: skip
    _check_places(stated)
    fields = clean_all({key: stated[key] for key in COPIED if key in stated})
    for key in ("error_signature", "command", "revival"):
        if key in fields:
            fields[key] = clean(fields[key])
    if "title" in fields:
        fields["title"] = clipped(fields["title"])
    trust: Trust = "repository" if authority == "file" else _trust(stated.get("trust", "person"))
    known = min(at, parse_instant(stated["created_at"])) if "created_at" in stated else at
    lesson = Lesson(
        id=LessonId(stated.get("id", "").lower() or new_id()),
        scope=_scope(stated, project),
        validity=_validity(stated, known),
        recorded_at=known,
        anchors=tuple(from_plain(Anchor, item) for item in stated.get("anchors", ())),
        globs=tuple(name for name in texts("files", stated.get("files", ())) if "*" in name),
        provenance=from_plain(Provenance, stated.get("provenance", {})),
        trust=trust,
        confidence=stated.get("confidence", CONFIDENCE[trust]),
        salience=stated.get("salience", SAID_SALIENCE if authority == "file" else SALIENCE),
        state=_state(stated, authority),
        links=tuple(from_plain(Link, item) for item in stated.get("links", ())),
        when=_when(stated, authority),
        sessions_seen=tuple(map(SessionId, texts("sessions_seen", stated.get("sessions_seen", ())))),
        **with_title(_required(fields)),
    )
    files = tuple(name for name in texts("files", stated.get("files", ())) if "*" not in name)
    symbols = texts("symbols", stated.get("symbols", ()))
    return LessonLine(
        lesson=lesson, authority=authority, files=files, symbols=symbols, given=frozenset(stated), ignored=ignored
    )


def _object(text: str) -> dict[str, Any]:
    if len(text) > LINE_LIMIT:
        raise InvalidValueError(f"longer than {LINE_LIMIT:,} characters")
    try:
        stated = loads(text)
    except InvalidValueError:
        raise
    except (ValueError, RecursionError) as exc:
        raise InvalidValueError(f"not JSON: {exc}") from exc
    if not isinstance(stated, dict):
        raise InvalidValueError("not a JSON object")
    return stated


def _required(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("kind", "insight"):
        if not fields.get(name):
            raise InvalidValueError(f"{name} is missing")
    if not isinstance(fields.get("pinned", False), bool):
        raise InvalidValueError("pinned must be true or false")
    return fields


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


def _when(stated: dict[str, Any], authority: str) -> Triggers:
    """Return the line's triggers; only a line with authority may claim to hold for all work."""
    if not isinstance(stated.get("when", {}), dict):
        raise InvalidValueError("when must be an object")
    when = triggers_of(stated.get("when", {}))
    return replace(when, standing=False, edited=False) if authority == "file" else when


def _trust(own: Any) -> Trust:
    if own not in TRUSTS:
        raise InvalidValueError(f"unknown trust {own!r}")
    trust: Trust = own
    return trust


def _state(stated: dict[str, Any], authority: str) -> Any:
    """Return the line's state; suspicious words are quarantined unless this home exported the line."""
    own = stated.get("state", "active")
    if authority != "own" and own in ("active", "candidate") and suspicion(_words(stated)):
        return "quarantined"
    return "candidate" if own == "active" and authority == "file" else own


def _words(stated: dict[str, Any]) -> str:
    words = [stated.get(name) for name in (*TEXTS, "command")]
    words += [item for name in LISTS for item in stated.get(name, ())]
    return "\n".join(word for word in words if isinstance(word, str))


def _is_uuid(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 36 and not value.lower().strip("0123456789abcdef-")


def _unless_same(instant: datetime, other: datetime) -> str:
    return "" if instant == other else render_instant(instant)


def _redacted(value: Any) -> Any:
    from holdfast.redaction import redact

    return redact(value) if isinstance(value, str) else [redact(item) for item in value]


def _redacted_provenance(source: Provenance) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(source)
    for span in plain.get("evidence", ()):
        span["quote"] = _redacted(span["quote"])
    return plain
