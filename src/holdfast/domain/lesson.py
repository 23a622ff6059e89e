"""Lesson: one thing worth knowing next time, with what it is about, who said it and since when it holds."""

from __future__ import annotations

from datetime import datetime, timedelta

from holdfast.domain.vocabulary import (
    LESSON_KINDS,
    MEMORY_TYPES,
    STATES,
    TRANSITIONS,
    TRUSTS,
    EventId,
    LessonId,
    LessonKind,
    LinkKind,
    MemoryType,
    ProjectId,
    ScopeLevel,
    SessionId,
    State,
    Trust,
)
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.records import Frozen, replace

TITLE_LIMIT = 100
INSIGHT_LIMIT = 4_000
"""Longest rule that can be one lesson, in characters."""


class Anchor(Frozen):
    """What a lesson is about: a file, and when known the symbol in it, with fingerprints to check it by."""

    path: str
    """Relative to the project's root, with forward slashes."""
    symbol: str = ""
    """Qualified name, e.g. `Store.put`; empty anchors the file."""
    symbol_kind: str = ""
    blob: str = ""
    """`git1:` and git's blob id of the file when anchored; empty when it could not be read."""
    signature_hash: str = ""
    body_hash: str = ""
    commit: str = ""
    branch: str = ""
    also: tuple[str, ...] = ()
    """Other places it was seen at, `path` or `path::symbol`: before a move, or on a branch and in a work tree alone."""

    @property
    def other_paths(self) -> tuple[str, ...]:
        """The files of the other places."""
        return tuple(place.partition("::")[0] for place in self.also)


class Scope(Frozen):
    """Who may see a lesson: the user everywhere, one project (or a part of it), or the team."""

    level: ScopeLevel = "project"
    project: ProjectId = ""  # type: ignore[assignment]
    path_prefix: str = ""
    """Part of a monorepo, e.g. `packages/api`; empty is the whole project."""
    branch: str = ""
    """The branch it is staged on: it is not seen elsewhere before that branch is merged (ADR 32). Empty: not staged."""
    commit: str = ""
    """What was checked out when it was staged."""
    base: str = ""
    """The commit of the main line that the branch had begun at then."""

    @property
    def owner(self) -> str:
        """The project a lesson is seen in; empty for the user's own, which are seen everywhere."""
        return "" if self.level == "user" else self.project

    def check(self) -> None:
        """A project's or team's lesson names its project."""
        if self.level != "user" and not self.project:
            raise InvalidValueError(f"a {self.level} lesson needs a project")


class Evidence(Frozen):
    """The quoted span a lesson rests on: characters [start, end) of that event's text, or of its command or new text
    where the words stand there."""

    event: EventId
    quote: str
    start: int = 0
    end: int = 0


class Provenance(Frozen, nested={"evidence": Evidence}):
    """Where a lesson comes from: host, session, events, detector (or person) and the quoted evidence."""

    host: str = ""
    session: SessionId = ""  # type: ignore[assignment]
    detector: str = ""
    """`name/version`, e.g. `fail_fix/1`; empty when a person wrote it."""
    author: str = ""
    person: str = ""
    """Who stated it: the id of a `domain.project.Person`. Empty: not known, or several persons said so."""
    person_name: str = ""
    """For people only; never compared."""
    origin: str = ""
    """`file#section` that an importer read it from; empty for what was not imported."""
    evidence: tuple[Evidence, ...] = ()


class Validity(Frozen):
    """Half-open UTC interval [valid_from, valid_to) during which it holds in the world; None: still true."""

    valid_from: datetime
    valid_to: datetime | None = None

    def check(self) -> None:
        """The interval is not empty."""
        if self.valid_to is not None and self.valid_to <= self.valid_from:
            raise InvalidValueError(f"empty validity: {self.valid_from} .. {self.valid_to}")


class Triggers(Frozen):
    """When a lesson is to be told, beside what its anchors and words say: written by a rule, a model or a person."""

    paths: tuple[str, ...] = ()
    """Globs of files, relative to the project's root."""
    symbols: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    """Exact pieces of text that stand in an edit or a command, e.g. `exec.Command(` or `--stat`."""
    commands: tuple[str, ...] = ()
    """Beginnings of commands, e.g. `gh pr diff`."""
    work: tuple[str, ...] = ()
    """Kinds of work: fix, feature, refactor, test, review, operate."""
    standing: bool = False
    """It holds for all work, whatever is touched."""
    edited: bool = False
    """A person chose them: nothing is derived beside them."""


class Link(Frozen):
    """An edge of the lesson graph, from the lesson that holds it."""

    kind: LinkKind
    target: LessonId


