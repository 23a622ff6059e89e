"""Streams for the SDK's server that replay what `door` received and drop what `door` has already answered."""

from __future__ import annotations

from contextvars import Context
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from holdfast.surfaces.mcp.door import ACKNOWLEDGED, SUBSCRIPTION, Opening


class Replayed:
    """A reading stream that starts with the opening's messages."""

    def __init__(self, inner: Any, opening: Opening) -> None:
        self._inner = inner
        self._lines = list(opening.lines)
        self._is_replaying = bool(self._lines)

    @property
    def last_context(self) -> Context | None:
        """The context of the last message, in which the SDK runs its handler."""
        return None if self._is_replaying else self._inner.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message, or the error in its line."""
        if self._lines:
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_json(self._lines.pop(0), by_name=False))
            except ValueError as exc:
                return exc
        self._is_replaying = False
        message: SessionMessage | Exception = await self._inner.receive()
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the stream behind it."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Unrepeated:
    """A writing stream that drops what `door` has already sent: the handshake's answer and acknowledgements."""

    def __init__(self, inner: Any, opening: Opening) -> None:
        self._inner = inner
        self._answered = opening.answered
        self._acknowledged = list(opening.acknowledged)

    async def send(self, message: SessionMessage) -> None:
        """Send a message, unless it was already sent."""
        if self._acknowledged and getattr(message.message, "method", "") == ACKNOWLEDGED:
            subscription = _subscription_of(message.message)
            if subscription in self._acknowledged:
                self._acknowledged.remove(subscription)
                return
        number = getattr(message.message, "id", None)
        if self._answered and number == self._answered[0] and not hasattr(message.message, "method"):
            self._answered = ()
            return
        await self._inner.send(message)

    async def aclose(self) -> None:
        """Close the stream behind it."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _subscription_of(notification: Any) -> Any:
    about = (getattr(notification, "params", None) or {}).get("_meta")
    return about.get(SUBSCRIPTION) if isinstance(about, dict) else None
