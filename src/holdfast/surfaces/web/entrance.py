"""Who may look at the pages, and over which memory: one person at their own file, or the members of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from holdfast.domain.team import Verb
from holdfast.pages.view import View


class Entrance(Protocol):
    """Lets requests in."""

    is_served: bool
    """Whether this is a server for a team."""

    @property
    def is_https(self) -> bool:
        """Whether browsers come by HTTPS: cookies are then such that no other host can set them."""

    def view(self, request: Request, verb: Verb, parameters: Mapping[str, str], *, is_served_only: bool) -> View:
        """Return what the page or action is made from; called in a thread.

        Raises NotSignedInError, ForbiddenError where the reader may not do `verb`, and NotFoundError for a project
        that they may not know of and for what only a server has.
        """

    def turn_away(self, request: Request) -> Response | None:
        """Return the answer for a person who is not signed in; None: the page that says so."""

    def finish(self, request: Request, response: Response) -> None:
        """Add to an answer what belongs to the sign-in, such as a cookie that holds longer now."""


def comes_from_here(request: Request) -> bool:
    """Return whether a request that changes something was made by a page of this server, or by no page at all.

    Browsers say so in `Sec-Fetch-Site`; older ones say in `Origin` where the page is from. One of the two is needed.
    """
    if request.method in SAFE_METHODS:
        return True
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()


SAFE_METHODS = frozenset({"GET", "HEAD"})
