"""A signed-in browser: its cookie.

The cookie holds the text of a token of the kind `session`, whose digest is in the database. With HTTPS its name begins
with `__Host-`, so that no other host and no page without TLS can set it.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from holdfast.server.config import ServeSettings


class Cookie:
    """One cookie of this server, by its plain name."""

    def __init__(self, name: str, settings: ServeSettings) -> None:
        self._is_https = settings.is_https
        self.name = f"__Host-{name}" if self._is_https else name

    def read(self, request: Request) -> str:
        """Return its value; empty without the cookie."""
        return request.cookies.get(self.name, "")

    def write(self, response: Response, value: str, age_s: int) -> None:
        """Have the browser keep the value for that time."""
        response.set_cookie(
            self.name, value, max_age=age_s, path="/", secure=self._is_https, httponly=True, samesite="lax"
        )

    def clear(self, response: Response) -> None:
        """Have the browser forget it."""
        response.delete_cookie(self.name, path="/", secure=self._is_https, httponly=True, samesite="lax")
