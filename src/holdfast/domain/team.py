"""The records of a team server: organisations, members, tokens, what they say of lessons, and the audit log.

Each record but `AuditEntry` and `StoredDocument` is a `TeamRecord`: it belongs to one organisation, `(KIND, id)`
identifies it there, and a backend finds it by the fields in `FIND_BY`. A new kind of record is one class here, and its
line in `RECORD_KINDS`: no backend changes. Texts in records are redacted by whoever makes the record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal, NewType

from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import InvalidValueError

OrganisationId = NewType("OrganisationId", int)
"""From 1; the tenant of every row. A store that one person has to itself is organisation 1."""
MemberId = NewType("MemberId", str)
TokenId = NewType("TokenId", str)
"""The public part of a token or invitation: 8 letters and digits, then the number of its organisation."""

FIRST_ORGANISATION = OrganisationId(1)

Role = Literal["reader", "writer", "reviewer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "writer", "reviewer", "admin")
"""What a member may do, the least first; each role may do what those before it may."""

Verb = Literal["read", "judge", "write", "capture", "review", "audit", "administer"]
VERB_ROLES: dict[Verb, Role] = {
    "read": "reader",
    "judge": "reader",
    "write": "writer",
    "capture": "writer",
    "review": "reviewer",
    "audit": "admin",
    "administer": "admin",
}
"""What an operation does, and the least role that may do it. A token may be limited to some of these verbs.

