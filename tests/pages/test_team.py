"""The pages of the team on a server: what each role sees, what it may change, and that nobody learns a secret twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.domain.team import NO_TEAM, ROLES, VERB_ROLES, Invitation, Member, Organisation, Role, TeamProject, Token
from holdfast.pages.table import ACTIONS, PAGES
from holdfast.pages.team import VERB_WORDS
from tests.surfaces.rest.world import SECRET, SHOP, World, open_world

from .served import ServedSite, open_served
from .site import words_of

TEAM_PAGES = ("members", "tokens", "roles", "activity", "audit", "settings")
FOR_ADMINS = ("audit", "settings")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("team")
    with open_world(folder) as opened:
        opened.lesson("Prices are integers of cents", role="author")
        opened.lesson("The tax table is cached for a day", role="proposer")
        opened.lesson("The vault opens on Mondays", project=SECRET)
        yield opened


@pytest.fixture(scope="module")
def site(world: World) -> Iterator[ServedSite]:
    with open_served(world) as opened:
        yield opened


def html(site: ServedSite, path: str, role: str = "admin") -> str:
    answer = site.get(path, role=role)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_its_pages_and_is_refused_the_others(site: ServedSite, role: Role) -> None:
    tabs = html(site, "/team/members", role)
    for name in TEAM_PAGES:
        is_theirs = role == "admin" or name not in FOR_ADMINS
        assert site.get(f"/team/{name}", role=role).status_code == (200 if is_theirs else 403)
        assert (f'href="/team/{name}"' in tabs) == is_theirs


@pytest.mark.parametrize("role", ["reader", "writer", "reviewer"])
def test_what_a_role_may_not_do_is_not_shown_and_refused_when_posted(site: ServedSite, role: Role) -> None:
    shown = {action for name in TEAM_PAGES for action in _actions(site, f"/team/{name}", role)}
    refused = 0
    for row in ACTIONS:
        if not row.path.startswith("/team/") or row.verb != "administer":
            continue
        path = re.sub(r"\{project\}", SHOP, row.path)
        path = re.sub(r"\{member\}", site.world.home.members["writer"], path)
        path = re.sub(r"\{\w+\}", "x", path)
        assert not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", row.path), action) for action in shown - {"/team/me"})
        fields = {"name": "Mallory", "role": "admin"} if "name" in getattr(row.form, "__slots__", ()) else {}
        assert site.post(path, fields, role=role).status_code in (400, 403), row.name
        refused += 1
    assert refused > 10
    member = site.world.home.team.stores.records.get(Member, site.world.home.members["writer"])
    assert member is not None
    assert (member.role, member.active) == ("writer", True)


def _actions(site: ServedSite, path: str, role: Role) -> set[str]:
    answer = site.get(path, role=role)
    return set(re.findall(r'<form method="post" action="([^"]+)"', answer.text)) if answer.status_code == 200 else set()


def test_addresses_and_last_seen_are_for_admins_and_oneself(site: ServedSite) -> None:
    writer = site.world.home.members["writer"]
    fields = {"name": "Wilma", "role": "writer", "email": "w@example.org", "handles": "wil"}
    assert site.post(f"/team/members/{writer}", fields).status_code == 303
    for role, sees in (("admin", True), ("writer", True), ("reader", False)):
        page = html(site, "/team/members", role)
        assert ("w@example.org" in page) == sees
        line = page.split("<strong>Wilma</strong>")[1].split("</li>")[0]
        assert (" seen" in line) == sees
        assert "@wil" in line


def test_members_have_what_they_taught_and_nothing_that_the_reader_may_not_see(site: ServedSite) -> None:
    page = html(site, "/team/members", "reader")
    line = page.split("<strong>Author of Acme</strong>")[1].split("</li>")[0]
    assert "Prices are integers of cents" in line
    assert "cached for a day" not in page, "what waits for review is nobody else's"


def test_a_token_is_shown_once_and_revoked(site: ServedSite) -> None:
    answer = site.post("/team/tokens/new", {"name": "my <laptop>", "role": "reader", "days": "30"}, role="writer")
    text = re.search(r"hf_[\w-]+", answer.text)
    assert text
    assert answer.headers["cache-control"] == "no-store"
    assert "my &lt;laptop&gt;" in answer.text
    page = html(site, "/team/tokens", "writer")
    assert text[0] not in page
    assert site.world.call("GET", "/me", token=text[0]).json()["role"] == "reader"
    (token,) = (t for t in site.world.home.team.stores.records.find(Token, limit=1_000) if t.name == "my <laptop>")
    assert token.id not in html(site, "/team/tokens", "reader"), "others do not see it"
    assert site.post(f"/team/tokens/{token.id}/revoke", role="reader").status_code == 404
    assert site.post(f"/team/tokens/{token.id}/revoke", role="writer").status_code == 303
    assert site.world.call("GET", "/me", token=text[0]).status_code == 401


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"name": "", "role": "reader"}, 400), ({"name": "x", "role": "owner"}, 400),
        ({"name": "x", "role": "admin"}, 403), ({"name": "x", "role": "reader", "days": "-1"}, 422),
        ({"name": "x", "role": "reader", "secret": "1"}, 400),
        ({"name": "x", "role": "writer", "for_program": "true"}, 403),
    ],
)  # fmt: skip
def test_an_impossible_token_is_refused_and_none_is_made(site: ServedSite, fields: dict[str, str], status: int) -> None:
    site.session("writer")  # which is a token, too
    before = site.world.home.team.stores.records.count(Token)
    assert site.post("/team/tokens/new", fields, role="writer").status_code == status
    assert site.world.home.team.stores.records.count(Token) == before


def test_an_invitation_is_shown_once_and_revoked(site: ServedSite) -> None:
    answer = site.post("/team/invitations", {"name": "Grace", "role": "reader", "days": "3"})
    assert re.search(r"/invite/hf_\w+", answer.text)
    page = html(site, "/team/members")
    assert "Grace" in page
    assert "/invite/" not in page
    invitations = site.world.home.team.stores.records.find(Invitation)
    (open_one,) = (invitation for invitation in invitations if invitation.name == "Grace")
    assert site.post(f"/team/invitations/{open_one.id}/revoke").status_code == 303
    assert "Grace" not in html(site, "/team/members")


def test_the_last_admin_stays_and_the_page_says_why(site: ServedSite) -> None:
    own = site.world.home.members["admin"]
    answer = site.post(f"/team/members/{own}", {"name": "Boss", "role": "reader"})
    assert answer.status_code == 409
    assert "admin" in words_of(answer.text)


def test_a_closed_account_is_out_at_once_and_can_come_back(site: ServedSite) -> None:
    proposer = site.world.home.members["proposer"]
    assert site.post(f"/team/members/{proposer}/close").status_code == 303
    assert site.world.call("GET", "/me", role="proposer").status_code == 401
    assert "account closed" in html(site, "/team/members", "reader")
    assert site.post(f"/team/members/{proposer}/open").status_code == 303
    assert site.world.call("GET", "/me", role="proposer").status_code == 200


def test_members_change_their_own_name_and_nothing_else(site: ServedSite) -> None:
    assert site.post("/team/me", {"name": "Rhea"}, role="reader").status_code == 303
    assert "<strong>Rhea</strong>" in html(site, "/team/members", "reader")
    assert site.post("/team/me", {"name": "Rhea", "role": "admin"}, role="reader").status_code == 400


def test_roles_come_from_the_table_of_verbs(site: ServedSite) -> None:
    assert VERB_WORDS.keys() == VERB_ROLES.keys()
    data = site.get("/team/roles", role="writer", accept="application/json").json()
    assert [line["verb"] for line in data["verbs"]] == list(VERB_ROLES)
    may = {line["verb"]: line["roles"] for line in data["verbs"]}
    assert may["review"] == ["reviewer", "admin"]
    assert [line["role"] for line in data["roles"] if line["is_reader"]] == ["writer"]


def test_activity_has_days_and_names_in_order_and_no_sums_by_person(site: ServedSite) -> None:
    data = site.get("/team/activity", role="reader", accept="application/json").json()
    (day,) = data["days"]
    assert day["members"] == sorted(day["members"], key=str.casefold)
    assert {line["done"] for line in day["done"]} >= {"stated"}
    assert day.keys() == {"day", "done", "members", "projects"}


def test_the_audit_log_is_filtered_paged_and_checked(site: ServedSite) -> None:
    site.post("/team/settings/name", {"name": "Acme"})
    site.post("/team/invitations", {"role": "reader"})
    everything = site.get("/team/audit", accept="application/json").json()
    assert len(everything["lines"]) == 50 or everything["next"] == ""
    about = site.get("/team/audit?about=invitation", accept="application/json").json()
    assert {line["entry"]["action"] for line in about["lines"]} >= {"invitation.make"}
    assert all(line["entry"]["action"].startswith("invitation.") for line in about["lines"])
    writer = site.world.home.members["writer"]
    site.post("/team/tokens/new", {"name": "phone", "role": "reader"}, role="writer")
    theirs = site.get(f"/team/audit?who={writer}", accept="application/json").json()
    assert {line["entry"]["actor"] for line in theirs["lines"]} == {writer}
    older = site.get(f"/team/audit?cursor={everything['next']}", accept="application/json").json()
    assert not everything["next"] or older["lines"][0]["entry"]["seq"] == everything["lines"][-1]["entry"]["seq"] - 1
    checked = site.get("/team/audit?check=true", accept="application/json").json()["checked"]
    assert checked["faults"] == []
    page = html(site, f"/team/audit?check=true&head={checked['head']}")
    assert "the end that you noted is among them" in page
    assert site.get("/team/audit?about=nothing").status_code == 400
    wrong = html(site, "/team/audit?check=true&head=1:" + "a" * 64)
    assert "Somebody changed the log" in wrong


def test_settings_are_saved_as_a_whole_and_refused_with_a_reason(site: ServedSite) -> None:
    forms = {
        "review": {"confirmations": "2", "owners": "true"},
        "sign-in": {"domains": "example.org, Acme.example", "sign_in_role": "reader"},
        "quotas": {"lessons": "5000", "members": "0", "requests_a_minute": "600"},
        "name": {"name": "Acme & Sons"},
    }
    for name, fields in forms.items():
        assert site.post(f"/team/settings/{name}", fields).status_code == 303
    (organisation,) = site.world.home.team.stores.records.find(Organisation)
    assert (organisation.rules.confirmations, organisation.rules.owners) == (2, True)
    assert (organisation.domains, organisation.sign_in_role) == (("example.org", "acme.example"), "reader")
    assert (organisation.limits.lessons, organisation.limits.requests_a_minute) == (5_000, 600)
    page = html(site, "/team/settings")
    assert 'value="Acme &amp; Sons"' in page
    assert 'value="example.org acme.example"' in page
    assert site.post("/team/settings/quotas", {"lessons": "-1"}).status_code == 422
    assert site.post("/team/settings/sign-in", {"domains": "not a domain!"}).status_code == 422
    site.post("/team/settings/review", {"confirmations": "0"})
    (organisation,) = site.world.home.team.stores.records.find(Organisation)
    assert (organisation.rules.confirmations, organisation.rules.owners) == (0, False)


def test_teams_and_projects_are_set_on_the_page(site: ServedSite) -> None:
    writer = site.world.home.members["writer"]
    assert site.post("/team/teams", {"name": "Payments", "handle": "@acme/pay", "members": writer}).status_code == 303
    (team,) = site.world.call("GET", "/teams").json()["items"]
    assert (team["handle"], team["members"]) == ("acme/pay", [writer])
    assert site.post(f"/team/projects/{SECRET}", {"name": "Lab", "teams": team["id"]}).status_code == 303
    assert "Lab" in html(site, "/", "writer")
    assert "Lab" not in html(site, "/", "reader")
    assert site.post(f"/team/teams/{team['id']}/remove").status_code == 409
    site.post(f"/team/projects/{SECRET}", {"name": "Secret-Lab"})
    assert site.post(f"/team/teams/{team['id']}/remove").status_code == 303
    assert site.post(f"/team/projects/{SHOP}/owners", {"codeowners": "* @wil\r\n"}).status_code == 303


def test_a_project_of_one_persons_memory_stays_for_admins_when_it_is_renamed(site: ServedSite) -> None:
    stores = site.world.home.team.stores
    with stores.changing():
        project = stores.records.get(TeamProject, SECRET)
        assert project is not None
        stores.records.put(replace(project, teams=(NO_TEAM,)))
    page = html(site, "/team/settings")
    assert "for admins alone" in page
    assert 'name="is_closed" value="true" checked' in page
    assert site.post(f"/team/projects/{SECRET}", {"name": "Attic", "is_closed": "true"}).status_code == 303
    assert "Attic" in html(site, "/")
    assert "Attic" not in html(site, "/", "writer")
    assert site.post(f"/team/projects/{SECRET}", {"name": "Secret-Lab"}).status_code == 303
    assert "Secret-Lab" in html(site, "/", "writer")


def test_the_audit_log_says_in_words_what_was_done(site: ServedSite) -> None:
    site.post("/team/tokens/new", {"name": "spare", "role": "reader", "days": "30"}, role="writer")
    page = html(site, "/team/audit")
    assert "made a token" in page
    assert "token.issue" not in page
    assert "kind browser" in page


def test_only_a_server_has_these_pages(site: ServedSite) -> None:
    rows = [row for row in (*PAGES, *ACTIONS) if row.path.startswith("/team/")]
    assert len(rows) > 20
    assert all(row.is_served_only for row in rows)


def test_a_name_is_text_on_every_page(site: ServedSite) -> None:
    name = "<img src=x onerror=alert(1)>{{7*7}}"
    assert site.post("/team/me", {"name": name}, role="reviewer").status_code == 303
    for page in ("members", "tokens", "roles", "activity", "audit", "settings"):
        shown = html(site, f"/team/{page}")
        assert "<img" not in shown
        assert "49" not in words_of(shown).replace("{{7*7}}", "") or "{{7*7}}" in shown
    assert "{{7*7}}" in html(site, "/team/members")
