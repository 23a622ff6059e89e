"""A team server for tests, without HTTP: an organisation over a real store, its people, and what they do."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Person, Project
from holdfast.domain.team import FIRST_ORGANISATION, Role, TeamCaller
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.settings import Settings
from holdfast.team import founding, projects, review
from holdfast.team.access import authenticate, project_for
from holdfast.team.invitations import accept, invite
from holdfast.team.tokens import issue
from holdfast.testing.builders import FixedClock
from holdfast.wiring import RequestServices

HARBOUR = ProjectId("harbour")


class Office:
    """The server of an organisation."""

    def __init__(self, backend: TeamBackend, settings: Settings) -> None:
        self.backend = backend
        self.settings = settings
        self.clock = FixedClock()
        self.number = FIRST_ORGANISATION
        self.stores = backend.open(FIRST_ORGANISATION)
        self.random_bytes = os.urandom
        self._serving = RequestServices(settings)
        self._serving.clock = self.clock

    @property
    def team(self) -> TeamServices:
        return TeamServices(stores=self.stores, clock=self.clock, random_bytes=self.random_bytes)

    @property
    def records(self) -> Any:
        return self.team.stores.records

    def bootstrap(self, **fields: Any) -> founding.Founded:
        arguments = {"name": "Acme", "admin": "Ada", "email": "ada@acme.org", **fields}
        return self.begin(founding.bootstrap(self.backend, self.clock, self.random_bytes, **arguments))

    def begin(self, founded: founding.Founded) -> founding.Founded:
        """Work in that organisation from now on, with its first admin."""
        self.number = founded.number
        self.stores = self.backend.open(founded.number)
        self.key = founded.text
        self.admin = self.signed_in(founded.text)
        return founded

    def signed_in(self, token: str) -> TeamCaller:
        return authenticate(self.backend, self.clock, token)

    def join(self, name: str, role: Role = "writer", **fields: Any) -> TeamCaller:
        """Let somebody accept an invitation; return them as their browser's caller."""
        _, text = invite(self.team, self.admin, role=role, **fields)
        _, _, session = accept(self.team, text, name=name)
        return self.signed_in(session)

    def token_of(self, caller: TeamCaller, **fields: Any) -> str:
        return issue(self.team, caller, **{"name": "laptop", **fields})[1]

    def open_project(self, id_: ProjectId = HARBOUR, **settings: Any) -> ProjectId:
        projects.add_project(self.team, self.admin, id_, name=id_.title())
        if settings:
            projects.change_project(self.team, self.admin, id_, **settings)
        return id_

    def memory(self, caller: TeamCaller, project: ProjectId = HARBOUR) -> Memory:
        """Return the memory that a request of that caller works with."""
        stores = self.stores
        entry = project_for(stores, caller, "read", project)
        services = self._serving.over(stores.store, Person(id=caller.member, name=caller.name))
        services = replace(services, must_wait=review.must_wait(stores, caller, entry))
        return Memory.over(services, Project(id=project, name=entry.name, source="server"), self.settings)

    def desk(self, caller: TeamCaller, project: ProjectId = HARBOUR) -> review.Desk:
        memory = self.memory(caller, project)
        return review.Desk(
            team=self.team,
            services=memory.services,
            location=memory.location,
            caller=caller,
            project=project_for(self.stores, caller, "read", project),
        )

    def remember(self, caller: TeamCaller, insight: str, project: ProjectId = HARBOUR, **fields: Any) -> Lesson:
        """Do what a request does that states a lesson."""
        team = self.team
        with team.stores.changing():
            lesson = self.memory(caller, project).remember(insight, author=caller.name, **fields)
            review.note_saved(team, caller, project_for(team.stores, caller, "write", project), [lesson])
            return lesson