`read` covers lessons, recall, briefs and the change feed; `judge` confirming and flagging; `write` proposing and
changing lessons, checkpoints and outcomes; `capture` the events of sessions; `review` deciding about what waits.
"""

TokenKind = Literal["personal", "service", "session"]
"""A member's own; a program's, which belongs to no member; a signed-in browser's, which is a member's and short."""
FlagReason = Literal["stale", "incorrect", "duplicate"]
FLAG_REASONS: tuple[FlagReason, ...] = ("stale", "incorrect", "duplicate")

_ACTION = re.compile(r"[a-z_]+\.[a-z_]+")
_REFERENCE = re.compile(r"[^\s\x00-\x1f\x7f]{0,300}")


def role_rank(role: Role) -> int:
    """Return 0 for a reader to 3 for an admin. Raises InvalidValueError for another word."""
    if role not in ROLES:
        raise InvalidValueError(f"unknown role {role!r}", hint=f"one of {', '.join(ROLES)}")
    return ROLES.index(role)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamRecord:
    """What all records of an organisation have."""

    KIND: ClassVar[str] = ""
    """The name of the kind in the database."""
    FIND_BY: ClassVar[tuple[str, ...]] = ()
    """Fields by whose values records are found: texts, or tuples of texts. Empty texts are not indexed."""
    UNIQUE: ClassVar[tuple[str, ...]] = ()
    """Those of them whose value only one record of the organisation may have."""

    id: str
    at: datetime
    """When it was made."""
    keep_until: datetime | None = None
    """When it may be erased; None: when somebody removes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """Who confirms a proposed lesson, beside the reviewers."""

    confirmations: int = 0
    """That many members other than the proposer; 0: a reviewer has to."""
    owners: bool = False
    """An owner, by the project's CODEOWNERS, of every path that the lesson is about; also when they propose it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that an organisation may have or do; 0: no limit."""

    lessons: int = 0
    projects: int = 0
    members: int = 0
    tokens: int = 0
    events_a_day: int = 0
    requests_a_minute: int = 0
    """Of one token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation(TeamRecord):
    """The organisation itself: the one record of its kind, with the id `organisation`."""

    KIND: ClassVar[str] = "organisation"

    name: str
    rules: ReviewRules = ReviewRules()
    limits: Limits = Limits()
    domains: tuple[str, ...] = ()
    """E-mail domains whose people become members when they sign in for the first time."""
    sign_in_role: Role = "writer"
    """The role of those."""


NO_TEAM = "own"
"""The id of a team that does not exist: a project of it is seen by admins alone. Ids of teams are longer."""
ORGANISATION_RECORD = "organisation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(TeamRecord):
    """A person with an account."""

    KIND: ClassVar[str] = "member"
    FIND_BY: ClassVar[tuple[str, ...]] = ("email", "external_id", "role")
    UNIQUE: ClassVar[tuple[str, ...]] = ("email", "external_id")

    name: str
    role: Role
    email: str = ""
    """Lower case."""
    external_id: str = ""
    """`issuer subject` of the identity provider; empty for a member who never signed in through one."""
    handles: tuple[str, ...] = ()
    """Names in CODEOWNERS without the `@`, lower case."""
    active: bool = True
    """False: the account is closed. Its tokens do nothing, and what the member did stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team(TeamRecord):
    """Members who share projects, and the name that CODEOWNERS has for them."""

    KIND: ClassVar[str] = "team"
    FIND_BY: ClassVar[tuple[str, ...]] = ("name", "members")
    UNIQUE: ClassVar[tuple[str, ...]] = ("name",)

    name: str
    handle: str = ""
    """`acme/payments` for `@acme/payments`, lower case."""
    members: tuple[MemberId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamProject(TeamRecord):
    """A project on the server; the id is its `ProjectId`."""

    KIND: ClassVar[str] = "project"
    FIND_BY: ClassVar[tuple[str, ...]] = ("teams",)

    name: str
    remote: str = ""
    root_commit: str = ""
    teams: tuple[str, ...] = ()
    """Ids of the teams whose members see it; empty: every member. Admins see every project."""
    rules: ReviewRules | None = None
    """None: those of the organisation."""
    codeowners: str = ""
    """The text of the repository's CODEOWNERS file, as somebody sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token(TeamRecord):
    """What the server knows of a token: never its secret, only a digest of it. The id is the public part."""

    KIND: ClassVar[str] = "token"
    FIND_BY: ClassVar[tuple[str, ...]] = ("member", "kind", "counts")

    kind: TokenKind
    name: str
    digest: str
    """SHA-256 of the secret, hexadecimal."""
    role: Role
    """The most that it may do, whatever the member may."""
    member: MemberId = MemberId("")
    """Empty for a service token."""
    projects: tuple[ProjectId, ...] = ()
    """Only these; empty: all that the member sees."""
    verbs: tuple[Verb, ...] = ()
    """Only these; empty: all that the role allows."""
    made_by: str = ""
    """The actor who made it: see `AuditEntry.actor`."""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    counts: str = ""
    """`yes` for a member's or a program's token that nobody has revoked: these are limited in number."""
    last_used_at: datetime | None = None
    """At most a minute old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation(TeamRecord):
    """A link that makes its reader a member, once. The id is the public part of its secret."""

    KIND: ClassVar[str] = "invitation"
    FIND_BY: ClassVar[tuple[str, ...]] = ("email",)

    digest: str
    role: Role
    expires_at: datetime
    email: str = ""
    """The address of the person invited; empty: whoever has the link."""
    name: str = ""
    teams: tuple[str, ...] = ()
    """Ids of the teams that the new member joins."""
    made_by: str = ""
    accepted_at: datetime | None = None
    member: MemberId = MemberId("")
    """Who accepted it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedLesson(TeamRecord):
    """Which account proposed a lesson. A lesson's own provenance says what a client claims; this is what we know.

    The id is the lesson's.
    """

    KIND: ClassVar[str] = "proposed_lesson"
    FIND_BY: ClassVar[tuple[str, ...]] = ("actor", "project")

    project: ProjectId
    actor: str
    """See `AuditEntry.actor`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(TeamRecord):
    """A member says that a lesson holds. The id is `lesson:member`."""

    KIND: ClassVar[str] = "confirmation"
    FIND_BY: ClassVar[tuple[str, ...]] = ("lesson", "member")

    lesson: LessonId
    member: MemberId
    project: ProjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(TeamRecord):
    """A member says that a lesson does not hold. The id is `lesson:member`."""

    KIND: ClassVar[str] = "flag"
    FIND_BY: ClassVar[tuple[str, ...]] = ("lesson", "member", "project")

    lesson: LessonId
    member: MemberId
    project: ProjectId
    reason: FlagReason
    of: LessonId = ""  # type: ignore[assignment]
    """The lesson that it repeats; empty for other reasons, and where it is not known."""
    note: str = ""
    """Why, redacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentAnswer(TeamRecord):
    """The answer to a request that had an idempotency key. The id is `token:digest of the key`; it is kept for a day.

    Purging a lesson erases all of them, because a body may hold its words.
    """

    KIND: ClassVar[str] = "idempotent_answer"

    digest: str
    """Of the request (`team.answers.digest_of`): the same key with another request is an error."""
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAttempt(TeamRecord):
    """A sign-in that an identity provider has not answered yet. The id is a digest of the `state` parameter."""

    KIND: ClassVar[str] = "sign_in_attempt"

    values: tuple[tuple[str, str], ...] = ()
    """(name, value) pairs that the answer is checked against, e.g. the nonce."""


RECORD_KINDS: tuple[type[TeamRecord], ...] = (
    Organisation, Member, Team, TeamProject, Token, Invitation, ProposedLesson, Confirmation, Flag, IdempotentAnswer,
    SignInAttempt,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something that somebody did. Entries are chained: each contains the hash of the one before."""

    seq: int
    """From 1, without gaps, in each organisation."""
    at: datetime
    actor: str
    """A member's id; `token:ID` for a service token; `system` for the server's own doing."""
    action: str
    """`noun.verb`, e.g. `token.revoke`."""
    target: str = ""
    """The id of what it was done to."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Ids, roles, counts: single words, never a text that somebody wrote."""
    previous: str = ""
    """The hash of the entry before; of the first one, empty."""
    hash: str = ""
    """SHA-256, hexadecimal, of `previous` and the other fields (`team.audit.hash_of`)."""

    def __post_init__(self) -> None:
        """Require an action of two words, and single words for target and details.

        Raises InvalidValueError, without the value.
        """
        if not _ACTION.fullmatch(self.action):
            raise InvalidValueError("an audit entry's action has the form noun.verb")
        for name, value in (("actor", self.actor), ("target", self.target), *self.details.items()):
            if not _REFERENCE.fullmatch(value):
                raise InvalidValueError(f"an audit entry's {name} is an id or a number, without spaces")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """The document of a shared lesson, as sync exchanges it (`publishing.remote`)."""

    id: str
    """The shared id, which all machines use."""
    seq: int = 0
    """The position of its last change in the project's feed, from 1 without gaps; 0: not stored yet."""
    lesson: LessonId
    """The lesson on this server that is derived from it."""
    accepted: bool
    at: datetime
    body: str
    """JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamCaller:
    """Who makes a request, and what they may do: the member's rights, limited by the token's."""

    organisation: OrganisationId
    token: TokenId
    kind: TokenKind
    actor: str
    """See `AuditEntry.actor`."""
    name: str
    role: Role
    member: MemberId = MemberId("")
    """Empty for a service token."""
    teams: tuple[str, ...] = ()
    """Ids of the member's teams."""
    projects: tuple[ProjectId, ...] = ()
    """Only these; empty: all that the member sees."""
    verbs: frozenset[Verb] = frozenset(VERB_ROLES)
    """Those of the token that the role allows."""
    expires_at: datetime | None = None
    """When the token ends."""
    requests_a_minute: int = 0
    """0: no limit."""

    def may(self, verb: Verb) -> bool:
        """Return whether the caller may do that in the organisation, or in a project that it sees."""
        return verb in self.verbs and role_rank(self.role) >= role_rank(VERB_ROLES[verb])

    def sees(self, project: TeamProject) -> bool:
        """Return whether the caller may know of the project."""
        if self.projects and project.id not in self.projects:
            return False
        if not project.teams or self.role == "admin" or not self.member:
            return True
        return not set(project.teams).isdisjoint(self.teams)
