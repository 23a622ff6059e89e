"""Tokens: issued, listed and revoked. A token's text leaves this module once, and the store has only its digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.domain.team import (
    VERB_ROLES,
    Member,
    MemberId,
    Role,
    TeamCaller,
    TeamProject,
    Token,
    TokenId,
    TokenKind,
    Verb,
    role_rank,
)
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import ForbiddenError, InvalidValueError, NotFoundError
from holdfast.ports.team import TeamServices
from holdfast.team import tokentext
from holdfast.team.access import require, require_unlimited
from holdfast.team.audit import record
from holdfast.team.names import checked_name
from holdfast.team.quotas import check_count
from holdfast.team.tuning import KEPT_DAYS, SESSION_DAYS, SESSION_HOURS, SESSION_RENEWED_S, TOKEN_DAYS


def issue(
    team: TeamServices,
    caller: TeamCaller,
    *,
    name: str,
    kind: TokenKind = "personal",
    role: Role | None = None,
    projects: Sequence[ProjectId] = (),
    verbs: Sequence[Verb] = (),
    days: int = TOKEN_DAYS,
) -> tuple[Token, str]:
    """Return a new token and its text, which nobody can read again.

    A personal token is the caller's own. A service token belongs to no member, and needs an admin. Neither may do more
    than the caller, and neither outlives the token that it was asked for with, unless that is a browser's. With 0 days
    it does not expire. Raises ForbiddenError, NotFoundError for an unknown project, QuotaExceededError.
    """
    require_unlimited(caller, "issue tokens")
    if kind == "service":
        require(caller, "administer")
    elif kind != "personal" or not caller.member:
        raise ForbiddenError(f"nobody can issue a {kind} token", hint="sign in, or ask an admin for a service token")
    role = role or caller.role
    if role_rank(role) > role_rank(caller.role):
        raise ForbiddenError(f"a token cannot have the role {role}: yours is {caller.role}")
    for verb in verbs:
        if verb not in VERB_ROLES:
            raise InvalidValueError(f"unknown verb {verb!r}", hint=f"one of {', '.join(VERB_ROLES)}")
    with team.stores.changing():
        for id_ in projects:
            project = team.stores.records.get(TeamProject, id_)
            if project is None or not caller.sees(project):
                raise NotFoundError("there is no such project", hint="holdfast remote list")
        member = caller.member if kind == "personal" else MemberId("")
        return make_token(
            team,
            caller.actor,
            kind=kind,
            name=checked_name(name),
            role=role,
            member=member,
            projects=tuple(projects),
            verbs=tuple(verbs),
            expires_at=_expiry(team.clock.now(), days, caller),
        )


def make_token(team: TeamServices, actor: str, **fields: object) -> tuple[Token, str]:
    """Store a token with these fields and the record of it; return it and its text. Call it inside `changing`."""
    kind: TokenKind = fields["kind"]  # type: ignore[assignment]
    if kind != "session":
        check_count(team, Token)
    letter = tokentext.KIND_LETTERS[kind]
    text = tokentext.make(letter, team.stores.organisation, team.random_bytes)
    token = Token(id=text.id, at=team.clock.now(), digest=text.digest, made_by=actor, **fields)  # type: ignore[arg-type]
    if kind != "session":
        ends = token.expires_at and token.expires_at + timedelta(days=KEPT_DAYS)
        token = replace(token, counts="yes", keep_until=ends)
    team.stores.records.add(token)
    record(team, actor, "token.issue", token.id, kind=kind, role=token.role, member=token.member)
    return token, text.render()


def make_session(team: TeamServices, member: Member) -> tuple[Token, str]:
    """Store the token of a browser in which the member signed in; return it and its text. Call it inside `changing`."""
    now = team.clock.now()
    expires_at = now + timedelta(hours=SESSION_HOURS)
    return make_token(
        team,
        member.id,
        kind="session",
        name="browser",
        role=member.role,
        member=MemberId(member.id),
        expires_at=expires_at,
        keep_until=expires_at,
    )


def renew_session(team: TeamServices, id_: TokenId) -> bool:
    """Let a browser's token hold for SESSION_HOURS from now, and for SESSION_DAYS in all; return whether it changed.

    It is written at most every SESSION_RENEWED_S, so that a signed-in person costs few writes.
    """
    with team.stores.changing():
        team.stores.records.hold(f"token {id_}")
        token, now = team.stores.records.get(Token, id_), team.clock.now()
        if token is None or token.kind != "session" or token.revoked_at or token.expires_at is None:
            return False
        ends = min(now + timedelta(hours=SESSION_HOURS), token.at + timedelta(days=SESSION_DAYS))
        if (ends - token.expires_at).total_seconds() < SESSION_RENEWED_S:
            return False
        team.stores.records.put(replace(token, expires_at=ends, keep_until=ends))
        return True


def list_tokens(team: TeamServices, caller: TeamCaller, *, after: str = "", limit: int = 100) -> list[Token]:
    """Return the caller's tokens, and for an admin everybody's, in the order of their ids; with their digests."""
    if caller.may("administer"):
        return team.stores.records.find(Token, after=after, limit=limit)
    if not caller.member:
        return []
    return team.stores.records.find(Token, {"member": caller.member}, after=after, limit=limit)


def revoke(team: TeamServices, caller: TeamCaller, id_: str) -> Token:
    """Make a token useless from now on: the caller's own, or for an admin anybody's. Repeating it changes nothing.

    Raises NotFoundError for another one's as for an unknown one.
    """
    with team.stores.changing():
        team.stores.records.hold(f"token {id_}")
        token = team.stores.records.get(Token, id_)
        own = token is not None and (token.id == caller.token or (token.member != "" and token.member == caller.member))
        if token is None or not (own or caller.may("administer")):
            raise NotFoundError("there is no such token", hint="holdfast remote list")
        if token.revoked_at is not None:
            return token
        now = team.clock.now()
        token = replace(token, revoked_at=now, counts="", keep_until=now + timedelta(days=KEPT_DAYS))
        team.stores.records.put(token)
        record(team, caller.actor, "token.revoke", id_)
        return token


def _expiry(now: datetime, days: int, caller: TeamCaller) -> datetime | None:
    if days < 0 or days > 36_500:
        raise InvalidValueError("a token holds for 1 to 36,500 days, or with 0 until it is revoked")
    asked_for = now + timedelta(days=days) if days else None
    ends = caller.expires_at if caller.kind != "session" else None
    if ends is None:
        return asked_for
    return min(asked_for, ends) if asked_for else ends
