"""What the MCP server offers besides tools: resources, prompts, completion, instructions, roots, signs of life."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    Implementation,
    ListRootsResult,
    PromptReference,
    ResourceTemplateReference,
    Root,
    TextContent,
    TextResourceContents,
)

from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import callers
from holdfast.surfaces.mcp import instructions as briefs
from holdfast.surfaces.mcp.callers import folder_of
from holdfast.surfaces.mcp.greeting import greet, host_of
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build
from tests.codebase import Codebase

RULE = "Amounts are kept in whole cents, never floats"
ERAS = ["legacy", "2026-07-28"]


@pytest.fixture(autouse=True)
def unhosted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session of a host around the tests, and a busy machine's time for the brief."""
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    monkeypatch.setattr(briefs, "BRIEF_S", 120.0)
    monkeypatch.setattr(briefs, "ANSWER_S", 125.0)


@asynccontextmanager
async def connected(
    folder: Path | str, *, host: str = "", hooked: bool = False, **client: Any
) -> AsyncIterator[Client]:
    """A client of a server in that folder."""
    memory = MemoryOnce(str(folder))
    try:
        async with Client(build(memory, host, hooked=hooked), **client) as opened:
            yield opened
    finally:
        memory.close()


def remembered(folder: Path, *rules: str, **also: Any) -> list[str]:
    """The ids of lessons kept in that folder's memory."""
    with Memory(str(folder)) as memory:
        return [memory.remember(rule, **also).id for rule in rules]


async def read(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents.text


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 30))


# Resources


@pytest.mark.parametrize("mode", ERAS)
def test_brief_checkpoint_and_lessons_can_be_attached(mode: str, code: Codebase) -> None:
    (lesson,) = remembered(code.folder, RULE)

    async def work() -> None:
        async with connected(code.folder, mode=mode) as client:
            listed = (await client.list_resources()).resources
            assert [resource.uri for resource in listed] == ["holdfast://brief", "holdfast://checkpoint"]
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "holdfast://lesson/{id}"
            assert "whole cents" in await read(client, "holdfast://brief")
            assert "no open checkpoint" in await read(client, "holdfast://checkpoint")
            for name in (lesson, short_id(lesson)):
                assert "insight: Amounts" in await read(client, f"holdfast://lesson/{name}")

    run(work)


def test_reading_the_brief_is_logged_like_any_delivery(code: Codebase) -> None:
    (lesson,) = remembered(code.folder, RULE)

    async def work() -> None:
        async with connected(code.folder, hooked=True) as client:
            await read(client, "holdfast://brief")

    run(work)
    with Memory(str(code.folder)) as memory:
        assert [(delivery.lesson, delivery.trigger) for delivery in memory.log()] == [(lesson, "holdfast://brief")]


@pytest.mark.parametrize(
    "uri", ["holdfast://lesson/ffffffff", "holdfast://lesson/../../etc", "file:///etc/passwd", "x:"]
)
@pytest.mark.parametrize("mode", ERAS)
def test_a_resource_that_is_not_there_is_the_callers_fault(uri: str, mode: str, code: Codebase) -> None:
    async def work() -> None:
        async with connected(code.folder, mode=mode) as client:
            with pytest.raises(MCPError, match="hint: ") as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == -32602

    run(work)


# Prompts and completion


@pytest.mark.parametrize("mode", ERAS)
def test_the_prompts_are_what_a_user_would_call(mode: str, code: Codebase) -> None:
    remembered(code.folder, RULE)

    async def said(client: Client, name: str, **arguments: str) -> str:
        (message,) = (await client.get_prompt(name, arguments)).messages
        assert message.role == "user"
        assert isinstance(message.content, TextContent)
        return message.content.text

    async def work() -> None:
        async with connected(code.folder, mode=mode) as client:
            listed = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in listed] == ["brief", "recall", "remember", "checkpoint"]
            assert "whole cents" in (await said(client, "brief")).partition("<holdfast-memory>")[2]
            recalled = await said(client, "recall", query="how are amounts kept")
            assert "whole cents" in recalled.partition("<holdfast-memory>")[2]
            assert "`remember`" in await said(client, "remember", insight="Seed the clock")
            assert "The goal: split bills" in await said(client, "checkpoint", goal="split bills")
            with pytest.raises(MCPError, match="needs 'query'"):
                await client.get_prompt("recall", {})
            with pytest.raises(MCPError, match="Unknown prompt"):
                await client.get_prompt("forget", {})

    run(work)


