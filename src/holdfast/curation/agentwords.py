"""What an agent states by itself, one lesson or several: each is checked alone and answered with what became of it.

A lesson is confirmed if it quotes its session: a person's words, or the agent's own. Everything else waits for a
person, and the answer says why: no quote, or one that is a tool's or a file's; words that stand in a file or a tool's
output; names that nothing here has; the opposite of a person's rule. What looks like an attack is quarantined, and
what has no name, path, command, number or cause is refused, unless a person said it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.capture.sessionevents import session_events
from holdfast.compare.overruling import overrules
from holdfast.curation.conflicts import conflicts_of
from holdfast.curation.remember import keep, make_draft, reserve
from holdfast.curation.tuning import LEAST_REASON
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence, Lesson, Link
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lessons.anchoring import parse_named
from holdfast.lessons.lookup import folder_of, in_project
from holdfast.lessons.material import Material, recent_events, repeated_in
from holdfast.lessons.statement import clean, doubt, find_quote, suspicion, texts
from holdfast.lessons.tuning import COVERAGE
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ranking.relevance import stems_of
from holdfast.text.meaning import read
from holdfast.text.named import clues_in, named_in
from holdfast.text.window import is_typed, spoken

USERS_WORDS, AGENTS_WORDS = "the user's words", "the agent's words"
BLANK: dict[str, Any] = {
    "kind": "convention", "title": "", "why": "", "how": "", "files": (), "symbols": (), "topic_key": "",
    "snippets": (), "tags": (), "scope": "project", "pinned": False, "private": False, "revival": "",
}  # fmt: skip
"""What a statement that leaves a field out says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What became of one statement."""

    lesson: Lesson | None = None
    """The lesson as it is now, which may be one that said the same already; None if the statement was refused."""
    source: str = ""
    """Whose words its quote is; empty if nothing that was said in the session confirms it."""
    waits: str = ""
    """Why it is not confirmed; empty if it is."""
    unknown_files: tuple[str, ...] = ()
    """Files that are not here: the lesson is kept without them."""
    unknown_symbols: tuple[str, ...] = ()
    """Symbols that were not found: the lesson has no anchor to them."""
    rivals: tuple[Lesson, ...] = ()
    """Active lessons that say otherwise."""
    refusal: InvalidValueError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a statement rests on."""

    evidence: tuple[Evidence, ...] = ()
    session: SessionId = ""  # type: ignore[assignment]
    host: str = ""
    source: str = ""
    """Whose words the quote is, if they confirm the lesson."""
    fault: str = ""
    """Why they do not."""


def state(
    services: Services,
    location: Location,
    statements: Sequence[Mapping[str, Any]],
    *,
    session: SessionId,
    author: str = "agent",
) -> list[Stated]:
    """Store what an agent states in a session; return what became of each statement, in their order.

    A statement has an `insight` and may have `quote`, `title`, `files`, `symbols`, `kind`, `why`, `how` and
    `topic_key`. One that is refused leaves the others alone.
    """
    desk = _Desk(services, location, session, author)
    return [desk.take(dict(statement)) for statement in statements]


