"""The walls between organisations: nothing of one shows in any answer to the other.

Another organisation, which has projects of the same names, is given a marked word in everything that takes a text.
Every operation is then called as every member of ours, also with the other one's ids, and neither word nor id may be in
a body, a header, an error, a count, a facet, an entity tag or a live event. What ours reads is the same as before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.surfaces.rest.table import Op, path_of

from .requests import REQUESTS, Request
from .world import SECRET, SHOP, World, found, open_world

WORD = "zanzibar"
ROLES = ("reader", "writer", "reviewer", "admin")
VOLATILE = re.compile(r'"request":"[^"]*"|"last_used_at":"[^"]*"|"since":"[^"]*","until":"[^"]*"')
FRACTION = re.compile(r"\d+\.\d+(?:e-\d+)?")


def steady(text: str) -> str:
    """Return an answer without what differs from one reading to the next: scores fade by the microsecond."""
    return FRACTION.sub(lambda number: f"{float(number[0]):.4f}", VOLATILE.sub("", text))


@pytest.fixture(scope="module")
def world(database: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("world"), database.store_url()) as opened:
        opened.lesson("Retries are capped at 3", tags=["net"], topic="retries", files=["src/gateway.py"])
        opened.lesson("Timeouts are 5 seconds in the gateway", role="writer")
        yield opened


@pytest.fixture(scope="module")
def before(world: World) -> dict[str, str]:
    """What ours reads while it is alone."""
    return readings(world)


@pytest.fixture(scope="module")
def after(world: World, planted: dict[str, str]) -> dict[str, str]:
    """What ours reads once the other organisation is there, before anybody writes."""
    return readings(world)


@pytest.fixture(scope="module")
def ids(planted: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Ids of what the other organisation has, by the name of a path's parameter."""
    return planted


