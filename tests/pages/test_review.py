"""The review page as HTML and JSON: what it lists for whom, and what its buttons do on a person's file and a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Link
from tests.surfaces.rest.requests import fresh_words
from tests.surfaces.rest.world import SHOP, World, open_world
from tests.upkeep.tidying.stand_in import FLOATS, FLOATS_TOO, put

from .served import ServedSite, open_served
from .site import Site


def test_every_row_says_what_its_buttons_do_and_posts_it(memory: Memory, site: Site) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    put(memory, "Use tabs in Makefiles.", state="candidate")
    rows = site.json("review")["rows"]
    assert [row["item"]["kind"] for row in rows] == ["waiting", "tidy"]
    for row in rows:
        assert all(verdict["meaning"].endswith(".") for verdict in row["verdicts"])
        assert len({verdict["key"] for verdict in row["verdicts"]}) == len(row["verdicts"])
    step = next(verdict for verdict in rows[1]["verdicts"] if verdict["action"] == "apply-step")
    answer = site.post("review/apply-step", step["fields"], accept="application/json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["message"].startswith("Merged: ")
    assert [row["item"]["kind"] for row in site.json("review")["rows"]] == ["waiting"]
    undone = site.post(answer.json()["undo"]["action"], answer.json()["undo"]["fields"], accept="application/json")
    assert undone.status_code == 200, undone.text
    assert [row["item"]["kind"] for row in site.json("review")["rows"]] == ["waiting", "tidy"]


def test_accepting_a_revision_also_takes_the_rows_of_what_it_replaces_away(memory: Memory, site: Site) -> None:
    (known,) = put(memory, "Call `put` before `get`.", state="active")
    (revision,) = put(
        memory, "Call `put` twice before `get`.", state="candidate", links=(Link(kind="refines", target=known.id),)
    )
    page = site.html("review?kind=waiting")
    assert f'/lessons/{revision.id}/accept" data-closes="{known.id}"' in page
    assert "Call <code>put</code> twice before" in page


def test_a_refused_step_stays_away_until_it_is_proposed_again(memory: Memory, site: Site) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    fields = site.json("review")["rows"][0]["verdicts"][1]["fields"]
    answer = site.post("review/refuse-step", fields, accept="application/json").json()
    assert site.json("review")["rows"] == []
    site.post(answer["undo"]["action"], answer["undo"]["fields"])
    assert [row["verb"] for row in site.json("review")["rows"]] == ["merge"]


@pytest.mark.parametrize("fields", [{}, {"verb": "burn", "lesson": "x"}, {"verb": "merge"}])
def test_a_form_that_names_no_step_is_refused(memory: Memory, site: Site, fields: dict[str, str]) -> None:
    assert site.post("review/apply-step", fields).status_code == 422
    assert site.post("review/refuse-step", fields).status_code == 422


def test_a_lesson_in_doubt_is_left_for_later_and_listed_again(memory: Memory, site: Site) -> None:
    (lesson,) = put(memory, "Bump the schema by hand.", confidence=0.3)
    assert [row["item"]["kind"] for row in site.json("review")["rows"]] == ["doubt"]
    answer = site.post(f"lessons/{lesson.id}/later", accept="application/json").json()
    assert site.json("review")["rows"] == []
    site.post(answer["undo"]["action"], answer["undo"]["fields"])
    assert len(site.json("review")["rows"]) == 1


def test_pages_follow_each_other_and_a_kind_can_be_chosen(memory: Memory, site: Site) -> None:
    for number in range(25):
        put(memory, f"Berth {number} is closed in winter.", state="candidate")
    put(memory, FLOATS, FLOATS_TOO)
    seen: list[str] = []
    after = ""
    while True:
        data = site.json(f"review?kind=waiting&group=area&after={after}")
        seen += [row["item"]["key"] for row in data["rows"]]
        after = data["next"]
        if not after:
            break
    assert len(seen) == len(set(seen)) == data["waiting"] == 25
    assert {each["kind"]: each["count"] for each in data["kinds"]} == {"tidy": 1, "waiting": 25}
    assert site.get("review?kind=nonsense").status_code == 400


def test_a_page_of_long_texts_stays_small(memory: Memory, site: Site) -> None:
    for number in range(20):
        put(
            memory, f"Berth {number}: " + "mind the gap, " * 250, why="because " * 400, how="carefully " * 300,
            state="candidate",
        )  # fmt: skip
    assert len(site.html("review").encode()) < 34_000


# On a team's server


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


@pytest.fixture
def served(world: World) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


def rows_of(served: ServedSite, role: str, query: str = "wait=true") -> dict[str, dict[str, object]]:
    """The rows that a member sees, by the id of their first lesson."""
    answer = served.get(f"review?{query}", role=role, accept="application/json")
    assert answer.status_code == 200, answer.text
    return {row["item"]["lessons"][0]["id"]: row for row in answer.json()["rows"]}


@pytest.fixture(autouse=True)
def no_old_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.pages.reviewkept.OLD_S", 0.0)
    monkeypatch.setattr("holdfast.pages.reviewkept.OLD_FACTOR", 0)


def test_a_reviewers_verdict_goes_through_the_server_with_its_audit_log(served: ServedSite, world: World) -> None:
    proposal = world.lesson(fresh_words(), role="proposer")
    row = rows_of(served, "reviewer")[proposal["id"]]
    assert [verdict["action"] for verdict in row["verdicts"]] == ["accept", "reject"]  # type: ignore[attr-defined]
    assert row["item"]["lessons"][0]["person"].startswith("Proposer")  # type: ignore[index]
    answer = served.post(f"lessons/{proposal['id']}/accept", role="reviewer", accept="application/json")
    assert answer.status_code == 200, answer.text
    assert world.call("GET", f"/projects/{SHOP}/lessons/{proposal['id']}").json()["state"] == "active"
    audit = world.call("GET", "/audit", role="admin").json()["items"]
    assert any(entry["action"] == "lesson.accept" and entry["target"] == proposal["id"] for entry in audit)
    undo = answer.json()["undo"]
    assert served.post(undo["action"], undo["fields"], role="reviewer").status_code == 303
    assert proposal["id"] in rows_of(served, "reviewer")


def test_who_may_not_review_sees_only_their_own_proposals_and_gets_no_reviewers_button(
    served: ServedSite, world: World
) -> None:
    own, theirs = (world.lesson(fresh_words(), role=role) for role in ("writer", "proposer"))
    rows = rows_of(served, "writer")
    assert own["id"] in rows
    assert theirs["id"] not in rows
    actions = {verdict["action"] for row in rows.values() for verdict in row["verdicts"]}  # type: ignore[attr-defined]
    assert actions == {"flag"}, "nobody confirms what they proposed"
    assert served.post(f"lessons/{own['id']}/accept", role="writer").status_code == 403


def test_a_flag_is_listed_with_its_words_until_a_reviewer_keeps_the_lesson(served: ServedSite, world: World) -> None:
    lesson = world.lesson(fresh_words(), role="author")
    flagged = world.call(
        "POST", f"/projects/{SHOP}/lessons/{lesson['id']}/flags", role="reader",
        json={"reason": "stale", "note": "since the last release"},
    )  # fmt: skip
    assert flagged.status_code == 200, flagged.text
    row = rows_of(served, "reviewer")[lesson["id"]]
    assert row["item"]["reason"] == "flagged as stale: since the last release"  # type: ignore[index]
    assert served.post(f"lessons/{lesson['id']}/keep", role="reviewer").status_code == 303
    assert lesson["id"] not in rows_of(served, "reviewer")


def test_a_reviewer_applies_and_refuses_steps_of_a_tidying_on_a_server(served: ServedSite, world: World) -> None:
    first, second = (world.lesson(text, role="author") for text in (FLOATS, FLOATS_TOO))
    rows = rows_of(served, "reviewer", "wait=true&kind=tidy")
    (row,) = [row for row in rows.values() if {first["id"], second["id"]} == {x["id"] for x in row["item"]["lessons"]}]  # type: ignore[index]
    fields = row["verdicts"][0]["fields"]  # type: ignore[index]
    refused = served.post("review/refuse-step", fields, role="reviewer", accept="application/json")
    assert refused.status_code == 200, refused.text
    assert rows_of(served, "reviewer", "wait=true&kind=tidy") == {}
    undo = refused.json()["undo"]
    assert served.post(undo["action"], undo["fields"], role="reviewer").status_code == 303
    applied = served.post("review/apply-step", fields, role="reviewer", accept="application/json")
    assert applied.status_code == 200, applied.text
    states = {world.call("GET", f"/projects/{SHOP}/lessons/{x['id']}").json()["state"] for x in (first, second)}
    assert states == {"active", "superseded"}
    assert served.post("review/apply-step", fields, role="writer").status_code == 403
