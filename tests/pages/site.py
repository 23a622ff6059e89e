"""The pages over a memory of a test, opened in process: what a browser with the cookie of `holdfast ui` would get."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx2
from starlette.testclient import TestClient

from holdfast import Memory
from holdfast.surfaces.web.local import LocalEntrance, local_app

FROM_HERE = {"sec-fetch-site": "same-origin"}
_TAG = re.compile(r"<[^>]*>")


class Site:
    """The pages of a memory. Addresses may leave out `/p/PROJECT`: `site.get("search?q=clock")`."""

    def __init__(self, client: TestClient, memory: Memory) -> None:
        self.client = client
        self.memory = memory
        self.project = memory.location.project.id

    def address(self, path: str) -> str:
        """Return the address on the server."""
        return path if path.startswith("/") else f"/p/{quote(self.project, safe='')}/{path}"

    def get(self, path: str = "", **headers: str) -> httpx2.Response:
        """Return the answer to a GET, whatever its status; redirects are not followed."""
        return self.client.get(self.address(path), headers={"accept": "text/html", **headers}, follow_redirects=False)

    def html(self, path: str = "") -> str:
        """Return the HTML of a page that works."""
        response = self.get(path)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/html")
        return response.text

    def text(self, path: str = "") -> str:
        """Return the words of a page that works, without tags, blanks made one."""
        return words_of(self.html(path))

    def json(self, path: str = "") -> Any:
        """Return the data of a page that works."""
        response = self.get(path, accept="application/json")
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> httpx2.Response:
        """Send the form of an action, as a page without script does."""
        return self.client.post(
            self.address(path), data=fields or {}, headers={"accept": "text/html", **FROM_HERE, **headers},
            follow_redirects=False,
        )  # fmt: skip


def words_of(html: str) -> str:
    """Return a page's words, without tags."""
    return " ".join(_TAG.sub(" ", html).split())


@contextmanager
def open_site(memory: Memory) -> Iterator[Site]:
    """Open the pages of a memory."""
    entrance = LocalEntrance(memory)
    with TestClient(local_app(entrance), base_url="http://127.0.0.1") as client:
        client.cookies.set(entrance.cookie, entrance.secret)
        yield Site(client, memory)
