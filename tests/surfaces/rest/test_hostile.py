"""Bad input: what is too large, malformed, of a wrong type, or meant to break something. Nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.surfaces.rest.kit import RequestLimits

from .world import SHOP, World, open_world

LESSONS = f"/projects/{SHOP}/lessons"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


def refused(answer: Any, status: int, slug: str) -> None:
    """Check that an answer is a whole problem document of that kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["type"], problem["status"]) == (f"/v1#{slug}", status)
    assert problem["detail"]
    assert problem["hint"]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("content", "status", "slug"),
    [
        (b"", 400, "bad-request"),
        (b"{", 400, "bad-request"),
        (b"\xff\xfe", 400, "bad-request"),
        (b'{"insight": "\\ud800"}', 400, "bad-request"),
        (b"[" * 100_000, 400, "bad-request"),
        (b"[]", 422, "invalid"),
        (b"null", 422, "invalid"),
        (b'{"insight": 5}', 422, "invalid"),
        (b'{"insight": "a", "pinned": 0}', 422, "invalid"),
        (b'{"insight": "a", "tags": "b"}', 422, "invalid"),
        (b'{"insight": "a", "unknown": 1}', 422, "invalid"),
        (b'{"insight": "a", "private": true}', 422, "invalid"),
        (b'{"insight": "a", "scope": "user"}', 422, "invalid"),
        (b'{"insight": "   "}', 422, "invalid"),
        (b'{"insight": "' + b"a" * 5_000 + b'"}', 422, "invalid"),
        (b'{"insight": "' + b"a" * 1_100_000 + b'"}', 413, "too-large"),
        (b'{"insight": "a", "files": ["../../etc/passwd"]}', 422, "invalid"),
    ],
)
def test_a_body_that_is_no_lesson_is_refused(world: World, content: bytes, status: int, slug: str) -> None:
    every = LESSONS + "?state=active,candidate,quarantined"
    before = world.call("GET", every).json()
    refused(world.call("POST", LESSONS, content=content, headers=JSON), status, slug)
    assert world.call("GET", every).json() == before


def test_a_body_of_another_media_type_or_encoding_is_refused(world: World) -> None:
    for headers in ({"Content-Type": "text/plain"}, {}, {"Content-Type": "application/json; charset=latin-1"},
                    JSON | {"Content-Encoding": "gzip"}):  # fmt: skip
        refused(world.call("POST", LESSONS, content=b'{"insight": "a"}', headers=headers), 415, "media-type")


def test_a_body_without_a_length_is_cut_at_the_limit(world: World) -> None:
    def parts() -> Any:
        for _ in range(40):
            yield b"x" * 100_000

    refused(world.call("POST", LESSONS, content=parts(), headers=JSON), 413, "too-large")


def test_text_that_no_database_takes_is_cleaned_and_the_lesson_stays_readable(world: World) -> None:
    saved = world.call("POST", LESSONS, content=b'{"insight": "a\\u0000b never c", "tags": ["x\\u0000"]}', headers=JSON)
    assert saved.status_code == 201
    read = world.call("GET", f"{LESSONS}/{saved.json()['id']}")
    assert "\0" not in read.text
    assert "\\u0000" not in read.text


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=1.5", "limit=x", "limit=99999999999999999999", "state=nothing", "state=",
     "limit=1&limit=2", "since=yesterday-ish", "since=9999-12-31T23:59:59-23:59", "since=0001-01-01T00:00:00%2B23:59",
     "unknown=1", "tag=%ff", "trust=null", "cursor[]=1", "path=/etc/passwd", "path=../x"],
)  # fmt: skip
def test_a_query_that_is_wrong_is_refused(world: World, query: str) -> None:
    answer = world.call("GET", f"{LESSONS}?{query}")
    assert answer.status_code in (400, 422), answer.text
    refused(answer, answer.status_code, {400: "bad-request", 422: "invalid"}[answer.status_code])


def test_a_query_that_is_too_long_is_refused(world: World) -> None:
    refused(world.call("GET", f"{LESSONS}?tag={'a' * 20_000}"), 413, "too-large")


