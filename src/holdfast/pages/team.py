"""Team: members and invitations, tokens, and roles. What the reader's role may not do is not on the page.

The pages ask the server's operations with the browser's token, as programs do, so rights are decided in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.client.client import Client
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import ORGANISATION
from holdfast.domain.team import (
    ROLES,
    VERB_ROLES,
    Invitation,
    Member,
    Role,
    Team,
    Token,
    Verb,
    role_rank,
)
from holdfast.pages.page import ActionAnswer, ActionRow, Goal, NoValues, Page, PageRow
from holdfast.pages.view import Door, ProjectLine, View

A_PAGE = 100
"""Members, tokens or invitations on one page."""
READ_PROJECTS = 8
"""Projects whose newest lessons and changes are read for a page."""
READ_LESSONS = 200
"""Newest lessons of each of them."""
TAUGHT_SHOWN = 3
"""Newest lessons that a member's row names."""
LAST_SEEN_TOKENS = 1_000
"""Tokens that are looked through for when members were last seen."""
RoleName = Literal["reader", "writer", "reviewer", "admin"]

VERB_WORDS: dict[Verb, tuple[str, str]] = {
    "read": ("Read", "lessons, sessions, digests, statistics and these pages; make and revoke tokens of their own"),
    "judge": ("Judge", "confirm a lesson, or flag it as stale, wrong or a duplicate"),
    "write": ("Write", "state, edit and retire lessons; what they state waits for review where the rules say so"),
    "capture": ("Capture", "send the events of their agents' sessions"),
    "review": ("Review", "decide about lessons that wait, settle contradictions, state lessons for every project"),
    "audit": ("Audit", "read the audit log and check that nobody changed it"),
    "administer": ("Administer", "invite members, change roles, settings, quotas and code owners, revoke any token"),
}
"""By verb: its name on the pages, and what it covers."""
ROLE_WORDS: dict[Role, str] = {
    "reader": "Uses the memory and says where it is wrong.",
    "writer": "Teaches it, too. Most members.",
    "reviewer": "Decides what the team's agents are told.",
    "admin": "Runs the organisation.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A lesson that a member stated."""

    id: str
    title: str
    project: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLine:
    """A member as the page shows them."""

    id: str
    name: str
    role: Role
    email: str
    handles: tuple[str, ...]
    active: bool
    teams: tuple[str, ...]
    is_reader: bool
    """Whether it is the person who looks."""
    last_seen: datetime | None
    """The newest use of a token of theirs; for admins, and for the member."""
    shows_last_seen: bool
    taught: tuple[Taught, ...]
    """Their newest confirmed lessons that the reader may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationLine:
    """An invitation that nobody has accepted yet."""

    id: str
    role: Role
    email: str
    name: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersData:
    """The members, and for an admin the open invitations."""

    organisation: str
    members: tuple[MemberLine, ...]
    invitations: tuple[InvitationLine, ...]
    teams: tuple[Team, ...]
    roles: tuple[Role, ...]
    next: str
    """The cursor of the next page; empty on the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """Where a list goes on."""

    cursor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLine:
    """A token as the page shows it; nobody can read its secret again."""

    id: str
    name: str
    kind: str
    """`personal`, `program` or `browser`."""
    owner: str
    """Whose it is: a member's name, or empty for a program's."""
    role: Role
    verbs: tuple[Verb, ...]
    projects: tuple[str, ...]
    made_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    state: str
    """`valid`, `expired` or `revoked`."""
    is_this_browser: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensData:
    """The reader's tokens; for an admin everybody's."""

    tokens: tuple[TokenLine, ...]
    ended: tuple[TokenLine, ...]
    """Those that are revoked or have expired."""
    is_everybodys: bool
    roles: tuple[Role, ...]
    """What a new token may be."""
    projects: tuple[ProjectLine, ...]
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretData:
    """A secret that is shown once: a token's text, or an invitation's link."""

    what: Literal["token", "invitation"]
    text: str
    name: str
    role: Role
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbLine:
    """Something that members do, and which roles may do it."""

    verb: Verb
    name: str
    covers: str
    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLine:
    """A role, and who has it."""

    role: Role
    words: str
    members: tuple[str, ...]
    is_reader: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesData:
    """The roles and what each may do."""

    roles: tuple[RoleLine, ...]
    verbs: tuple[VerbLine, ...]


def team_client(view: View) -> Client:
    """Return the way to the server's operations, with the browser's token."""
    door = view.door
    if not isinstance(door, Client):
        raise AssertionError("only a server has a team")
    return door


def read_projects(view: View) -> tuple[ProjectLine, ...]:
    """Return the projects whose lessons and changes a page of the team reads."""
    return view.projects[:READ_PROJECTS]


# Members


def make_members(view: View, query: ListQuery) -> Page:
    """Return the page of the members."""
    client = team_client(view)
    page = client.members(limit=A_PAGE, cursor=query.cursor)
    teams = tuple(client.teams(limit=A_PAGE))
    last_seen = _last_seen(client)
    taught = _taught(view)
    lines = [
        _member_line(view, member, teams, last_seen, taught)
        for member in sorted(page, key=lambda member: (not member.active, member.name.casefold()))
    ]
    invitations = _open_invitations(view, client) if view.may("administer") and not query.cursor else ()
    return Page(
        template="team-members",
        title="Members",
        data=MembersData(
            organisation=client.organisation().name, members=tuple(lines), invitations=invitations, teams=teams,
            roles=ROLES, next=page.next,
        ),
    )  # fmt: skip


def _member_line(
    view: View, member: Member, teams: Sequence[Team], last_seen: Mapping[str, datetime],
    taught: Mapping[str, Sequence[Taught]],
) -> MemberLine:  # fmt: skip
    is_reader = member.id == view.person.id
    return MemberLine(
        id=member.id, name=member.name, role=member.role, email=member.email, handles=member.handles,
        active=member.active, teams=tuple(team.name for team in teams if member.id in team.members),
        is_reader=is_reader, last_seen=last_seen.get(member.id),
        shows_last_seen=is_reader or view.may("administer"), taught=tuple(taught.get(member.name, ())),
    )  # fmt: skip


def _last_seen(client: Client) -> dict[str, datetime]:
    """Return when each member's tokens were used last, of those that the reader may see."""
    seen: dict[str, datetime] = {}
    for token in client.tokens(limit=LAST_SEEN_TOKENS):
        if token.member and token.last_used_at:
            seen[token.member] = max(seen.get(token.member, token.last_used_at), token.last_used_at)
    return seen


def _taught(view: View) -> dict[str, list[Taught]]:
    """Return, by member's name, the newest confirmed lessons that they stated in the projects the reader sees."""
    lessons: list[tuple[Lesson, ProjectLine]] = []
    for project in read_projects(view):
        if project.id != ORGANISATION:
            listed = team_client(view).of_project(project.id).lessons(limit=READ_LESSONS)
            lessons += [(lesson, project) for lesson in listed]
    taught: dict[str, list[Taught]] = {}
    for lesson, project in sorted(lessons, key=lambda pair: pair[0].recorded_at, reverse=True):
        author = lesson.provenance.author or lesson.provenance.person_name
        entries = taught.setdefault(author, [])
        if author and len(entries) < TAUGHT_SHOWN:
            entries.append(Taught(id=lesson.id, title=lesson.title, project=project.id))
    return taught


def _open_invitations(view: View, client: Client) -> tuple[InvitationLine, ...]:
    return tuple(
        InvitationLine(
            id=invitation.id, role=invitation.role, email=invitation.email, name=invitation.name,
            expires_at=invitation.expires_at,
        )
        for invitation in client.invitations(limit=A_PAGE)
        if _is_open(invitation, view.now)
    )  # fmt: skip


def _is_open(invitation: Invitation, now: datetime) -> bool:
    return invitation.accepted_at is None and invitation.expires_at > now


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNameForm:
    """A new name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberForm:
    """What an admin changes of a member."""

    name: str
    role: RoleName
    email: str = ""
    handles: str = ""
    """Names in CODEOWNERS, separated by blanks or commas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationForm:
    """A new member, who is not here yet."""

    role: RoleName = "writer"
    name: str = ""
    email: str = ""
    teams: tuple[str, ...] = ()
    days: int = 7


def _client(door: Door) -> Client:
    assert isinstance(door, Client), "only a server has a team"
    return door


def rename_me(door: Door, parameters: Mapping[str, str], form: OwnNameForm) -> ActionAnswer:
    """Change the reader's own name."""
    client = _client(door)
    client.change_member(client.me().member, name=form.name)
    return ActionAnswer(message=f"Your name is {form.name} now.", to=Goal(name="members"))


def change_member(door: Door, parameters: Mapping[str, str], form: MemberForm) -> ActionAnswer:
    """Change a member's name, role, address and handles."""
    member = _client(door).change_member(
        parameters["member"], name=form.name, role=form.role, email=form.email, handles=split_words(form.handles)
    )
    return ActionAnswer(message=f"Changed: {member.name} is {with_article(member.role)}.", to=Goal(name="members"))


def close_member(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Close a member's account."""
    member = _client(door).change_member(parameters["member"], active=False)
    message = f"The account of {member.name} is closed. Their tokens do nothing now; what they taught stays."
    return ActionAnswer(message=message, to=Goal(name="members"))


def open_member(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Open a member's account again."""
    member = _client(door).change_member(parameters["member"], active=True)
    return ActionAnswer(message=f"The account of {member.name} is open again.", to=Goal(name="members"))


def invite(door: Door, parameters: Mapping[str, str], form: InvitationForm) -> ActionAnswer:
    """Make an invitation and show its link, once."""
    invited = _client(door).invite(
        role=form.role, name=form.name, email=form.email, teams=list(form.teams), days=form.days
    )
    data = SecretData(
        what="invitation", text=invited.text, name=form.name or form.email, role=invited.invitation.role,
        until=invited.invitation.expires_at,
    )  # fmt: skip
    return ActionAnswer(message="", page=Page(template="team-secret", title="The invitation's link", data=data))


def revoke_invitation(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Make an invitation's link useless."""
    _client(door).revoke_invitation(parameters["invitation"])
    return ActionAnswer(message="The invitation is revoked: its link does nothing now.", to=Goal(name="members"))


def split_words(text: str) -> list[str]:
    """Return the words of a field that takes several, separated by blanks or commas."""
    return text.replace(",", " ").split()


def with_article(role: str) -> str:
    """Return `an admin` or `a writer`."""
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"


# Tokens


def make_tokens(view: View, query: ListQuery) -> Page:
    """Return the page of the tokens."""
    client = team_client(view)
    this = client.me().token
    page = client.tokens(limit=A_PAGE, cursor=query.cursor)
    is_everybodys = view.may("administer")
    names = {member.id: member.name for member in client.members(limit=LAST_SEEN_TOKENS)} if is_everybodys else {}
    titles = {project.id: project.name for project in view.projects}
    lines = [_token_line(token, names, titles, this, view.now) for token in page]
    lines.sort(key=lambda line: (not line.is_this_browser, line.owner.casefold(), line.kind, line.name.casefold()))
    return Page(
        template="team-tokens",
        data=TokensData(
            tokens=tuple(line for line in lines if line.state == "valid"),
            ended=tuple(line for line in lines if line.state != "valid" and line.kind != "browser"),
            is_everybodys=is_everybodys, roles=roles_up_to(view.role), projects=view.projects, next=page.next,
        ),
    )  # fmt: skip


def _token_line(
    token: Token, names: Mapping[str, str], titles: Mapping[str, str], this: str, now: datetime
) -> TokenLine:
    ended = "revoked" if token.revoked_at else "expired" if token.expires_at and token.expires_at <= now else "valid"
    return TokenLine(
        id=token.id, name=token.name, kind={"service": "program", "session": "browser"}.get(token.kind, token.kind),
        owner=names.get(token.member, ""), role=token.role, verbs=token.verbs,
        projects=tuple(titles.get(project, project) for project in token.projects), made_at=token.at,
        expires_at=token.expires_at, last_used_at=token.last_used_at, state=ended, is_this_browser=token.id == this,
    )  # fmt: skip


def roles_up_to(role: Role) -> tuple[Role, ...]:
    """Return that role and those below it, the highest last."""
    return tuple(each for each in ROLES if role_rank(each) <= role_rank(role))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenForm:
    """A token that is asked for."""

    name: str
    role: RoleName
    days: int = 0
    for_program: bool = False
    projects: tuple[str, ...] = ()


def make_token(door: Door, parameters: Mapping[str, str], form: TokenForm) -> ActionAnswer:
    """Make a token and show its text, once."""
    issued = _client(door).add_token(
        form.name, service=form.for_program, role=form.role, projects=form.projects, days=form.days
    )
    token = issued.token
    data = SecretData(what="token", text=issued.text, name=token.name, role=token.role, until=token.expires_at)
    return ActionAnswer(message="", page=Page(template="team-secret", title="Your new token", data=data))


def revoke_token(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Make a token useless from now on."""
    token = _client(door).revoke_token(parameters["token"])
    return ActionAnswer(message=f"Revoked: the token {token.name} does nothing now.", to=Goal(name="tokens"))


# Roles


def make_roles(view: View, query: NoValues) -> Page:
    """Return the page of the roles, from the table of verbs that the server itself decides by."""
    members = [member for member in team_client(view).members(limit=LAST_SEEN_TOKENS) if member.active]
    return Page(
        template="team-roles",
        data=RolesData(
            roles=tuple(
                RoleLine(role=role, words=ROLE_WORDS[role], members=_names(members, role), is_reader=role == view.role)
                for role in ROLES
            ),
            verbs=tuple(
                VerbLine(verb=verb, name=VERB_WORDS[verb][0], covers=VERB_WORDS[verb][1], roles=_roles_for(verb))
                for verb in VERB_ROLES
            ),
        ),
    )


def _names(members: Iterable[Member], role: Role) -> tuple[str, ...]:
    return tuple(sorted((member.name for member in members if member.role == role), key=str.casefold))


def _roles_for(verb: Verb) -> tuple[Role, ...]:
    return tuple(role for role in ROLES if role_rank(role) >= role_rank(VERB_ROLES[verb]))


PAGES = (
    PageRow(
        path="/team/members", name="members", title="Team", make=make_members, query=ListQuery, is_served_only=True
    ),
    PageRow(
        path="/team/tokens", name="tokens", title="Tokens", make=make_tokens, query=ListQuery, is_served_only=True,
        under="members",
    ),
    PageRow(path="/team/roles", name="roles", title="Roles", make=make_roles, is_served_only=True, under="members"),
)  # fmt: skip
ACTIONS = (
    ActionRow(
        path="/team/me", name="rename-me", verb="read", act=rename_me, form=OwnNameForm, is_served_only=True
    ),
    ActionRow(
        path="/team/members/{member}", name="change-member", verb="administer", act=change_member, form=MemberForm,
        is_served_only=True,
    ),
    ActionRow(
        path="/team/members/{member}/close", name="close-member", verb="administer", act=close_member,
        is_served_only=True,
    ),
    ActionRow(
        path="/team/members/{member}/open", name="open-member", verb="administer", act=open_member,
        is_served_only=True,
    ),
    ActionRow(
        path="/team/invitations", name="invite", verb="administer", act=invite, form=InvitationForm,
        is_served_only=True,
    ),
    ActionRow(
        path="/team/invitations/{invitation}/revoke", name="revoke-invitation", verb="administer",
        act=revoke_invitation, is_served_only=True,
    ),
    ActionRow(
        path="/team/tokens/new", name="make-token", verb="read", act=make_token, form=TokenForm, is_served_only=True
    ),
    ActionRow(
        path="/team/tokens/{token}/revoke", name="revoke-token", verb="read", act=revoke_token, is_served_only=True
    ),
)  # fmt: skip
