"""Lessons over HTTP."""

from __future__ import annotations

from .world import SHOP, World

LESSONS = f"/projects/{SHOP}/lessons"


def test_a_reviewers_lesson_is_active_listed_and_recalled(world: World) -> None:
    saved = world.lesson("Retries are capped at 3", files=["src/gateway.py"])
    assert saved["state"] == "active"
    listed = world.call("GET", LESSONS, role="reader").json()
    assert [lesson["id"] for lesson in listed["items"]] == [saved["id"]]
    answer = world.call("POST", f"/projects/{SHOP}/recall", role="reader", json={"text": "how many retries"}).json()
    assert [item["lesson"]["id"] for item in answer["items"]] == [saved["id"]]


def test_a_writers_lesson_waits_and_others_neither_list_nor_read_nor_recall_it(world: World) -> None:
    saved = world.lesson("Retries are capped at 3", role="writer")
    assert saved["state"] == "candidate"
    path = f"{LESSONS}/{saved['id']}"
    for role, status in (("writer", 200), ("reviewer", 200), ("reader", 404)):
        assert world.call("GET", path, role=role).status_code == status
    waiting = {
        role: world.call("GET", LESSONS + "?state=candidate", role=role).json()["items"] for role in world.home.tokens
    }
    assert {role: len(items) for role, items in waiting.items()} == {
        "admin": 1,
        "reviewer": 1,
        "writer": 1,
        "reader": 0,
    }
    for role in world.home.tokens:
        answer = world.call("POST", f"/projects/{SHOP}/recall", role=role, json={"text": "retries"}).json()
        assert (answer["items"], answer["near"]) == ([], [])
    accepted = world.call("POST", path + "/accept", role="reviewer")
    assert accepted.json()["state"] == "active"
    assert world.call("GET", path, role="reader").status_code == 200


def test_a_change_needs_the_version_that_was_read(world: World) -> None:
    saved = world.lesson("Retries are capped at 3")
    path = f"{LESSONS}/{saved['id']}"
    etag = world.call("GET", path).headers["ETag"]
    change = {"insight": "Retries are capped at 5", "trust": "person"}
    assert world.call("PATCH", path, json=change).status_code == 428
    assert world.call("PATCH", path, json=change, headers={"If-Match": '"other"'}).status_code == 412
    revised = world.call("PATCH", path, json=change, headers={"If-Match": etag})
    assert (revised.status_code, revised.json()["insight"]) == (200, "Retries are capped at 5")
    assert world.call("GET", path).json()["state"] == "superseded"
    assert world.call("DELETE", path, headers={"If-Match": etag}).status_code == 412
