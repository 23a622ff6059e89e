"""Limits how long a connection may be slow, and how many connections there are, so that nobody can block the server.

The token is in a request's head, so a client that has not sent a whole head is not known. A request that is not
complete in time is cut off, and so is a client that takes nothing of its answer. If there are too many connections,
the oldest unfinished one is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio


class LimitedConfig(uvicorn.Config):
    """uvicorn's configuration with the limits of a connection, in seconds and in connections of one process."""

    request_s = 30.0
    send_s = 30.0
    connections = 512


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with time limits for requests and answers on their way, and a cap on connections."""

    config: LimitedConfig
    _arriving: asyncio.TimerHandle | None = None
    _leaving: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and close the oldest unfinished one if there are too many."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) > self.config.connections:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Process some bytes of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin with the connection's next request; the client has limited time to take what is left of the answer."""
        super().on_response_complete()
        self._watch()
        if self._leaving is None and self.transport.get_write_buffer_size():
            self._leaving = self.loop.call_later(self.config.send_s, self._cut_off_if_stuck)

    def pause_writing(self) -> None:
        """Start the time in which the client has to take some of its answer."""
        super().pause_writing()
        self._stop_leaving()
        self._leaving = self.loop.call_later(self.config.send_s, self._cut_off)

    def resume_writing(self) -> None:
        """Stop that time: the client takes its answer."""
        super().resume_writing()
        self._stop_leaving()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers of a closed connection."""
        self._stop()
        self._stop_leaving()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Run the timer while a request is incomplete; more bytes do not restart it."""
        unfinished = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()
        if unfinished and self._arriving is None:
            self._arriving = self.loop.call_later(self.config.request_s, self._cut_off)
        elif not unfinished:
            self._stop()

    def _stop(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    def _stop_leaving(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def _cut_off_if_stuck(self) -> None:
        self._leaving = None
        if self.transport.get_write_buffer_size():
            self._cut_off()

    def _cut_off(self) -> None:
        self._stop()
        self.transport.abort()

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, LimitedProtocol) and each is not self]
        unfinished = [connection for connection in others if connection._arriving is not None]
        min(unfinished, key=lambda connection: connection._since, default=self)._cut_off()
