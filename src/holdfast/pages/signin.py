"""What the pages of sign-in say. `server.signin` makes them, because only a server has them and nobody is known yet."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.team import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInData:
    """The ways in."""

    provider: str
    """The name of the identity provider; empty without one."""
    to: str
    """Where the person wanted to go, a path of this server; empty for the start page."""
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationData:
    """An invitation that holds."""

    organisation: str
    role: Role
    email: str
    name: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedData:
    """A new member, and the first token, which is shown once."""

    organisation: str
    name: str
    role: Role
    token: str
    url: str
