"""Invitations: links that make their readers members, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hmac import compare_digest

from holdfast.domain.team import Invitation, Member, MemberId, Role, Team, TeamCaller, Token, role_rank
from holdfast.errors import InvalidValueError, NotFoundError, NotSignedInError
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend, TeamServices, TeamStores
from holdfast.team import tokentext
from holdfast.team.access import require
from holdfast.team.audit import record
from holdfast.team.members import add_member
from holdfast.team.names import checked_address, checked_name
from holdfast.team.tokens import make_session, make_token
from holdfast.team.tuning import INVITATION_DAYS, KEPT_DAYS, TOKEN_DAYS


def invite(
    team: TeamServices,
    caller: TeamCaller,
    *,
    role: Role = "writer",
    email: str = "",
    name: str = "",
    teams: Sequence[str] = (),
    days: int = INVITATION_DAYS,
) -> tuple[Invitation, str]:
    """Return a new invitation and its text, which belongs into the link and which nobody can read again.

    Raises ForbiddenError, NotFoundError for an unknown team, InvalidValueError.
    """
    require(caller, "administer")
    role_rank(role)
    if not 0 < days <= KEPT_DAYS:
        raise InvalidValueError(f"an invitation holds for 1 to {KEPT_DAYS} days")
    with team.stores.changing():
        for id_ in teams:
            if team.stores.records.get(Team, id_) is None:
                raise NotFoundError("there is no such team")
        now = team.clock.now()
        text = tokentext.make(tokentext.INVITATION_LETTER, team.stores.organisation, team.random_bytes)
        invitation = Invitation(
            id=text.id,
            at=now,
            digest=text.digest,
            role=role,
            expires_at=now + timedelta(days=days),
            email=checked_address(email),
            name=checked_name(name) if name else "",
            teams=tuple(dict.fromkeys(teams)),
            made_by=caller.actor,
            keep_until=now + timedelta(days=days + KEPT_DAYS),
        )
        team.stores.records.add(invitation)
        record(team, caller.actor, "invitation.make", invitation.id, role=role)
        return invitation, text.render()


def list_invitations(team: TeamServices, caller: TeamCaller, *, after: str = "", limit: int = 100) -> list[Invitation]:
    """Return the invitations of the last months, open and answered, in the order of their ids."""
    require(caller, "administer")
    return team.stores.records.find(Invitation, after=after, limit=limit)


def revoke_invitation(team: TeamServices, caller: TeamCaller, id_: str) -> None:
    """Erase an invitation; who accepted it stays a member. Raises NotFoundError."""
    require(caller, "administer")
    with team.stores.changing():
        team.stores.records.hold(f"invitation {id_}")
        if not team.stores.records.remove(Invitation, id_):
            raise NotFoundError("there is no such invitation")
        record(team, caller.actor, "invitation.revoke", id_)


def read_invitation(backend: TeamBackend, text: str, now: datetime) -> Invitation:
    """Return the invitation of a link, which changes nothing: programs that look at links must not use them up.

    Raises NotSignedInError for one that is unknown, used, revoked or expired, always the same.
    """
    return _valid(_stores_of(backend, text), text, now)


def open_team(backend: TeamBackend, clock: Clock, random_bytes: Callable[[int], bytes], text: str) -> TeamServices:
    """Return what `accept` and `join` work with: the organisation that the text names. Raises NotSignedInError."""
    return TeamServices(stores=_stores_of(backend, text), clock=clock, random_bytes=random_bytes)


def _stores_of(backend: TeamBackend, text: str) -> TeamStores:
    presented = tokentext.parse(text)
    if presented is None:
        raise _invalid()
    try:
        return backend.open(presented.organisation)
    except NotFoundError:
        raise _invalid() from None


def accept(team: TeamServices, text: str, *, name: str = "") -> tuple[Member, Token, str]:
    """Make the reader of the link a member; return the member and the token of the browser, with its text.

    `team` is what `open_team` returns for the text. Raises as `read_invitation`, TakenError where
    a member has that address, InvalidValueError without a name, QuotaExceededError; the invitation holds then.
    """
    with team.stores.changing():
        member = _join(team, text, name)
        token, session = make_session(team, member)
        return member, token, session


def join(team: TeamServices, text: str, *, name: str = "", token_name: str = "terminal") -> tuple[Member, Token, str]:
    """Make the reader of the link a member; return the member and a personal token with its text. As `accept`."""
    with team.stores.changing():
        member = _join(team, text, name)
        token, secret = make_token(
            team, member.id, kind="personal", name=token_name, role=member.role, member=MemberId(member.id),
            expires_at=team.clock.now() + timedelta(days=TOKEN_DAYS),
        )  # fmt: skip
        return member, token, secret


def _join(team: TeamServices, text: str, name: str) -> Member:
    """Use up the invitation and return the new member. Call it inside `changing`."""
    parsed = tokentext.parse(text)
    team.stores.records.hold(f"invitation {parsed.id if parsed else ''}")
    now = team.clock.now()
    invitation = _valid(team.stores, text, now)
    member = add_member(
        team,
        invitation.made_by,
        name=name or invitation.name,
        role=invitation.role,
        email=invitation.email,
        teams=invitation.teams,
    )
    team.stores.records.put(replace(invitation, accepted_at=now, member=MemberId(member.id)))
    record(team, member.id, "invitation.accept", invitation.id)
    return member


def _valid(stores: TeamStores, text: str, now: datetime) -> Invitation:
    """Return the invitation of that text if it is one of this organisation and holds. Raises NotSignedInError."""
    presented = tokentext.parse(text)
    if presented is None or presented.letter != tokentext.INVITATION_LETTER:
        raise _invalid()
    invitation = stores.records.get(Invitation, presented.id)
    is_right = compare_digest(presented.digest, invitation.digest if invitation else presented.id)
    if invitation is None or not is_right or invitation.accepted_at is not None or now >= invitation.expires_at:
        raise _invalid()
    return invitation


def _invalid() -> NotSignedInError:
    return NotSignedInError("this invitation does not hold, or not any more", hint="ask for a new one")