class _Desk:
    """Takes the statements of one call; what the session said and read is loaded once."""

    def __init__(self, services: Services, location: Location, session: SessionId, author: str) -> None:
        self._services = services
        self._location = location
        self._author = author
        self._events = session_events(services, location.project.id, session) or recent_events(services, location)
        self._read = Material(services, location, self._events)
        self._persons: list[Lesson] | None = None

    def take(self, stated: dict[str, Any]) -> Stated:
        """Store one statement."""
        try:
            return self._take({**BLANK, **stated})
        except InvalidValueError as exc:
            return Stated(refusal=exc)

    def _take(self, stated: dict[str, Any]) -> Stated:
        quote = clean(stated.pop("quote", "")) or clean(stated["insight"])
        ground = self._find(quote)
        stated["files"], unknown_files = self._known_files(texts("files", stated["files"]))
        draft = make_draft(
            self._services, self._location, stated, quote, ground.evidence, trust="agent", author=self._author
        )
        is_persons = ground.source == USERS_WORDS
        source = replace(draft.provenance, session=ground.session, host=ground.host, quotes_person=is_persons)
        opposed = self._opposed(draft)
        draft = replace(draft, provenance=source, links=(*draft.links, *opposed))
        too_little = "" if ground.source == USERS_WORDS else self._check_substance(draft)
        doubtful = doubt("agent", stated) or suspicion(quote)
        waits = doubtful or ground.fault or self._reason(draft, quote, ground) or too_little
        waits = waits or ("a person's rule says otherwise" if opposed else "")
        if waits:
            draft = replace(draft, state="quarantined" if doubtful else "candidate")
        lesson = keep(self._services, self._location, draft, author=self._author)
        return Stated(
            lesson=lesson,
            source=ground.source,
            waits="" if lesson.state == "active" else waits or "another lesson says otherwise",
            unknown_files=unknown_files,
            unknown_symbols=self._unknown_symbols(draft, texts("symbols", stated["symbols"])),
            rivals=self._rivals(lesson),
        )

    def _find(self, quote: str) -> Ground:
        """Return where the quote was said; a person's words come before the agent's, and both before a tool's.

        A lesson without a quote is its own.
        """
        try:
            event, evidence = find_quote(quote, sorted(reversed(self._events), key=_rank))
        except InvalidValueError:
            return Ground(fault="it has no quote that is found in this session")
        ground = Ground(evidence=(evidence,), session=event.session, host=event.host)
        if is_typed(event, evidence.start, evidence.end):
            return replace(ground, source=USERS_WORDS)
        wrote = event.kind in ("reply", "file_edit") or evidence.quote not in event.text
        if wrote and not event.agent and event.kind != "prompt":
            return replace(ground, source=AGENTS_WORDS)
        return replace(ground, fault="its quote is what a tool, a file or somebody else said")

    def _check_substance(self, draft: Lesson) -> str:
        """Return why an agent's words alone say too little. Raises InvalidValueError if they say nothing."""
        substance = substance_of("\n".join((draft.insight, draft.why, draft.how)))
        is_placed = bool(draft.globs) or any(anchor.path for anchor in draft.anchors)
        is_sure = is_placed or substance.others or len(draft.why.split()) >= LEAST_REASON
        if not (is_sure or substance.names):
            raise InvalidValueError(
                "it says too little for a later session",
                hint="name its file, symbol, command or number, or give the cause as why",
            )
        if is_sure or not self._location.commit:  # without git nobody looks through the files for a name
            return ""
        if any(self._is_known(name) for name in substance.names):
            return ""
        return "nothing here has the name it is about"

    def _is_known(self, name: str) -> bool:
        """Return whether the code or what the session did has the name; the agent's own talk does not count."""
        if any(name in text for event in self._events for text in _facts(event)):
            return True
        index = self._services.codeindex()
        try:
            return index is not None and bool(index.find(self._location, name) or index.search(self._location, name))
        except HoldfastError:
            return True  # the index is derived: without it nothing is called unknown

    def _reason(self, draft: Lesson, quote: str, ground: Ground) -> str:
        """Return why the draft waits, whoever said it; a file's words are believed only if a person said just them."""
        if "[redacted:" in f"{draft.insight}{draft.why}{draft.how}":
            return "a secret was taken out of its words"
        reason = reserve(self._services, self._location, draft, self._read)
        is_material = bool(reason) and reason == repeated_in(self._read, (draft.insight, draft.why, draft.how))
        is_said = ground.source == USERS_WORDS and _says(quote, draft.insight)
        return "" if is_material and is_said else reason

    def _opposed(self, draft: Lesson) -> list[Link]:
        """Return links to the persons' rules that the draft would overrule."""
        if self._persons is None:
            where = LessonFilter(project=self._location.project.id, states=("active",))
            self._persons = [lesson for lesson in self._services.store.find(where) if lesson.trust == "person"]
        return [
            Link(kind="contradicts", target=rule.id) for rule in self._persons if overrules(draft.insight, rule.insight)
        ]

    def _rivals(self, lesson: Lesson) -> tuple[Lesson, ...]:
        linked = [link.target for link in lesson.links if link.kind == "contradicts"]
        rivals = {rival.id: rival for rival in self._services.store.get(linked) if rival.state == "active"}
        for conflict in conflicts_of(self._services, self._location, lesson):
            rivals.setdefault(conflict.other(lesson.id).id, conflict.other(lesson.id))
        return tuple(rivals.values())[:5]

    def _known_files(self, files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Split the files into those that are here, or are patterns, and the others."""
        here: list[str] = []
        unknown: list[str] = []
        workspace, cwd = self._services.workspace, folder_of(self._location)
        for name in files:
            path = name
            if "*" not in name and not name.endswith("/"):
                named = parse_named(self._services, self._location, name, cwd)
                path = in_project(self._services, self._location, named.path)
                if not workspace.exists(self._location, path):
                    unknown.append(name)
                    continue
            here.append(name)
        return tuple(here), tuple(unknown)

    def _unknown_symbols(self, draft: Lesson, symbols: Sequence[str]) -> tuple[str, ...]:
        if self._services.codeindex() is None:
            return ()
        placed = {anchor.symbol for anchor in draft.anchors if anchor.body_hash or anchor.signature_hash}
        return tuple(name for name in symbols if not any(f".{symbol}".endswith(f".{name}") for symbol in placed))


def _rank(event: Event) -> int:
    """Return the order in which events are searched for a quote."""
    return 0 if spoken(event) else 1 if event.kind in ("reply", "file_edit") and not event.agent else 2


def _facts(event: Event) -> tuple[str, ...]:
    """Return the texts of an event that are not the agent's talk."""
    return () if event.kind == "reply" else (event.text, event.command, event.old, event.new, *event.files)


def _says(quote: str, insight: str) -> bool:
    """Return whether the quote has nearly all telling words of the rule."""
    wanted = stems_of(insight)
    return len(wanted & stems_of(quote)) >= COVERAGE * len(wanted)


# Tells whether words have the substance of a lesson: a name, a path, a command, a number or a cause


_CAUSE = re.compile(
    r"\b(?:because|since|so that|due to|owing to|root cause|caused by|otherwise|or else|in order (?:to|that)"
    r"|that is why|the (?:cause|culprit|reason) (?:is|was)|(?:fail|break|crash|hang|leak|lose)s?\b"
    r"[^.;]{0,40}\b(?:when|if|as|unless|without))\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]{2,120})`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Substance:
    """What in some words can be looked up or acted on."""

    names: tuple[str, ...] = ()
    """Identifiers, as they are written."""
    others: bool = False
    """There is something else: a path, a command, code, a number or a cause."""


def substance_of(text: str) -> Substance:
    """Return the substance of a rule and its reason."""
    named, clues = named_in(text), clues_in(text)
    code = [piece for piece in _CODE.findall(text) if not piece.replace("_", "").isalnum()]
    others = (*named.paths, *named.commands, *clues.paths, *code, *read(text).numbers)
    names = dict.fromkeys((*named.symbols, *clues.symbols))
    return Substance(names=tuple(names), others=bool(others) or bool(_CAUSE.search(text)))