def test_ids_and_subjects_are_completed(code: Codebase) -> None:
    first, second = remembered(code.folder, RULE, "Ids are never reused")
    template = ResourceTemplateReference(uri="holdfast://lesson/{id}")
    recall = PromptReference(name="recall")

    async def values(client: Client, ref: Any, name: str, value: str) -> list[str]:
        return (await client.complete(ref, {"name": name, "value": value})).completion.values

    async def work() -> None:
        async with connected(code.folder) as client:
            assert set(await values(client, template, "id", "")) == {short_id(first), short_id(second)}
            assert await values(client, template, "id", short_id(second)[:6]) == [short_id(second)]
            assert await values(client, template, "id", "whole cents") == [short_id(first)]
            assert await values(client, recall, "query", "REUSED ids") == ["Ids are never reused"]
            assert await values(client, recall, "query", "nothing like it") == []
            assert await values(client, recall, "other", "") == []
            assert await values(client, PromptReference(name="no-such"), "query", "") == []

    run(work)


# Instructions

HOOKED, ASKING = greet(hooked=True, asks=False), greet(hooked=True, asks=True)
ALONE = greet(hooked=False, asks=True)


def instructions(folder: Path, name: str = "some-client", **server: Any) -> str:
    """What a client of that name is instructed."""
    texts: list[str] = []

    async def work() -> None:
        async with connected(folder, client_info=Implementation(name=name, version="1"), **server) as client:
            texts.append(client.instructions or "")

    run(work)
    return texts[0]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_host_without_hooks_is_given_the_brief_and_it_is_logged(mode: str, code: Codebase) -> None:
    (lesson,) = remembered(code.folder, RULE)
    text = instructions(code.folder, "vscode", mode=mode)
    assert text.startswith(ALONE)
    assert "whole cents" in text.partition("<holdfast-memory>")[2]
    with Memory(str(code.folder)) as memory:
        assert [(delivery.lesson, delivery.moment) for delivery in memory.log()] == [(lesson, "session_start")]


def test_a_host_that_runs_our_hooks_is_given_nothing_twice(code: Codebase) -> None:
    remembered(code.folder, RULE)
    assert instructions(code.folder, hooked=True) == HOOKED


@pytest.mark.parametrize(
    ("owner", "client", "expected"),
    [
        ("claude-code:user:", "claude-code", HOOKED),
        ("claude-code:project:{folder}", "claude-code", HOOKED),
        ("claude-code:project:{folder}/elsewhere", "claude-code", ALONE),
        ("claude-code:project:", "claude-code", ALONE),
        ("claude-code:user:", "vscode", ALONE),
        ("junie:user:", "junie", ASKING),
        ("windsurf:user:", "windsurf-client", ALONE),
        ("another-host:user:", "claude-code", ALONE),
    ],
)
def test_the_server_knows_from_setup_where_hooks_are_registered(
    owner: str, client: str, expected: str, code: Codebase, home: Path
) -> None:
    if client in ("junie", "windsurf-client"):
        pytest.importorskip("holdfast_hosts")
    home.mkdir(exist_ok=True)
    files = {"settings.json": {"edits": [{"owner": owner.format(folder=code.folder.resolve())}]}}
    (home / "manifest.json").write_text(json.dumps({"version": 1, "files": files}))
    assert instructions(code.folder, client) == expected


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": []}', '{"files": {"a": {"edits": [{}]}}}', "\udcff"])
def test_a_damaged_manifest_keeps_no_brief_back(manifest: str, code: Codebase, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "manifest.json").write_bytes(manifest.encode("utf-8", "surrogateescape"))
    assert instructions(code.folder, "claude-code") == ALONE