@pytest.mark.parametrize(
    "id_",
    ["%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "a%00b", "a%0d%0aX-Evil:1", "%ff", "%ud800", "x" * 400, "%20",
     "';DROP TABLE lessons;--", "' OR '1'='1", "%25", "00000000-0000-7000-8000-000000000000", "-1", "*", "%"],
)  # fmt: skip
def test_an_id_that_names_nothing_is_not_found_in_every_place(world: World, id_: str) -> None:
    saved = world.lesson("Retries are capped at 3")
    for path in (f"{LESSONS}/{id_}", f"{LESSONS}/{id_}/history", f"/projects/{id_}/lessons", f"/members/{id_}",
                 f"/projects/{SHOP}/sessions/{id_}"):  # fmt: skip
        answer = world.client.get("/v1" + path, headers={"Authorization": f"Bearer {world.home.tokens['admin']}"})
        assert answer.status_code == 404, (path, answer.text)
        assert "x-evil" not in answer.headers
    assert world.call("GET", f"{LESSONS}/{saved['id']}").status_code == 200


def test_an_unknown_id_and_one_of_another_project_are_told_alike(world: World) -> None:
    other = world.lesson("Retries are capped at 3", project="secret-lab")
    unknown = "00000000-0000-7000-8000-000000000000"
    answers = [world.call("GET", f"{LESSONS}/{id_}").json() for id_ in (other["id"], unknown, "abcd")]
    for answer in answers:
        del answer["request"]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("name", ["Authorization", "If-Match", "Idempotency-Key", "Content-Type"])
def test_a_header_that_is_there_twice_is_refused(world: World, name: str) -> None:
    token = f"Bearer {world.home.tokens['admin']}"
    values = {"Authorization": token, "If-Match": '"a"', "Idempotency-Key": "k", "Content-Type": "application/json"}
    headers = [*values.items(), (name, values[name])]
    answer = world.client.post("/v1" + LESSONS, content=b'{"insight": "a"}', headers=headers)
    refused(answer, 400, "bad-request")


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 201, "a\tb"])
def test_an_idempotency_key_that_is_none_is_refused(world: World, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode()), (b"Authorization", f"Bearer {world.home.tokens['admin']}".encode())]
    refused(world.client.post("/v1" + LESSONS, json={"insight": "a"}, headers=headers), 400, "bad-request")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Basic YTpi",
        "Bearer  ",
        "bearer x y",
        "hf_pabc",
        "Bearer hf_paaaaaaaa2_" + "a" * 51,
        "Bearer " + "a" * 9_000,
    ],
)
def test_a_token_that_is_none_is_refused_in_the_same_words(world: World, header: str) -> None:
    answer = world.call("GET", "/me", role="", headers={"Authorization": header})
    refused(answer, 401, "not-signed-in")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="holdfast"'
    plain = world.call("GET", "/me", role="").json()
    assert {**answer.json(), "request": ""} == {**plain, "request": ""}


def test_a_method_that_an_address_has_not_names_those_that_it_has(world: World) -> None:
    for method in ("TRACE", "PUT", "BREW", "CONNECT"):
        answer = world.call(method, LESSONS)
        refused(answer, 405, "method")
        assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert world.call("OPTIONS", LESSONS).status_code == 204
    head = world.call("HEAD", LESSONS)
    assert (head.status_code, head.content) == (200, b"")
    refused(world.call("GET", "/nothing"), 404, "not-found")
    refused(world.call("GET", "/projects/"), 404, "not-found")


def test_a_fault_of_ours_says_no_more_than_a_number(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the secret path /root/x")

    monkeypatch.setattr("holdfast.bootstrap.Memory.recall", fail)
    answer = world.call("POST", f"/projects/{SHOP}/recall", json={"text": "the question"})
    refused(answer, 500, "bug")
    assert "secret" not in answer.text
    assert "question" not in answer.text


def test_an_operation_that_does_not_end_is_answered_and_the_next_one_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = Event()
    with open_world(tmp_path, limits=RequestLimits(work_s=0.2)) as world:
        recall = Memory.recall

        def hang(*arguments: Any, **named: Any) -> Any:
            ends.wait()
            return recall(*arguments, **named)

        with monkeypatch.context() as patched:
            patched.setattr(Memory, "recall", hang)
            answer = world.call("POST", f"/projects/{SHOP}/recall", json={"text": "a"})
        ends.set()
        refused(answer, 503, "unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        assert world.call("GET", LESSONS).status_code == 200
