"""The edges of the MCP server: what is just inside, and what is not."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp_types import ListRootsResult, PromptReference, ResourceTemplateReference

from holdfast.bootstrap import Memory
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import callers, resources, watching
from holdfast.surfaces.mcp.opening import MemoryOnce
from tests.codebase import Codebase
from tests.surfaces.test_mcp_offers import Workbench, connected, recalled, remembered, run

# What is brought and completed


def tides(code: Codebase, count: int, words: str = "") -> list[str]:
    """The ids of so many lessons about tides."""
    return remembered(
        code.folder, *(f"Count tide {number:02} in whole hours {words}".strip() for number in range(count))
    )


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
def test_the_newest_lessons_are_looked_through_for_completions(
    code: Codebase, monkeypatch: pytest.MonkeyPatch, ref: Any, name: str
) -> None:
    """`resources.LOOKED_AT`."""
    newest = tides(code, 3)[-1]
    monkeypatch.setattr(resources, "LOOKED_AT", 1)
    assert completed(code, ref, name) == [short_id(newest) if name == "id" else "Count tide 02 in whole hours"]


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
