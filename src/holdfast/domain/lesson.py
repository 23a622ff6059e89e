"""Lesson: something worth knowing next time, with its subject, its origin and the time since which it holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from holdfast.domain.kinds import profile_of
from holdfast.domain.project import ORGANISATION
from holdfast.domain.vocabulary import (
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

TITLE_LIMIT = 100
INSIGHT_LIMIT = 4_000
"""Longest rule that can be one lesson, in characters."""
FROM_FILE = "lessonfile/1"
"""The detector of a lesson that came from a file, or from others by way of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The code that a lesson is about: a file, a symbol in it when known, and fingerprints to compare it by."""

    path: str
    """Relative to the project's root, with forward slashes."""
    symbol: str = ""
    """Qualified name, e.g. `Store.put`; empty: the anchor is the whole file."""
    symbol_kind: str = ""
    blob: str = ""
    """`git1:` and git's blob id of the file at anchoring; empty when the file could not be read."""
    signature_hash: str = ""
    body_hash: str = ""
    commit: str = ""
    branch: str = ""
    also: tuple[str, ...] = ()
    """Other locations, `path` or `path::symbol`: those before a move, and those on one branch or in one work tree."""

    @property
    def other_paths(self) -> tuple[str, ...]:
        """The files of the other locations."""
        return tuple(place.partition("::")[0] for place in self.also)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who may see a lesson: the user everywhere, one project (or a part of it), or the team."""

    level: ScopeLevel = "project"
    project: ProjectId = ""  # type: ignore[assignment]
    path_prefix: str = ""
    """Part of a monorepo, e.g. `packages/api`; empty is the whole project."""
    branch: str = ""
    """The branch on which it is staged: it is invisible elsewhere until that branch is merged (ADR 32). Empty: not
    staged."""
    commit: str = ""
    """The commit that was checked out when it was staged."""
    base: str = ""
    """The commit of the main branch from which the branch had started at that time."""

    @property
    def owner(self) -> str:
        """The project that sees the lesson; empty for what every project sees: the user's own, an organisation's."""
        return ProjectId("") if self.level == "user" or self.project == ORGANISATION else self.project

    def __post_init__(self) -> None:
        """Require a project unless the level is `user`; raise InvalidValueError otherwise."""
        if self.level != "user" and not self.project:
            raise InvalidValueError(f"a {self.level} lesson needs a project")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The quoted span on which a lesson rests: characters [start, end) of the event's text, or of its command or new
    text if that contains the words."""

    event: EventId
    quote: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a lesson comes from: host, session, detector or person, and the quoted evidence."""

    host: str = ""
    session: SessionId = ""  # type: ignore[assignment]
    detector: str = ""
    """`name/version`, e.g. `fail_fix/1`; empty when a person wrote it."""
    author: str = ""
    person: str = ""
    """Who stated it: the id of a `domain.project.Person`. Empty: not known, or several persons stated it."""
    person_name: str = ""
    """For people only; never compared."""
    branch: str = ""
    """The branch that was checked out when it was stated or learnt; empty where it is not known."""
    origin: str = ""
    """`file#section` from which an importer read it; empty for a lesson that was not imported."""
    quotes_person: bool = False
    """An agent or a model worded it, and the quote that it rests on is what a person typed."""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Half-open UTC interval [valid_from, valid_to) during which it holds in the world; `valid_to` None: still true."""

    valid_from: datetime
    valid_to: datetime | None = None

    def __post_init__(self) -> None:
        """Require a non-empty interval; raise InvalidValueError otherwise."""
        if self.valid_to is not None and self.valid_to <= self.valid_from:
            raise InvalidValueError(f"empty validity: {self.valid_from} .. {self.valid_to}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggers:
    """When to deliver a lesson, in addition to its anchors and words. A rule, a model or a person wrote them."""

    paths: tuple[str, ...] = ()
    """Globs of files, relative to the project's root."""
    symbols: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()
    """Exact pieces of text that occur in an edit or a command, e.g. `exec.Command(` or `--stat`."""
    commands: tuple[str, ...] = ()
    """Beginnings of commands, e.g. `gh pr diff`."""
    work: tuple[str, ...] = ()
    """Kinds of work: fix, feature, refactor, operate; and of commands (`text.occasions.COMMAND_KINDS`)."""
    needs: tuple[str, ...] = ()
    """Commands that must have passed since the last edit before a command of `work`; it is told when one has not."""
    standing: bool = False
    """It holds for all work, whatever the agent touches."""
    edited: bool = False
    """A person chose the triggers: no others are derived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge of the lesson graph; it starts at the lesson that contains it."""

    kind: LinkKind
    target: LessonId


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One version of a lesson. It was what we knew from `recorded_at` to `retracted_at`."""

    id: LessonId
    kind: LessonKind
    title: str
    """The verdict in at most 12 words (`text.titles`), 1 to 100 characters."""
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
    when: Triggers = field(default_factory=Triggers)
    tags: tuple[str, ...] = ()
    topic_key: str = ""
    provenance: Provenance = Provenance()
    trust: Trust = "agent"
    confidence: float = 0.5
    """Probability that it is true, 0 to 1."""
    salience: float = 0.5
    """Importance, 0 to 1, judged when it is written."""
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
    """When a retired lesson becomes active again, e.g. `numpy!=1.26.4` (`curation.revival`); empty for never."""

    def __post_init__(self) -> None:
        """Require words of the closed sets, text lengths and numbers in range, and ordered times.

        Raises InvalidValueError otherwise.
        """
        profile_of(self.kind)
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
        """Semantic, procedural or episodic, as the kind implies."""
        return profile_of(self.kind).memory_type

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
    """Return the next version of the lesson, in that state; raise IllegalTransitionError for an illegal transition.

    The states superseded, retired and forgotten end the validity at `at`; every other state reopens it.
    """
    if state not in TRANSITIONS[lesson.state]:
        raise IllegalTransitionError(f"a {lesson.state} lesson cannot become {state}")
    at = next_instant(lesson.recorded_at, at)
    ends = state in ("superseded", "retired", "forgotten")
    begun = lesson.validity.valid_from
    closed = at if ends and at > begun else None
    return replace(lesson, state=state, validity=Validity(valid_from=begun, valid_to=closed), recorded_at=at)


def _require(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise InvalidValueError(message, hint=hint)
