"""What is sent and answered, as pydantic models: the schemas in the OpenAPI document are theirs.

Bodies are strict. Answers are made by `views` from records; a model here says what is in them, and tests compare.
A body has no `private` field, and no scope `user`: what is a person's own never comes to a server.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from holdfast.domain.team import FlagReason, Role, TokenKind, Verb
from holdfast.domain.vocabulary import (
    EventKind,
    Freshness,
    LessonKind,
    MemoryType,
    Moment,
    State,
    Trust,
)
from holdfast.surfaces.rest.reading import Id, Instant, Name, Said, Text, Texts, Whole
from holdfast.surfaces.rest.table import Strict

T = TypeVar("T")

Short = Annotated[str, Field(max_length=1_000)]
TopicName = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""An instant in an answer, `2026-11-21T08:45:29.123456Z`."""


class AnswerModel(BaseModel):
    """An answer. Keys are added over time and never removed."""

    model_config = ConfigDict(extra="allow")


class Listing(AnswerModel, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str = Field(description="The cursor of the next page; empty on the last one")


# Lessons


class AnchorView(AnswerModel):
    """The code that a lesson is about."""

    path: str
    symbol: str
    symbol_kind: str
    blob: str
    signature_hash: str
    body_hash: str
    commit: str
    branch: str
    also: list[str]


class LessonView(AnswerModel):
    """A version of a lesson. `freshness` is `unverified` where only a clone of the repository can tell."""

    id: str
    short_id: str
    kind: LessonKind
    memory_type: MemoryType
    title: str
    insight: str
    why: str
    how: str
    snippets: list[str]
    scope: dict[str, Any]
    validity: dict[str, Any]
    recorded_at: Time
    retracted_at: Time | None
    anchors: list[AnchorView]
    globs: list[str]
    files: list[str]
    symbols: list[str]
    when: dict[str, Any]
    tags: list[str]
    topic_key: str
    provenance: dict[str, Any]
    trust: Trust
    confidence: Share
    salience: Share
    state: State
    links: list[dict[str, Any]]
    pinned: bool
    private: bool
    error_signature: str
    command: str
    sessions_seen: list[str]
    revival: str


class SavedView(LessonView):
    """A lesson after a change."""

    contradicts: list[str] = Field(default=[], description="Active lessons that say otherwise")


class TriggersIn(Strict):
    """When a lesson is told, beside its own words."""

    paths: Texts = ()
    symbols: Texts = ()
    literals: Texts = ()
    commands: Texts = ()
    work: Texts = ()
    needs: Texts = Field(default=(), description="Commands that must have passed since the last edit, before `work`")
    standing: bool = False


class LessonIn(Strict):
    """A lesson that somebody states. It waits for a reviewer unless the team's rules say otherwise."""

    insight: Said
    kind: LessonKind = "convention"
    title: Short = ""
    why: Text = ""
    how: Text = ""
    snippets: Texts = ()
    files: Texts = Field(default=(), description="Paths relative to the project's root, or globs")
    symbols: Texts = ()
    tags: Texts = ()
    topic: Short = Field(default="", description="A stable key; saving with the same key revises the lesson")
    pinned: bool = False
    quote: Text = Field(default="", description="Words of a session on which the lesson rests")
    trust: Literal["person", "agent"] = Field(default="agent", description="Who worded it")
    when: TriggersIn | None = None
    revive_when: Short = ""


class TriggersChange(Strict):
    """Triggers; a list replaces all of its kind, and what is left out stays."""

    paths: Texts | None = None
    symbols: Texts | None = None
    literals: Texts | None = None
    commands: Texts | None = None
    work: Texts | None = None
    needs: Texts | None = None
    standing: bool | None = None


class LessonChange(Strict):
    """What changes of a lesson; what is left out stays. New words make a successor, which supersedes the lesson."""

    insight: Said | None = None
    kind: LessonKind | None = None
    title: Short | None = None
    why: Text | None = None
    how: Text | None = None
    snippets: Texts | None = None
    files: Texts | None = None
    symbols: Texts | None = None
    tags: Texts | None = None
    topic: Short | None = None
    pinned: bool | None = None
    when: TriggersChange | None = None
    trust: Literal["person", "agent"] = "agent"


class WhenChange(TriggersChange):
    """When a lesson is told; a list replaces all conditions of its kind, and what is left out stays."""

    title: Short | None = Field(default=None, description="Its verdict in at most 12 words; empty makes one")
    revive_when: Short | None = Field(default=None, description="When it wakes once it is retired; empty: never")


class Retirement(Strict):
    """A lesson that is of no use now."""

    revive_when: Short = Field(default="", description="When it wakes again, e.g. `numpy>=2`; empty: never")


class FlagIn(Strict):
    """What is wrong with a lesson."""

    reason: FlagReason
    note: Short = ""
    of: Annotated[str, Field(max_length=200)] = Field(default="", description="The lesson that it repeats")


class FlagView(AnswerModel):
    """A member's word against a lesson."""

    id: str
    at: Time
    lesson: str
    member: str
    reason: FlagReason
    of: str
    note: str


class ConfirmationView(AnswerModel):
    """A member's word for a lesson."""

    id: str
    at: Time
    lesson: str
    member: str


class VersionView(AnswerModel):
    """A version of a lesson, the change that made it, and what differs from the version before."""

    lesson: LessonView
    verb: str
    actor: str
    why: str
    differences: list[dict[str, Any]]


class EvidenceView(AnswerModel):
    """Why a lesson is believed."""

    evidence: list[dict[str, Any]] = Field(description="The quoted spans on which it rests")
    provenance: dict[str, Any]
    standing: dict[str, Any]
    decay: dict[str, Any]
    deliveries: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    surrounding: list[dict[str, Any]] = Field(description="The turns around the first quote")


class LinkView(AnswerModel):
    """An edge of the graph of lessons."""

    kind: str
    source: str
    target: str


class ConflictView(AnswerModel):
    """Two lessons that cannot hold together, the better one first."""

    better: LessonView
    worse: LessonView
    slot: str
    values: list[str]
    reason: str
    sure: bool


class Decision(Strict):
    """How a conflict ends: the kept lesson closes the others, or both hold."""

    keep: Id
    close: Annotated[tuple[Id, ...], Field(max_length=20)] = Field(
        default=(), description="Empty: every lesson in conflict with it"
    )
    both: bool = Field(default=False, description="Keep `keep` beside the one lesson of `close`")


class TidyStepIn(Strict):
    """One step of a tidying, as it was proposed."""

    verb: Literal["merge", "retitle", "retire"]
    lesson: Id = Field(description="The lesson that stays, is retitled or is retired")
    replaces: Annotated[tuple[Id, ...], Field(max_length=50)] = Field(
        default=(), description="The lessons that it takes the place of"
    )
    title: Short = Field(default="", description="The new title; empty: it keeps its own")
    by: Short = Field(default="rule", description="`rule`, or the id of the model that proposed it")
    words: Annotated[tuple[Short, ...], Field(max_length=51)] = Field(
        default=(), description="Digests of what the lessons said then; a step whose lessons changed is refused"
    )


class TidyRefusal(Strict):
    """A step that is not to be proposed again."""

    step: Short = Field(description="The step's digest")
    reopen: bool = Field(default=False, description="Take the refusal back")


class TidyRefusalView(AnswerModel):
    """Whether a step is refused."""

    step: str
    refused: bool


class DoubtView(AnswerModel):
    """A lesson that somebody should look at again."""

    lesson: LessonView
    reason: str
    reasons: list[str]


class ReviewView(AnswerModel):
    """What waits for a reviewer."""

    waiting: list[LessonView]
    flags: list[FlagView]
    in_doubt: list[DoubtView]
    more: Count


# Questions


class RecallIn(Strict):
    """A question."""

    text: Text = ""
    paths: Texts = ()
    symbols: Texts = ()
    command: Text = ""
    error: Text = ""
    limit: Annotated[Whole, Field(ge=1, le=50)] = 3
    budget_tokens: Annotated[Whole, Field(ge=100, le=20_000)] = 2_000
    as_of: Instant | None = None
    kinds: Annotated[tuple[LessonKind, ...], Field(max_length=20)] = ()
    states: Annotated[tuple[State, ...], Field(max_length=10)] = ()
    sessions: bool = Field(default=False, description="Search only what was said in earlier sessions")


class RankedView(AnswerModel):
    """A lesson that answers, with every part of its score."""

    rank: int
    score: float
    freshness: Freshness
    caveat: str
    unconfirmed: bool
    why: dict[str, Any]
    lesson: LessonView


class BriefingView(AnswerModel):
    """What answers a question, or what a session is told."""

    moment: Moment
    text: str
    items: list[RankedView]
    entries: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    more: Count
    tokens: Count
    nearest: RankedView | None
    near: list[RankedView]
    near_more: Count
    turns: list[dict[str, Any]]
    disputes: list[list[str]]
    degraded: str


class BriefIn(Strict):
    """The start of a session, and what it does first."""

    prompt: Text = ""
    file: Short = ""
    command: Text = ""


class BriefView(AnswerModel):
    """What a session is told: at its start, then for the prompt, the file and the command."""

    briefings: list[BriefingView]


# Sessions


class EventIn(Strict):
    """Something that happened in a session. The same (session, key) is one event, however often it is sent."""

    session: Id
    key: Annotated[str, Field(min_length=1, max_length=500)]
    kind: EventKind
    at: Instant
    host: Annotated[str, Field(max_length=100)] = ""
    id: Annotated[str, Field(max_length=100)] = ""
    branch: Short = ""
    commit: Annotated[str, Field(max_length=100)] = ""
    files: Texts = ()
    tool: Annotated[str, Field(max_length=200)] = ""
    command: Text = ""
    exit_code: Annotated[Whole, Field(ge=-(2**31), lt=2**32)] | None = None
    old: Annotated[str, Field(max_length=200_000)] = ""
    new: Annotated[str, Field(max_length=200_000)] = ""
    text: Annotated[str, Field(max_length=200_000)] = ""
    agent: Annotated[str, Field(max_length=200)] = ""
    model: Annotated[str, Field(max_length=200)] = ""


class EventView(AnswerModel):
    """An event as it is stored: redacted, and cut to size."""

    position: Count
    id: str
    session: str
    kind: EventKind
    at: Time
    text: str


class SessionView(AnswerModel):
    """What the events of a session add up to."""

    session: str
    host: str
    branch: str = Field(description="The last one that an event names")
    first: Time
    last: Time
    events: Count
    prompts: Count
    opening: str = Field(description="The text of its first prompt; empty where there is none or it was erased")


class CallIn(Strict):
    """A step of an agent's session. Other keys are the step's own."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    session_id: Id
    hook_event_name: Annotated[str, Field(min_length=1, max_length=100)]
    cwd: Short = ""


class ContextView(AnswerModel):
    """What the agent is told; empty where there is nothing to say."""

    context: str


class LearntView(AnswerModel):
    """What a session taught."""

    found: Count
    active: list[str]
    waiting: list[str]


class StoredView(AnswerModel):
    """How many were new."""

    received: Count
    stored: Count


class CheckpointIn(Strict):
    """The state of a task."""

    goal: Said
    task: Annotated[str, Field(max_length=200)] = ""
    done: Texts = ()
    next: Texts = ()
    open_questions: Texts = ()
    files: Texts = ()
    session: Annotated[str, Field(max_length=200)] = ""


class CheckpointView(AnswerModel):
    """The state of a task as it is stored."""

    id: str
    at: Time
    task: str
    goal: str


class OutcomeIn(Strict):
    """What somebody says of a lesson that was told."""

    lesson: Id
    verdict: Literal["heeded", "helped", "hurt"]
    note: Short = ""
    session: Annotated[str, Field(max_length=200)] = ""


class OutcomeView(AnswerModel):
    """The effect of a lesson in a session."""

    id: str
    at: Time
    lesson: str
    verdict: str


class DeliveryView(AnswerModel):
    """A lesson that was told once: where, when and why."""

    id: str
    at: Time
    lesson: str
    session: str
    moment: Moment
    reason: str


class StatsView(AnswerModel):
    """Counts and shares of a project."""

    project: str
    name: str
    sessions: Count
    delivered: Count


class TopicView(AnswerModel):
    """A topic, and how many of the newest lessons have it."""

    name: str
    kind: Literal["topic", "tag", "area", "term"] = Field(description="Where it was found")
    lessons: Count
    newest: Time
    also: list[str] = Field(description="Names of topics that were merged into it, or its own before it was renamed")


class TopicRenaming(Strict):
    """A new name for a topic."""

    name: TopicName
    new: TopicName


class TopicMerging(Strict):
    """Two topics that are one from now on, under the name of the second."""

    name: TopicName
    into: TopicName


class TopicSplitting(Strict):
    """A topic that gets its own names back."""

    name: TopicName


class LessonRefView(AnswerModel):
    """Another lesson that an entry of a digest names."""

    lesson: str
    short_id: str
    title: str


class DigestItemView(AnswerModel):
    """A lesson, and what happened to it."""

    lesson: str
    short_id: str
    title: str
    rule: str
    kind: LessonKind
    at: Time
    note: str
    others: list[LessonRefView]
    source: str
    is_confirmed: bool


class DigestSectionView(AnswerModel):
    """Lessons of one sort, the most important first."""

    name: Literal["learnt", "changed", "contradicted", "resolved", "stale", "waits"]
    title: str
    items: list[DigestItemView]
    total: Count
    note: str


class DigestView(AnswerModel):
    """What happened to a project's memory in a period."""

    project: str
    project_name: str
    since: Time
    until: Time
    audience: Literal["me", "team"]
    sections: list[DigestSectionView]
    sessions: Count
    people: list[str]


# Sync, export and import


class DocumentIn(Strict):
    """A shared lesson as a client has it."""

    id: Id
    values: dict[str, Any]
    stamps: dict[str, str] = Field(default={})
    confirm: bool = Field(default=False, description="The sender vouches for these words")


class DocumentsIn(Strict):
    """Documents that a client sends."""

    documents: Annotated[tuple[DocumentIn, ...], Field(max_length=1_000)]


class FateView(AnswerModel):
    """What became of a document that was sent."""

    id: str
    status: Literal["accepted", "proposed", "unchanged", "refused"]
    reason: str
    seq: Count
    accepted: bool
    own: bool
    document: dict[str, Any] | None


class FatesView(AnswerModel):
    """What became of each document, in order."""

    results: list[FateView]
    last: Count = Field(description="The project's last position")


class DocumentView(AnswerModel):
    """A shared lesson at a position of the feed."""

    seq: Count
    id: str
    accepted: bool
    own: bool
    lesson: str
    values: dict[str, Any]
    stamps: dict[str, str]


class DocumentsView(AnswerModel):
    """A part of a project's feed."""

    format: int
    documents: list[DocumentView]
    after: Count = Field(description="The position to go on from")
    last: Count = Field(description="The project's last position")
    more: bool


class SealedIn(Strict):
    """A sealed lesson as a client has it."""

    id: Id
    seq: Count = Field(description="The position of the version that it replaces; 0 for a new one")
    sealed: Annotated[str, Field(max_length=500_000)]


class SealedListIn(Strict):
    """Sealed lessons that a client sends."""

    sealed: Annotated[tuple[SealedIn, ...], Field(max_length=1_000)]


class SealedView(AnswerModel):
    """A sealed lesson at its position."""

    id: str
    seq: Count
    sealed: str


class SealedListView(AnswerModel):
    """A part of a member's sealed lessons."""

    sealed: list[SealedView]
    after: Count = Field(description="The position to go on from")
    last: Count = Field(description="The last position")


class SealedFateView(AnswerModel):
    """What became of a sealed lesson."""

    id: str
    status: Literal["stored", "unchanged", "stale", "refused"]
    reason: str = ""
    seq: Count = 0
    sealed: str = Field(default="", description="The present version, where another machine was faster")


class SealedFatesView(AnswerModel):
    """What became of each sealed lesson, in order."""

    results: list[SealedFateView]


class LineIn(Strict):
    """A line of an import: a lesson as `holdfast export` writes it, or its words alone."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    insight: Annotated[str, Field(min_length=1, max_length=4_000)]
    kind: LessonKind


class LineView(AnswerModel):
    """A lesson as a line of an export."""

    id: str
    insight: str


class ImportView(AnswerModel):
    """What became of the lines."""

    added: Count
    revised: Count
    unchanged: Count
    waiting: Count
    quarantined: Count
    conflicts: Count
    failed: list[dict[str, Any]]
    ignored: dict[str, int]


# Accounts


class RulesView(Strict):
    """Who confirms a proposed lesson, beside the reviewers."""

    confirmations: Annotated[Whole, Field(ge=0, le=1_000)] = 0
    owners: bool = False


class LimitsView(Strict):
    """The most that an organisation may have or do; 0: no limit."""

    lessons: Annotated[Whole, Field(ge=0, lt=2**53)] = 0
    projects: Annotated[Whole, Field(ge=0, lt=2**53)] = 0
    members: Annotated[Whole, Field(ge=0, lt=2**53)] = 0
    tokens: Annotated[Whole, Field(ge=0, lt=2**53)] = 0
    events_a_day: Annotated[Whole, Field(ge=0, lt=2**53)] = 0
    requests_a_minute: Annotated[Whole, Field(ge=0, lt=2**53)] = 0


class OrganisationView(AnswerModel):
    """The organisation and its rules."""

    id: str
    name: str
    at: Time
    rules: RulesView
    limits: LimitsView
    domains: list[str]
    sign_in_role: Role


class OrganisationChange(Strict):
    """What changes of the organisation; rules and limits are replaced as a whole."""

    name: Name | None = None
    rules: RulesView | None = None
    limits: LimitsView | None = None
    domains: Annotated[tuple[Annotated[str, Field(max_length=253)], ...], Field(max_length=100)] | None = None
    sign_in_role: Literal["reader", "writer", "reviewer"] | None = None


class MeView(AnswerModel):
    """Who calls, and what the token may do."""

    organisation: str
    name: str
    member: str
    role: Role
    token: str
    verbs: list[Verb]
    projects: list[str]
    teams: list[str]
    expires_at: Time | None


class MemberView(AnswerModel):
    """A member. The address is for admins and for the member."""

    id: str
    at: Time
    name: str
    role: Role
    email: str
    handles: list[str]
    active: bool


class MemberChange(Strict):
    """What changes of a member. Everybody may change their own name; the rest is for admins."""

    name: Name | None = None
    email: Annotated[str, Field(max_length=320)] | None = None
    handles: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=50)] | None = None
    role: Role | None = None
    active: bool | None = None


class TeamView(AnswerModel):
    """Members who share projects."""

    id: str
    at: Time
    name: str
    handle: str
    members: list[str]


class TeamIn(Strict):
    """A team."""

    name: Name
    handle: Annotated[str, Field(max_length=200)] = ""
    members: Annotated[tuple[Id, ...], Field(max_length=1_000)] = ()


class TeamChange(Strict):
    """What changes of a team; `members` replaces them all."""

    name: Name | None = None
    handle: Annotated[str, Field(max_length=200)] | None = None
    members: Annotated[tuple[Id, ...], Field(max_length=1_000)] | None = None


class TokenView(AnswerModel):
    """A token, without its secret."""

    id: str
    at: Time
    kind: TokenKind
    name: str
    role: Role
    member: str
    projects: list[str]
    verbs: list[Verb]
    expires_at: Time | None
    revoked_at: Time | None
    last_used_at: Time | None


class IssuedView(TokenView):
    """A new token."""

    text: str = Field(description="The whole token. Nobody can read it again")


class TokenIn(Strict):
    """A token that is asked for: the caller's own, or a program's. It never may more than the caller."""

    name: Name
    kind: Literal["personal", "service"] = "personal"
    role: Role | None = Field(default=None, description="By default the caller's")
    projects: Annotated[tuple[Id, ...], Field(max_length=100)] = ()
    verbs: Annotated[tuple[Verb, ...], Field(max_length=20)] = ()
    days: Annotated[Whole, Field(ge=0, le=36_500)] = Field(default=365, description="0: until it is revoked")


class InvitationView(AnswerModel):
    """An invitation, without its secret."""

    id: str
    at: Time
    role: Role
    email: str
    name: str
    teams: list[str]
    expires_at: Time
    accepted_at: Time | None
    member: str


class InvitedView(InvitationView):
    """A new invitation."""

    text: str = Field(description="What belongs into the link. Nobody can read it again")


class JoinIn(Strict):
    """An invitation that somebody accepts."""

    text: Annotated[str, Field(min_length=1, max_length=500)] = Field(
        description="What the invitation's link ends with"
    )
    name: Annotated[str, Field(max_length=200)] = Field(default="", description="By default the invitation's")
    token_name: Annotated[str, Field(min_length=1, max_length=200)] = "terminal"


class InvitationIn(Strict):
    """A new member, who is not here yet."""

    role: Role = "writer"
    email: Annotated[str, Field(max_length=320)] = ""
    name: Annotated[str, Field(max_length=200)] = ""
    teams: Annotated[tuple[Id, ...], Field(max_length=100)] = ()
    days: Annotated[Whole, Field(ge=1, le=90)] = 7


class ProjectView(AnswerModel):
    """A project."""

    id: str
    at: Time
    name: str
    remote: str
    root_commit: str
    teams: list[str]
    rules: RulesView | None


class ProjectIn(Strict):
    """A project, by the id that `holdfast project` prints."""

    id: Annotated[Id, Field(max_length=200)]
    name: Name
    remote: Annotated[str, Field(max_length=300)] = ""
    root_commit: Annotated[str, Field(max_length=100)] = ""


class ProjectChange(Strict):
    """What changes of a project."""

    name: Name | None = None
    remote: Annotated[str, Field(max_length=300)] | None = None
    root_commit: Annotated[str, Field(max_length=100)] | None = None
    teams: Annotated[tuple[Id, ...], Field(max_length=100)] | None = None
    rules: RulesView | None = None
    codeowners: Annotated[str, Field(max_length=500_000)] | None = None


class AuditView(AnswerModel):
    """An entry of the audit log."""

    seq: Count
    at: Time
    actor: str
    action: str
    target: str
    details: dict[str, str]
    previous: str
    hash: str


class VerificationView(AnswerModel):
    """What a check of the whole audit log found."""

    entries: Count
    head: str = Field(description="The log's end, to be noted elsewhere and compared later")
    faults: list[str]


class VersionInfo(AnswerModel):
    """The server's version."""

    version: str
    api: Literal["v1"]


class JudgementsView(AnswerModel):
    """What members say of a lesson, after one of them spoke."""

    lesson: LessonView
    confirmations: list[ConfirmationView]
    flags: list[FlagView]
    accepted_by: str = Field(description="What made it active just now: `reviewer`, `owner`, `confirmations`; or empty")
