"""`Client` and `AsyncClient`: the memory of a team's server, with the verbs of `Memory`.

Each operation is a function of `operations`; as a method it has the client's project and sends the request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from uuid import uuid4

from holdfast.client import operations
from holdfast.client.answers import ListPage
from holdfast.client.operations import Place
from holdfast.client.requests import HttpRequest
from holdfast.client.session import AsyncSession, Call, Calls, Session
from holdfast.client.transport import TIMEOUT_S, AsyncTransport, Transport
from holdfast.domain.lesson import Lesson

P = ParamSpec("P")
T = TypeVar("T")


def _sent(make: Callable[Concatenate[Place, P], HttpRequest[T]]) -> Callable[Concatenate[Client, P], T]:
    """Return an operation as a method that waits for the answer."""

    @wraps(make)
    def method(client: Client, /, *arguments: P.args, **named: P.kwargs) -> T:
        return client.send(make(client.place, *arguments, **named))

    return method


def _awaited(
    make: Callable[Concatenate[Place, P], HttpRequest[T]],
) -> Callable[Concatenate[AsyncClient, P], Awaitable[T]]:
    """Return an operation as a method whose answer is awaited."""

    @wraps(make)
    def method(client: AsyncClient, /, *arguments: P.args, **named: P.kwargs) -> Awaitable[T]:
        return client.send(make(client.place, *arguments, **named))

    return method


class Client:
    """A server's memory of one project: `with Client(url, token, project=ID) as memory: memory.recall("…")`.

    Threads may share it. Every method raises `HoldfastError`: what the server reports as the error that the store
    would raise, and `ServerUnreachableError` where there is no answer in time.
    """

    def __init__(self, url: str, token: str, *, project: str = "", timeout_s: float = TIMEOUT_S) -> None:
        """Connect at the first request. `project` is the id that `holdfast project show` prints.

        Raises InvalidValueError for an address that is none, or that would send the token unencrypted.
        """
        self.place = Place(project=project)
        self._transport = Transport(url, token, timeout_s)

    @classmethod
    def through(cls, transport: Transport, *, project: str = "") -> Self:
        """Return a client over a transport that is there already."""
        client = cls.__new__(cls)
        client.place, client._transport = Place(project=project), transport
        return client

    def of_project(self, project: str) -> Client:
        """Return a client of another project over the same connections."""
        return Client.through(self._transport, project=project)

    def __repr__(self) -> str:
        return f"Client({self._transport.url!r}, project={self.place.project!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def send(self, request: HttpRequest[T]) -> T:
        """Send a request and return what its answer says."""
        return self._transport.send(request)

    def every(self, method: Callable[..., ListPage[T]], *arguments: Any, **named: Any) -> Iterator[T]:
        """Yield the items of all pages: `client.every(client.lessons, kinds=["fix"])`."""
        page = method(*arguments, **named)
        yield from page
        while page.next:
            page = method(*arguments, **{**named, "cursor": page.next})
            yield from page

    def session(self, id: str = "", *, model: str = "") -> Session:
        """Return a session of an agent, for a `with` block; see `Memory.session`."""
        return Session(self._answer, self._learn, Calls(id or uuid4().hex, "", model))

    def _answer(self, call: Call) -> str:
        return self.send(operations.answer_call(self.place, call))

    def _learn(self, session: str) -> None:
        self.send(operations.learn(self.place, session))

    def revise(self, ref: str | Lesson, **changes: Any) -> Lesson:
        """Replace the lesson by a better one and return the successor.

        Raises StaleWriteError if somebody has changed it since a given `Lesson` was read.
        """
        lesson = ref if isinstance(ref, Lesson) else self.get(ref)
        return self.send(operations.revise(self.place, lesson, **changes))

    def forget(self, ref: str | Lesson) -> Lesson:
        """Take the lesson out of use for good; its history stays. Raises as `revise` does."""
        lesson = ref if isinstance(ref, Lesson) else self.get(ref)
        return self.send(operations.forget(self.place, lesson))

    # Lessons

    remember = _sent(operations.remember)
    lessons = _sent(operations.lessons)
    get = _sent(operations.get)
    edit = _sent(operations.edit)
    retire = _sent(operations.retire)
    purge = _sent(operations.purge)
    undo = _sent(operations.undo)
    changes = _sent(operations.changes)
    lineage = _sent(operations.lineage)
    explain = _sent(operations.explain)
    links = _sent(operations.links)

    # Judging

    confirm = _sent(operations.confirm)
    flag = _sent(operations.flag)
    withdraw = _sent(operations.withdraw)
    confirmations = _sent(operations.confirmations)
    flags = _sent(operations.flags)
    all_flags = _sent(operations.all_flags)
    inbox = _sent(operations.inbox)
    accept = _sent(operations.accept)
    reject = _sent(operations.reject)
    keep = _sent(operations.keep)
    put_off = _sent(operations.put_off)
    bring_back = _sent(operations.bring_back)
    apply_tidying = _sent(operations.apply_tidying)
    refuse_tidying = _sent(operations.refuse_tidying)
    conflicts = _sent(operations.conflicts)
    settle = _sent(operations.settle)
    keep_both = _sent(operations.keep_both)
    feedback = _sent(operations.feedback)
    outcomes = _sent(operations.outcomes)
    log = _sent(operations.log)

    # Questions

    recall = _sent(operations.recall)
    brief = _sent(operations.brief)
    topics = _sent(operations.topics)
    rename_topic = _sent(operations.rename_topic)
    merge_topics = _sent(operations.merge_topics)
    split_topic = _sent(operations.split_topic)
    digest = _sent(operations.digest)
    stats = _sent(operations.stats)

    # Sessions

    append = _sent(operations.append)
    sessions = _sent(operations.sessions)
    session_events = _sent(operations.session_events)
    save_checkpoint = _sent(operations.save_checkpoint)
    checkpoint = _sent(operations.checkpoint)
    checkpoints = _sent(operations.checkpoints)
    close_checkpoint = _sent(operations.close_checkpoint)

    # In bulk

    export_lessons = _sent(operations.export_lessons)
    import_lessons = _sent(operations.import_lessons)

    # The organisation

    me = _sent(operations.me)
    version = _sent(operations.version)
    organisation = _sent(operations.organisation)
    change_organisation = _sent(operations.change_organisation)
    projects = _sent(operations.projects)
    project = _sent(operations.project)
    add_project = _sent(operations.add_project)
    change_project = _sent(operations.change_project)
    remove_project = _sent(operations.remove_project)
    members = _sent(operations.members)
    member = _sent(operations.member)
    change_member = _sent(operations.change_member)
    teams = _sent(operations.teams)
    team = _sent(operations.team)
    add_team = _sent(operations.add_team)
    change_team = _sent(operations.change_team)
    remove_team = _sent(operations.remove_team)
    tokens = _sent(operations.tokens)
    add_token = _sent(operations.add_token)
    revoke_token = _sent(operations.revoke_token)
    invitations = _sent(operations.invitations)
    invite = _sent(operations.invite)
    accept_invitation = _sent(operations.accept_invitation)
    revoke_invitation = _sent(operations.revoke_invitation)
    audit = _sent(operations.audit)
    verify_audit = _sent(operations.verify_audit)


class AsyncClient:
    """`Client`, awaited: `async with AsyncClient(url, token, project=ID) as memory: await memory.recall("…")`."""

    def __init__(self, url: str, token: str, *, project: str = "", timeout_s: float = TIMEOUT_S) -> None:
        """As `Client`."""
        self.place = Place(project=project)
        self._transport = AsyncTransport(url, token, timeout_s)

    @classmethod
    def through(cls, transport: AsyncTransport, *, project: str = "") -> Self:
        """Return a client over a transport that is there already."""
        client = cls.__new__(cls)
        client.place, client._transport = Place(project=project), transport
        return client

    def of_project(self, project: str) -> AsyncClient:
        """Return a client of another project over the same connections."""
        return AsyncClient.through(self._transport, project=project)

    def __repr__(self) -> str:
        return f"AsyncClient({self._transport.url!r}, project={self.place.project!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def send(self, request: HttpRequest[T]) -> T:
        """Send a request and return what its answer says."""
        return await self._transport.send(request)

    async def every(
        self, method: Callable[..., Awaitable[ListPage[T]]], *arguments: Any, **named: Any
    ) -> AsyncIterator[T]:
        """Yield the items of all pages."""
        cursor = ""
        while True:
            page = await method(*arguments, **({**named, "cursor": cursor} if cursor else named))
            for item in page:
                yield item
            if not (cursor := page.next):
                return

    def session(self, id: str = "", *, model: str = "") -> AsyncSession:
        """Return a session of an agent, for an `async with` block; see `Memory.session`."""
        return AsyncSession(self._answer, self._learn, Calls(id or uuid4().hex, "", model))

    async def _answer(self, call: Call) -> str:
        return await self.send(operations.answer_call(self.place, call))

    async def _learn(self, session: str) -> None:
        await self.send(operations.learn(self.place, session))

    async def revise(self, ref: str | Lesson, **changes: Any) -> Lesson:
        """Replace the lesson by a better one and return the successor. Raises as `Client.revise` does."""
        lesson = ref if isinstance(ref, Lesson) else await self.get(ref)
        return await self.send(operations.revise(self.place, lesson, **changes))

    async def forget(self, ref: str | Lesson) -> Lesson:
        """Take the lesson out of use for good; its history stays. Raises as `Client.revise` does."""
        lesson = ref if isinstance(ref, Lesson) else await self.get(ref)
        return await self.send(operations.forget(self.place, lesson))

    # Lessons

    remember = _awaited(operations.remember)
    lessons = _awaited(operations.lessons)
    get = _awaited(operations.get)
    edit = _awaited(operations.edit)
    retire = _awaited(operations.retire)
    purge = _awaited(operations.purge)
    undo = _awaited(operations.undo)
    changes = _awaited(operations.changes)
    lineage = _awaited(operations.lineage)
    explain = _awaited(operations.explain)
    links = _awaited(operations.links)

    # Judging

    confirm = _awaited(operations.confirm)
    flag = _awaited(operations.flag)
    withdraw = _awaited(operations.withdraw)
    confirmations = _awaited(operations.confirmations)
    flags = _awaited(operations.flags)
    all_flags = _awaited(operations.all_flags)
    inbox = _awaited(operations.inbox)
    accept = _awaited(operations.accept)
    reject = _awaited(operations.reject)
    keep = _awaited(operations.keep)
    put_off = _awaited(operations.put_off)
    bring_back = _awaited(operations.bring_back)
    apply_tidying = _awaited(operations.apply_tidying)
    refuse_tidying = _awaited(operations.refuse_tidying)
    conflicts = _awaited(operations.conflicts)
    settle = _awaited(operations.settle)
    keep_both = _awaited(operations.keep_both)
    feedback = _awaited(operations.feedback)
    outcomes = _awaited(operations.outcomes)
    log = _awaited(operations.log)

    # Questions

    recall = _awaited(operations.recall)
    brief = _awaited(operations.brief)
    topics = _awaited(operations.topics)
    rename_topic = _awaited(operations.rename_topic)
    merge_topics = _awaited(operations.merge_topics)
    split_topic = _awaited(operations.split_topic)
    digest = _awaited(operations.digest)
    stats = _awaited(operations.stats)

    # Sessions

    append = _awaited(operations.append)
    sessions = _awaited(operations.sessions)
    session_events = _awaited(operations.session_events)
    save_checkpoint = _awaited(operations.save_checkpoint)
    checkpoint = _awaited(operations.checkpoint)
    checkpoints = _awaited(operations.checkpoints)
    close_checkpoint = _awaited(operations.close_checkpoint)

    # In bulk

    export_lessons = _awaited(operations.export_lessons)
    import_lessons = _awaited(operations.import_lessons)

    # The organisation

    me = _awaited(operations.me)
    version = _awaited(operations.version)
    organisation = _awaited(operations.organisation)
    change_organisation = _awaited(operations.change_organisation)
    projects = _awaited(operations.projects)
    project = _awaited(operations.project)
    add_project = _awaited(operations.add_project)
    change_project = _awaited(operations.change_project)
    remove_project = _awaited(operations.remove_project)
    members = _awaited(operations.members)
    member = _awaited(operations.member)
    change_member = _awaited(operations.change_member)
    teams = _awaited(operations.teams)
    team = _awaited(operations.team)
    add_team = _awaited(operations.add_team)
    change_team = _awaited(operations.change_team)
    remove_team = _awaited(operations.remove_team)
    tokens = _awaited(operations.tokens)
    add_token = _awaited(operations.add_token)
    revoke_token = _awaited(operations.revoke_token)
    invitations = _awaited(operations.invitations)
    invite = _awaited(operations.invite)
    accept_invitation = _awaited(operations.accept_invitation)
    revoke_invitation = _awaited(operations.revoke_invitation)
    audit = _awaited(operations.audit)
    verify_audit = _awaited(operations.verify_audit)
