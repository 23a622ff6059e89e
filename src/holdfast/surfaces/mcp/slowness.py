"""Limits the number and duration of unfinished HTTP connections, so that nobody can block the server.

The token is in a request's head, so a client that has not sent a whole head is not authenticated. A request that is not
complete in time is cut off. If there are too many connections, the oldest unfinished one is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

REQUEST_S = 15.0
"""From the first byte of a request, or from the connection, to the end of its body."""
CONNECTIONS = 128
"""Open at once: twice the sessions there may be."""


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with a time limit for each request's arrival and a cap on connections."""

    request_s = REQUEST_S
    most_connections = CONNECTIONS
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and close the oldest unfinished one if there are too many."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > self.most_connections:
            self._make_room()

    def data_received(self, chunk: bytes) -> None:
        """Process some bytes of a request."""
        super().data_received(chunk)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a closed connection."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Run the timer while a request is incomplete; more bytes do not restart it."""
        unfinished = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
        if unfinished and self._timer is None:
            self._timer = self.loop.call_later(self.request_s, self._cut_off)
        elif not unfinished:
            self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut_off(self) -> None:
        self._stop()
        self.transport.abort()

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, LimitedProtocol) and each is not self]
        unfinished = [connection for connection in others if connection._timer is not None]
        min(unfinished, key=lambda connection: connection._since, default=self)._cut_off()


def limited(request_s: float = REQUEST_S, most_connections: int = CONNECTIONS) -> type[LimitedProtocol]:
    """Return the protocol class with these limits."""
    return type("Limited", (LimitedProtocol,), {"request_s": request_s, "most_connections": most_connections})
