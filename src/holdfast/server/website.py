"""The pages on a server: who is signed in, what they see of a project, and where their changes go.

Pages read through the stores of the reader's organisation. Changes are operations of REST in this process, with the
browser's token, so that rights, review, documents and the audit log stay in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlencode

import anyio.from_thread
from httpx2 import ASGITransport, BaseTransport
from httpx2 import Client as Http
from httpx2 import Request as HttpCall
from httpx2 import Response as HttpAnswer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.bootstrap import Memory
from holdfast.client.client import Client
from holdfast.client.transport import Transport
from holdfast.domain.project import ORGANISATION, Person
from holdfast.domain.team import TeamCaller, TeamProject, Verb
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import NotSignedInError, StoreError
from holdfast.pages.page import HTML
from holdfast.pages.table import make_addresses
from holdfast.pages.view import ProjectLine, View
from holdfast.ports.team import TeamBackend, TeamServices, TeamStores
from holdfast.server.browser import Cookie
from holdfast.server.config import ServeSettings
from holdfast.server.gate import NOTES
from holdfast.surfaces.web.app import WebApp, raw_path
from holdfast.team import access, review, tokens
from holdfast.team.ownprojects import add_own_projects
from holdfast.team.projects import list_projects
from holdfast.team.quotas import RateLimiter
from holdfast.team.tuning import SESSION_HOURS
from holdfast.wiring import RequestServices

HERE = "http://localhost"
"""The address of the REST interface within this process."""
ANSWER_S = 20.0
"""How long a change may take, repetitions included."""
RENEWED = "holdfast.renewed"
"""The key of the scope that says that the browser's token holds longer now."""
PROJECTS_SHOWN = 500
LOOKED_S = 5.0
"""Seconds between two looks whether a person's own file has a project more."""


