"""The digest and topics over HTTP: what each member may see, and names that hold for all."""

from __future__ import annotations

from typing import Any

import pytest

from .world import SHOP, World

DIGEST, TOPICS = f"/projects/{SHOP}/digest", f"/projects/{SHOP}/topics"


def sections(world: World, role: str, query: str = "") -> dict[str, list[str]]:
    """Return the rules of each section of a digest."""
    answer = world.call("GET", DIGEST + query, role=role)
    assert answer.status_code == 200, answer.text
    return {each["name"]: [item["rule"] for item in each["items"]] for each in answer.json()["sections"]}


def test_what_waits_is_in_the_digest_of_who_may_see_it_alone(world: World) -> None:
    world.lesson("Ferries leave from pier two.")
    world.lesson("Retries are capped at 3", role="writer")
    for role in ("writer", "reviewer", "admin"):
        assert sections(world, role)["waits"] == ["Retries are capped at 3"]
        assert sections(world, role, "?audience=team")["waits"] == []
    for role in ("reader", "proposer"):
        assert sections(world, role)["waits"] == []
        assert sections(world, role)["learnt"] == ["Ferries leave from pier two."]


def test_a_member_who_may_not_see_a_proposal_is_not_told_what_it_contradicts(world: World) -> None:
    world.lesson("The dev server listens on port 8080.")
    world.lesson("The dev server listens on port 9090.", role="writer")
    assert "9090" in str(sections(world, "reviewer")["contradicted"]) + str(sections(world, "reviewer")["waits"])
    assert "9090" not in world.call("GET", DIGEST, role="reader").text


def test_a_digest_says_that_only_a_clone_knows_what_went_stale(world: World) -> None:
    (stale,) = [each for each in world.call("GET", DIGEST).json()["sections"] if each["name"] == "stale"]
    assert (stale["items"], stale["note"]) == ([], "not known here: a clone of the repository can tell")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("since=2020-01-01T00:00:00Z", 200),
        ("since=7d", 422),
        ("since=2999-01-01", 422),
        ("audience=all", 422),
        ("x=1", 422),
    ],
)
def test_a_period_is_two_instants(world: World, query: str, status: int) -> None:
    assert world.call("GET", f"{DIGEST}?{query}").status_code == status


def named(world: World, role: str) -> dict[str, Any]:
    return {topic["name"]: topic for topic in world.call("GET", TOPICS, role=role).json()["items"]}


@pytest.fixture
def harbour(world: World) -> World:
    for tag in ("berths", "cranes"):
        for number in range(3):
            world.lesson(f"Paint module{number} {tag} {number * 7 + 3} every spring", tags=[tag])
    return world


def test_a_name_holds_for_all_members(harbour: World) -> None:
    body = {"name": "berths", "new": "docks"}
    assert harbour.call("POST", f"{TOPICS}/rename", role="reader", json=body).status_code == 403
    assert harbour.call("POST", f"{TOPICS}/rename", role="reviewer", json=body).status_code == 200
    assert set(named(harbour, "reader")) == {"docks", "cranes"}
    assert named(harbour, "reader")["docks"]["also"] == ["berths"]
    merge = {"name": "cranes", "into": "docks"}
    assert harbour.call("POST", f"{TOPICS}/merge", role="reviewer", json=merge).status_code == 200
    assert named(harbour, "reader")["docks"]["lessons"] == 6
    assert harbour.call("POST", f"{TOPICS}/split", role="reviewer", json={"name": "docks"}).status_code == 200
    assert set(named(harbour, "reader")) == {"berths", "cranes"}


def test_names_that_members_gave_are_in_the_audit_log_as_acts_without_their_words(harbour: World) -> None:
    harbour.call("POST", f"{TOPICS}/rename", role="reviewer", json={"name": "berths", "new": "secretive"})
    log = harbour.call("GET", "/audit").text
    assert "topic.rename" in log
    assert "secretive" not in log


def test_a_proposal_makes_no_topic_for_others(world: World) -> None:
    for number in range(3):
        world.lesson(f"Paint module{number} berths {number * 7 + 3} every spring", tags=["berths"], role="writer")
    assert named(world, "reader") == {}
