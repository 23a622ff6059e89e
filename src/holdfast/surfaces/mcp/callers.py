"""Finds out who calls and about which folder, and runs jobs of the synchronous core in threads (ADR 1).

The host is known from setup or the environment, else from the client's name. The folder is the one in which the server
was started. If that is not a project, it is the first root that the client names. Only the handshake revisions have
roots: the stateless one cannot send requests to the client, and deprecates roots.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname
from uuid import uuid4

import anyio
import anyio.to_thread
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

from holdfast.bootstrap import Memory as Here
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import LessonNotFoundError
from holdfast.lean.texts import short_id
from holdfast.settings import host_session
from holdfast.surfaces.mcp.greeting import host_of
from holdfast.surfaces.mcp.instructions import is_project
from holdfast.surfaces.mcp.opening import MemoryOnce

T = TypeVar("T")
Request = ServerRequestContext[Any, Any]

PROGRESS_S = 1.0
"""Between two signs of life while a call works: clients that see one do not give up."""
ROOTS_S = 3.0
"""How long a client may take to name its roots."""


class Caller(NamedTuple):
    """The client of one request, and the memory of the folder that the request is about."""

    memory: Here
    host: str
    session: SessionId
    gone: threading.Event
    """Set when the client no longer waits for the answer."""

    def own(self, ref: str) -> Lesson:
        """Return a lesson of this project or of the user; an agent may see no other lesson, even by its full id.

        Raises LessonNotFoundError or AmbiguousIdError.
        """
        lesson = self.memory.get(ref)
        if lesson.scope.project not in ("", self.memory.location.project.id):
            raise LessonNotFoundError(f"no lesson {short_id(lesson.id)} in project {self.memory.location.project.name}")
        return lesson

    def call(self, name: str, prompt: str = "") -> HookCall:
        """Return the request as a host's call, for the log."""
        return HookCall(host=self.host, name=name, session=self.session, cwd=self.memory.folder, prompt=prompt)


class Callers:
    """The clients of one server process."""

    def __init__(self, memory: MemoryOnce, host: str = "", session: str = "") -> None:
        self._memory = memory
        self._host = host
        self._own = session or str(uuid4())
        self._root = ""

    async def run(self, ctx: Request, job: Callable[[Caller], T], *, writes: bool = False) -> T:
        """Run the job in a thread and return its result; meanwhile report progress to a client that asked for it.

        If the client cancels, a reading job is abandoned. A writing job is finished, so that its change is complete.
        """
        folder = await self._folder(ctx)
        gone = threading.Event()
        outcome: list[T] = []
        failed: list[Exception] = []

        def work() -> None:
            try:
                outcome.append(job(self._caller(ctx, folder, gone)))
            except Exception as exc:  # raised again below, outside the task group, which would wrap it
                failed.append(exc)

        try:
            async with anyio.create_task_group() as signs:
                signs.start_soon(_tell_progress, ctx)
                await anyio.to_thread.run_sync(work, abandon_on_cancel=not writes)
                signs.cancel_scope.cancel()
        finally:
            gone.set()
        if failed:
            raise failed[0]
        return outcome[0]

    def forget_roots(self) -> None:
        """Forget the client's roots, which have changed, so that its next call asks for them again."""
        self._root = ""

    def _caller(self, ctx: Request, folder: str, gone: threading.Event) -> Caller:
        memory = self._memory()
        host, session = self._source(ctx)
        # a new location for each call, because another branch may be checked out by now
        return Caller(memory.at(folder), host, SessionId(session), gone)

    def _source(self, ctx: Request) -> tuple[str, str]:
        """Return host and session; the session comes from the environment, else the process is one session."""
        session_host, session = host_session()
        if session:
            return self._host or session_host, session
        return self._host or host_of(client_of(ctx)), self._own

    async def _folder(self, ctx: Request) -> str:
        capabilities = ctx.session.client_capabilities
        own = self._memory.folder
        if capabilities is None or capabilities.roots is None or not ctx.session.can_send_request:
            return own
        if not self._root:
            known = await anyio.to_thread.run_sync(is_project, self._memory)
            self._root = own if known else (await _first_root(ctx) or own)
        return self._root


def client_of(ctx: Request) -> str:
    """Return the client's name, also during its `initialize` request; empty if it gives none."""
    if client := ctx.session.client_params:
        return client.client_info.name
    introduced = (ctx.params or {}).get("clientInfo")
    return str(introduced.get("name", "")) if isinstance(introduced, dict) else ""


def folder_of(uri: str) -> str:
    """Return the local folder of a `file:` URI, or "" for anything else."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in unquote(parts.path):
        return ""
    return url2pathname(parts.path)


async def _first_root(ctx: Request) -> str:
    """Return the first root that is a local folder; "" if the client names none or does not answer in time."""
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        result = await ctx.session.send_request(ListRootsRequest(), ListRootsResult, ROOTS_S, related)
    except (MCPError, ValidationError):
        return ""
    for root in result.roots:
        folder = folder_of(str(root.uri))
        if folder and await anyio.Path(folder).is_dir():
            return folder
    return ""


async def _tell_progress(ctx: Request) -> None:
    for count in itertools.count(1):
        await anyio.sleep(PROGRESS_S)
        await ctx.session.report_progress(count * PROGRESS_S, message="still working")
