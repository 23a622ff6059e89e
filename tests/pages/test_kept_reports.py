"""What is kept of the digest, recommendations and the map: never an old state, and for nobody else's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from tests.postgresql import Database
from tests.surfaces.rest.world import SHOP, World, found, open_world

from .served import ServedSite, open_served
from .site import Site

PAGES = ("digest", "digest.atom")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path) as opened:
        yield opened


@pytest.fixture
def site_of_server(world: World) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


def in_both(site: ServedSite, words: str, role: str) -> list[bool]:
    """Return whether the digest and its feed have these words for that member."""
    return [words in site.get(page, role=role).text for page in PAGES]


@pytest.mark.parametrize("page", PAGES)
def test_a_changed_lesson_is_on_the_next_page(memory: Memory, site: Site, page: str) -> None:
    lesson = memory.remember("Ferries leave from pier two.")
    assert "pier two" in site.get(page).text
    memory.edit(lesson.id, title="Ferries leave from pier three.")
    assert "pier three" in site.get(page).text
    memory.retire(lesson.id)
    assert "pier three" not in site.get(page).text


@pytest.mark.parametrize("page", PAGES)
def test_what_another_process_writes_is_on_the_next_page(memory: Memory, site: Site, page: str) -> None:
    memory.remember("Ferries leave from pier two.")
    assert "pier two" in site.get(page).text
    with Memory(str(memory.location.root)) as other:
        other.remember("Tugs have the right of way.")
    assert "right of way" in site.get(page).text


def test_the_map_shows_a_changed_lesson_at_once(memory: Memory, site: Site) -> None:
    lesson = memory.remember("Read the tide table first.", files=["tides.py"])
    assert site.json("map")["map"]["lessons"] == 1
    memory.retire(lesson.id)
    assert site.json("map")["map"]["lessons"] == 0


def test_a_proposal_is_in_the_digest_of_its_proposer_and_of_reviewers_alone(
    world: World, site_of_server: ServedSite
) -> None:
    site = site_of_server
    world.lesson("Prices are integers of cents", role="author")
    world.lesson("Prices of the vault are rounded", role="proposer")
    for role in ("reviewer", "admin", "proposer", "reader", "writer", "reviewer"):
        expected = role in ("reviewer", "admin", "proposer")
        assert in_both(site, "rounded", role) == [expected, expected], role
        assert in_both(site, "integers", role) == [True, True], role


def test_a_lesson_changed_over_rest_is_in_the_next_digest_of_each_role(
    world: World, site_of_server: ServedSite
) -> None:
    lesson = world.lesson("Prices are integers of cents", role="author")
    assert all(in_both(site_of_server, "integers", "reader") + in_both(site_of_server, "integers", "admin"))
    answer = world.call("DELETE", f"/projects/{SHOP}/lessons/{lesson['id']}", headers={"If-Match": "*"})
    assert answer.status_code in (200, 204), answer.text
    for role in ("reader", "admin"):
        assert not any(in_both(site_of_server, "integers", role))


def test_a_rule_of_the_team_that_changes_what_is_seen_changes_the_next_digest(
    world: World, site_of_server: ServedSite
) -> None:
    world.lesson("Prices of the vault are rounded", role="proposer")
    for count in (0, 2, 0):
        answer = world.call("PATCH", f"/projects/{SHOP}", json={"rules": {"confirmations": count}})
        assert answer.status_code == 200, answer.text
        assert in_both(site_of_server, "rounded", "writer") == [count > 0, count > 0]


def test_an_owner_of_the_code_sees_a_proposal_until_they_own_it_no_longer(
    world: World, site_of_server: ServedSite
) -> None:
    world.lesson("Prices of the vault are rounded", role="proposer", files=["vault.py"])
    changed = world.call("PATCH", f"/members/{world.home.members['writer']}", json={"handles": ["@keeper"]})
    assert changed.status_code == 200, changed.text
    for owner in ("@keeper", "@nobody", "@keeper"):
        body = {"rules": {"owners": True}, "codeowners": f"vault.py {owner}\n"}
        answer = world.call("PATCH", f"/projects/{SHOP}", json=body)
        assert answer.status_code == 200, answer.text
        assert in_both(site_of_server, "rounded", "writer") == [owner == "@keeper"] * 2


def test_organisations_with_a_project_of_one_name_share_nothing(tmp_path: Path, database: Database) -> None:
    with open_world(tmp_path, database.store_url()) as world, open_served(world) as site:
        other = found(world.backend, world.requests, "Bolt", is_first=False)
        world.lesson("Prices are integers of cents", role="author")
        cookie = f"holdfast={site.session('admin', other)}"
        for page in PAGES:
            assert "integers" in site.get(page).text
            strangers = site.get(page, cookie=cookie)
            assert strangers.status_code == 200
            assert "integers" not in strangers.text
            assert "integers" in site.get(page).text
