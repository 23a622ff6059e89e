"""A bundle of the Open Knowledge Format 0.2: a project's lessons as files for other programs, and back again (ADR 51).

A bundle has one concept a lesson, `<kind>/<slug>-<short id>.md`, an index in each folder, and a log. The format's own
keys say what any reader understands; what only Holdfast understands is below the key `holdfast`, so that the lesson of
an unchanged concept is the same after an import. A digest tells whether somebody changed a concept since the export.

A bundle is for others. So the person's own lessons for all projects and private lessons are never in it, and the words
of sessions only on request.

Source: GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, version 0.2 of 24 July 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from holdfast.curation.transfer import KEYS, Sealer, render_line
from holdfast.curation.tuning import LESSONS_A_PAGE
from holdfast.domain.kinds import LESSON_KINDS, profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.openknowledge import (
    HUMAN,
    KINDS_BY_TYPE,
    OKF_VERSION,
    OWN,
    STATUSES,
    TYPES,
    actor_of,
    verifier_of,
)
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LessonId, LessonKind, State
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import dumps, loads
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter
from holdfast.publishing.lessonfile import path_of, yaml_lines
from holdfast.redaction import redact

WORDS = ("kind", "title", "insight", "why", "how", "snippets", "tags", "valid_to")
"""Keys of a lesson's line that the concept says in the format's own keys and in its body."""
SECTIONS = {"why": "Why", "how": "How", "snippets": "Examples", "links": "Related", "evidence": "Evidence"}
"""Headings of a concept's body, by what is below them. The rule itself comes first, without a heading."""
DESCRIPTION_LIMIT = 240
"""Characters of a description: the rule's first sentence."""
LOG_CHANGES = 1_000
"""Newest changes of which the log tells."""
LOG_LESSONS = 5
"""Lessons of one change that the log names."""
VERIFIED_MOST = 10
"""Newest confirmations that a concept lists."""
CONCEPT_LIMIT = 1_000_000
"""Characters of a concept that is read."""
CONFIRMING = ("accept", "confirm")
VERB_WORDS = {
    "remember": "Creation", "learn": "Creation", "import": "Creation", "forget": "Deprecation",
    "reject": "Deprecation", "retire": "Deprecation", "accept": "Verification", "confirm": "Verification",
}  # fmt: skip
"""The log's word for a change; every other one is an update."""

