"""Each limit of the MCP server at its boundary; what a user or a client sees of it is written out."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import threading
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp_types import ListRootsResult, PromptReference, ResourceTemplateReference, Root, TextContent

from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError
from holdfast.lean.files import FileLock
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import callers, loopback, resources, watching
from holdfast.surfaces.mcp.callers import Callers
from holdfast.surfaces.mcp.loopback import TOKEN_FILE, load_token, open_line
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build
from holdfast.surfaces.mcp.slowness import LimitedProtocol
from holdfast.surfaces.mcp.updates import Updates
from tests.codebase import Codebase
from tests.surfaces.test_mcp_offers import Workbench, connected, read, recalled, remembered, run, unhosted
from tests.surfaces.test_mcp_wire import Running, opening, running

__all__ = ["running", "unhosted"]


# What is brought and completed


def tides(code: Codebase, count: int, words: str = "") -> list[str]:
    """The ids of so many lessons about tides."""
    return remembered(
        code.folder, *(f"Count tide {number:02} in whole hours {words}".strip() for number in range(count))
    )


def prompted(code: Codebase, query: str) -> str:
    answers: list[str] = []

    async def work() -> None:
        async with connected(code.folder) as client:
            [message] = (await client.get_prompt("recall", {"query": query})).messages
            assert isinstance(message.content, TextContent)
            answers.append(message.content.text)

    run(work)
    return answers[0]


def test_the_prompt_recall_brings_eight_lessons(code: Codebase) -> None:
    """`prompts.LIMIT`."""
    tides(code, 9)
    assert prompted(code, "how is a tide counted in hours").count("Count tide ") == 8


@pytest.mark.parametrize("length", [4_000, 4_001])
def test_four_thousand_characters_of_an_argument_are_put_into_a_prompt(code: Codebase, length: int) -> None:
    """`prompts.SAID_LIMIT`."""
    query = ("tide " * 1_000)[: length - 1] + "x"
    shown = prompted(code, query).partition("What memory holds about: ")[2].partition("\n\n")[0]
    assert shown == query[:4_000]


def brief(code: Codebase) -> str:
    texts: list[str] = []

    async def work() -> None:
        async with connected(code.folder) as client:
            texts.append(await read(client, "holdfast://brief"))

    run(work)
    return texts[0]


def test_the_brief_has_ten_lessons(code: Codebase) -> None:
    """`resources.BRIEF_LESSONS`."""
    tides(code, 11)
    assert brief(code).count("Count tide ") == 10


def test_the_brief_costs_a_thousand_tokens(code: Codebase) -> None:
    """`resources.BRIEF_TOKENS`: it is what is recalled for so many, and less than for a tenth more."""
    tides(code, 10, "by the harbour's own clock and by no other clock in the town, as the pilots agreed " * 4)
    with Memory(str(code.folder)) as memory:
        texts = {
            tokens: memory.recall(limit=10, budget_tokens=tokens, states=("active",)).text
            for tokens in (900, 1_000, 1_100)
        }
    assert len(set(texts.values())) == 3
    assert brief(code) == texts[1_000]


def completed(code: Codebase, ref: Any, name: str) -> list[str]:
    values: list[str] = []

    async def work() -> None:
        async with connected(code.folder) as client:
            values.extend((await client.complete(ref, {"name": name, "value": ""})).completion.values)

    run(work)
    return values


LESSON_ID = (ResourceTemplateReference(uri="holdfast://lesson/{id}"), "id")
QUERY = (PromptReference(name="recall"), "query")


@pytest.mark.parametrize(("ref", "name"), [LESSON_ID, QUERY], ids=["id", "query"])
def test_twenty_completions_are_offered(code: Codebase, ref: Any, name: str) -> None:
    """`resources.COMPLETIONS`."""
    tides(code, 21)
    assert len(completed(code, ref, name)) == 20


@pytest.mark.parametrize(("ref", "name"), [LESSON_ID, QUERY], ids=["id", "query"])
def test_the_newest_lessons_are_looked_through_for_completions(
    code: Codebase, monkeypatch: pytest.MonkeyPatch, ref: Any, name: str
) -> None:
    """`resources.LOOKED_AT`."""
    newest = tides(code, 3)[-1]
    monkeypatch.setattr(resources, "LOOKED_AT", 1)
    assert completed(code, ref, name) == [short_id(newest) if name == "id" else "Count tide 02 in whole hours"]


def test_lists_may_be_kept_for_an_hour(home: Path) -> None:
    """`server.LISTED`."""
    plain: list[dict[str, Any]] = []

    async def work() -> None:
        async with Client(build(MemoryOnce("/nowhere"), hooked=True), mode="2026-07-28") as client:
            plain.append((await client.list_tools()).model_dump(by_alias=True, mode="json"))

    asyncio.run(work())
    assert (plain[0]["ttlMs"], plain[0]["cacheScope"]) == (3_600_000, "private")


# Connections


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize(("seconds", "is_found"), [(0.05, False), (60.0, True)])
def test_a_client_that_does_not_name_its_roots_is_not_waited_for(
    code: Codebase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, is_found: bool
) -> None:
    """`callers.ROOTS_S`."""

    class Slow(Workbench):
        async def list(self, asking: Any) -> ListRootsResult:
            await anyio.sleep(0.5)
            return await super().list(asking)

    remembered(code.folder, "Amounts are kept in whole cents, never floats")
    (tmp_path / "nowhere").mkdir()
    monkeypatch.setattr(callers, "ROOTS_S", seconds)
    assert ("whole cents" in recalled(tmp_path / "nowhere", Slow(code.folder.as_uri()))[0]) is is_found


class Session:
    """A client's connection that names one root."""

    client_capabilities = SimpleNamespace(roots=True)
    can_send_request = True

    def __init__(self, root: str) -> None:
        self.root, self.asked = root, 0

    async def send_request(self, *_: object) -> ListRootsResult:
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=self.root)])  # type: ignore[arg-type]


