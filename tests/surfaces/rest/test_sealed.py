"""A member's sealed lessons are that member's alone: no project leads to them, and no other token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.publishing.lessonfile import shared_id
from holdfast.publishing.remote.sealing import make_seal, show_key

from .world import SHOP, World, open_world

SEALED = make_seal(show_key(b"k" * 32)).seal(shared_id("x"), {"words": "Zanzibar"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path) as opened:
        yield opened


def send(world: World, role: str, seq: int = 0, sealed: str = SEALED) -> dict[str, object]:
    body = {"sealed": [{"id": shared_id("x"), "seq": seq, "sealed": sealed}]}
    answer = world.call("POST", "/me/sealed", role=role, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][0]


def test_each_member_has_sealed_lessons_of_their_own(world: World) -> None:
    assert send(world, "writer")["status"] == "stored"
    assert world.call("GET", "/me/sealed", role="writer").json()["last"] == 1
    for role in ("reader", "reviewer", "admin"):
        assert world.call("GET", "/me/sealed", role=role).json() == {"sealed": [], "after": 0, "last": 0}


def test_a_version_is_replaced_only_by_who_has_seen_it(world: World) -> None:
    other = make_seal(show_key(b"k" * 32)).seal(shared_id("x"), {"words": "Samarkand"})
    assert send(world, "writer")["status"] == "stored"
    assert send(world, "writer")["status"] == "unchanged", "sending again changes nothing"
    stale = send(world, "writer", sealed=other)
    assert (stale["status"], stale["sealed"], stale["seq"]) == ("stale", SEALED, 1)
    assert send(world, "writer", seq=1, sealed=other)["status"] == "stored"
    assert [row["sealed"] for row in world.call("GET", "/me/sealed", role="writer").json()["sealed"]] == [other]


def test_no_project_leads_to_them(world: World) -> None:
    send(world, "writer")
    name = "~" + world.home.members["writer"]
    for role in ("writer", "reviewer", "admin"):
        assert world.call("GET", f"/projects/{name}/documents", role=role).status_code == 404
        made = world.call("POST", "/projects", role=role, json={"id": name, "name": "Mine"})
        assert made.status_code in (400, 422), made.text
        assert world.call("DELETE", f"/projects/{name}", role=role).status_code in (403, 404)
    assert world.call("GET", "/me/sealed", role="writer").json()["last"] == 1


def test_a_token_for_some_projects_does_not_reach_them(world: World) -> None:
    token = world.home.issue("writer", only=(SHOP,))
    assert world.call("GET", "/me/sealed", token=token).status_code == 403


@pytest.mark.parametrize(("sealed", "status"), [("not base64!", "refused"), ("", "refused"), ("AAAA", "stored")])
def test_what_is_not_sealed_is_refused(world: World, sealed: str, status: str) -> None:
    assert send(world, "writer", sealed=sealed)["status"] == status