class Lesson(
    Frozen,
    nested={
        "scope": Scope,
        "validity": Validity,
        "anchors": Anchor,
        "provenance": Provenance,
        "links": Link,
        "when": Triggers,
    },
):
    """One version of one lesson. `recorded_at` .. `retracted_at` is when this version was what we knew."""

    id: LessonId
    kind: LessonKind
    title: str
    """A headline of 1 to 100 characters."""
    insight: str
    """The rule, 1 to 4,000 characters."""
    scope: Scope
    validity: Validity
    recorded_at: datetime
    retracted_at: datetime | None = None
    why: str = ""
    how: str = ""
    """What to do instead."""
    snippets: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    globs: tuple[str, ...] = ()
    when: Triggers = Triggers()
    tags: tuple[str, ...] = ()
    topic_key: str = ""
    provenance: Provenance = Provenance()
    trust: Trust = "agent"
    confidence: float = 0.5
    """Probability that it is true, 0 to 1."""
    salience: float = 0.5
    """How much it matters, 0 to 1, judged when written."""
    state: State = "candidate"
    links: tuple[Link, ...] = ()
    pinned: bool = False
    private: bool = False
    """Never exported to the repository or a server."""
    error_signature: str = ""
    """Normalised error text that this lesson answers (`text.signature`); empty for none."""
    command: str = ""
    """Normalised command that this lesson is about (`text.signature.command_target`); empty for none."""
    sessions_seen: tuple[SessionId, ...] = ()
    """Sessions in which it was observed; the second one makes a candidate active."""
    revival: str = ""
    """When a retired lesson wakes, e.g. `numpy!=1.26.4` (`curation.revival`); empty for never."""

    def check(self) -> None:
        """Words are of their sets, texts of their lengths, numbers of their ranges, times in order."""
        _require(self.kind in LESSON_KINDS, f"unknown kind {self.kind!r}", f"one of {', '.join(LESSON_KINDS)}")
        _require(self.trust in TRUSTS, f"unknown trust {self.trust!r}")
        _require(self.state in STATES, f"unknown state {self.state!r}")
        _require(0 < len(self.title) <= TITLE_LIMIT, f"a title has 1 to {TITLE_LIMIT} characters")
        _require(0 < len(self.insight) <= INSIGHT_LIMIT, f"an insight has 1 to {INSIGHT_LIMIT} characters")
        _require(0 <= self.confidence <= 1, f"confidence {self.confidence} is outside 0..1")
        _require(0 <= self.salience <= 1, f"salience {self.salience} is outside 0..1")
        _require(self.recorded_at.tzinfo is not None, "recorded_at must be aware UTC")
        _require(
            self.retracted_at is None or self.retracted_at > self.recorded_at,
            "retracted before it was recorded",
        )

    @property
    def memory_type(self) -> MemoryType:
        """Semantic, procedural or episodic: it follows from the kind."""
        return MEMORY_TYPES[self.kind]

    @property
    def paths(self) -> tuple[str, ...]:
        """The distinct paths it is anchored to, in order."""
        return tuple(dict.fromkeys(anchor.path for anchor in self.anchors if anchor.path))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The distinct qualified symbols it is anchored to, in order."""
        return tuple(dict.fromkeys(anchor.symbol for anchor in self.anchors if anchor.symbol))


INSTANT = timedelta(microseconds=1)
"""The least difference between two instants that a store tells apart."""


def next_instant(before: datetime, now: datetime) -> datetime:
    """Return when the version after one recorded at `before` is recorded: now, but always later than `before`.

    A clock that was set back, or that was ahead at one write, must not make a lesson unchangeable.
    """
    return max(now, before + INSTANT)


def in_state(lesson: Lesson, state: State, *, at: datetime) -> Lesson:
    """The next version of the lesson, in that state; raises IllegalTransitionError for a step that is not one.

    Leaving truth (superseded, retired, forgotten) closes the validity at `at`; coming back reopens it.
    """
    if state not in TRANSITIONS[lesson.state]:
        raise IllegalTransitionError(f"a {lesson.state} lesson cannot become {state}")
    at = next_instant(lesson.recorded_at, at)
    ends = state in ("superseded", "retired", "forgotten")
    begun = lesson.validity.valid_from
    closed = at if ends and at > begun else None
    return replace(lesson, state=state, validity=Validity(valid_from=begun, valid_to=closed), recorded_at=at)


def title_of(insight: str) -> str:
    """A headline made of the insight's first line, cut at a word within 100 characters."""
    first = insight.strip().split("\n", 1)[0].strip()
    if len(first) <= TITLE_LIMIT:
        return first or insight[:TITLE_LIMIT]
    head = first[: TITLE_LIMIT - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[40:] else head) + "…"


def _require(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise InvalidValueError(message, hint=hint)