def context(number: int, session: object) -> Any:
    request = SimpleNamespace(headers={"mcp-session-id": f"connection-{number}"})
    return SimpleNamespace(session=session, request=request, request_id=1)


def test_the_roots_of_a_hundred_connections_are_remembered(home: Path, tmp_path: Path) -> None:
    """`callers.REMEMBERED`."""
    memory = MemoryOnce(str(tmp_path))
    desk = Callers(memory)
    session = Session(tmp_path.as_uri())

    async def work() -> None:
        for number in range(101):
            await desk._folder(context(number, session))
        await desk._folder(context(1, session))
        assert session.asked == 101
        await desk._folder(context(0, session))
        assert session.asked == 102

    asyncio.run(work())
    memory.close()


def test_a_hundred_connections_hear_of_changes(home: Path, tmp_path: Path) -> None:
    """`updates.SUBSCRIBERS`."""
    notified: list[int] = []

    class Listener:
        def __init__(self, number: int) -> None:
            self.number = number

        async def send_resource_updated(self, *_: object, **__: object) -> None:
            notified.append(self.number)

    async def work() -> None:
        updates = Updates(MemoryOnce(str(tmp_path)))
        for number in range(101):
            await updates.add(context(number, Listener(number)), cast("Any", SimpleNamespace(uri="holdfast://brief")))
        await updates._tell("holdfast://brief")

    asyncio.run(work())
    assert sorted(notified) == list(range(1, 101))


def test_twenty_changes_are_looked_at(code: Codebase) -> None:
    """`updates.CHANGES`."""
    tides(code, 21)
    memory = MemoryOnce(str(code.folder))
    seen = Updates(memory)._look()
    memory.close()
    assert len(seen) == 1 + 20


