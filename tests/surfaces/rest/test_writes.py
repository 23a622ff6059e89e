"""What every write does: once for a key, in the audit log, in the feed, all of it or nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdfast.domain.team import FIRST_ORGANISATION
from holdfast.errors import EmbedderError, StoreFullError
from holdfast.surfaces.rest import writing

from .world import SECRET, SHOP, World

LESSONS = f"/projects/{SHOP}/lessons"


def documents(world: World, role: str = "reader", after: int = 0) -> list[dict[str, Any]]:
    """Return a project's feed as the member sees it."""
    answer = world.call("GET", f"/projects/{SHOP}/documents?after={after}", role=role)
    return list(answer.json()["documents"])


def test_a_request_that_is_repeated_with_its_key_is_done_once(world: World) -> None:
    key = {"Idempotency-Key": "k1"}
    body = {"insight": "Retries are capped at 3", "tags": ["net"]}
    first, again = (world.call("POST", LESSONS, json=body, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert (first.headers["ETag"], first.headers["Location"]) == (again.headers["ETag"], again.headers["Location"])
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert [entry["action"] for entry in world.call("GET", "/audit").json()["items"]].count("lesson.remember") == 1


def test_a_key_of_another_request_or_of_another_token_is_another_key(world: World) -> None:
    key = {"Idempotency-Key": "k1"}
    world.call("POST", LESSONS, json={"insight": "Retries are capped at 3"}, headers=key)
    refused = world.call("POST", LESSONS, json={"insight": "Retries are capped at 4"}, headers=key)
    assert (refused.status_code, refused.json()["type"]) == (409, "/v1#conflict")
    other = world.call("POST", LESSONS, role="writer", json={"insight": "Timeouts are 5 seconds"}, headers=key)
    assert (other.status_code, "Idempotency-Replayed" in other.headers) == (201, False)


def test_one_key_sent_by_many_at_once_makes_one_lesson(world: World) -> None:
    def send(_: int) -> str:
        answer = world.call(
            "POST", f"/projects/{SHOP}/checkpoints", json={"goal": "Move"}, headers={"Idempotency-Key": "k"}
        )
        assert answer.status_code == 201
        return str(answer.json()["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(send, range(16)))
    assert len(ids) == 1
    assert len(world.call("GET", f"/projects/{SHOP}/checkpoints").json()["items"]) == 1


def test_a_write_that_fails_at_its_end_leaves_nothing_behind(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreFullError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(writing.audit, "record", fail)
        failed = world.call(
            "POST", LESSONS, json={"insight": "Retries are capped at 3"}, headers={"Idempotency-Key": "k"}
        )
    assert (failed.status_code, failed.json()["type"]) == (507, "/v1#full")
    assert world.call("GET", LESSONS + "?state=active,candidate").json()["items"] == []
    assert documents(world, "admin") == []
    again = world.call("POST", LESSONS, json={"insight": "Retries are capped at 3"}, headers={"Idempotency-Key": "k"})
    assert (again.status_code, "Idempotency-Replayed" in again.headers) == (201, False)


def test_the_audit_log_names_who_did_what_without_a_word_of_it(world: World) -> None:
    saved = world.lesson("Retries are capped at 3", role="reviewer")
    entries = world.call("GET", "/audit").json()["items"]
    (entry,) = [entry for entry in entries if entry["action"] == "lesson.remember"]
    assert (entry["actor"], entry["target"]) == (world.home.members["reviewer"], saved["id"])
    assert "Retries" not in str(entries)
    verified = world.call("GET", "/audit/verify").json()
    assert (verified["faults"], verified["entries"]) == ([], entries[0]["seq"])
    assert world.call("GET", f"/audit/verify?head={verified['head']}").json()["faults"] == []
    other = f"{verified['entries']}:{'0' * 64}"
    assert len(world.call("GET", f"/audit/verify?head={other}").json()["faults"]) == 1


def test_a_change_is_a_document_of_the_feed_and_its_position_is_in_the_answer(world: World) -> None:
    answer = world.call("POST", LESSONS, json={"insight": "Retries are capped at 3"})
    (document,) = documents(world)
    assert (str(document["seq"]), document["lesson"]) == (answer.headers["Holdfast-After"], answer.json()["id"])
    assert document["values"]["insight"] == "Retries are capped at 3"
    path = f"{LESSONS}/{answer.json()['id']}"
    world.call("DELETE", path, headers={"If-Match": answer.headers["ETag"]})
    (gone,) = documents(world, after=document["seq"])
    assert (gone["id"], gone["values"]["state"]) == (document["id"], "forgotten")


def test_a_proposal_is_in_the_feed_of_its_proposer_and_of_reviewers_alone(world: World) -> None:
    world.lesson("Retries are capped at 3", role="writer")
    seen = {role: len(documents(world, role)) for role in ("reader", "writer", "proposer", "reviewer", "admin")}
    assert seen == {"reader": 0, "writer": 1, "proposer": 0, "reviewer": 1, "admin": 1}


def test_what_one_machine_sends_reaches_another_and_sending_twice_changes_nothing(world: World) -> None:
    world.lesson("Retries are capped at 3")
    (document,) = documents(world)
    sent = {"id": document["id"], "values": {**document["values"], "why": "the gateway bans us"}, "confirm": True}
    sent["stamps"] = document["stamps"]
    path = f"/projects/{SHOP}/documents"
    first = world.call("POST", path, role="reviewer", json={"documents": [sent]}).json()["results"]
    again = world.call("POST", path, role="reviewer", json={"documents": [sent]}).json()["results"]
    assert [result["status"] for result in first + again] == ["accepted", "unchanged"]
    assert documents(world)[-1]["values"]["why"] == "the gateway bans us"
    refused = world.call("POST", path, role="reviewer", json={"documents": [{"id": "x", "values": {"bad": 1}}]})
    assert [result["status"] for result in refused.json()["results"]] == ["refused"]


def test_lines_are_exported_and_imported_and_those_of_others_wait(world: World) -> None:
    world.lesson("Retries are capped at 3")
    lines = world.call("GET", f"/projects/{SHOP}/export", role="reader")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    exported = [json.loads(line) for line in lines.text.splitlines()]
    assert [line["insight"] for line in exported] == ["Retries are capped at 3"]
    row = {"insight": "Timeouts are 5 seconds", "kind": "fix"}
    report = world.lines(f"/projects/{SECRET}/import", [row], role="writer").json()
    assert (report["added"], report["waiting"]) == (1, 1)
    assert world.lines(f"/projects/{SECRET}/import?accept=true", [row], role="writer").status_code == 403
    accepted = world.lines(f"/projects/{SECRET}/import?accept=true", [row], role="reviewer").json()
    assert accepted["added"] + accepted["revised"] == 1
    listed = world.call("GET", f"/projects/{SECRET}/lessons", role="reader").json()["items"]
    assert [lesson["insight"] for lesson in listed] == ["Timeouts are 5 seconds"]


def test_a_quota_is_402_and_a_rate_is_429_with_the_time_to_wait(world: World) -> None:
    world.call("PATCH", "/organisation", json={"limits": {"lessons": 1, "requests_a_minute": 60}})
    answers = [world.call("POST", LESSONS, json={"insight": f"Rule number{n} holds here"}) for n in range(2)]
    assert [answer.status_code for answer in answers] == [201, 402]
    assert len(world.call("GET", LESSONS + "?state=active,candidate").json()["items"]) == 1
    limited = [world.call("GET", LESSONS, role="reader") for _ in range(30)]
    (status,) = {answer.status_code for answer in limited[-5:]}
    assert (status, int(limited[-1].headers["Retry-After"]) >= 1) == (429, True)


class VowelEmbedder:
    """Places a text by its share of vowels, on this machine; `failing` makes it raise."""

    id = "vowels#2"
    dimension = 2
    is_local = True
    failing = False

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        if self.failing:
            raise EmbedderError("no memory is left")
        shares = [sum(letter in "aeiou" for letter in text) / max(1, len(text)) for text in texts]
        return [[share, (1 - share**2) ** 0.5] for share in shares]


def test_a_lesson_has_its_vector_when_it_is_answered_and_is_saved_without_one_if_need_be(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = VowelEmbedder()
    monkeypatch.setattr(world.requests._embedders, "current", lambda: embedder)
    store = world.backend.open(FIRST_ORGANISATION).store
    before = store.count_without_vector(embedder.id)
    assert world.call("POST", LESSONS, json={"insight": "Retries are capped at 3"}).status_code == 201
    assert store.count_without_vector(embedder.id) == before
    embedder.failing = True
    assert world.call("POST", LESSONS, json={"insight": "Timeouts are 5 seconds"}).status_code == 201
    assert store.count_without_vector(embedder.id) == before + 1
