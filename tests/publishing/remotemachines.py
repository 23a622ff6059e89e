"""Machines that sync with a server over a network that drops, repeats and delays requests, and dies in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from holdfast import Memory
from holdfast.client.documents import DocumentClient
from holdfast.client.transport import Transport
from holdfast.domain.lesson import Lesson, in_state
from holdfast.errors import InvalidValueError, ServerUnreachableError
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.ledger import write_change
from holdfast.ports.services import Clock
from holdfast.publishing.remote.exchange import ExchangeReport, Peer, exchange
from holdfast.publishing.remote.sealed import exchange_sealed
from holdfast.publishing.remote.sealing import Seal, make_seal, show_key
from holdfast.settings import load_settings
from tests.surfaces.rest.world import World

KEY = show_key(bytes(range(32)))
PROJECT = "harbour"


class Killed(BaseException):
    """The process died here."""


class SkewedClock:
    """A clock that is wrong by some time."""

    def __init__(self, clock: Clock, skew: timedelta) -> None:
        self._clock = clock
        self._skew = skew
        self.elapsed_s = clock.elapsed_s
        self.new_id = clock.new_id

    def now(self) -> datetime:
        return self._clock.now() + self._skew


class DyingStore:
    """A store whose process dies at the write of that number, before it or after it."""

    WRITES = ("put", "set_rows", "set_state")

    def __init__(self, store: Any, dies_at: int) -> None:
        self._store = store
        self._left = dies_at

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in self.WRITES or self._left < 0:
            return method

        def write(*arguments: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise Killed
            answer = method(*arguments, **named)
            if self._left == 1:
                self._left = -1
                raise Killed
            return answer

        return write


class InProcess:
    """Sends requests to an application in this process, where none takes longer than it takes."""

    def __init__(self, world: World) -> None:
        self._world = world

    def request(self, method: str, url: str, *, content: bytes | None, headers: Mapping[str, str], **_more: Any) -> Any:
        return self._world.client.request(method, url, content=content, headers=headers)


class Hub:
    """The real application of a server over SQLite, with a client for each member."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.traffic: list[str] = []
        """Everything that ever came in."""
        world.call("POST", "/projects", json={"id": PROJECT, "name": "Harbour"})

    def client(self, member: str) -> DocumentClient:
        http: Any = InProcess(self.world)
        return DocumentClient(Transport("http://127.0.0.1", self.world.home.tokens[member], http=http))

    def rules(self, state: str = "active") -> list[str]:
        """Return the rules of the project's lessons in that state."""
        answer = self.world.call("GET", f"/projects/{PROJECT}/lessons?state={state}&limit=200")
        return sorted(row["insight"] for row in answer.json()["items"])

    def documents(self) -> list[Any]:
        """Return the documents as an admin has them."""
        return list(self.client("admin").changes(PROJECT, 0, 1_000)["documents"])

    def sealed(self, member: str) -> list[Any]:
        """Return the member's sealed documents."""
        return list(self.client(member).sealed_changes(0, 1_000)["sealed"])

    def review_everything(self) -> int:
        """Accept whatever waits; return how much that was."""
        waiting = self.world.call("GET", f"/projects/{PROJECT}/review").json()["waiting"]
        for row in waiting:
            answer = self.world.call("POST", f"/projects/{PROJECT}/lessons/{row['id']}/accept")
            assert answer.status_code in (200, 404, 409), answer.text  # accepting one may settle another
        return len(waiting)

    def content(self) -> str:
        """Everything that the server has ever seen or stored, as text."""
        files = [path.read_bytes() for path in Path(self.world.settings.home).rglob("*") if path.is_file()]
        return "\n".join([*self.traffic, *(content.decode("utf-8", "replace") for content in files)])


