"""Sessions over HTTP: events in bulk, what an agent reports step by step, and tasks."""

from __future__ import annotations

from holdfast.client.session import Calls

from .world import SHOP, World

PROJECT = f"/projects/{SHOP}"


def event(number: int, session: str = "s1") -> dict[str, object]:
    return {
        "session": session, "key": f"prompt:{number}", "kind": "prompt", "at": f"2026-11-2{number}T08:00:00Z",
        "host": "robot", "text": f"word{number} and a token ghp_{'a1B2' * 9}",
    }  # fmt: skip


def test_events_are_stored_once_redacted_and_read_in_pages(world: World) -> None:
    rows = [event(number, session) for session in ("s1", "s2") for number in range(3)]
    assert world.lines(PROJECT + "/events", rows, role="writer").json() == {"received": 6, "stored": 6}
    assert world.lines(PROJECT + "/events", rows, role="writer").json() == {"received": 6, "stored": 0}
    sessions = world.call("GET", PROJECT + "/sessions?limit=1", role="reader").json()
    assert [(row["session"], row["events"]) for row in sessions["items"]] == [("s1", 3)]
    rest = world.call("GET", PROJECT + "/sessions?limit=1&cursor=" + sessions["next"], role="reader").json()
    assert [(row["session"], row["events"]) for row in rest["items"]] == [("s2", 3)]
    assert rest["next"] == ""
    page = world.call("GET", PROJECT + "/sessions/s1?limit=2", role="reader").json()
    more = world.call("GET", f"{PROJECT}/sessions/s1?limit=2&cursor={page['next']}", role="reader").json()
    texts = [row["text"] for row in page["items"] + more["items"]]
    assert [text.split()[0] for text in texts] == ["word0", "word1", "word2"]
    assert "ghp_" not in str(texts)


def test_sessions_come_newest_first_and_are_filtered(world: World) -> None:
    rows = [event(1, "s1"), event(2, "s1") | {"branch": "fix"}, event(3, "s2") | {"host": "other"}]
    world.lines(PROJECT + "/events", rows, role="writer")

    def listed(query: str) -> list[str]:
        answer = world.call("GET", f"{PROJECT}/sessions?{query}", role="reader").json()
        return [row["session"] for row in answer["items"]]

    (first, second) = world.call("GET", PROJECT + "/sessions", role="reader").json()["items"]
    assert [first["session"], second["session"]] == ["s2", "s1"]
    expected = {"branch": "fix", "events": 2, "prompts": 2, "first": "2026-11-21T08:00:00.000000Z"}
    assert {name: second[name] for name in expected} == expected
    assert second["opening"].startswith("word1 and a token")
    assert listed("branch=fix") == listed("until=2026-11-23T08:00:00Z") == ["s1"]
    assert listed("host=other") == listed("since=2026-11-23T08:00:00Z") == ["s2"]
    assert world.call("GET", f"{PROJECT}/sessions?since=yesterday", role="reader").status_code == 422


def test_a_line_that_is_wrong_stores_none_of_them_and_is_named(world: World) -> None:
    refused = world.lines(PROJECT + "/events", [event(1), {"session": "s1"}], role="writer")
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "line 2.key")
    assert world.call("GET", PROJECT + "/sessions", role="reader").json()["items"] == []


def test_an_agent_is_told_what_the_team_knows_and_its_session_teaches_what_waits(world: World) -> None:
    world.lesson("Run the tests with make check, never with pytest", pinned=True)
    calls = Calls("s7", "/home/ada/shop", "m")
    answers = [
        world.call("POST", PROJECT + "/calls", role="writer", json=call)
        for call in (calls.start(), calls.prompt("From now on always run `make lint` before you commit."), calls.end())
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert "make check" in answers[0].json()["context"]
    told_at = world.call("GET", PROJECT + "/deliveries?session=s7", role="reader").json()["items"]
    assert [delivery["moment"] for delivery in told_at] == ["session_start"]
    learnt = world.call("POST", PROJECT + "/sessions/s7/learn", role="writer").json()
    assert learnt["active"] == []
    assert len(learnt["waiting"]) == 1
    (lesson,) = world.call("GET", PROJECT + "/review", role="reviewer").json()["waiting"]
    assert "make lint" in lesson["insight"]


def test_the_state_of_a_task_is_saved_read_and_closed(world: World) -> None:
    saved = world.call("POST", PROJECT + "/checkpoints", role="writer", json={"goal": "Move to v2", "next": ["a"]})
    assert (saved.status_code, saved.json()["goal"]) == (201, "Move to v2")
    assert world.call("GET", PROJECT + "/checkpoint", role="reader").json()["id"] == saved.json()["id"]
    assert world.call("DELETE", PROJECT + "/checkpoint", role="writer").json()["closed"] is True
    assert world.call("GET", PROJECT + "/checkpoint", role="reader").status_code == 404
