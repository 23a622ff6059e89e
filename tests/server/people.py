"""Organisations, members and tokens of a server in tests, made as the command line makes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_bytes

from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId, ReviewRules, Role, TeamCaller
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.settings import load_settings
from holdfast.team import access, founding, invitations, tokens
from holdfast.wiring import SystemClock, open_backend

CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Founded:
    """An organisation and the key of its first admin."""

    key: str
    environment: Mapping[str, str] = field(repr=False)
    """What the server's process is told."""
    number: OrganisationId = FIRST_ORGANISATION


def found(name: str = "Acme", **environment: str) -> Founded:
    """Make the first organisation of the store that the environment names."""
    with open_store(**environment) as backend:
        made = founding.bootstrap(
            backend, CLOCK, token_bytes, name=name, admin="Ada", email="ada@example.org", rules=ReviewRules()
        )
        return Founded(made.text, environment, made.number)


def open_store(**environment: str) -> TeamBackend:
    """Open the backend of the store that the environment names."""

    return open_backend(load_settings({**os.environ, **environment}))


def services(backend: TeamBackend, organisation: OrganisationId = FIRST_ORGANISATION) -> TeamServices:
    return TeamServices(stores=backend.open(organisation), clock=CLOCK, random_bytes=token_bytes)


def caller_of(backend: TeamBackend, key: str) -> TeamCaller:
    return access.authenticate(backend, CLOCK, key)


def make_key(founded: Founded, role: Role, *projects: str, days: int = 7) -> str:
    """A service token with that role, for these projects."""
    with open_store(**founded.environment) as backend:
        named = tuple(map(ProjectId, projects))
        caller = caller_of(backend, founded.key)
        return tokens.issue(
            services(backend, founded.number), caller, name=f"a {role}", kind="service", role=role, projects=named,
            days=days,
        )[1]  # fmt: skip


def invite(founded: Founded, role: Role = "writer") -> str:
    """The text of an invitation link."""
    with open_store(**founded.environment) as backend:
        return invitations.invite(services(backend, founded.number), caller_of(backend, founded.key), role=role)[1]
