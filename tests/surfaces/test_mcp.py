"""The MCP server through the official client: in process, and over stdio in both protocol eras."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent, Tool

from holdfast.bootstrap import Memory
from holdfast.settings import load_settings
from holdfast.surfaces.mcp.server import INSTRUCTIONS, MemoryOnce, build

NAMES = ["checkpoint", "expand", "feedback", "recall", "remember", "revise"]
QUESTION = "how are amounts kept: cents or floats"
CHARACTERS_A_TOKEN = 3
"""Pessimistic for JSON in English; tokenizers of today reach 3.5 to 4."""


def listed_tools() -> list[Tool]:
    async def ask() -> list[Tool]:
        async with Client(build(MemoryOnce("/nowhere"))) as client:
            return (await client.list_tools()).tools

    return asyncio.run(ask())


def test_there_are_six_tools() -> None:
    assert sorted(tool.name for tool in listed_tools()) == NAMES


def test_the_tools_and_the_instructions_cost_under_1500_tokens() -> None:
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed_tools()]
    written = json.dumps(tools, separators=(",", ":")) + INSTRUCTIONS
    assert len(written) / CHARACTERS_A_TOKEN < 1500


def test_every_tool_says_what_it_does_to_the_world() -> None:
    for tool in listed_tools():
        hints = tool.annotations
        assert hints is not None
        assert hints.title
        assert hints.read_only_hint is (tool.name in ("recall", "expand"))
        assert hints.destructive_hint is False
        assert hints.open_world_hint is False
        assert hints.idempotent_hint is not None


def test_listing_the_tools_opens_nothing(home: Path) -> None:
    listed_tools()
    assert not list(home.rglob("*.db"))


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_lesson_goes_round_over_stdio_in_every_era(mode: str, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    asyncio.run(_go_round(mode, home, folder))


async def _go_round(mode: str, home: Path, folder: Path) -> None:
    environment = {"HOLDFAST_HOME": str(home), "HOME": str(home)}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "holdfast.surfaces.mcp"], env=environment, cwd=folder
    )
    async with Client(parameters, mode=mode) as client:

        async def call(tool: str, **arguments: object) -> str:
            result = await client.call_tool(tool, arguments)
            (content,) = result.content
            assert isinstance(content, TextContent)
            return content.text

        assert "No lesson" in await call("recall", query="how are amounts kept")
        kept = await call("remember", insight="Amounts are kept in whole cents, never floats", kind="constraint")
        lesson = kept.split("[")[1].split("]")[0]
        assert lesson in await call("recall", query=QUESTION)
        expanded = await call("expand", id=lesson)
        assert "kind: constraint" in expanded
        assert "code: fresh" in expanded
        with Memory(str(folder), settings=load_settings(environment)) as memory:
            assert [(told.moment, told.trigger) for told in memory.log()] == [("on_demand", QUESTION)]
        assert "helped" in await call("feedback", id=lesson, verdict="helped")
        revised = await call("revise", id=lesson, insight="Amounts are kept in whole cents, as int")
        assert lesson not in revised
        assert "There is no open checkpoint" in await call("checkpoint")
        assert "goal: split bills" in await call("checkpoint", goal="split bills", next=["odd cents"])
        assert "odd cents" in await call("checkpoint")
        missing = await client.call_tool("expand", {"id": "ffffffff"})
        assert missing.is_error
