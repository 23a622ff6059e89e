"""Transfer: imports and exports whole lessons in bulk, as JSON lines (`curation.transfer`).

An import is idempotent. A line with an id is that lesson: the version that was known later wins, and a tombstone stays
one. If no lesson has the id and another lesson states the same rule, the line adds what that one lacks.
A line without an id is the lesson of its scope and kind that states the same rule, in any state: a lesson that was
revised, rejected or taken back here does not return by another import.

A line for which nobody vouches (`LessonLine.authority` is `file`) only ever adds a waiting lesson and changes none.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

from holdfast.curation.conflicts import find_conflicts
from holdfast.curation.remember import find_same, same_rule
from holdfast.curation.revise import triggers_of
from holdfast.curation.tuning import CONFIDENCE, LESSONS_A_PAGE, LESSONS_A_WRITE, LINE_LIMIT, SAID_SALIENCE, SALIENCE
from holdfast.domain.lesson import Anchor, Lesson, Link, Provenance, Scope, Triggers, Validity
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LIVING, STATES, TRUSTS, LessonId, ProjectId, SessionId, State, Trust
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.lean.plain import field_names, from_plain, parse_instant, render_instant, to_plain
from holdfast.lean.texts import dumps, has_drive, loads
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import LISTS, TEXTS, anchors_of, clean, clean_all, merged, suspicion, texts, with_title
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.redaction import redact
from holdfast.text.titles import clipped

Origin = Literal["own", "changed", "foreign"]

COMPARED = tuple(
    name for name in field_names(Lesson) if name not in ("id", "recorded_at", "retracted_at", "scope", "private")
)
"""Fields that an import compares between two versions of a lesson."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import; each line is counted once in added, revised, unchanged or failed."""

    added: int = 0
    """Added lessons, including waiting and quarantined ones."""
    revised: int = 0
    unchanged: int = 0
    failed: tuple[tuple[int, str], ...] = ()
    """(line number from 1, reason) of the lines that are no lessons."""
    ignored: tuple[tuple[str, int], ...] = ()
    """(key, how often) of keys that were not understood."""
    waiting: int = 0
    """Added lessons for which nobody vouches: they wait in the inbox."""
    quarantined: int = 0
    """Added lessons whose words are suspicious."""
    exported: int = 0
    """Lines that another home exported and for which nobody vouches."""
    conflicts: int = 0
    """Pairs of lessons that cannot hold together, at least one of which this import added or revised."""


class _Import:
    """One run: its log record and its counts."""

    def __init__(self, services: Services, location: Location, intake: Intake, dry: bool) -> None:
        self.services = services
        self.location = location
        self.intake = intake
        self.dry = dry
        self.change: Change | None = None
        """The run's single record, which grows with every batch."""
        self.counts = Counter[str]()
        self.failed: list[tuple[int, str]] = []
        self.ignored: dict[str, int] = {}
        self._anchored: dict[tuple[tuple[str, ...], ...], tuple[tuple[Anchor, ...], tuple[str, ...]]] = {}

    def write(self, batch: Sequence[LessonLine]) -> None:
        """Write a batch in one transaction; count it only after it was written."""
        counts, after, expected = self._plan(batch)
        if after and not self.dry:
            lessons = list(after.values())
            self.change = write_change(
                self.services, self.location, "import", lessons, expected, extends=self.change
            ).change
        self.counts.update(counts)

    def anchored(self, line: LessonLine) -> Lesson:
        """Return the line's lesson anchored to its present files; InvalidValueError for a file outside."""
        if line.lesson.anchors or line.lesson.scope.project != self.location.project.id:
            return line.lesson
        key = (line.files, line.symbols)
        if key not in self._anchored:
            self._anchored[key] = anchors_of(self.services, replace(self.location, prefix=""), *key)
        anchors, folders = self._anchored[key]
        return replace(line.lesson, anchors=anchors, globs=(*line.lesson.globs, *folders))

    def report(self) -> ImportReport:
        """Return the counts so far."""
        return ImportReport(
            **self.counts, failed=tuple(self.failed), ignored=tuple(sorted(self.ignored.items())),
            conflicts=len(find_conflicts(self.services, self.location, set(self.change.lessons))) if self.change else 0,
        )  # fmt: skip

    def _plan(
        self, batch: Sequence[LessonLine]
    ) -> tuple[Counter[str], dict[LessonId, Lesson], dict[LessonId, datetime | None]]:
        counts = Counter[str]()
        after: dict[LessonId, Lesson] = {}
        expected: dict[LessonId, datetime | None] = {}
        rules: dict[tuple[str, ...], LessonId] = {}
        for line in batch:
            counts["exported"] += line.exported
            rule = same_rule(line.lesson)
            known = after.get(line.lesson.id if "id" in line.given else rules.get(rule, line.lesson.id))
            known = known or self._known(line)
            if known is None and line.lesson.state in LIVING:
                known = self._same_here(line, after, rules)
            written = _next_version(known, line) if known is not None else line.lesson
            if written is None:
                counts["unchanged"] += 1
                continue
            counts["added" if known is None else "revised"] += 1
            if known is None:
                counts["quarantined"] += written.state == "quarantined"
                counts["waiting"] += written.state == "candidate" and line.authority == "file"
                expected[written.id] = None
            elif known.id not in after:
                expected[known.id] = known.recorded_at
                written = replace(written, recorded_at=self.services.clock.now())
            after[written.id] = written
            rules[rule] = written.id
        return counts, after, expected

    def _known(self, line: LessonLine) -> Lesson | None:
        if "id" not in line.given:
            return find_same(self.services, line.lesson, STATES)
        try:
            return self.services.store.get([line.lesson.id])[0]
        except LessonNotFoundError:
            same = find_same(self.services, line.lesson, ("candidate", "active"))
            # The same line was imported before without anybody to vouch for it, so its id did not count.
            return same if same is not None and same.provenance.detector == IMPORTED else None

    def _same_here(
        self, line: LessonLine, after: Mapping[LessonId, Lesson], rules: Mapping[tuple[str, ...], LessonId]
    ) -> Lesson | None:
        """Return the living lesson here that states the rule of another memory's lesson."""
        stated = after.get(rules.get(same_rule(line.lesson), LessonId("")))
        if stated is not None and stated.state in LIVING:
            return stated
        same = find_same(self.services, line.lesson)
        return None if same is None else after.get(same.id, same)


