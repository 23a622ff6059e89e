"""An organisation with a member of each role, two projects and some lessons, behind the REST application."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes
from typing import Any

from starlette.testclient import TestClient

from holdfast.domain.team import ROLES, OrganisationId, Role, TeamCaller, Verb
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.rest.app import app
from holdfast.surfaces.rest.kit import RequestLimits
from holdfast.team import access, founding, members, projects, tokens
from holdfast.wiring import RequestServices, open_backend

SHOP, SECRET = "shop", "secret-lab"
"""A project of everybody, and one that the members' tokens are not for."""


@dataclass
class Organisation:
    """An organisation, and the tokens of members of each role, of an author (a reviewer) and a proposer (a writer)."""

    number: OrganisationId
    admin: TeamCaller
    team: TeamServices
    tokens: dict[str, str] = field(default_factory=dict)
    """By role: personal tokens of members with that role."""
    members: dict[str, str] = field(default_factory=dict)

    def issue(self, role: Role, *, only: tuple[str, ...] = (), verbs: tuple[Verb, ...] = (), days: int = 0) -> str:
        """Return a personal token of the member with that role."""
        caller = access.authenticate(self.backend, self.team.clock, self.tokens[role])
        _, text = tokens.issue(
            self.team, caller, name="more", role=role, projects=[ProjectId(p) for p in only], verbs=verbs, days=days
        )
        return text

    backend: Any = None


@dataclass
class World:
    """A server's application and its first organisation."""

    backend: TeamBackend
    settings: Settings
    requests: RequestServices
    client: TestClient
    home: Organisation
    stranger: Organisation | None = None
    """Another organisation of the same server."""

    def call(
        self, method: str, path: str, *, role: str = "admin", token: str = "", json: Any = None, content: Any = None,
        headers: Mapping[str, str] | None = None, **more: Any,
    ) -> Any:  # fmt: skip
        """Send a request as the member with that role, and return the response."""
        sent = {"Authorization": f"Bearer {token or self.home.tokens[role]}"} if role else {}
        sent |= headers or {}
        return self.client.request(method, "/v1" + path, json=json, content=content, headers=sent, **more)

    def lines(self, path: str, rows: list[Any], **more: Any) -> Any:
        """Post the rows as JSON lines."""
        content = "".join(json.dumps(row) + "\n" for row in rows)
        headers = {"Content-Type": "application/x-ndjson"} | more.pop("headers", {})
        return self.call("POST", path, content=content, headers=headers, **more)

    def lesson(self, insight: str, *, role: str = "reviewer", project: str = SHOP, **fields: Any) -> dict[str, Any]:
        """State a lesson and return it."""
        response = self.call("POST", f"/projects/{project}/lessons", role=role, json={"insight": insight, **fields})
        assert response.status_code == 201, response.text
        return response.json()


def found(
    backend: TeamBackend,
    requests: RequestServices,
    name: str,
    *,
    is_first: bool = True,
    ids: tuple[str, str] = (SHOP, SECRET),
) -> Organisation:
    """Make an organisation with a member of each role and two projects with these ids."""
    clock = requests.clock
    if is_first:
        made = founding.bootstrap(backend, clock, token_bytes, name=name, admin=f"Admin of {name}")
    else:
        made = founding.add_organisation(backend, clock, token_bytes, name=name, admin=f"Admin of {name}")
    team = TeamServices(stores=backend.open(made.number), clock=clock, random_bytes=token_bytes)
    admin = access.authenticate(backend, clock, made.text)
    organisation = Organisation(number=made.number, admin=admin, team=team, backend=backend)
    organisation.tokens["admin"], organisation.members["admin"] = made.text, made.member.id
    people: dict[str, Role] = {role: role for role in ROLES[:-1]} | {"author": "reviewer", "proposer": "writer"}
    for role, may in people.items():
        with team.stores.changing():
            member = members.add_member(team, admin.actor, name=f"{role.title()} of {name}", role=may)
            _, text = tokens.make_token(
                team, admin.actor, kind="personal", name="own", role=may, member=member.id, projects=(), verbs=(),
                expires_at=None,
            )  # fmt: skip
        organisation.tokens[role], organisation.members[role] = text, member.id
    for project in ids:
        projects.add_project(team, admin, ProjectId(project), name=project.title())
    return organisation


@contextmanager
def open_world(folder: Path, url: str = "", limits: RequestLimits | None = None) -> Iterator[World]:
    """Open a world on the store of that URL, by default on a SQLite file in the folder."""
    environment = {"HOLDFAST_HOME": str(folder / ".holdfast"), "HOME": str(folder), "HOLDFAST_HOLDOUT": "0"}
    settings = load_settings(environment | ({"HOLDFAST_STORE": url} if url else {}))
    requests = RequestServices(settings)
    backend = open_backend(settings)
    try:
        home = found(backend, requests, "Acme")
        application = app(backend, settings, requests=requests, limits=limits or RequestLimits())
        application.state.kit.feed.stream_s = 0.1
        with TestClient(application) as client:
            yield World(backend=backend, settings=settings, requests=requests, client=client, home=home)
    finally:
        backend.__exit__(None, None, None)
