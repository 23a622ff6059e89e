"""The map and the stats on a team's server: without a work tree, and without a count of others' proposals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.surfaces.rest.world import World, open_world

from .served import ServedSite, open_served
from .site import words_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("team")) as opened:
        opened.lesson("Prices are integers of cents.", role="author", files=["src/prices.py", "src/cents.py"])
        opened.lesson("The tax table is cached for a day.", role="proposer", files=["src/taxes.py"])
        yield opened


@pytest.fixture(scope="module")
def site(world: World) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


def test_a_map_without_a_work_tree_says_so(site: ServedSite) -> None:
    text = words_of(site.get("map", role="reader").text)
    assert "Size: lessons and failures" in text
    assert "There is no work tree here" in text
    assert "Not known: there is no work tree here to compare with." in text
    assert "Stale" not in text.replace("Stale lessons", "")


@pytest.mark.parametrize("role", ["reader", "writer", "reviewer"])
def test_proposals_are_on_nobodys_map(site: ServedSite, role: str) -> None:
    data = site.get("map", role=role, accept="application/json").json()
    assert [row["path"] for row in data["rows"]] == ["src/cents.py", "src/prices.py"]
    graph = site.get("map/graph", role=role, accept="application/json").json()["graph"]
    assert [lesson["title"] for lesson in graph["lessons"]] == ["Prices are integers of cents"]
    assert graph["total"] == 1


@pytest.mark.parametrize(("role", "is_shown"), [("reader", False), ("writer", False), ("reviewer", True)])
def test_only_who_decides_sees_how_many_lessons_wait(site: ServedSite, role: str, is_shown: bool) -> None:
    data = site.get("stats", role=role, accept="application/json").json()
    assert data["growth"]["states"] == {"active": 1} | ({"candidate": 1} if is_shown else {})
    assert data["growth"]["weeks"][-1]["unconfirmed"] == is_shown
    assert data["growth"]["weeks"][-1]["learnt"] == 1 + is_shown
    assert ("unconfirmed" in site.get("stats", role=role).text.lower()) == is_shown


def test_a_server_learns_nothing_by_a_model_and_shows_no_cost(site: ServedSite) -> None:
    assert site.get("stats", accept="application/json").json()["learning"] is None
    assert "What learning costs" not in site.get("stats").text
