"""One person over their own file: a link that works once sets a cookie, and everything is theirs to see and do."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from holdfast.bootstrap import Memory
from holdfast.domain.team import VERB_ROLES, Verb
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import NotFoundError, NotSignedInError
from holdfast.pages.table import make_addresses
from holdfast.pages.view import ProjectLine, View
from holdfast.surfaces.web.app import WebApp, raw_path
from holdfast.surfaces.web.entrance import Entrance

ENTER = "/enter/"
AGAIN = "end `holdfast ui` with Ctrl-C, start it again, and open the link that it prints"
HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
LISTED_S = 5.0
"""Seconds for which a list of the store's projects is shown again."""
EVERYTHING: frozenset[Verb] = frozenset(VERB_ROLES)


class LocalEntrance:
    """Lets in the browser that opened the link, and nobody else on this machine."""

    is_served = False
    is_https = False

    def __init__(self, memory: Memory, *, port: int = 0) -> None:
        """`port` tells the cookies of two running `holdfast ui` apart: browsers share cookies between ports."""
        self._memory = memory
        self.cookie = f"holdfast-ui-{port}"
        self.secret = token_urlsafe(32)
        self.key = token_urlsafe(32)
        """What the link ends with; empty once it was used."""
        self._addresses = make_addresses()
        self._listed: tuple[ProjectLine, ...] | None = None
        self._listed_until_s = 0.0

    def view(self, request: Request, verb: Verb, parameters: Mapping[str, str], *, is_served_only: bool) -> View:
        """See `Entrance`."""
        if not self._knows(request):
            raise NotSignedInError("this browser has not opened the link of `holdfast ui`", hint=AGAIN)
        if is_served_only:
            raise NotFoundError("only a team's server has this page")
        here = self._memory.at(self._memory.folder)
        memory = self._of_project(here, parameters["project"]) if "project" in parameters else None
        projects = self._projects(here)
        project = memory.location.project if memory else None
        return View(
            now=here.services.clock.now(), addresses=self._addresses, opened=memory, way=memory or here,
            of=ProjectLine(id=project.id, name=project.name) if project else None, projects=projects,
            verbs=EVERYTHING, person=here.services.workspace.person(here.location),
        )  # fmt: skip

    def _of_project(self, here: Memory, project: str) -> Memory:
        """Return the memory of a project: the folder's own, with its work tree, or another one of the store."""
        return here if here.location.project.id == project else here.of_project(ProjectId(project))

    def _projects(self, here: Memory) -> tuple[ProjectLine, ...]:
        """Return the folder's project and then the others of the store by name; looked up again every few seconds."""
        elapsed_s = here.services.clock.elapsed_s()
        if self._listed is None or elapsed_s > self._listed_until_s:
            self._listed = list_own_projects(here)
            self._listed_until_s = elapsed_s + LISTED_S
        return self._listed

    def turn_away(self, request: Request) -> Response | None:
        """See `Entrance`."""
        return None

    def finish(self, request: Request, response: Response) -> None:
        """See `Entrance`."""

    def enter(self, request: Request, path: str) -> Response | None:
        """Return the answer to the link, once; None for another path. Raises NotSignedInError for a used link."""
        if not path.startswith(ENTER):
            return None
        home = self._addresses.link("home", {"project": self._memory.location.project.id})
        response = RedirectResponse(home, 303, {"cache-control": "no-store"})
        if self.key and compare_digest(path.removeprefix(ENTER).encode(), self.key.encode()):
            self.key = ""
            response.set_cookie(self.cookie, self.secret, path="/", httponly=True, samesite="strict")
        elif not self._knows(request):
            raise NotSignedInError("this link was used already, or is of another start", hint=AGAIN)
        return response

    def _knows(self, request: Request) -> bool:
        return compare_digest(request.cookies.get(self.cookie, "").encode(), self.secret.encode())


def list_own_projects(here: Memory) -> tuple[ProjectLine, ...]:
    """Return the folder's project, and then the others of the store by name."""
    own = here.location.project
    others = sorted(
        (ProjectLine(id=id_, name=here.name_of(id_)) for id_ in here.services.store.list_projects() if id_ != own.id),
        key=lambda line: line.name.lower(),
    )
    return (ProjectLine(id=own.id, name=own.name), *others)


def local_app(entrance: LocalEntrance) -> ASGIApp:
    """Return the pages of one person's file, behind the link that lets a browser in."""
    entered: Entrance = entrance
    pages = WebApp(entered)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await (_at_the_door(entrance, pages, Request(scope)) or pages)(scope, receive, send)
        else:
            await WebSocketClose()(scope, receive, send)

    return Router(default=application)  # which also answers the start and the end of a server


def _at_the_door(entrance: LocalEntrance, pages: WebApp, request: Request) -> Response | None:
    """Return the answer to what is no request for a page: the link, and another machine's name."""
    if not _is_for_us(request):
        return Response("this server is called localhost\n", 400, media_type="text/plain")
    try:
        return entrance.enter(request, raw_path(request))
    except NotSignedInError as exc:
        return pages.refuse(request, exc)


def _is_for_us(request: Request) -> bool:
    """Return whether the browser asked for this machine: a name that a stranger's DNS points here is refused."""
    names = request.headers.getlist("host")
    return len(names) == 1 and urlsplit(f"//{names[0]}").hostname in HOSTS
