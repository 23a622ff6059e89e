"""Access: from a token to a caller, and from a caller to what it may do."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from hmac import compare_digest

from holdfast.domain.project import ORGANISATION
from holdfast.domain.team import (
    FIRST_ORGANISATION,
    ORGANISATION_RECORD,
    VERB_ROLES,
    Member,
    Organisation,
    Role,
    Team,
    TeamCaller,
    TeamProject,
    Token,
    TokenId,
    Verb,
    role_rank,
)
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import ForbiddenError, NotFoundError, NotSignedInError, StoreError
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend, TeamStores
from holdfast.team.tokentext import KIND_LETTERS, TokenText, parse
from holdfast.team.tuning import LAST_USE_S

TOKEN_HINT = "holdfast login URL, with a token in force; programs send `Authorization: Bearer TOKEN`"
_NOBODY = TokenText(letter="p", id=TokenId(f"aaaaaaaa{FIRST_ORGANISATION}"), secret="")
"""Stands in for what is no token, so that every refusal asks the store and compares digests."""


def authenticate(backend: TeamBackend, clock: Clock, text: str) -> TeamCaller:
    """Return who holds the token.

    Raises NotSignedInError, always the same, for a token that is no token, unknown, expired or revoked, and for one
    whose member has no account any more.
    """
    presented = parse(text) or _NOBODY
    try:
        stores = backend.open(presented.organisation)
    except NotFoundError:
        presented, stores = _NOBODY, backend.open(FIRST_ORGANISATION)
    now = clock.now()
    with stores.reading():
        token = stores.records.get(Token, presented.id)
        is_right = compare_digest(presented.digest, token.digest if token else _NOBODY.digest)
        caller = _caller(stores, token, now) if token and is_right and _is_of_kind(presented, token) else None
    if caller is None or token is None:
        raise NotSignedInError("this needs a valid token", hint=TOKEN_HINT)
    if token.last_used_at is None or (now - token.last_used_at).total_seconds() >= LAST_USE_S:
        _note_use(stores, token.id, now)
    return caller


def require(caller: TeamCaller, verb: Verb) -> None:
    """Raise ForbiddenError unless the caller may do that."""
    if not caller.may(verb):
        role = VERB_ROLES[verb]
        if role_rank(caller.role) >= role_rank(role):
            raise ForbiddenError(f"this token may not {verb}", hint="use a token that is not limited to other verbs")
        raise ForbiddenError(
            f"this needs the role {role}; yours is {caller.role}", hint="ask an admin of your organisation"
        )


def project_for(stores: TeamStores, caller: TeamCaller, verb: Verb, id_: ProjectId) -> TeamProject:
    """Return the project if the caller may do that in it.

    The project ORGANISATION holds the lessons of the whole organisation: everybody whose token is not limited to other
    projects may read it, and only a reviewer may write to it. Raises NotFoundError where the caller may not know
    of the project, exactly as for an unknown one, and ForbiddenError where it may not do that there.
    """
    project = stores.records.get(TeamProject, id_)
    if project is None and id_ == ORGANISATION:
        organisation = organisation_of(stores)
        project = TeamProject(id=ORGANISATION, at=organisation.at, name=organisation.name)
    if project is None or not caller.sees(project):
        raise NotFoundError("there is no such project", hint="holdfast remote list")
    require(caller, "review" if id_ == ORGANISATION and verb == "write" else verb)
    return project


def organisation_of(stores: TeamStores) -> Organisation:
    """Return the organisation's record. Raises NotFoundError where nobody has made the organisation."""
    organisation = stores.records.get(Organisation, ORGANISATION_RECORD)
    if organisation is None:
        raise NotFoundError("there is no such organisation", hint="holdfast serve bootstrap")
    return organisation


def require_unlimited(caller: TeamCaller, what: str) -> None:
    """Raise ForbiddenError for a caller whose token is limited to some projects or verbs."""
    if caller.projects or caller.verbs != verbs_of(caller.role):
        raise ForbiddenError(f"a token that is limited to some projects or verbs cannot {what}")


def verbs_of(role: Role) -> frozenset[Verb]:
    """Return what a role may do."""
    return frozenset(verb for verb, least in VERB_ROLES.items() if role_rank(role) >= role_rank(least))


def _is_of_kind(presented: TokenText, token: Token) -> bool:
    return presented.letter == KIND_LETTERS[token.kind]


def _caller(stores: TeamStores, token: Token, now: datetime) -> TeamCaller | None:
    if token.revoked_at is not None or (token.expires_at is not None and token.expires_at <= now):
        return None
    organisation = stores.records.get(Organisation, ORGANISATION_RECORD)
    member = stores.records.get(Member, token.member) if token.member else None
    if organisation is None or (token.member and (member is None or not member.active)):
        return None
    role = min(token.role, member.role, key=role_rank) if member else token.role
    teams = stores.records.find(Team, {"members": member.id}) if member else []
    return TeamCaller(
        organisation=stores.organisation,
        token=TokenId(token.id),
        kind=token.kind,
        actor=token.member or f"token:{token.id}",
        name=member.name if member else token.name,
        role=role,
        member=token.member,
        teams=tuple(team.id for team in teams),
        projects=token.projects,
        verbs=verbs_of(role).intersection(token.verbs or VERB_ROLES),
        expires_at=token.expires_at,
        requests_a_minute=organisation.limits.requests_a_minute,
    )


def _note_use(stores: TeamStores, id_: str, now: datetime) -> None:
    """Store that the token was used. It is read anew, so that nobody's revocation is overwritten."""
    with suppress(StoreError), stores.changing():  # a full disk is no reason to refuse who only reads
        stores.records.hold(f"token {id_}")
        token = stores.records.get(Token, id_)
        if token is not None and (token.last_used_at is None or now - token.last_used_at >= _MINUTE):
            stores.records.put(replace(token, last_used_at=now))


_MINUTE = timedelta(seconds=LAST_USE_S)