def test_a_watch_that_fails_is_tried_again_after_five_minutes_at_most() -> None:
    """`watching.RETRY_LIMIT_S`."""
    pauses: list[float] = []

    class Ended:
        def wait(self, seconds: float) -> bool:
            pauses.append(seconds)
            return len(pauses) > 12

    def fail() -> Memory:
        raise OSError("no memory")

    watching._watch(cast("MemoryOnce", fail), cast("threading.Event", Ended()))
    assert pauses[-2:] == [300.0, 300.0]
    assert pauses == sorted(pauses)
    assert all(later in (2 * pause, 300.0) for pause, later in pairwise(pauses))


# HTTP


@pytest.mark.parametrize(("length", "status"), [(1_000_000, 200), (1_000_001, 413)])
def test_a_request_of_a_megabyte_is_read(running: Running, length: int, status: int) -> None:
    """`loopback.BODY_LIMIT`."""
    answered, text = running.post(json.dumps(opening()).encode().ljust(length))
    assert answered == status, text


def test_sixty_four_sessions_are_open_at_once(tmp_path: Path) -> None:
    """`loopback.SESSIONS`."""
    (tmp_path / "code").mkdir()
    server = Running(tmp_path / "code", tmp_path)
    statuses = [server.post(opening())[0] for _ in range(65)]
    server.end()
    assert statuses[:64] == [200] * 64
    assert statuses[64] >= 400


def test_the_usual_port_is_hold_on_a_telephone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`loopback.PORT`."""
    ports: list[int] = []

    def refuse(port: int) -> socket.socket:
        ports.append(port)
        raise InvalidValueError("taken")

    monkeypatch.setattr(loopback, "open_line", refuse)
    memory = MemoryOnce(str(home.parent))
    assert [loopback.serve(build(memory), memory, port) for port in (None, 0, 99)] == [1, 1, 1]
    memory.close()
    assert ports == [4653, 0, 99]


@pytest.mark.parametrize(("length", "is_one"), [(32, True), (31, False)])
def test_a_token_has_at_least_thirty_two_characters(tmp_path: Path, length: int, is_one: bool) -> None:
    """`loopback.TOKEN_BYTES`; one that is made says 32 bytes in 43 characters."""
    file = tmp_path / TOKEN_FILE
    assert len(load_token(str(tmp_path), str(tmp_path / "run"))) == 43
    file.write_text("t" * length)
    if is_one:
        assert load_token(str(tmp_path), str(tmp_path / "run")) == "t" * 32
    else:
        with pytest.raises(InvalidValueError, match="holds no token"):
            load_token(str(tmp_path), str(tmp_path / "run"))


def test_another_process_that_makes_the_token_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`loopback.TURN_S`."""
    (tmp_path / "run").mkdir()
    slept = [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    other = FileLock(str(tmp_path / "run" / "token.lock"))
    assert other.take(0.0, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("time.monotonic", lambda: slept[0])
        patched.setattr("time.sleep", sleep)
        load_token(str(tmp_path), str(tmp_path / "run"))
    other.close()
    assert 2.0 <= slept[0] < 2.051


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many connections may wait")
def test_sixty_four_connections_may_wait_to_be_accepted() -> None:
    """`loopback.BACKLOG`: of a listening socket `TCP_INFO` tells it as the number of segments acknowledged apart."""
    with open_line(0) as line:
        facts = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    assert int.from_bytes(facts[28:32], sys.byteorder) == 64


def test_the_server_is_run_with_limits_of_time_and_number(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`slowness.REQUEST_S`, `slowness.CONNECTIONS` and `loopback.LEAVE_S`; `test_mcp_slowness` shows what these do."""
    configs: list[uvicorn.Config] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: configs.append(server.config))
    before = signal.getsignal(signal.SIGTERM)
    memory = MemoryOnce(str(home.parent))
    try:
        assert loopback.serve(build(memory), memory, 0) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
        memory.close()
    [config] = configs
    assert isinstance(config.http, type)
    assert issubclass(config.http, LimitedProtocol)
    assert (config.http.request_s, config.http.most_connections) == (15.0, 128)
    assert config.timeout_graceful_shutdown == 2