_ENDED: dict[str, State] = {"deprecated": "retired", "draft": "candidate", "stable": "active"}
_HEADING = re.compile(r"(\\*)# (?:" + "|".join(SECTIONS.values()) + r")[ \t]*")
_FENCE = re.compile(r"`{3,}")
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s|\Z)")
_SPECIAL = re.compile(r"([\\\[\]<>`*_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundling:
    """The options of an export."""

    states: tuple[State, ...] = ("active",)
    with_quotes: bool = False
    """Whether quotes of sessions, and the ids of sessions, are written, too."""
    to_root: str = ""
    """The way from the bundle's folder to the project's, e.g. `../..`; empty where the bundle is elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What concepts say of each other, and what the log says of them."""

    paths: Mapping[LessonId, str]
    titles: Mapping[LessonId, str]
    confirmed: Mapping[LessonId, Sequence[tuple[str, str]]]
    """(actor, instant) of persons who confirmed or accepted a lesson, oldest first."""
    project: str


def export_bundle(services: Services, location: Location, how: Bundling) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of each file of the bundle, sorted by path within each part: concepts, indexes, the log."""
    lessons = sorted(_lessons(services, location, how.states), key=lambda lesson: (lesson.kind, lesson.id))
    changes = services.store.find_records(Change, LogFilter(project=location.project.id, limit=LOG_CHANGES))
    facts = _Facts(
        paths={lesson.id: path_of(lesson.id, lesson.kind, lesson.insight) for lesson in lessons},
        titles={lesson.id: redact(lesson.title) for lesson in lessons},
        confirmed=_confirmations(changes),
        project=location.project.name,
    )
    described: dict[LessonKind, list[tuple[str, str, str]]] = {}
    for lesson in lessons:
        stated = loads(render_line(lesson, with_project=False, sealer=Sealer(b"")))
        path, description = facts.paths[lesson.id], _description(stated)
        described.setdefault(lesson.kind, []).append((stated["title"], path.partition("/")[2], description))
        yield path, _concept(lesson, stated, description, facts, how)
    yield from _indexes(described, location.project.name)
    yield "log.md", _log(changes, facts)


def _lessons(services: Services, location: Location, states: Sequence[State]) -> Iterator[Lesson]:
    where = LessonFilter(project=location.project.id, states=tuple(states), limit=LESSONS_A_PAGE)
    while page := services.store.find(where):
        for lesson in page:
            is_for_others = not lesson.private and lesson.scope.level != "user"
            if is_for_others and not profile_of(lesson.kind).is_working_state and lesson.state != "forgotten":
                yield lesson
        where = replace(where, offset=where.offset + len(page))


def _confirmations(changes: Iterable[Change]) -> dict[LessonId, list[tuple[str, str]]]:
    confirmed: dict[LessonId, list[tuple[str, str]]] = {}
    for change in changes:  # newest first
        for lesson in change.lessons if change.verb in CONFIRMING else ():
            entries = confirmed.setdefault(lesson, [])
            if len(entries) < VERIFIED_MOST:
                entries.insert(0, (HUMAN + ("-".join(change.actor.split()) or "unknown"), render_instant(change.at)))
    return confirmed


# One concept


def _concept(lesson: Lesson, stated: dict[str, Any], description: str, facts: _Facts, how: Bundling) -> str:
    source = lesson.provenance
    named = {
        "host": source.host, "detector": source.detector, "author": source.author, "person": source.person_name,
    }  # fmt: skip
    if not how.with_quotes:
        _leave_sessions_out(stated)
    own = {key: value for key, value in stated.items() if key not in WORDS}
    front: dict[str, Any] = {"type": TYPES[lesson.kind], "title": stated["title"]}
    if description and description != stated["title"]:
        front["description"] = description
    if stated.get("tags"):
        front["tags"] = stated["tags"]
    front["status"] = STATUSES[lesson.state]
    front["generated"] = {"by": actor_of(lesson.trust, named), "at": stated["created_at"]}
    if verified := _verified(lesson, named, facts):
        front["verified"] = verified
    if lesson.validity.valid_to:
        front["stale_after"] = stated["valid_to"]
    front[OWN] = {**own, "digest": _digest(stated)}
    if sources := list(_sources(lesson, facts, how)):
        front["sources"] = sources
    body = "\n\n".join(_body(lesson, stated, facts, how))
    return "\n".join(["---", *yaml_lines(front), "---", "", body, ""])


def _leave_sessions_out(stated: dict[str, Any]) -> None:
    stated.pop("sessions_seen", None)
    source = {key: value for key, value in stated.get("provenance", {}).items() if key not in ("session", "evidence")}
    stated.pop("provenance", None)
    if source:
        stated["provenance"] = source


def _verified(lesson: Lesson, named: Mapping[str, str], facts: _Facts) -> list[dict[str, str]]:
    entries = list(facts.confirmed.get(lesson.id, ()))
    verifier = verifier_of(lesson.trust, named)
    if verifier and not (entries and lesson.trust == "person"):
        entries.insert(0, (verifier, render_instant(lesson.validity.valid_from)))
    return [{"by": actor, "at": at} for actor, at in entries]


def _sources(lesson: Lesson, facts: _Facts, how: Bundling) -> Iterator[dict[str, str]]:
    """Yield what the lesson rests on: the code it is anchored to, its session, the file it was imported from."""
    source = lesson.provenance
    for path in lesson.paths:
        symbols = [anchor.symbol for anchor in lesson.anchors if anchor.path == path and anchor.symbol]
        where = f"../{how.to_root}/{path}" if how.to_root else f"{path} of the project {facts.project}"
        yield {"resource": where, "title": f"{path}: {', '.join(symbols)}" if symbols else path}
    host = source.host or "an agent"
    at = render_instant(lesson.validity.valid_from)
    by = {"author": HUMAN + ("-".join(source.person_name.split()) or "unknown")} if source.quotes_person else {}
    if how.with_quotes:
        for number, span in enumerate(source.evidence, 1):
            place = f"session {source.session} of {host}, event {span.event}"
            yield {"id": f"quote-{number}", "resource": place, "title": f"Quote {number}", **by, "last_modified": at}
    elif source.session or source.evidence:
        yield {"resource": f"a session of {host}", **by, "last_modified": at}
    if source.origin:
        yield {"resource": redact(source.origin.partition("#")[0]), "title": redact(source.origin)}


def _body(lesson: Lesson, stated: Mapping[str, Any], facts: _Facts, how: Bundling) -> Iterator[str]:
    yield _escaped(stated["insight"])
    for key in ("why", "how"):
        if stated.get(key):
            yield f"# {SECTIONS[key]}"
            yield _escaped(stated[key])
    snippets = stated.get("snippets", [])
    if snippets:
        yield f"# {SECTIONS['snippets']}"
    for snippet in snippets:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", snippet)), default=0))
        yield f"{fence}\n{snippet}\n{fence}"
    links = [link for link in lesson.links if link.target in facts.paths]
    if links:
        yield f"# {SECTIONS['links']}"
        lines = (f"* {link.kind.replace('_', ' ')} {_link(link.target, facts)}" for link in links)
        yield "\n".join(lines)
    if how.with_quotes and lesson.provenance.evidence:
        yield f"# {SECTIONS['evidence']}"
        quotes = [redact(span.quote) for span in lesson.provenance.evidence]
        yield "\n\n".join(f"> {_one_line(quote)}[^quote-{number}]" for number, quote in enumerate(quotes, 1))
        yield "\n".join(f"[^quote-{number}]: Quote {number}" for number in range(1, len(quotes) + 1))


def _description(stated: Mapping[str, Any]) -> str:
    """Return the rule's first sentence in one line."""
    plain = " ".join(stated["insight"].split())
    sentence = _SENTENCE.match(plain)
    first = sentence[0] if sentence else plain
    return first if len(first) <= DESCRIPTION_LIMIT else first[: DESCRIPTION_LIMIT - 1].rsplit(" ", 1)[0] + "…"


def _link(lesson: LessonId, facts: _Facts) -> str:
    return f"[{_one_line(facts.titles[lesson])}](/{facts.paths[lesson]})"


def _one_line(text: str) -> str:
    """Return a text as words of one line of Markdown, with nothing that is markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _escaped(text: str) -> str:
    """Return the text with a backslash before lines that look like one of the body's own headings."""
    return "\n".join("\\" + line if _HEADING.fullmatch(line) else line for line in text.split("\n"))


def _unescaped(lines: Iterable[str]) -> str:
    return "\n".join(line[1:] if line[:1] == "\\" and _HEADING.fullmatch(line) else line for line in lines).strip()


def _digest(stated: Mapping[str, Any]) -> str:
    """Return a digest of what a concept says, without when it was recorded, so that an edit is noticed."""
    said_here = {key: stated[key] for key in sorted(stated) if key in KEYS and key != "created_at"}
    return sha256(dumps(said_here).encode("utf-8", "replace")).hexdigest()[:16]


# Indexes and log


def _indexes(described: Mapping[LessonKind, Sequence[tuple[str, str, str]]], project: str) -> Iterator[tuple[str, str]]:
    kinds = [kind for kind in LESSON_KINDS if kind in described]
    counts = {kind: f"{len(described[kind])} lesson{'s' if len(described[kind]) != 1 else ''}" for kind in kinds}
    lines = [f"* [{TYPES[kind]}]({kind}/) - {counts[kind]}" for kind in kinds] or ["There are no lessons yet."]
    head = ["---", f'okf_version: "{OKF_VERSION}"', "---", "", f"# Lessons of {_one_line(project)}", ""]
    yield "index.md", "\n".join([*head, *lines, ""])
    for kind in kinds:
        entries = [f"* [{_one_line(title)}]({name}) - {_one_line(words)}" for title, name, words in described[kind]]
        yield f"{kind}/index.md", "\n".join([f"# {TYPES[kind]}", "", *entries, ""])


def _log(changes: Iterable[Change], facts: _Facts) -> str:
    by_day: dict[str, list[str]] = {}
    for change in changes:
        lessons = [lesson for lesson in change.lessons if lesson in facts.paths]
        if lessons:
            named = ", ".join(_link(lesson, facts) for lesson in lessons[:LOG_LESSONS])
            more = f" and {len(lessons) - LOG_LESSONS} more" if len(lessons) > LOG_LESSONS else ""
            entry = f"* **{VERB_WORDS.get(change.verb, 'Update')}**: {named}{more} ({change.verb})."
            by_day.setdefault(f"{change.at:%Y-%m-%d}", []).append(entry)
    lines = [f"# Changes of the lessons of {_one_line(facts.project)}", ""]
    for day in sorted(by_day, reverse=True):
        lines += [f"## {day}", *by_day[day], ""]
    return "\n".join(lines)


# Reads a concept that Holdfast exported


def read_concept(text: str) -> str:
    """Return the line of JSON (`curation.transfer`) of the lesson in a concept that Holdfast exported.

    If somebody changed the concept, it counts as a version of today. Raises InvalidValueError if it cannot be read, or
    is no concept of Holdfast's.
    """
    if text.startswith("---\r\n"):
        text = text.replace("\r\n", "\n")
    lines = text.removeprefix("\ufeff").split("\n")
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == "---"), 0)
    if len(text) > CONCEPT_LIMIT or lines[0].rstrip() != "---" or not end:
        raise InvalidValueError("no front matter" if len(text) <= CONCEPT_LIMIT else "too large")
    front = _front("\n".join(lines[1:end]))
    own = front.get(OWN)
    if not isinstance(own, dict):
        raise InvalidValueError("Holdfast did not export it")
    stated: dict[str, Any] = {key: value for key, value in own.items() if key != "digest"}
    stated |= {key: front[key] for key in ("title", "tags") if key in front} | _read_body(lines[end + 1 :])
    stated["kind"] = KINDS_BY_TYPE.get(str(front.get("type", "")).casefold(), "")
    if "stale_after" in front:
        stated["valid_to"] = front["stale_after"]
    status = front.get("status", "stable")
    if status in _ENDED and STATUSES.get(stated.get("state", "active")) != status:
        stated["state"] = _ENDED[status]
    if own.get("digest") != _digest(stated):
        stated.pop("created_at", None)
    try:
        return dumps(stated)
    except (TypeError, ValueError) as exc:
        raise InvalidValueError(f"its front matter has a value that no lesson has: {exc}") from exc