@pytest.fixture(scope="module")
def planted(world: World, before: dict[str, str]) -> dict[str, str]:
    """Plant the marked word in another organisation, and return the ids of that."""
    world.stranger = found(world.backend, world.requests, f"Bolt {WORD}", is_first=False, ids=(SHOP, SECRET))
    theirs = world.stranger.tokens

    def call(method: str, path: str, body: Any, role: str = "admin") -> Any:
        answer = world.call(method, path, token=theirs[role], json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    lesson = call(
        "POST", f"/projects/{SHOP}/lessons",
        {"insight": f"Retries of {WORD} are capped at 30", "why": WORD, "tags": [WORD, "net"], "topic": WORD,
         "files": [f"src/{WORD}.py", "src/gateway.py"], "snippets": [WORD]}, "reviewer",
    )  # fmt: skip
    call("POST", f"/projects/{SHOP}/lessons", {"insight": f"Timeouts of {WORD} are 50 seconds"}, "writer")
    call("POST", "/projects/organisation/lessons", {"insight": f"Never name {WORD} to anybody"})
    call("POST", f"/projects/{SHOP}/lessons/{lesson['id']}/flags", {"reason": "stale", "note": WORD}, "reader")
    call("POST", f"/projects/{SHOP}/checkpoints", {"goal": f"Ship {WORD}", "task": WORD})
    call("POST", f"/projects/{SHOP}/outcomes", {"lesson": lesson["id"], "verdict": "helped", "note": WORD})
    rows = [
        {"session": WORD, "key": "prompt:1", "kind": "prompt", "at": "2026-11-20T08:00:00Z", "text": f"about {WORD}"}
    ]
    assert world.lines(f"/projects/{SHOP}/events", rows, token=theirs["writer"]).status_code == 200
    call("PATCH", f"/projects/{SHOP}", {"name": WORD, "remote": f"git@{WORD}"})
    call("PATCH", f"/members/{world.stranger.members['reader']}", {"name": WORD, "email": f"{WORD}@example.org"})
    team = call("POST", "/teams", {"name": WORD})
    invitation = call("POST", "/invitations", {"name": WORD, "email": f"i@{WORD}.org"})
    token = call("POST", "/tokens", {"name": WORD})
    return {
        "lesson": lesson["id"], "member": world.stranger.members["reader"], "team": team["id"], "session": WORD,
        "invitation": invitation["id"], "token": token["id"],
    }  # fmt: skip


def readings(world: World) -> dict[str, str]:
    """Return what each member of ours reads of everything that takes no id but a project's."""
    reads = [op for op in OPERATIONS if op.verb and not op.is_write and set(op.parameters) <= {"project"}]
    answers: dict[str, str] = {}
    for op in reads:
        for role in ROLES:
            request = Request(
                parameters={"project": SHOP} if op.parameters else {}, json={"text": "retries"} if op.body else None
            )
            if op.name == "brief":
                request.json = {"prompt": "how often do we retry"}
            answers[f"{op.name} {role}"] = steady(send(world, op, request, role).text)
    return answers


def send(world: World, op: Op, request: Request, role: str, more: str = "") -> Any:
    """Send the request as that member of ours."""
    headers = {"If-Match": "*"} if op.match else {}
    if request.lines is not None:
        headers["Content-Type"] = "application/x-ndjson"
    path = path_of(op, **request.parameters).removeprefix("/v1") + more
    return world.call(op.method, path, role=role, json=request.json, content=request.content, headers=headers)


def shows_nothing(answer: Any, ids: dict[str, str], sent: str) -> None:
    """Check that neither the marked word nor an id of the others is in an answer, unless the request had it."""
    text = answer.text + json.dumps(dict(answer.headers))
    for secret in {WORD, *ids.values()}:
        assert secret in sent or secret not in text, (secret, text)


@pytest.mark.parametrize("op", [op for op in OPERATIONS if op.verb], ids=lambda op: op.name)
def test_no_answer_shows_anything_of_another_organisation(world: World, ids: dict[str, str], op: Op) -> None:
    for role in ROLES:
        shows_nothing(send(world, op, REQUESTS[op.name](world), role), ids, "")
        theirs = set(op.parameters) & set(ids)
        if theirs:
            request = REQUESTS[op.name](world)
            request.parameters = {name: ids.get(name, value) for name, value in request.parameters.items()}
            answer = send(world, op, request, role)
            assert answer.status_code in (403, 404) or op.name == "learn_session", answer.text
            shows_nothing(answer, ids, json.dumps(request.parameters))


def test_an_id_of_another_organisation_is_answered_like_an_unknown_one(world: World, ids: dict[str, str]) -> None:
    unknown = {"lesson": "00000000-0000-7000-8000-000000000000", "member": "nobody", "team": "nothing",
               "session": "nothing", "invitation": "aaaaaaaa1", "token": "aaaaaaaa1"}  # fmt: skip
    for op in OPERATIONS:
        (name,) = [*(set(op.parameters) & set(ids)), ""][:1]
        if not name or op.name == "learn_session":
            continue
        answers = []
        for id_ in (ids[name], unknown[name]):
            request = REQUESTS[op.name](world)
            request.parameters[name] = id_
            answers.append(send(world, op, request, "admin"))
        bodies = [steady(answer.text) for answer in answers]
        assert (answers[0].status_code, bodies[0]) == (answers[1].status_code, bodies[1]), op.name


def test_words_and_ids_of_another_organisation_find_nothing(world: World, ids: dict[str, str]) -> None:
    def check(method: str, path: str, body: Any = None) -> None:
        answer = world.call(method, f"/projects/{SHOP}{path}", json=body)
        shows_nothing(answer, ids, path + json.dumps(body))
        assert f"of {WORD}" not in answer.text

    for query in (f"tag={WORD}", f"path=src/{WORD}.py", "path=src/gateway.py", "tag=net"):
        check("GET", f"/lessons?{query}")
    for question in ({"text": f"retries of {WORD}"}, {"paths": [f"src/{WORD}.py"]}, {"text": WORD, "sessions": True}):
        check("POST", "/recall", question)
    check("GET", f"/lessons/{ids['lesson'][-8:]}")
    check("POST", "/conflicts", {"keep": ids["lesson"]})
    check("POST", "/outcomes", {"lesson": ids["lesson"], "verdict": "helped"})
    check("GET", f"/outcomes?lesson={ids['lesson']}")
    check("GET", "/changes?after=0")
    assert WORD not in world.call("POST", "/tokens", json={"name": "a", "projects": ["bolts"]}).text


def test_what_ours_reads_is_what_it_read_while_it_was_alone(before: dict[str, str], after: dict[str, str]) -> None:
    for name, text in before.items():
        assert after[name] == text, name


def test_a_token_of_ours_that_names_another_organisation_is_nobodys(world: World, ids: dict[str, str]) -> None:
    assert world.stranger
    text = world.home.tokens["admin"]
    number = str(world.stranger.number)
    other = re.sub(r"^(hf_p[a-z2-7]{8})\d+", rf"\g<1>{number}", text)
    assert other != text
    for token in (other, text[:-8] + "00000000", world.stranger.tokens["admin"][:-9] + text[-9:]):
        answer = world.call("GET", "/me", token=token)
        assert answer.status_code == 401
        assert WORD not in answer.text