def test_the_session_a_hook_speaks_for_is_not_reported_again(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    remembered(code.folder, RULE)
    with Memory(str(code.folder)) as memory:
        call = HookCall(
            host="claude-code", name="x", session=SessionId("s1"), cwd=str(code.folder), moment="session_start"
        )
        assert memory.inject(call).entries
    assert instructions(code.folder, "claude-code") == ALONE


def test_the_brief_is_off_with_its_channel(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered(code.folder, RULE)
    monkeypatch.setenv("HOLDFAST_OFF", "1")
    assert instructions(code.folder) == greet(hooked=False, asks=False)


@pytest.mark.parametrize(
    ("config", "asks"),
    [
        ("", True),
        ("[learning]\nask_agent = false\n", False),
        ('[distil]\nmodel_from = "claude-code"\nafter_sessions = true\n', False),
        ('[distil]\nmodel_from = "claude-code"\n', True),
    ],
)
def test_a_host_without_a_hook_before_the_end_is_prompted_in_the_instructions(
    config: str, asks: bool, code: Codebase, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(config)
    assert instructions(code.folder, "vscode") == greet(hooked=False, asks=asks)


def test_claude_codes_cut_at_two_kilobytes_leaves_the_fence_whole(code: Codebase) -> None:
    words = "Reconciliation of ledgers happens before the settlement files are written, never afterwards; number"
    remembered(code.folder, *(f"{words} {number}" for number in range(20)), why=words * 3)
    text = instructions(code.folder, "claude-code")
    assert text.endswith("</holdfast-memory>")
    assert len(text.encode()) <= 2_048


@pytest.mark.parametrize(
    ("client", "host"),
    [
        ("claude-code", "claude-code"), ("Claude Code", "claude-code"), ("codex-mcp-client", "codex"),
        ("Visual Studio Code - Insiders", "vscode"), ("claude-ai", "claude-desktop"), ("amplitude", "mcp"),
        ("", "mcp"), ("unheard of", "mcp"),
    ],
)  # fmt: skip
def test_a_host_is_known_by_its_clients_name(client: str, host: str) -> None:
    assert host_of(client) == host


# Roots


class Workbench:
    """A client's roots, which it can change."""

    def __init__(self, *folders: str) -> None:
        self.folders = folders
        self.asked = 0

    async def list(self, asking: Any) -> ListRootsResult:
        self.asked += 1
        return ListRootsResult(roots=[Root(uri=uri) for uri in self.folders])  # type: ignore[arg-type]


def recalled(folder: Path, bench: Workbench, *then: str) -> list[str]:
    """What memory answers to a client with these roots, before and after it changes them."""
    answers: list[str] = []

    async def work() -> None:
        async with connected(folder, mode="legacy", list_roots_callback=bench.list) as client:
            for uri in ("", *then):
                if uri:
                    bench.folders = (uri,)
                    await client.send_roots_list_changed()
                for _ in range(2):
                    result = await client.call_tool("recall", {"query": "how are amounts kept"})
                    answers.append(result.structured_content["text"])

    run(work)
    return answers[::2]


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_where_the_server_was_started_in_no_project_the_clients_root_says_which(code: Codebase, tmp_path: Path) -> None:
    remembered(code.folder, RULE)
    nowhere, other = tmp_path / "nowhere", tmp_path / "other project"
    nowhere.mkdir()
    other.mkdir()
    bench = Workbench("file:///no/such/folder", code.folder.as_uri())
    first, second = recalled(nowhere, bench, other.as_uri())
    assert "whole cents" in first
    assert "No lesson" in second
    assert bench.asked == 2


def test_a_server_in_a_project_asks_for_no_roots(code: Codebase, tmp_path: Path) -> None:
    remembered(code.folder, RULE)
    bench = Workbench(tmp_path.as_uri())
    assert "whole cents" in recalled(code.folder, bench)[0]
    assert bench.asked == 0


@pytest.mark.parametrize(
    ("uri", "folder"),
    [("file:///a/b%20c", "/a/b c"), ("file://localhost/a", "/a"), ("file://elsewhere/a", ""), ("https://a/b", ""),
     ("file:///a%00b", "")],
)  # fmt: skip
def test_only_local_folders_are_roots(uri: str, folder: str) -> None:
    assert folder_of(uri) == folder


# Signs of life


@pytest.mark.parametrize("mode", ERAS)
def test_a_call_that_takes_long_says_that_it_is_at_work(
    mode: str, code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callers, "PROGRESS_S", 0.02)
    remembered(code.folder, RULE)
    reported: list[float] = []

    async def count(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def work() -> None:
        async with connected(code.folder, mode=mode) as client:
            with WrittenByAnother(code):
                async with anyio.create_task_group() as group:
                    group.start_soon(_recall, client, count)
                    while len(reported) < 3:
                        await anyio.sleep(0.01)
                    group.cancel_scope.cancel()

    run(work)
    assert reported == sorted(set(reported))


def test_a_cancelled_call_is_left_and_the_next_one_answered(code: Codebase) -> None:
    (lesson,) = remembered(code.folder, RULE)

    async def work() -> None:
        async with connected(code.folder, mode="legacy", hooked=True) as client:
            with WrittenByAnother(code):
                with anyio.move_on_after(0.3) as scope:
                    await _recall(client, None)
                assert scope.cancelled_caught
                assert (await client.list_tools()).tools
            assert "whole cents" in (await client.call_tool("expand", {"id": lesson})).structured_content["text"]

    run(work)


async def _recall(client: Client, progress: Any) -> None:
    await client.call_tool("recall", {"query": "how are amounts kept"}, progress_callback=progress)


class WrittenByAnother:
    """The store is being written by somebody else: a recall is answered, but waits for its line in the log."""

    def __init__(self, code: Codebase) -> None:
        with Memory(str(code.folder)) as memory:
            self._line = sqlite3.connect(memory.settings.database_path, isolation_level=None)

    def __enter__(self) -> None:
        self._line.execute("BEGIN IMMEDIATE")

    def __exit__(self, *exc: object) -> None:
        self._line.execute("ROLLBACK")
        self._line.close()
