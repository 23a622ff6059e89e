"""The digest as a feed at the server: with a token in the header, or a reader's token in the link."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import httpx2 as httpx
import pytest

from tests.server.people import Founded, make_key
from tests.server.serving import Server

PROJECT = "g1-feed"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module", autouse=True)
def project(server: Server, team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    made = httpx.post(f"{server.url}/v1/projects", json={"id": PROJECT, "name": PROJECT}, headers=headers)
    assert made.is_success, made.text
    lesson = {"insight": "Ferries <b>leave</b> from pier two."}
    assert httpx.post(f"{server.url}/v1/projects/{PROJECT}/lessons", json=lesson, headers=headers).is_success


def get(server: Server, end: str = "", key: str = "", project: str = PROJECT) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return httpx.get(f"{server.url}/v1/projects/{project}/digest.atom{end}", headers=headers)


def test_a_reader_s_token_in_the_link_is_enough(server: Server, team: Founded) -> None:
    reader = make_key(team, "reader", PROJECT)
    answer = get(server, f"/{reader}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    feed = fromstring(answer.content)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert "<b>leave</b>" in (entry.findtext(f"{ATOM}content") or "")
    assert reader not in answer.text


def test_a_token_in_the_header_may_be_anybody_s(server: Server, team: Founded) -> None:
    assert get(server, key=team.key).status_code == 200


def test_a_token_in_the_link_that_could_write_is_refused(server: Server, team: Founded) -> None:
    answer = get(server, f"/{team.key}")
    assert answer.status_code == 403
    assert "reader" in answer.json()["detail"]


@pytest.mark.parametrize(("end", "key"), [("", ""), ("/hf_wrong", ""), ("", "hf_wrong")])
def test_nobody_else_gets_it(server: Server, end: str, key: str) -> None:
    assert get(server, end, key).status_code == 401


def test_another_project_is_not_there(server: Server, team: Founded) -> None:
    assert get(server, key=team.key, project="g1-nothing").status_code == 404


def test_a_feed_is_only_read(server: Server, team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    answer = httpx.post(f"{server.url}/v1/projects/{PROJECT}/digest.atom", headers=headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
