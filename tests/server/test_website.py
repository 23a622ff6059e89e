"""The pages on a real server: behind the sign-in, as the member who signed in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from holdfast import Memory
from tests.codebase import Codebase
from tests.server.people import Founded, found
from tests.server.serving import WAIT_S, Server, served

HERE = {"sec-fetch-site": "same-origin", "accept": "text/html"}


@contextmanager
def browser(server: Server) -> Iterator[httpx.Client]:
    """A browser that follows no redirect by itself."""
    with httpx.Client(base_url=server.url, headers=HERE, timeout=WAIT_S) as client:
        yield client


@pytest.fixture
def lesson(server: Server, team: Founded) -> dict[str, str]:
    """A lesson of the project `shop`."""
    bearer = {"authorization": f"Bearer {team.key}"}
    httpx.post(f"{server.url}/v1/projects", json={"id": "shop", "name": "Shop"}, headers=bearer, timeout=WAIT_S)
    made = httpx.post(
        f"{server.url}/v1/projects/shop/lessons", json={"insight": "Retries are capped at three."}, headers=bearer,
        timeout=WAIT_S,
    )  # fmt: skip
    assert made.status_code in (201, 409), made.text
    return {"id": made.json().get("id", "")}


def test_a_member_who_signs_in_gets_to_the_page_they_wanted(
    server: Server, team: Founded, lesson: dict[str, str]
) -> None:
    with browser(server) as client:
        away = client.get("/p/shop/")
        assert (away.status_code, away.headers["location"]) == (303, "/signin?to=%2Fp%2Fshop%2F")
        assert 'name="to" value="/p/shop/"' in client.get(away.headers["location"]).text
        back = client.post("/signin", data={"token": team.key, "to": "/p/shop/"})
        assert (back.status_code, back.headers["location"]) == (303, "/p/shop/")
        page = client.get("/p/shop/")
        assert page.status_code == 200
        assert "Retries are capped at three" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert client.get("/p/shop/", headers={"accept": "application/json"}).json()["project"]["name"] == "Shop"
        assert "Shop" in client.get("/").text
        assert client.get("/p/other/").status_code == 404
        assert client.get("/v1/version").status_code == 200


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_sign_in_sends_nobody_to_another_site(server: Server, team: Founded, to: str) -> None:
    with browser(server) as client:
        assert "evil" not in client.get("/signin", params={"to": to}).text
        answer = client.post("/signin", data={"token": team.key, "to": to})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_token_of_a_program_opens_no_page(server: Server, team: Founded) -> None:
    with browser(server) as client:
        client.cookies.set("holdfast", team.key)
        assert client.get("/").status_code == 303
    answer = httpx.get(f"{server.url}/", headers={"authorization": f"Bearer {team.key}"}, timeout=WAIT_S)
    assert answer.status_code == 303


def test_a_server_over_one_s_own_file_shows_its_projects(home: Path, tmp_path: Path) -> None:
    with Memory(str(Codebase(tmp_path / "harbour").folder)) as memory:
        memory.remember("The lock opens at high water.")
        project = memory.location.project.id
    own = found(HOME=str(tmp_path), HOLDFAST_HOME=str(home), HOLDFAST_HOLDOUT="0")
    with served(**own.environment) as server, browser(server) as client:
        client.post("/signin", data={"token": own.key})
        assert "harbour" in client.get("/").text
        page = client.get("/", headers={"accept": "application/json"}).json()
        assert project in [line["id"] for line in page["projects"]]
        assert "The lock opens at high water" in client.get(f"/p/{project}/").text
        listed = httpx.get(f"{server.url}/v1/projects", headers={"authorization": f"Bearer {own.key}"}, timeout=WAIT_S)
        assert [each["id"] for each in listed.json()["items"]] == [project]


def test_a_person_who_is_lost_gets_a_page_and_a_program_a_problem(server: Server, team: Founded) -> None:
    with browser(server) as client:
        page = client.get("/nothing/here")
        assert page.status_code == 404
        assert "There is nothing here" in page.text
        assert client.get("/v1/nothing").headers["content-type"] == "application/problem+json"
    lost = httpx.get(f"{server.url}/nothing/here", timeout=WAIT_S)
    assert lost.headers["content-type"] == "application/problem+json"
