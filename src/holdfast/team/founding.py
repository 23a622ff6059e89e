"""Founding: the first organisation of a server with its first admin, and further ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.domain.team import (
    FIRST_ORGANISATION,
    ORGANISATION_RECORD,
    Member,
    MemberId,
    Organisation,
    OrganisationId,
    ReviewRules,
    Token,
)
from holdfast.errors import IllegalTransitionError
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.team.audit import record
from holdfast.team.members import add_member
from holdfast.team.names import checked_name
from holdfast.team.tokens import make_token


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """A new organisation."""

    organisation: Organisation
    number: OrganisationId
    member: Member
    """Its first admin."""
    token: Token
    text: str
    """The token's text, which nobody can read again."""


def bootstrap(
    backend: TeamBackend,
    clock: Clock,
    random_bytes: Callable[[int], bytes],
    *,
    name: str,
    admin: str,
    email: str = "",
    rules: ReviewRules | None = None,
) -> Founded:
    """Make the first organisation and its first admin, once. Raises IllegalTransitionError the second time."""
    team = TeamServices(stores=backend.open(FIRST_ORGANISATION), clock=clock, random_bytes=random_bytes)
    return _found(team, name, admin, email, rules)


def add_organisation(
    backend: TeamBackend,
    clock: Clock,
    random_bytes: Callable[[int], bytes],
    *,
    name: str,
    admin: str,
    email: str = "",
) -> Founded:
    """Make a further organisation. Raises StoreError where the backend holds only one."""
    team = TeamServices(stores=backend.open(backend.create()), clock=clock, random_bytes=random_bytes)
    return _found(team, name, admin, email, None)


def _found(team: TeamServices, name: str, admin: str, email: str, rules: ReviewRules | None) -> Founded:
    records = team.stores.records
    with team.stores.changing():
        records.hold("organisation")
        if records.get(Organisation, ORGANISATION_RECORD) is not None:
            raise IllegalTransitionError(
                "this server has an organisation already",
                hint="use its admin's key; where it is lost: holdfast serve bootstrap --new-key",
            )
        organisation = Organisation(
            id=ORGANISATION_RECORD, at=team.clock.now(), name=checked_name(name), rules=rules or ReviewRules()
        )
        records.add(organisation)
        record(team, "system", "organisation.make")
        member = add_member(team, "system", name=admin, role="admin", email=email)
        token, text = _admins_key(team, member)
        return Founded(
            organisation=organisation, number=team.stores.organisation, member=member, token=token, text=text
        )


def new_key(backend: TeamBackend, clock: Clock, random_bytes: Callable[[int], bytes]) -> tuple[Member, str]:
    """Return an active admin of the first organisation and a new key for them: for who has lost all keys.

    Whoever can write to the database can do this anyway; here the audit log says so. Raises IllegalTransitionError
    without an admin.
    """
    team = TeamServices(stores=backend.open(FIRST_ORGANISATION), clock=clock, random_bytes=random_bytes)
    with team.stores.changing():
        admins = [member for member in team.stores.records.find(Member, {"role": "admin"}) if member.active]
        if not admins:
            raise IllegalTransitionError("there is no organisation yet", hint="holdfast serve bootstrap --name NAME")
        return admins[0], _admins_key(team, admins[0])[1]


def _admins_key(team: TeamServices, member: Member) -> tuple[Token, str]:
    return make_token(team, "system", kind="personal", name="first key", role="admin", member=MemberId(member.id))
