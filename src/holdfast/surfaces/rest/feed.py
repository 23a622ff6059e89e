"""Live changes of a project as server-sent events: the id of an event is its position in the project's feed.

A client that comes back sends `Last-Event-ID` and gets what it missed. One task of a worker asks once a second for the
last positions of all projects that somebody watches, so a thousand watchers cost one query. No transaction is open
between two reads. A stream ends after some minutes; the client comes back, and its rights are checked anew.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from holdfast.domain.team import OrganisationId
from holdfast.domain.vocabulary import ProjectId
from holdfast.lean.texts import dumps
from holdfast.ports.team import TeamBackend
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.problems import RequestError

R = TypeVar("R")
Watched = tuple[OrganisationId, ProjectId]

POLL_S = 1.0
"""Seconds between two looks at the watched projects."""
PING_S = 15
"""Seconds after which a silent stream sends a comment, so that proxies keep it."""
STREAM_S = 300.0
"""Seconds after which a stream ends."""
SEND_S = 30.0
"""Seconds that a client may take to receive an event."""
READ = 100
"""Documents that are read at a time."""
DIGITS = 18
"""Most digits of a position."""


@dataclass(kw_only=True)
class Feed:
    """The watchers of one worker."""

    backend: TeamBackend
    most: int
    """Watchers at the same time."""
    poll_s: float = POLL_S
    stream_s: float = STREAM_S
    in_thread: Callable[[Callable[[], Any]], Awaitable[Any]] = field(default=to_thread.run_sync, init=False)
    """What runs reads of the store; the kit sets its own."""
    _waiting: dict[Watched, set[asyncio.Event]] = field(default_factory=lambda: defaultdict(set), init=False)
    _last: dict[Watched, int] = field(default_factory=dict, init=False)
    _watchers: int = field(default=0, init=False)
    _poller: asyncio.Task[None] | None = field(default=None, init=False)

    async def response(self, call: OpCall, headers: Mapping[str, str], method: str) -> Response:
        """Return the stream for a checked call. Raises RequestError for an impossible position (400, 410)."""
        if self._watchers >= self.most:
            raise RequestError(503, "too many clients follow changes here", hint="poll the documents instead")
        project = ProjectId(call.parameters["project"])
        last = await self.in_thread(lambda: call.stores.documents.last_seqs([project]).get(project, 0))
        after = _position(headers, call, last)
        if after > last:
            raise RequestError(410, "the feed has no such position yet", hint="begin again without Last-Event-ID")
        if method == "HEAD":
            return Response(media_type="text/event-stream")
        return EventSourceResponse(self._events(call, project, after), ping=PING_S, send_timeout=SEND_S)

    async def _events(self, call: OpCall, project: ProjectId, after: int) -> AsyncIterator[ServerSentEvent]:
        watched = (call.stores.organisation, project)
        woken = asyncio.Event()
        self._waiting[watched].add(woken)
        self._watchers += 1
        self._start()
        ends_at = asyncio.get_running_loop().time() + self.stream_s
        try:
            while (left := ends_at - asyncio.get_running_loop().time()) > 0:
                woken.clear()
                changed, reached = await self.in_thread(partial(call.feed, after, READ))
                for position, view in changed:
                    yield ServerSentEvent(data=dumps(view), event="lesson", id=str(position))
                if reached == after:
                    await _wait(woken, left)
                after = reached
        finally:
            self._watchers -= 1
            self._waiting[watched].discard(woken)
            if not self._waiting[watched]:
                del self._waiting[watched]
                self._last.pop(watched, None)

    def _start(self) -> None:
        if self._poller is None or self._poller.done():
            self._poller = asyncio.get_running_loop().create_task(self._poll())

    async def _poll(self) -> None:
        """Wake the watchers of each project whose feed has grown, until nobody watches."""
        while self._waiting:
            await asyncio.sleep(self.poll_s)
            by_organisation: dict[OrganisationId, list[ProjectId]] = defaultdict(list)
            for organisation, project in self._waiting:
                by_organisation[organisation].append(project)
            try:
                positions = await self.in_thread(partial(self._positions, by_organisation))
            except Exception:  # the store is away for a moment: look again, and meanwhile nobody is told anything
                continue
            for watched, position in positions.items():
                if self._last.get(watched) != position:
                    self._last[watched] = position
                    for woken in self._waiting.get(watched, ()):
                        woken.set()

    def _positions(self, projects: Mapping[OrganisationId, list[ProjectId]]) -> dict[Watched, int]:
        return {
            (organisation, project): position
            for organisation, names in projects.items()
            for project, position in self.backend.open(organisation).documents.last_seqs(names).items()
        }


def _position(headers: Mapping[str, str], call: OpCall, last: int) -> int:
    """Return the position after which the stream begins. Raises RequestError (400) for a header that is no number."""
    if "last-event-id" not in headers:
        after = getattr(call.query, "after", None)
        return last if after is None else int(after)
    text = headers["last-event-id"]
    if not (text.isascii() and text.isdigit()) or len(text) > DIGITS:
        raise RequestError(400, "Last-Event-ID is the number of an event")
    return int(text)


async def _wait(woken: asyncio.Event, within_s: float) -> None:
    try:
        await asyncio.wait_for(woken.wait(), within_s)
    except TimeoutError:
        return
