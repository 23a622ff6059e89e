"""Sign-in through an organisation's own identity provider: from its checked claims to a member."""

from __future__ import annotations

from dataclasses import dataclass, replace

from holdfast.domain.team import Member, Organisation, Token
from holdfast.errors import ForbiddenError, InvalidValueError
from holdfast.ports.team import TeamServices
from holdfast.team.access import organisation_of
from holdfast.team.audit import record
from holdfast.team.members import add_member
from holdfast.team.names import checked_address
from holdfast.team.tokens import make_session


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityClaims:
    """What a provider says of a person, after its signature, audience, nonce and time were checked."""

    issuer: str
    subject: str
    """The provider's own id of the person, which never changes."""
    email: str = ""
    email_verified: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        """Require an issuer and a subject. Raises InvalidValueError."""
        if not self.issuer or not self.subject or " " in self.issuer:
            raise InvalidValueError("a sign-in needs an issuer and a subject")

    @property
    def external_id(self) -> str:
        """What a member of these claims has as `external_id`."""
        return f"{self.issuer} {self.subject}"


def sign_in(team: TeamServices, claims: IdentityClaims) -> tuple[Member, Token, str]:
    """Return the member of these claims, and a browser's token with its text.

    A member is found by issuer and subject. Somebody who signs in for the first time becomes the member who was
    added with that address, if the provider has verified it, and if nobody else signed in as that member. Otherwise a
    verified address in one of the organisation's domains makes a new member. Raises ForbiddenError for everybody else
    and for closed accounts, always the same.
    """
    with team.stores.changing():
        organisation = organisation_of(team.stores)
        team.stores.records.hold("sign-in")
        member = _known(team, claims) or _added_before(team, claims) or _of_domain(team, organisation, claims)
        if member is None or not member.active:
            raise ForbiddenError("this account is not a member of the organisation", hint="ask an admin to invite you")
        record(team, member.id, "member.sign_in", member.id)
        token, text = make_session(team, member)
        return member, token, text


def _known(team: TeamServices, claims: IdentityClaims) -> Member | None:
    return next(iter(team.stores.records.find(Member, {"external_id": claims.external_id})), None)


def _added_before(team: TeamServices, claims: IdentityClaims) -> Member | None:
    address = _verified_address(claims)
    member = next(iter(team.stores.records.find(Member, {"email": address})), None) if address else None
    if member is None or member.external_id:
        return None
    member = replace(member, external_id=claims.external_id)
    team.stores.records.put(member)
    record(team, member.id, "member.link", member.id)
    return member


def _of_domain(team: TeamServices, organisation: Organisation, claims: IdentityClaims) -> Member | None:
    address = _verified_address(claims)
    if not address or address.rpartition("@")[2] not in organisation.domains:
        return None
    if team.stores.records.find(Member, {"email": address}):
        return None  # another account of the provider has that address already
    return add_member(
        team,
        "system",
        name=claims.name or address,
        role=organisation.sign_in_role,
        email=address,
        external_id=claims.external_id,
    )


def _verified_address(claims: IdentityClaims) -> str:
    return checked_address(claims.email) if claims.email_verified else ""
