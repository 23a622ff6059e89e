"""Lessons over HTTP."""

from __future__ import annotations

from holdfast.domain.team import IdempotentAnswer

from .world import SECRET, SHOP, World

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
    for role, count in (("admin", 1), ("reviewer", 1), ("writer", 1), ("reader", 0), ("proposer", 0)):
        waiting = world.call("GET", LESSONS + "?state=candidate", role=role).json()["items"]
        assert (role, len(waiting)) == (role, count)
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


def test_a_list_comes_in_pages_that_stay_right_while_lessons_change(world: World) -> None:
    saved = [world.lesson(f"Prefer module{number} over handmade code {number}")["id"] for number in range(7)]
    ids: list[str] = []
    cursor = ""
    for _ in range(4):
        page = world.call("GET", f"{LESSONS}?limit=2&cursor={cursor}", role="reader").json()
        ids += [lesson["id"] for lesson in page["items"]]
        world.lesson(f"A new rule about page {len(ids)} number{len(ids)}")
        cursor = page["next"]
    assert (ids, cursor) == (saved[::-1], "")


def test_a_cursor_of_another_list_or_made_up_is_refused(world: World) -> None:
    for number in range(3):
        world.lesson(f"Prefer module{number} over handmade code {number}")
    cursor = world.call("GET", LESSONS + "?limit=1").json()["next"]
    others = (f"{LESSONS}?kind=fix&cursor={cursor}", f"/projects?cursor={cursor}", LESSONS + "?cursor=abc",
              f"{LESSONS}?cursor={cursor[:-2]}xx", f"/projects/organisation/lessons?cursor={cursor}")  # fmt: skip
    for path in others:
        answer = world.call("GET", path)
        assert (answer.status_code, answer.json()["type"]) == (410, "/v1#cursor")


def test_conditions_of_a_list_hold_together(world: World) -> None:
    wanted = world.lesson("Retries are capped at 3", kind="constraint", tags=["Net"], files=["src/gateway.py"])
    world.lesson("Timeouts are 5 seconds", kind="constraint", tags=["db"], files=["src/gateway.py"])
    world.lesson("Use the blue theme for pages", kind="preference", tags=["net"])
    for query in ("tag=net&kind=constraint", "path=src/gateway.py&tag=net", "tag=net&trust=agent&kind=constraint,fix"):
        items = world.call("GET", f"{LESSONS}?{query}", role="reader").json()["items"]
        assert [lesson["id"] for lesson in items] == [wanted["id"]], query
    assert world.call("GET", LESSONS + "?since=2100-01-01").json()["items"] == []


def test_a_writers_revision_waits_and_the_lesson_stays_until_it_is_accepted(world: World) -> None:
    saved = world.lesson("Retries are capped at 3")
    path = f"{LESSONS}/{saved['id']}"
    version = {"If-Match": world.call("GET", path, role="writer").headers["ETag"]}
    draft = world.call("PATCH", path, role="writer", json={"insight": "Retries are capped at 5"}, headers=version)
    assert (draft.status_code, draft.json()["state"]) == (200, "candidate")
    assert world.call("GET", path, role="reader").json()["state"] == "active"
    assert world.call("GET", f"{LESSONS}/{draft.json()['id']}", role="reader").status_code == 404
    assert world.call("POST", f"{LESSONS}/{draft.json()['id']}/accept", role="reviewer").status_code == 200
    assert world.call("GET", path, role="reader").json()["state"] == "superseded"


def test_a_lesson_is_edited_retired_forgotten_and_its_history_stays(world: World) -> None:
    saved = world.lesson("Retries are capped at 3")
    path = f"{LESSONS}/{saved['id']}"
    edited = world.call("PATCH", path + "/when", json={"commands": ["make deploy"], "revive_when": "numpy>=2"})
    assert (edited.json()["when"]["commands"], edited.json()["revival"]) == (["make deploy"], "numpy>=2")
    retired = world.call("POST", path + "/retire", headers={"If-Match": edited.headers["ETag"]})
    assert retired.json()["state"] == "retired"
    forgotten = world.call("DELETE", path, headers={"If-Match": retired.headers["ETag"]})
    assert (forgotten.json()["state"], "Retries" in forgotten.text) == ("forgotten", False)
    verbs = [version["verb"] for version in world.call("GET", path + "/history", role="reader").json()["items"]]
    assert verbs == ["remember", "revise", "edit", "retire", "forget"]
    assert world.call("POST", f"/projects/{SHOP}/undo").status_code == 200
    assert world.call("GET", path).json()["state"] == "retired"


def test_a_purged_lesson_leaves_nothing_in_any_answer(world: World) -> None:
    saved = world.lesson("Retries are capped at xylophone 3")
    path = f"{LESSONS}/{saved['id']}"
    world.call("POST", LESSONS, json={"insight": "Another rule of ours"}, headers={"Idempotency-Key": "again"})
    assert world.call("POST", path + "/purge").json()["erased"]["lessons"] == 1
    assert world.call("GET", path).status_code == 404
    assert "xylophone" not in world.call("GET", f"/projects/{SHOP}/documents").text
    assert world.home.team.stores.records.count(IdempotentAnswer) == 0


