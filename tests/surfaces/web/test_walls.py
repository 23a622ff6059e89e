"""The walls on the pages of a server: nothing of another organisation, of an invisible project, or of a proposal.

Marked words are planted in another organisation, in a project that the members do not see, in proposals, and in what a
person keeps to themselves. Then every page of the table is opened by every member, as HTML and as JSON, also with the
others' ids, and no marked word may show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from holdfast.domain.team import ROLES, TeamProject
from holdfast.pages.addresses import fill
from holdfast.pages.page import PageRow
from holdfast.pages.table import ACTIONS, PAGES
from tests.pages.served import ServedSite, open_served
from tests.surfaces.rest.world import SECRET, SHOP, World, found, open_world

STRANGER, HIDDEN, PROPOSED = "zanzibar", "quetzal", "umbrella"
RUNS = {STRANGER: "run-7f3a91", HIDDEN: "run-8b2c40"}
"""Ids of others' sessions."""
ACCEPTED = ("text/html", "application/json")
HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}</script><script>alert(2)</script>"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("world"), request.getfixturevalue("database").store_url()) as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(world: World) -> dict[str, str]:
    """Ids of what nobody of ours may see, by the name of a path's parameter."""
    world.lesson("Retries are capped at three", tags=["net"], files=["src/gateway.py"], topic="retries")
    world.lesson(f"Retries of {PROPOSED} are capped at nine", role="proposer", tags=[PROPOSED])
    hidden = world.lesson(f"Retries of {HIDDEN} are capped", project=SECRET, tags=[HIDDEN], files=[f"src/{HIDDEN}.py"])
    _hide(world, SECRET)
    theirs = world.stranger = found(world.backend, world.requests, f"Bolt {STRANGER}", is_first=False)
    lesson = world.call(
        "POST", f"/projects/{SHOP}/lessons", token=theirs.tokens["reviewer"],
        json={"insight": f"Retries of {STRANGER} are capped", "why": STRANGER, "tags": [STRANGER], "topic": STRANGER},
    ).json()  # fmt: skip
    rows = [
        {"session": RUNS[name], "key": "prompt:1", "kind": "prompt", "at": "2026-11-20T08:00:00Z", "text": f"of {name}"}
        for name in (STRANGER, HIDDEN)
    ]
    for row, project, token in (
        (rows[0], SHOP, theirs.tokens["writer"]), (rows[1], SECRET, world.home.tokens["admin"])
    ):  # fmt: skip
        assert world.lines(f"/projects/{project}/events", [row], token=token).status_code == 200
    world.call("PATCH", f"/projects/{SHOP}", token=theirs.tokens["admin"], json={"name": f"Shop of {STRANGER}"})
    member = theirs.members["reader"]
    world.call("PATCH", f"/members/{member}", token=theirs.tokens["admin"], json={"name": f"Reader {STRANGER}"})
    return {"lesson": lesson["id"], "hidden lesson": hidden["id"], "session": RUNS[STRANGER], "member": member}


def _hide(world: World, project: str) -> None:
    """Make a project visible to the members of a team that nobody is in, and to admins."""
    team = world.call("POST", "/teams", json={"name": "Nobody"}).json()
    answer = world.call("PATCH", f"/projects/{project}", json={"teams": [team["id"]]})
    assert answer.status_code == 200, answer.text
    assert world.backend.open(world.home.number).records.get(TeamProject, project)


@pytest.fixture(scope="module")
def site(world: World, ids: dict[str, str]) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


def addresses(row: PageRow, ids: dict[str, str]) -> Iterator[str]:
    """Yield addresses of the page: in our project, in the invisible one, and with the others' ids."""
    names = re.findall(r"\{(\w+)\}", row.path)
    lessons, projects = (ids["lesson"], ids["hidden lesson"]), (SHOP, SECRET)
    for project, lesson in product(projects, lessons) if "lesson" in names else ((name, "") for name in projects):
        values = {name: ids.get(name, STRANGER) for name in names} | {"project": project, "lesson": lesson}
        yield fill(row.path, {name: values[name] for name in names})[0]


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
@pytest.mark.parametrize("role", [role for role in ROLES if role != "admin"])
def test_a_page_shows_nothing_of_others(site: ServedSite, ids: dict[str, str], row: PageRow, role: str) -> None:
    words = [STRANGER, HIDDEN, *([PROPOSED] if role != "reviewer" else [])]
    for address, accept in product(addresses(row, ids), ACCEPTED):
        for query in ("", *(f"?{name}=retries" for name in ("q", "text") if name in row.query.__annotations__)):
            answer = site.get(address + query, role=role, accept=accept)
            assert answer.status_code < 500, answer.text
            for word in (*words, *(run for run in RUNS.values() if run not in address)):
                shown = answer.text.replace(address, "")
                assert word not in shown, f"{address}{query} as {role} ({accept}) shows {word}"
            if f"/p/{SECRET}/" in address:
                assert answer.status_code in (403, 404), address


@pytest.mark.parametrize("row", ACTIONS, ids=lambda row: row.name)
def test_an_action_does_nothing_in_a_project_that_one_does_not_see(
    site: ServedSite, ids: dict[str, str], row: PageRow
) -> None:
    names = re.findall(r"\{(\w+)\}", row.path)
    if "project" not in names:
        return
    values = {name: ids.get(name, STRANGER) for name in names} | {"project": SECRET, "lesson": ids["hidden lesson"]}
    answer = site.post(fill(row.path, {name: values[name] for name in names})[0], role="reviewer")
    assert answer.status_code in (400, 403, 404), answer.text
    assert HIDDEN not in answer.text


def test_what_people_write_stays_text_on_every_page(site: ServedSite, world: World) -> None:
    lesson = world.lesson(f"Never {HOSTILE}", title=f"Never {HOSTILE}", why=HOSTILE, tags=["x<i>y"], files=["a<b>.py"])
    for row in PAGES:
        names = re.findall(r"\{(\w+)\}", row.path)
        values = {name: lesson["id"] if name == "lesson" else SHOP for name in names}
        text = site.get(fill(row.path, values)[0], role="admin").text
        assert "<img src=x" not in text, row.name
        assert "<script>alert" not in text, row.name
        assert "Never 49" not in text, row.name
