"""The search page of a server: what waits is found and counted only for who may see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.rest.world import World, open_world

from .served import ServedSite, open_served
from .site import words_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("team")
    with open_world(folder) as opened:
        opened.lesson("Prices are integers of cents", role="author", tags=["money"])
        opened.lesson("Prices of the vault are rounded", role="proposer", tags=["proposed"])
        yield opened


@pytest.fixture(scope="module")
def site(world: World) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


@pytest.mark.parametrize("query", ["", "?q=prices", "?q=vault+prices&why=true", "?tag=proposed", "?state=candidate"])
def test_a_proposal_is_neither_shown_nor_counted_for_a_reader(site: ServedSite, query: str) -> None:
    for suffix, accept in (("", "text/html"), (".json", "application/json")):
        answer = site.get(f"search{suffix}{query}", role="reader", accept=accept)
        assert answer.status_code == 200
        assert "rounded" not in answer.text
        assert '"candidate", "words"' not in answer.text
    if not query:
        text = words_of(site.get("search", role="reader").text)
        assert "1 lesson, newest first" in text
        assert "proposed" not in text


def test_a_reviewer_finds_and_counts_it(site: ServedSite) -> None:
    text = words_of(site.get("search", role="reviewer").text)
    assert "2 lessons, newest first" in text
    assert "proposed" in text
    assert "rounded" in site.get("search?q=vault", role="reviewer").text


def test_who_proposed_it_finds_it(site: ServedSite) -> None:
    assert "rounded" in site.get("search?q=vault", role="proposer").text
    shown = site.get("search", role="proposer").text
    assert "rounded" in shown
    assert "2 lessons, newest first" in words_of(shown)


@pytest.mark.parametrize(("role", "count"), [("reader", 0), ("proposer", 1), ("reviewer", 1)])
def test_home_counts_the_unconfirmed_lessons_that_the_member_may_see(site: ServedSite, role: str, count: int) -> None:
    assert site.get("", role=role, accept="application/json").json()["unconfirmed"] == count


def test_a_server_without_a_work_tree_offers_no_verdicts_on_code(site: ServedSite) -> None:
    data = site.get("search.json", role="reviewer", accept="application/json").json()
    assert "freshness" not in [facet["name"] for facet in data["facets"]]
