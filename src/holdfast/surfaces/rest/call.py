"""A call: what an operation is called with, and everything it may reach: nothing of another organisation.

The kit has checked token, role, verb and body by the table before an operation is called. The project is looked up
here, once, for every operation with `{project}` in its path, and so is the lesson; no operation looks up its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_bytes
from typing import Any, TypeVar, cast

from holdfast.bootstrap import Memory
from holdfast.client.operations import etag_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import ORGANISATION
from holdfast.domain.team import Role, TeamCaller, TeamProject, role_rank
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import AmbiguousIdError, ForbiddenError, LessonNotFoundError, NotFoundError
from holdfast.lean.cached import cached_property
from holdfast.ports.team import TeamBackend, TeamServices, TeamStores
from holdfast.publishing.remote import server as remote
from holdfast.settings import Settings
from holdfast.surfaces.rest import views
from holdfast.surfaces.rest.cursors import Cursors
from holdfast.surfaces.rest.problems import RequestError
from holdfast.surfaces.rest.table import Op, Strict
from holdfast.team import access, review
from holdfast.wiring import RequestServices

S = TypeVar("S", bound=Strict)

NOT_HERE = "there is no such lesson in this project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The table, described for programs and for people."""

    openapi: Mapping[str, Any]
    page: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all calls of a process share."""

    backend: TeamBackend
    settings: Settings
    requests: RequestServices
    cursors: Cursors
    described: Described


@dataclass(kw_only=True)
class OpCall:
    """One request, checked by its row of the table."""

    op: Op
    shared: Shared
    parameters: Mapping[str, str]
    query: Strict
    body: Strict | None = None
    lines: Sequence[Strict] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those that are read, by their names in small letters."""
    identity: TeamCaller | None = None
    opened: TeamStores | None = None

    @property
    def caller(self) -> TeamCaller:
        """Who calls. Only operations with a verb have one."""
        if self.identity is None:
            raise AssertionError(f"{self.op.name} has no caller")
        return self.identity

    @property
    def stores(self) -> TeamStores:
        """The stores of the caller's organisation."""
        if self.opened is None:
            raise AssertionError(f"{self.op.name} has no stores")
        return self.opened

    @cached_property
    def team(self) -> TeamServices:
        """What the use cases of the room `team` work with."""
        return TeamServices(stores=self.stores, clock=self.shared.requests.clock, random_bytes=token_bytes)

    def asks(self, model: type[S]) -> S:
        """Return the query, which the table says is of that model."""
        return cast(S, self.query)

    def says(self, model: type[S]) -> S:
        """Return the body, which the table says is of that model."""
        return cast(S, self.body)

    def now(self) -> datetime:
        """Return the time."""
        return self.shared.requests.clock.now()

    def check(self) -> None:
        """Raise ForbiddenError or NotFoundError for a caller who may not call this operation here."""
        if self.op.least is not None:
            self.require(self.op.least, "this")
        if "project" in self.op.parameters:
            _ = self.project

    def require(self, role: Role, what: str) -> None:
        """Raise ForbiddenError for a caller below that role."""
        if role_rank(self.caller.role) < role_rank(role):
            raise ForbiddenError(f"{what} needs the role {role}; yours is {self.caller.role}", hint="ask an admin")

    def forget_reads(self) -> None:
        """Forget what was read, before a transaction that has to see it anew."""
        for name in ("project", "memory", "desk"):
            self.__dict__.pop(name, None)

    @cached_property
    def project(self) -> TeamProject:
        """The project of the path. Raises NotFoundError for one that the caller may not know of."""
        verb = self.op.verb or "read"
        return access.project_for(self.stores, self.caller, verb, ProjectId(self.parameters["project"]))

    @cached_property
    def memory(self) -> Memory:
        """The memory of the project; what the caller states in it waits where the team's rules say so."""
        services, project = self.shared.requests.for_caller(self.stores, self.caller, self.project)
        return Memory.over(services, project, self.shared.settings)

    @cached_property
    def desk(self) -> review.Desk:
        """What review works with."""
        memory = self.memory
        return review.Desk(
            team=self.team, services=memory.services, location=memory.location, caller=self.caller, project=self.project
        )

    def lesson(self, ref: str = "") -> Lesson:
        """Return the lesson of the path, or the one with that id, if the project has it and the caller may see it.

        Raises NotFoundError, in the same words, for every other id.
        """
        try:
            lesson = self.memory.get(ref or self.parameters["lesson"])
        except (LessonNotFoundError, AmbiguousIdError):
            raise NotFoundError(NOT_HERE) from None
        if not self.sees(lesson):
            raise NotFoundError(NOT_HERE)
        return lesson

    def changing_lesson(self, ref: str = "") -> Lesson:
        """Return the lesson as `lesson` does, to be changed, which `If-Match` may forbid.

        Raises ForbiddenError for a rule of the organisation that is reached through one of its projects.
        """
        lesson = self.lesson(ref)
        if lesson.scope.project != self.project.id:
            raise ForbiddenError("this is a rule of the organisation", hint=f"change it in the project {ORGANISATION}")
        self.expect(etag_of(lesson))
        return lesson

    def sees(self, lesson: Lesson) -> bool:
        """Return whether the caller may read the lesson in this project."""
        is_here = lesson.scope.project in (self.project.id, ORGANISATION)
        return is_here and review.sees(self.stores, self.caller, self.project, lesson)

    def expect(self, etag: str) -> None:
        """Raise RequestError (412) where `If-Match` names another version."""
        wanted = self.headers.get("if-match", "")
        if wanted and wanted != "*" and f'"{etag}"' not in {tag.strip() for tag in wanted.split(",")}:
            raise RequestError(412, "If-Match names another version than the present one")

    def publish(self, lessons: Sequence[LessonId]) -> None:
        """Write the documents of changed lessons again, which is also what the feed tells."""
        memory = self.memory
        remote.publish(memory.services, memory.location, self.stores.documents, list(lessons), member=self.caller.actor)

    def feed(self, after: int, limit: int) -> tuple[list[tuple[int, dict[str, Any]]], int]:
        """Return the documents that changed after a position, each with its own, and the position to go on from.

        Another one's proposal that the caller may not see is left out.
        """
        memory, documents = self.memory, self.stores.documents
        page = remote.feed(
            memory.services, memory.location, documents, after, limit, member=self.caller.actor, sees=self.sees
        )
        rows = documents.get(ProjectId(self.project.id), [item.document.id for item in page.items])
        known = {id_: row.lesson for id_, row in rows.items()}
        return [(item.seq, views.item(item, known.get(item.document.id, ""))) for item in page.items], page.after

    def cursor(self, *values: str | int) -> str:
        """Return the cursor of this list that stands for the position with those values."""
        return self.shared.cursors.make(values, self._list())

    def position(self, cursor: str) -> list[str | int]:
        """Return the values of a position of this list; nothing for an empty cursor. Raises RequestError (410)."""
        return self.shared.cursors.read(cursor, self._list()) if cursor else []

    def _list(self) -> list[str]:
        """Return what a cursor belongs to."""
        values = self.query.model_dump(mode="json", exclude={"cursor", "limit"})
        return [
            self.op.name, str(self.caller.organisation), *self.parameters.values(),
            *(f"{name}={value}" for name, value in sorted(values.items())),
        ]  # fmt: skip
