"""Each limit of the MCP server at its boundary; what a user or a client sees of it is written out."""

from __future__ import annotations

import asyncio
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp_types import ListRootsResult, PromptReference, ResourceTemplateReference, TextContent

from holdfast.bootstrap import Memory
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import callers, resources, watching
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build
from tests.codebase import Codebase
from tests.surfaces.test_mcp_offers import Workbench, connected, read, recalled, remembered, run, unhosted

__all__ = ["unhosted"]


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