def test_what_members_say_of_a_lesson_is_listed_and_taken_back(world: World) -> None:
    saved = world.lesson("Retries are capped at 3")
    path = f"{LESSONS}/{saved['id']}"
    flagged = world.call("POST", path + "/flags", role="reader", json={"reason": "stale", "note": "since v2"})
    assert [flag["reason"] for flag in flagged.json()["flags"]] == ["stale"]
    assert [flag["note"] for flag in world.call("GET", f"/projects/{SHOP}/flags").json()["items"]] == ["since v2"]
    assert len(world.call("POST", path + "/confirmations", role="reader").json()["confirmations"]) == 1
    assert world.call("GET", path + "/flags", role="reader").json()["items"] == []
    assert world.call("DELETE", path + "/confirmations", role="reader").json()["confirmations"] == []


def test_enough_confirmations_make_a_proposal_active_where_the_team_says_so(world: World) -> None:
    world.call("PATCH", "/organisation", json={"rules": {"confirmations": 2}})
    saved = world.lesson("Retries are capped at 3", role="writer")
    path = f"{LESSONS}/{saved['id']}/confirmations"
    assert world.call("POST", path, role="writer").status_code == 403
    assert world.call("POST", path, role="reader").json()["lesson"]["state"] == "candidate"
    accepted = world.call("POST", path, role="proposer").json()
    assert (accepted["lesson"]["state"], accepted["accepted_by"]) == ("active", "confirmations")


def test_a_rule_of_the_organisation_is_changed_only_there(world: World) -> None:
    rule = world.lesson("Never log a customer's name", project="organisation")
    assert rule["scope"] == {"level": "team", "project": "organisation"}
    refused = world.call("POST", "/projects/organisation/lessons", role="writer", json={"insight": "Log it"})
    assert refused.status_code == 403
    path = f"{LESSONS}/{rule['id']}"
    assert world.call("GET", path, role="reader").status_code == 200
    refused = world.call("POST", path + "/retire")
    assert (refused.status_code, refused.json()["hint"]) == (403, "change it in the project organisation")


def test_conflicts_are_listed_and_settled(world: World) -> None:
    first = world.lesson("The dev server listens on port 8080.")
    second = world.lesson("The dev server listens on port 9090.")
    pairs = world.call("GET", f"/projects/{SHOP}/conflicts", role="reviewer").json()["items"]
    assert [{pair["better"]["id"], pair["worse"]["id"]} for pair in pairs] == [{first["id"], second["id"]}]
    assert world.call("GET", f"/projects/{SHOP}/conflicts", role="reader").json()["items"] == []
    settled = world.call("POST", f"/projects/{SHOP}/conflicts", json={"keep": second["id"]})
    assert (settled.status_code, settled.json()["state"]) == (200, "active")
    assert world.call("GET", f"{LESSONS}/{first['id']}").json()["state"] == "superseded"


def test_a_rule_of_the_organisation_reaches_every_project_and_is_reviewed_once(world: World) -> None:
    rule = world.lesson("Never log a customer's name", project="organisation", pinned=True)
    for project in (SHOP, SECRET):
        listed = world.call("GET", f"/projects/{project}/lessons", role="reader").json()["items"]
        assert [lesson["id"] for lesson in listed] == [rule["id"]]
        answer = world.call(
            "POST", f"/projects/{project}/recall", role="reader", json={"text": "log a customer's name"}
        )
        assert [item["lesson"]["id"] for item in answer.json()["items"]] == [rule["id"]]
        start = world.call("POST", f"/projects/{project}/brief", role="reader").json()["briefings"][0]
        assert "customer" in start["text"]
        assert world.call("GET", f"/projects/{project}/documents", role="reader").json()["documents"] == []
    assert len(world.call("GET", "/projects/organisation/documents", role="reader").json()["documents"]) == 1


def test_exactly_one_change_is_undone_and_words_and_triggers_change_together(world: World) -> None:
    saved = world.lesson("Retries are capped at 3")
    path = f"{LESSONS}/{saved['id']}"
    change = {"insight": "Retries are capped at 5", "when": {"commands": ["make retry"]}}
    revised = world.call("PATCH", path, json=change, headers={"If-Match": world.call("GET", path).headers["ETag"]})
    assert revised.json()["when"]["commands"] == ["make retry"]
    entry = world.call("GET", f"/projects/{SHOP}/log").json()["items"][0]
    world.lesson("Times are UTC")
    undone = world.call("POST", f"/projects/{SHOP}/undo?change={entry['id']}")
    assert (undone.status_code, undone.json()["undone"]) == (200, entry["id"])
    assert world.call("GET", path).json()["state"] == "active"
    assert world.call("POST", f"/projects/{SHOP}/undo?change={entry['id']}").status_code == 422