class ServedEntrance:
    """Lets members in who signed in with their browser (`server.signin`)."""

    is_served = True

    @property
    def is_https(self) -> bool:
        """See `Entrance`."""
        return self._settings.is_https

    def __init__(self, settings: ServeSettings, backend: TeamBackend, requests: RequestServices, rest: ASGIApp) -> None:
        self._settings = settings
        self._backend = backend
        self._requests = requests
        self._session = Cookie("holdfast", settings)
        self._http = Http(transport=_InProcess(rest), trust_env=False)
        self._addresses = make_addresses()
        self._looked_at_s = -LOOKED_S
        self._rates = RateLimiter(settings.worker_count, requests.clock.elapsed_s)

    def close(self) -> None:
        """Close what it holds."""
        self._http.close()

    def view(self, request: Request, verb: Verb, parameters: Mapping[str, str], *, is_served_only: bool) -> View:
        """See `Entrance`."""
        text = self._session.read(request)
        caller = access.authenticate(self._backend, self._requests.clock, text)
        if caller.kind != "session":
            raise NotSignedInError("not a browser's token")
        request.scope.setdefault(NOTES, {}).update(
            organisation=caller.organisation, token=caller.token, member=caller.member
        )
        self._rates.check(caller.token, caller.requests_a_minute)
        stores = self._backend.open(caller.organisation)
        access.require(caller, verb)
        projects = self._projects(stores, caller)
        project = self._project(stores, caller, verb, parameters)
        self._renew(request, stores, caller)
        transport = Transport(HERE, text, ANSWER_S, http=self._http)
        return View(
            now=self._requests.clock.now(), addresses=self._addresses,
            opened=self._memory(stores, caller, project) if project else None,
            of=_line(project) if project else None,
            way=Client.through(transport, project=project.id if project else ""),
            projects=projects, verbs=caller.verbs, role=caller.role,
            person=Person(id=caller.member, name=caller.name), is_served=True, url=self._settings.url,
            sees=partial(review.sees, stores, caller, project) if project else _sees_nothing,
            sight=partial(review.sight_of, stores, caller, project) if project else lambda: "",
        )  # fmt: skip

    def turn_away(self, request: Request) -> Response | None:
        """See `Entrance`."""
        query = f"?{request.url.query}" if request.url.query else ""
        to = raw_path(request) + query if request.method == "GET" else "/"
        return RedirectResponse("/signin" + ("" if to == "/" else "?" + urlencode({"to": to})), 303)

    def finish(self, request: Request, response: Response) -> None:
        """See `Entrance`."""
        if request.scope.get(RENEWED):
            self._session.write(response, self._session.read(request), SESSION_HOURS * 3_600)

    def _project(
        self, stores: TeamStores, caller: TeamCaller, verb: Verb, parameters: Mapping[str, str]
    ) -> TeamProject | None:
        if "project" not in parameters:
            return None
        return access.project_for(stores, caller, verb, ProjectId(parameters["project"]))

    def _memory(self, stores: TeamStores, caller: TeamCaller, project: TeamProject) -> Memory:
        services, named = self._requests.for_caller(stores, caller, project)
        return Memory.over(services, named, self._settings.common)

    def _team(self, stores: TeamStores) -> TeamServices:
        return TeamServices(stores=stores, clock=self._requests.clock, random_bytes=_no_bytes)

    def _projects(self, stores: TeamStores, caller: TeamCaller) -> tuple[ProjectLine, ...]:
        self._add_own_projects(stores)
        own = list_projects(self._team(stores), caller, limit=PROJECTS_SHOWN)
        lines = sorted(map(_line, own), key=lambda line: line.name.lower())
        if caller.projects and ORGANISATION not in caller.projects:
            return tuple(lines)
        name = f"{access.organisation_of(stores).name} (every project)"
        return (*lines, ProjectLine(id=ORGANISATION, name=name))

    def _add_own_projects(self, stores: TeamStores) -> None:
        """Over a person's own file: add the projects that came since the last look, at most every few seconds."""
        elapsed_s = self._requests.clock.elapsed_s()
        if self._settings.is_on_file and elapsed_s - self._looked_at_s >= LOOKED_S:
            self._looked_at_s = elapsed_s
            with suppress(StoreError):  # a file that can only be read is shown all the same
                add_own_projects(self._team(stores))

    def _renew(self, request: Request, stores: TeamStores, caller: TeamCaller) -> None:
        with suppress(StoreError):  # as above; the browser's token then ends when it would have
            if tokens.renew_session(self._team(stores), caller.token):
                request.scope[RENEWED] = True


def served_pages(web: WebApp, rest: ASGIApp) -> ASGIApp:
    """Return what answers every address that no other route does: the pages theirs, the REST interface the rest."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await (web if scope["type"] == "http" and is_for_pages(Request(scope)) else rest)(scope, receive, send)

    def is_for_pages(request: Request) -> bool:
        path = raw_path(request)
        is_lost_person = not f"{path}/".startswith("/v1/") and HTML in request.headers.get("accept", "")
        return is_lost_person or web.takes(path)

    return application


class _InProcess(BaseTransport):
    """Sends a request to an application of this process, from a thread that the event loop started."""

    def __init__(self, app: ASGIApp) -> None:
        self._inner = ASGITransport(app)

    def handle_request(self, request: HttpCall) -> HttpAnswer:
        """Return the application's answer."""
        return anyio.from_thread.run(self._send, request)

    async def _send(self, request: HttpCall) -> HttpAnswer:
        answer = await self._inner.handle_async_request(
            HttpCall(request.method, request.url, headers=request.headers, content=request.read())
        )
        content = await answer.aread()
        return HttpAnswer(answer.status_code, headers=answer.headers, content=content)


def _line(project: TeamProject) -> ProjectLine:
    return ProjectLine(id=project.id, name=project.name)


def _sees_nothing(lesson: Any) -> bool:
    return False


def _no_bytes(count: int) -> bytes:
    raise AssertionError("pages make no secrets")
