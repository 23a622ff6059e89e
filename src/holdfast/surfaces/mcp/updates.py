"""Notifies clients when a resource they subscribed to has changed.

Changes come from this server's tools, from learners and from other programs. The server therefore reads the log of
changes every two seconds, but only while a client listens. Clients of the stateless revision listen on a stream; those
of the handshake revisions subscribe to single URIs. The same look serves both.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp.callers import Request, connection_of
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.resources import BRIEF, CHECKPOINT, LESSON

LOOK_EVERY_S = 2.0
CHANGES = 20
"""Newest changes that a look takes in; what more came in two seconds was an import, and the brief tells of it."""
SUBSCRIBERS = 100
"""Connections whose subscriptions are kept; the one that was quiet longest gives way."""


class Updates:
    """The subscriptions of all clients, and the task that looks for changes. It is also the SDK's event bus."""

    def __init__(self, memory: MemoryOnce) -> None:
        self._memory = memory
        self._bus = InMemorySubscriptionBus()
        self._listening = 0
        self._subscribed: OrderedDict[str, dict[str, ServerSession]] = OrderedDict()
        self._wanted = anyio.Event()

    @asynccontextmanager
    async def lifespan(self, server: Server[None]) -> AsyncIterator[None]:
        """Look for changes while the server runs."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._look_on)
            yield
            group.cancel_scope.cancel()

    async def publish(self, event: ServerEvent) -> None:
        """Send the event to every stream of the stateless revision."""
        await self._bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Add a stream of the stateless revision; return the function that removes it."""
        leave = self._bus.subscribe(listener)
        self._listening += 1
        self._wanted.set()

        def left() -> None:
            self._listening -= 1
            leave()

        return left

    async def add(self, ctx: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe` of the handshake revisions."""
        key = connection_of(ctx)
        self._subscribed.setdefault(key, {})[str(params.uri)] = ctx.session
        self._subscribed.move_to_end(key)
        while len(self._subscribed) > SUBSCRIBERS:
            self._subscribed.popitem(last=False)
        self._wanted.set()
        return EmptyResult()

    async def remove(self, ctx: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Answer `resources/unsubscribe` of the handshake revisions; an unknown subscription is no error."""
        key = connection_of(ctx)
        uris = self._subscribed.get(key, {})
        uris.pop(str(params.uri), None)
        if not uris:
            self._subscribed.pop(key, None)
        return EmptyResult()

    async def _look_on(self) -> None:
        while True:
            await self._wanted.wait()
            seen = await anyio.to_thread.run_sync(self._look)
            while self._listening or self._subscribed:
                await anyio.sleep(LOOK_EVERY_S)
                now = await anyio.to_thread.run_sync(self._look)
                for uri in _changed(seen, now):
                    await self._tell(uri)
                seen = now
            self._wanted = anyio.Event()

    def _look(self) -> dict[str, Any]:
        """Return the state that reveals a change: the newest changes with their lessons, and the checkpoint's id."""
        try:
            opened = self._memory()
            memory = opened.at(opened.folder)
            checkpoint = memory.checkpoint()
            return {CHECKPOINT: checkpoint.id if checkpoint else ""} | {
                c.id: c.lessons for c in memory.changes(CHANGES)
            }
        except Exception:  # the tools report it; the server must go on
            return {}

    async def _tell(self, uri: str) -> None:
        await self.publish(ResourceUpdated(uri=uri))
        for uris in list(self._subscribed.values()):
            if uri in uris:
                await uris[uri].send_resource_updated(uri)


def _changed(seen: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the URIs that differ between two looks; none when one of the looks failed."""
    if not seen or not now:
        return []
    lessons = [lesson for change, ids in now.items() if change != CHECKPOINT and change not in seen for lesson in ids]
    uris = [f"{LESSON}{name}" for lesson in lessons for name in (lesson, short_id(lesson))]
    if now[CHECKPOINT] != seen[CHECKPOINT]:
        uris.append(CHECKPOINT)
    return list(dict.fromkeys([*([BRIEF] if uris else []), *uris]))
