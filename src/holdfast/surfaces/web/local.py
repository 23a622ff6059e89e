"""One person over their own file: a link that works once sets a cookie, and everything is theirs to see and do."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from secrets import token_urlsafe

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from holdfast.bootstrap import Memory
from holdfast.domain.team import VERB_ROLES, Verb
from holdfast.errors import NotFoundError, NotSignedInError
from holdfast.pages.table import make_addresses
from holdfast.pages.view import ProjectLine, View
from holdfast.surfaces.web.app import WebApp, raw_path
from holdfast.surfaces.web.entrance import Entrance

ENTER = "/enter/"
EVERYTHING: frozenset[Verb] = frozenset(VERB_ROLES)


class LocalEntrance:
    """Lets in the browser that opened the link, and nobody else on this machine."""

    is_served = False

    def __init__(self, memory: Memory, *, port: int = 0) -> None:
        """`port` tells the cookies of two running `holdfast ui` apart: browsers share cookies between ports."""
        self._memory = memory
        self.cookie = f"holdfast-ui-{port}"
        self.secret = token_urlsafe(32)
        self.key = token_urlsafe(32)
        """What the link ends with; empty once it was used."""
        self._addresses = make_addresses()

    def view(self, request: Request, verb: Verb, parameters: Mapping[str, str], *, is_served_only: bool) -> View:
        """See `Entrance`."""
        if not compare_digest(request.cookies.get(self.cookie, "").encode(), self.secret.encode()):
            raise NotSignedInError("this browser has not opened the link of `holdfast ui`")
        if is_served_only:
            raise NotFoundError("only a team's server has this page")
        memory = self._memory.at(self._memory.folder)
        project = memory.location.project
        here = ProjectLine(id=project.id, name=project.name)
        is_of_project = "project" in parameters
        if is_of_project and parameters["project"] != project.id:
            raise NotFoundError("there is no such project in this memory", hint="the start page lists the projects")
        return View(
            now=memory.services.clock.now(), addresses=self._addresses, opened=memory if is_of_project else None,
            of=here if is_of_project else None, way=memory, projects=(here,), verbs=EVERYTHING,
            person=memory.services.workspace.person(memory.location),
        )  # fmt: skip

    def turn_away(self, request: Request) -> Response | None:
        """See `Entrance`."""
        return None

    def finish(self, request: Request, response: Response) -> None:
        """See `Entrance`."""

    def enter(self, path: str) -> Response | None:
        """Return the answer to the link, once; None for another path or a link that was used."""
        shown = path.removeprefix(ENTER)
        if not self.key or not path.startswith(ENTER) or not compare_digest(shown.encode(), self.key.encode()):
            return None
        self.key = ""
        response = RedirectResponse("/", 303, {"cache-control": "no-store"})
        response.set_cookie(self.cookie, self.secret, path="/", httponly=True, samesite="strict")
        return response


def local_app(entrance: LocalEntrance) -> ASGIApp:
    """Return the pages of one person's file, behind the link that lets a browser in."""
    entered: Entrance = entrance
    pages = WebApp(entered)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await (entrance.enter(raw_path(Request(scope))) or pages)(scope, receive, send)
        else:
            await WebSocketClose()(scope, receive, send)

    return Router(default=application)  # which also answers the start and the end of a server
