"""The page of a lesson on a real server: what members see of it, judge, change and propose."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2 as httpx
import pytest

from tests.pages.site import words_of
from tests.server.people import Founded, invite
from tests.server.serving import WAIT_S, Server

HERE = {"sec-fetch-site": "same-origin", "accept": "text/html"}
LESSONS = "/p/shop/lessons"


@pytest.fixture(scope="module")
def keys(server: Server, team: Founded) -> dict[str, str]:
    """A key of a member of each role."""
    made = {"admin": team.key}
    for role in ("reader", "writer"):
        answer = httpx.post(
            f"{server.url}/v1/invitations/accept",
            json={"text": invite(team, role), "name": role.title(), "token_name": "laptop"}, timeout=WAIT_S,
        )  # fmt: skip
        made[role] = answer.json()["text"]
    return made


@pytest.fixture(scope="module")
def members(server: Server, keys: dict[str, str]) -> Iterator[dict[str, httpx.Client]]:
    """A signed-in browser of each, which follows where an action leads."""
    clients = {
        role: httpx.Client(base_url=server.url, headers=HERE, timeout=WAIT_S, follow_redirects=True) for role in keys
    }
    for role, client in clients.items():
        client.post("/signin", data={"token": keys[role], "to": "/"})
    yield clients
    for client in clients.values():
        client.close()


@pytest.fixture
def lesson(server: Server, keys: dict[str, str], request: pytest.FixtureRequest) -> str:
    """A lesson of the admin's, which is in force at once."""
    bearer = {"authorization": f"Bearer {keys['admin']}"}
    httpx.post(f"{server.url}/v1/projects", json={"id": "shop", "name": "Shop"}, headers=bearer, timeout=WAIT_S)
    rule = {"insight": f"Rule {request.node.name}: retries are capped.", "files": ["src/gateway.py"], "trust": "person"}
    made = httpx.post(f"{server.url}/v1/projects/shop/lessons", json=rule, headers=bearer, timeout=WAIT_S)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def form_of(client: httpx.Client, lesson: str) -> dict[str, str]:
    """The form for editing as it comes."""
    plain = client.get(f"{LESSONS}/{lesson}/edit", headers={"accept": "application/json"}).json()["form"]
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in plain.items() if value}


def test_without_a_clone_the_page_says_so(members: dict[str, httpx.Client], lesson: str) -> None:
    text = words_of(members["reader"].get(f"{LESSONS}/{lesson}").text)
    assert "Not checked." in text
    assert "A server has no clone, so the code now is not here." in text
    assert "In one, holdfast diff" in text


def test_a_reader_judges_and_takes_it_back_and_changes_nothing(members: dict[str, httpx.Client], lesson: str) -> None:
    reader = members["reader"]
    page = reader.get(f"{LESSONS}/{lesson}").text
    assert "/confirm" in page
    assert "/retire" not in page
    assert "/edit" not in page
    back = {"back": f"{LESSONS}/{lesson}"}
    page = reader.post(f"{LESSONS}/{lesson}/confirm", data=back).text
    assert "Confirmed by Reader just now" in words_of(page)
    page = reader.post(f"{LESSONS}/{lesson}/flag", data=back | {"reason": "incorrect", "note": "five by now"}).text
    assert "Flagged as incorrect by Reader just now : five by now" in words_of(page)
    assert "Confirmed by Reader" not in words_of(page)
    assert "Flagged as incorrect by Reader" in words_of(members["writer"].get(f"{LESSONS}/{lesson}").text)
    page = reader.post("/p/shop/undo", data=back | {"withdraw": lesson}).text
    assert "Taken back what you said of it" in words_of(page)
    assert "Flagged" not in words_of(page)
    for action, fields in (("retire", {}), ("edit", {"insight": "Mine now."}), ("forget", {}), ("restore", {})):
        answer = reader.post(f"{LESSONS}/{lesson}/{action}", data=fields)
        assert answer.status_code == 403, action


def test_a_writers_edit_is_a_proposal_that_others_do_not_see(members: dict[str, httpx.Client], lesson: str) -> None:
    writer = members["writer"]
    answer = writer.post(
        f"{LESSONS}/{lesson}/edit", data=form_of(writer, lesson) | {"insight": "Retries are capped at five."}
    )
    text = words_of(answer.text)
    assert "Your revision waits for a reviewer." in text
    assert "It is unconfirmed" in text
    proposal = answer.url.path.rpartition("/")[2]
    hidden, unknown = (members["reader"].get(f"{LESSONS}/{ref}") for ref in (proposal, proposal[:-4] + "0000"))
    assert (hidden.status_code, unknown.status_code) == (404, 404)
    assert hidden.text.replace(proposal[-8:], "") == unknown.text.replace(f"{proposal[-8:-4]}0000", "")
    assert members["reader"].get(f"{LESSONS}/{proposal}/edit").status_code == 403
    assert "A revision of it waits" not in words_of(members["reader"].get(f"{LESSONS}/{lesson}").text)
    assert "A revision of it waits" in words_of(members["admin"].get(f"{LESSONS}/{lesson}").text)
    only_when = writer.post(f"{LESSONS}/{lesson}/edit", data=form_of(writer, lesson) | {"commands": "make retry"})
    assert only_when.status_code == 422
    assert "Only a reviewer changes a lesson without changing its rule." in words_of(only_when.text)
    assert "make retry" in only_when.text
    assert writer.post(f"{LESSONS}/{lesson}/retire").status_code == 403


def test_a_reviewer_edits_retires_and_undoes_exactly_that(members: dict[str, httpx.Client], lesson: str) -> None:
    admin = members["admin"]
    back = {"back": f"{LESSONS}/{lesson}"}
    page = admin.post(f"{LESSONS}/{lesson}/retire", data=back | {"revive_when": "numpy>=3"}).text
    assert "Retired until numpy>=3" in words_of(page).replace("&gt;", ">")
    change = re.search(r'name="change" value="([^"]+)"', page)
    assert change is not None
    page = admin.post("/p/shop/undo", data=back | {"change": change[1]}).text
    assert "Undone. It is as before" in words_of(page)
    assert "Not checked." in words_of(page)
    fields = form_of(admin, lesson)
    page = admin.post(f"{LESSONS}/{lesson}/edit", data=fields | {"why": "the gateway bans us"}).text
    assert "Saved" in words_of(page)
    stale = admin.post(f"{LESSONS}/{lesson}/edit", data=fields | {"why": "another reason"})
    assert stale.status_code == 409
    assert "the gateway bans us" in stale.text
    assert "another reason" in stale.text
