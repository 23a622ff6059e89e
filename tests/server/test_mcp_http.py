"""MCP over HTTP at the server, by the official SDK's client, in both generations of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.server.people import Founded, make_key
from tests.server.serving import WAIT_S, Server

PROJECT = "g1-harbour"
GENERATIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
READING, WRITING = ["recall", "expand"], ["recall", "expand", "remember", "revise", "checkpoint", "feedback"]


@pytest.fixture(scope="module", autouse=True)
def project(server: Server, team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    for id_ in (PROJECT, *GENERATIONS):
        made = httpx.post(f"{server.url}/v1/projects", json={"id": id_, "name": id_}, headers=headers)
        assert made.is_success, made.text


def use(url: str, key: str, job: Callable[[Client], Awaitable[Any]], mode: str = "auto") -> Any:
    """Run the job with a client of that generation; its result."""

    async def run() -> Any:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx.AsyncClient(headers=headers, timeout=WAIT_S) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            return await job(client)

    return asyncio.run(run())


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def tell(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    answer = await client.call_tool(tool, arguments)
    return answer.content[0].text, bool(answer.is_error)


@pytest.mark.parametrize("mode", GENERATIONS)
def test_a_lesson_s_life_by_the_tools(server: Server, team: Founded, mode: str) -> None:
    async def live(client: Client) -> None:
        assert client.protocol_version == GENERATIONS[mode]
        assert await names(client) == WRITING
        saved, _ = await tell(client, "remember", insight="Cents are kept in money.py", files=["src/money.py"])
        assert saved.startswith("saved [")
        recalled = await client.call_tool("recall", {"query": "where are cents kept"})
        assert "Cents are kept in money.py" in recalled.content[0].text
        (lesson,) = recalled.structured_content["lessons"]
        expanded, _ = await tell(client, "expand", id=lesson)
        assert "code: unverified" in expanded
        assert (await tell(client, "revise", id=lesson, insight="Cents are kept in coins.py"))[0].startswith("saved [")
        assert "coins.py" in (await tell(client, "recall", query="where are cents kept"))[0]
        assert (await tell(client, "checkpoint"))[0] == "There is no open checkpoint here."
        assert (await tell(client, "feedback", id=lesson, verdict="helped"))[0].startswith("noted: [")
        assert "goal: ship it" in (await tell(client, "checkpoint", goal="ship it", done=["a"]))[0]
        assert "goal: ship it" in (await tell(client, "checkpoint"))[0]
        brief, _ = await tell(client, "recall")
        assert "coins.py" in brief
        assert (await client.read_resource("holdfast://brief")).contents[0].text == brief
        assert [prompt.name for prompt in (await client.list_prompts()).prompts][:2] == ["brief", "recall"]
        prompted = await client.get_prompt("recall", {"query": "where are cents kept"})
        assert "coins.py" in prompted.messages[0].content.text
        assert "goal: ship it" in (await client.get_prompt("brief")).messages[0].content.text
        assert "remember" in (await client.get_prompt("remember", {"insight": "x"})).messages[0].content.text
        with pytest.raises(MCPError, match="needs 'query'"):
            await client.get_prompt("recall", {})
        several = await tell(client, "remember", lessons=[{"insight": "Retries are capped at 3"}, {"insight": " "}])
        assert several[0].startswith("1. saved [")
        assert "2. refused: " in several[0]

    use(f"{server.url}/v1/mcp?project={mode}", team.key, live, mode)


@pytest.mark.parametrize("mode", GENERATIONS)
def test_who_may_only_read_is_offered_only_that(server: Server, team: Founded, mode: str) -> None:
    reader = make_key(team, "reader")

    async def read(client: Client) -> None:
        assert await names(client) == READING
        assert "remember" not in (client.instructions or "")
        assert (await tell(client, "recall", query="cents"))[1] is False
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("remember", {"insight": "x"})
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["brief", "recall"]
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("remember", {})

    use(f"{server.url}/v1/mcp?project={PROJECT}", reader, read, mode)
    use(f"{server.url}/v1/mcp/{reader}?project={PROJECT}", "", read, mode)
    use(f"{server.url}/v1/mcp/{make_key(team, 'reader', PROJECT)}", "", read, mode)


def test_a_token_that_may_write_is_refused_in_a_link(server: Server, team: Founded) -> None:
    answer = ask(server, f"/{team.key}?project={PROJECT}", "")
    assert answer.status_code == 403
    reader = make_key(team, "reader")
    assert ask(server, f"/{reader}?project={PROJECT}", "").status_code == 200
    assert ask(server, "/hf_nonsense", "").status_code == 401
    assert team.key not in server.text
    assert reader not in server.text


def test_the_project_is_the_address_s_a_header_s_or_the_token_s_only_one(server: Server, team: Founded) -> None:
    async def recall(client: Client) -> tuple[str, bool]:
        return await tell(client, "recall", query="cents")

    text, is_error = use(f"{server.url}/v1/mcp", team.key, recall)
    assert is_error
    assert "the address names no project" in text
    assert not use(f"{server.url}/v1/mcp", make_key(team, "writer", PROJECT), recall)[1]
    text, is_error = use(f"{server.url}/v1/mcp?project=g1-unknown", team.key, recall)
    assert (is_error, text.splitlines()[0]) == (True, "there is no such project")


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def ask(server: Server, query: str, key: str, method: str = "POST", **headers: str) -> httpx.Response:
    shown = {"authorization": f"Bearer {key}"} if key else {}
    accept = {"accept": "application/json, text/event-stream"}
    url = f"{server.url}/v1/mcp{query}"
    return httpx.request(method, url, json=LIST, headers={**accept, **shown, **headers}, timeout=WAIT_S)


def test_without_a_valid_token_nothing_is_answered(server: Server, team: Founded) -> None:
    for key in ("", "x", team.key[:-1] + ("1" if team.key[-1] == "0" else "0")):
        answer = ask(server, f"?project={PROJECT}", key)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    both = ask(server, f"/{make_key(team, 'reader')}", "wrong")
    assert both.status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions_to_listen_to_or_end(server: Server, team: Founded, method: str) -> None:
    answer = ask(server, "", team.key, method)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_page_of_another_site_is_refused(server: Server, team: Founded) -> None:
    assert ask(server, "", team.key, origin="https://evil.example.org").status_code == 403
    assert ask(server, "", team.key, origin="http://localhost:9999").status_code == 200


def test_the_log_names_ids_and_no_words(server: Server, team: Founded) -> None:
    async def remember(client: Client) -> None:
        await tell(client, "remember", insight="Marmalade is kept in the harbour")
        await tell(client, "recall", query="marmalade")

    use(f"{server.url}/v1/mcp?project={PROJECT}", team.key, remember)
    entry = server.wait_for("request", server.count("request") or 1)
    assert {"route", "organisation", "token", "member"} <= set(entry)
    assert "armalade" not in server.text
    assert team.key not in server.text
