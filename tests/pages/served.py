"""The pages of a server, opened in process, as a browser in which a member has signed in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import httpx2
from starlette.testclient import TestClient

from holdfast.domain.team import Member
from holdfast.server.config import ServeSettings
from holdfast.server.website import ServedEntrance, served_pages
from holdfast.surfaces.web.app import WebApp
from holdfast.team import tokens
from tests.surfaces.rest.world import SHOP, Organisation, World

from .site import FROM_HERE


class ServedSite:
    """The pages of a server. Addresses may leave out `/p/shop`; every request says as which member."""

    def __init__(self, client: TestClient, world: World) -> None:
        self.client = client
        self.world = world
        self._sessions: dict[tuple[int, str], str] = {}

    def session(self, role: str, organisation: Organisation | None = None) -> str:
        """Return the text of a browser's token of the member with that role."""
        own = organisation or self.world.home
        key = own.number, role
        if key not in self._sessions:
            with own.team.stores.changing():
                member = own.team.stores.records.get(Member, own.members[role])
                assert member is not None
                self._sessions[key] = tokens.make_session(own.team, member)[1]
        return self._sessions[key]

    def address(self, path: str) -> str:
        """Return the address on the server."""
        return path if path.startswith("/") else f"/p/{quote(SHOP, safe='')}/{path}"

    def get(self, path: str = "", *, role: str = "admin", **headers: str) -> httpx2.Response:
        """Return the answer to a GET as that member; redirects are not followed."""
        shown = {"accept": "text/html", "cookie": f"holdfast={self.session(role)}", **headers}
        return self.client.get(self.address(path), headers=shown, follow_redirects=False)

    def post(
        self, path: str, fields: dict[str, str] | None = None, *, role: str = "admin", **headers: str
    ) -> httpx2.Response:
        """Send the form of an action as that member."""
        shown = {"accept": "text/html", "cookie": f"holdfast={self.session(role)}", **FROM_HERE, **headers}
        return self.client.post(self.address(path), data=fields or {}, headers=shown, follow_redirects=False)


@contextmanager
def open_served(world: World) -> Iterator[ServedSite]:
    """Open the pages of a world's server."""
    rest = world.client.app
    entrance = ServedEntrance(ServeSettings(common=world.settings), world.backend, world.requests, rest)
    with TestClient(served_pages(WebApp(entrance), rest), base_url="http://localhost") as client:
        yield ServedSite(client, world)
    entrance.close()