def import_lessons(
    services: Services,
    location: Location,
    lines: Iterable[str],
    *,
    accept: bool = False,
    origin: str = "JSON lines",
    progress: Callable[[int], None] | None = None,
    dry: bool = False,
) -> ImportReport:
    """Import the lines with one log record for the whole run; `progress` gets the number of lines done.

    With `accept` a person vouches for the lines. Otherwise only lines that this home exported have authority; the
    others wait in the inbox, with `origin` as their source. A `dry` run writes nothing and reports what would happen,
    each batch independent of the others.
    """
    sealer = Sealer(services.export_key(False))
    intake = Intake(project=location.project.id, sealer=sealer, accept=accept, origin=origin)
    run = _Import(services, location, intake, dry)
    for number, batch in _batches(run, lines):
        _write(run, batch)
        if progress:
            progress(number)
    return run.report()


def export_lessons(
    services: Services, location: Location, *, states: Sequence[State] = ("active",), all_projects: bool = False
) -> Iterator[str]:
    """Yield lessons as sealed lines without line ends, newest first, redacted again, without private ones."""
    sealer = Sealer(services.export_key(True))
    where = LessonFilter(
        project=location.project.id, all_projects=all_projects, states=tuple(states), limit=LESSONS_A_PAGE
    )
    while page := services.store.find(where):
        for lesson in page:
            if not lesson.private:
                yield render_line(lesson, with_project=all_projects, sealer=sealer)
        where = replace(where, offset=where.offset + len(page))


def _write(run: _Import, batch: Sequence[LessonLine]) -> None:
    with_retries(lambda: run.write(batch))


def _batches(run: _Import, lines: Iterable[str]) -> Iterator[tuple[int, list[LessonLine]]]:
    batch: list[LessonLine] = []
    number = 0
    for number, text in enumerate(lines, 1):
        line = _read(run, number, text)
        if line is not None:
            batch.append(line)
        if len(batch) == LESSONS_A_WRITE:
            yield number, batch
            batch = []
    yield number, batch


def _read(run: _Import, number: int, text: str) -> LessonLine | None:
    """Return the line, anchored; None for a blank line and for an impossible lesson, which is recorded as failed."""
    text = text.lstrip("\ufeff").strip()
    if not text:
        return None
    clock = run.services.clock
    try:
        line = parse_line(text, run.intake, at=clock.now(), new_id=clock.new_id)
        line = replace(line, lesson=run.anchored(line))
    except InvalidValueError as exc:
        run.failed.append((number, str(exc)))
        return None
    for key in line.ignored:
        run.ignored[key] = run.ignored.get(key, 0) + 1
    return line


def _next_version(known: Lesson, line: LessonLine) -> Lesson | None:
    """Return the known lesson updated by the line, or None when the line says nothing new."""
    if known.state == "forgotten" or line.authority == "file":
        return None
    if known.state == "candidate" and known.provenance.detector == IMPORTED:  # the line has authority now
        return replace(line.lesson, id=known.id, scope=known.scope, provenance=known.provenance)
    if known.provenance.detector == IMPORTED and known.id != line.lesson.id and "id" in line.given:
        return None
    if "id" not in line.given or line.lesson.id != known.id:
        gains = merged(known, line.lesson) if known.state in ("active", "candidate") else {}
        return replace(known, **gains) if gains else None
    if "created_at" in line.given and line.lesson.recorded_at <= known.recorded_at:
        return None
    after = replace(line.lesson, scope=known.scope, private=known.private)
    return after if any(getattr(after, name) != getattr(known, name) for name in COMPARED) else None


# Lesson lines: a lesson as one JSON object for export, and the lesson that a line of an import states


SEAL = "seal"
"""The JSON key of a line's seal."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The options of reading lines."""

    project: ProjectId
    sealer: Sealer
    accept: bool = False
    """Whether a person vouches for the lines, so that their claims about their own standing count."""
    origin: str = ""
    """The origin of the lines, for provenance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonLine:
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
    return redact(value) if isinstance(value, str) else [redact(item) for item in value]


def _redacted_provenance(source: Provenance) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(source)
    for span in plain.get("evidence", ()):
        span["quote"] = _redacted(span["quote"])
    return plain


# Seals: a code in each exported line that only this home can make, so that an import recognises its own export


class Sealer:
    """Makes and checks seals with one home's key; with an empty key it makes and recognises none."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._name = sha256(b"holdfast export key\0" + key).hexdigest()[:8] if key else ""

    def seal(self, stated: dict[str, Any]) -> str:
        """Return the seal of a line's values; empty without a key."""
        if not self._key:
            return ""
        return f"{self._name}:{hmac.new(self._key, dumps(_ordered(stated)).encode(), sha256).hexdigest()}"

    def judge(self, stated: dict[str, Any], seal: object) -> Origin:
        """Return whether this home exported the line and it is unchanged (own), changed, or foreign."""
        if not self._key or not isinstance(seal, str) or seal.partition(":")[0] != self._name:
            return "foreign"
        return "own" if hmac.compare_digest(seal.encode(), self.seal(stated).encode()) else "changed"


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