def _front(text: str) -> dict[str, Any]:
    import yaml  # type: ignore[import-untyped]  # its stubs are another package

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            raise InvalidValueError("its front matter has aliases, which are not read")
        front = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise InvalidValueError(f"not YAML: {' '.join(str(exc).split())[:200]}") from exc
    if not isinstance(front, dict):
        raise InvalidValueError("its front matter has no keys")
    return front


def _read_body(lines: Sequence[str]) -> dict[str, Any]:
    """Return insight, why, how and snippets of a body; what is below other headings of ours is derived."""
    names = {f"# {heading}": key for key, heading in SECTIONS.items()}
    parts: dict[str, list[str]] = {"insight": []}
    snippets: list[str] = []
    key, fence, code = "insight", "", list[str]()
    for line in lines:
        if fence:
            if line == fence:
                snippets.append("\n".join(code))
                fence = ""
            else:
                code.append(line)
        elif line.rstrip() in names:
            key = names[line.rstrip()]
        elif key == "snippets":
            if _FENCE.fullmatch(line):
                fence, code = line, []
        else:
            parts.setdefault(key, []).append(line)
    stated: dict[str, Any] = {key: _unescaped(parts[key]) for key in ("insight", "why", "how") if key in parts}
    return {key: words for key, words in stated.items() if words} | ({"snippets": snippets} if snippets else {})