class Wire:
    """A member's connection. `faults` says, for one request after the other, what happens to it."""

    def __init__(self, hub: Hub, member: str) -> None:
        self._hub = hub
        self._client = hub.client(member)
        self.faults: list[str] = []
        self._late: Callable[[], Any] | None = None

    def changes(self, project: str, after: int, limit: int) -> dict[str, Any]:
        return self._ask("changes", project, after, limit)

    def send(self, project: str, documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return self._ask("send", project, list(documents))

    def sealed_changes(self, after: int, limit: int) -> dict[str, Any]:
        return self._ask("sealed_changes", after, limit)

    def send_sealed(self, sealed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return self._ask("send_sealed", list(sealed))

    def _ask(self, name: str, *arguments: Any) -> dict[str, Any]:
        text = dumps(list(arguments))
        self._hub.traffic.append(text)

        def arrive() -> dict[str, Any]:
            answer: dict[str, Any] = getattr(self._client, name)(*loads(text))
            return answer

        fault = self.faults.pop(0) if self.faults else ""
        if fault == "lost":
            raise ServerUnreachableError("lost on the way")
        if fault == "late":  # it arrives after a later one
            self._late = arrive
            raise ServerUnreachableError("too late")
        answer = arrive()
        if fault == "twice":
            answer = arrive()
        if self._late is not None:
            late, self._late = self._late, None
            late()
        if fault == "unanswered":
            raise ServerUnreachableError("the answer was lost")
        if fault == "dies":
            raise Killed
        return answer


class Machine:
    """One person's machine: a home, a clone's memory, and a connection."""

    def __init__(self, hub: Hub, home: Path, project: Path, member: str, skew: timedelta = timedelta(0)) -> None:
        self._home = home
        self._project = project
        self._skew = skew
        self.member = member
        self.wire = Wire(hub, member)
        self.seal: Seal | None = make_seal(KEY)
        self.stated: set[str] = set()
        """Rules that somebody stated here."""
        self.ended: set[str] = set()
        """Rules that somebody replaced here."""
        self.closed: set[str] = set()
        """Rules that somebody took out of use here, which ends them everywhere, whatever others make of them."""
        self._open()

    def _open(self) -> None:
        environ = {"HOME": str(self._home.parent), "HOLDFAST_HOME": str(self._home)}
        memory = Memory(str(self._project), settings=load_settings(environ))
        clock = SkewedClock(memory.services.clock, self._skew)
        self._opened = memory
        self.memory = memory.with_services(replace(memory.services, clock=clock))

    def reopen(self) -> None:
        self._opened.close()
        self._open()

    def close(self) -> None:
        self._opened.close()

    def sync(self, faults: Sequence[str] = (), dies_at: int = -1) -> ExchangeReport | None:
        """Sync with these faults; None if it was cut off."""
        self.wire.faults = list(faults)
        services = self.memory.services
        if dies_at >= 0:
            services = replace(services, store=DyingStore(services.store, dies_at))
        try:
            report = exchange(services, self.memory.location, self.wire, Peer(name="https://hub"))
            if self.seal is not None:
                private = exchange_sealed(services, self.memory.location, self.wire, "https://hub", self.seal)
                report = replace(report, private=private)
            return report
        except ServerUnreachableError:
            return None
        except Killed:
            self.reopen()
            return None

    def living(self) -> list[Lesson]:
        return sorted(self.memory.lessons(states=("active",)), key=lambda lesson: lesson.insight)

    def shared(self) -> list[str]:
        """Return the rules of the project that are active here and not private."""
        return [lesson.insight for lesson in self.living() if not lesson.private and lesson.scope.level != "user"]

    def own(self) -> list[tuple[str, str, bool]]:
        return [
            (lesson.insight, lesson.scope.level, lesson.private)
            for lesson in self.living()
            if lesson.private or lesson.scope.level == "user"
        ]

    def remember(self, rule: str, **how: Any) -> None:
        lesson = self.memory.remember(rule, **how)
        if not how.get("private") and how.get("scope") != "user":
            self.stated.add(lesson.insight)

    def revise(self, lesson: Lesson, **changes: Any) -> None:
        with suppress(InvalidValueError):  # nothing to revise
            after = self.memory.revise(lesson.id, **changes)
            if after.insight != lesson.insight:
                self.ended.add(lesson.insight)
                self.stated.add(after.insight)

    def retire(self, lesson: Lesson) -> None:
        services = self.memory.services
        gone = in_state(lesson, "retired", at=services.clock.now())
        write_change(services, self.memory.location, "reject", [gone], {lesson.id: lesson.recorded_at})
        self.closed.add(lesson.insight)

    def forget(self, lesson: Lesson) -> None:
        self.memory.forget(lesson.id)
        self.closed.add(lesson.insight)


def settle_down(hub: Hub, machines: Sequence[Machine], *, accept: bool = False) -> int:
    """Let everybody sync until nothing changes; return how many rounds that took."""
    for number in range(1, 10):
        before = _everything(hub, machines)
        for machine in machines:
            machine.sync()
        accepted = hub.review_everything() if accept else 0
        if not accepted and _everything(hub, machines) == before:
            return number
    raise AssertionError("the machines do not agree")


def _everything(hub: Hub, machines: Sequence[Machine]) -> list[Any]:
    stored = [hub.documents(), *(hub.sealed(machine.member) for machine in machines)]
    return [*(machine.living() for machine in machines), *stored]
