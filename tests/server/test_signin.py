"""People sign in with a browser: by a provider, by an invitation, by a token; and nobody else does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest

from holdfast.domain.team import AuditEntry, Member, OrganisationId, Token
from holdfast.team import tokens, tokentext
from holdfast.team.tuning import SESSION_DAYS, SESSION_HOURS
from tests.server.identity import CLIENT, SECRET, IdentityProvider, identity_provider
from tests.server.people import CLOCK, Founded, caller_of, found, invite, make_key, open_store, services
from tests.server.serving import WAIT_S, Server, served

OTHERS = tokentext.make("i", OrganisationId(77), bytes).render()
"""An invitation of an organisation that does not exist."""
TOKEN = re.compile(r"hf_p[a-z2-7]{8}1_[\w-]{43}[0-9a-f]{8}")


@contextmanager
def browser(server: Server, **headers: str) -> Iterator[httpx.Client]:
    """A browser at the server's own pages, which follows no redirect by itself."""
    shown = {"sec-fetch-site": "same-origin", **{name.replace("_", "-"): value for name, value in headers.items()}}
    with httpx.Client(base_url=server.url, headers=shown, timeout=WAIT_S) as client:
        yield client


def members(team: Founded) -> list[Member]:
    with open_store(**team.environment) as backend:
        return backend.open(team.number).records.find(Member)


def audit(team: Founded) -> list[AuditEntry]:
    with open_store(**team.environment) as backend:
        return backend.open(team.number).audit.read()


def sign_in(client: httpx.Client, key: str) -> httpx.Response:
    return client.post("/signin", data={"token": key})


def test_a_token_signs_its_member_in_and_out(server: Server, team: Founded) -> None:
    with browser(server) as client:
        assert client.get("/", headers={"accept": "text/html"}).headers["location"] == "/signin"
        assert client.get("/team/tokens").headers["location"] == "/signin?to=%2Fteam%2Ftokens"
        answer = sign_in(client, team.key)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        assert client.get("/account").headers["location"] == "/team/tokens"
        assert "Ada" in client.get("/team/tokens").text
        assert "Acme" in client.get("/team/members").text
        session = client.cookies["holdfast"]
        assert client.post("/signout").headers["location"] == "/signin"
        assert "holdfast" not in client.cookies
        client.cookies.set("holdfast", session)
        assert client.get("/team/tokens").status_code == 303
    assert session not in server.text
    assert team.key not in server.text


def test_each_sign_in_is_a_new_session(server: Server, team: Founded) -> None:
    with browser(server) as client:
        client.cookies.set("holdfast", "chosen by somebody else")
        sign_in(client, team.key)
        first = client.cookies.get("holdfast", domain="127.0.0.1")
        sign_in(client, team.key)
        second = client.cookies.get("holdfast", domain="127.0.0.1")
    assert len({first, second, "chosen by somebody else"}) == 3


def test_a_session_is_no_token_for_programs_pages_and_back(server: Server, team: Founded) -> None:
    with browser(server) as client:
        sign_in(client, team.key)
        session = client.cookies["holdfast"]
        assert sign_in(client, session).status_code in (401, 303, 400)
        client.cookies.clear()
        client.cookies.set("holdfast", team.key)
        assert client.get("/team/tokens").headers["location"].startswith("/signin")


@pytest.mark.parametrize("key", ["", "x", "hf_paaaaaaaa1_" + "A" * 43 + "00000000"])
def test_what_is_no_token_signs_nobody_in(server: Server, key: str) -> None:
    with browser(server) as client:
        answer = sign_in(client, key)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


def test_tokens_of_programs_and_limited_ones_sign_nobody_in(server: Server, team: Founded) -> None:
    with browser(server) as client:
        assert "set-cookie" not in sign_in(client, make_key(team, "admin")).headers
        sign_in(client, team.key)
        limited = make_token(client, role="reader")
        client.cookies.clear()
        answer = sign_in(client, limited)
        assert "set-cookie" not in answer.headers
        assert "may do less" in answer.text


def make_token(client: httpx.Client, name: str = "laptop", role: str = "writer", days: str = "30") -> str:
    page = client.post("/team/tokens/new", data={"name": name, "role": role, "days": days}).text
    token = TOKEN.search(page)
    assert token, page
    return token[0]


def test_a_token_is_made_shown_once_and_revoked(server: Server, team: Founded) -> None:
    with browser(server) as client:
        sign_in(client, team.key)
        text = make_token(client, name="<b>my laptop</b>")
        page = client.get("/team/tokens").text
        assert text not in page
        assert "&lt;b&gt;my laptop&lt;/b&gt;" in page
        assert "<b>my laptop" not in page
        assert me(server, text) == 200
        id_ = text[4:13]
        assert client.post(f"/team/tokens/{id_}/revoke").status_code == 303
        assert me(server, text) == 401
        assert client.post("/team/tokens/aaaaaaaa1/revoke").status_code == 404


def me(server: Server, key: str) -> int:
    return server.get("/v1/me", authorization=f"Bearer {key}").status_code


@pytest.mark.parametrize(
    "form",
    [
        {"name": "", "role": "writer", "days": "30"}, {"name": "x", "role": "owner", "days": "30"},
        {"name": "x", "role": "writer", "days": "-1"}, {"name": "x", "role": "writer", "days": "x"}, {},
    ],
)  # fmt: skip
def test_a_wrong_form_is_said_and_makes_nothing(server: Server, team: Founded, form: dict[str, str]) -> None:
    with browser(server) as client:
        sign_in(client, team.key)
        before = client.get("/team/tokens").text.count('class="row"')
        assert client.post("/team/tokens/new", data=form).status_code in (400, 422)
        assert client.get("/team/tokens").text.count('class="row"') == before


@pytest.mark.parametrize(
    "headers",
    [
        {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "origin": "http://127.0.0.1"},
    ],
)  # fmt: skip
def test_a_page_of_another_site_changes_nothing(server: Server, team: Founded, headers: dict[str, str]) -> None:
    with browser(server, **headers) as client:
        for path in ("/signin", "/signout", "/team/tokens/new", "/invite/x", "/team/tokens/x/revoke"):
            assert client.post(path, data={"token": team.key}).status_code == 403


def test_an_old_browser_says_where_its_page_is_from(server: Server, team: Founded) -> None:
    with httpx.Client(base_url=server.url, timeout=WAIT_S) as client:
        assert client.post("/signin", data={"token": team.key}).status_code == 403
        for origin, status in ((server.url, 303), ("http://evil.example.org", 403), ("null", 403)):
            answer = client.post("/signin", data={"token": team.key}, headers={"origin": origin})
            assert answer.status_code == status


def test_pages_load_and_run_nothing_foreign(server: Server, team: Founded) -> None:
    with browser(server) as client:
        sign_in(client, team.key)
        for path in ("/signin", "/team/tokens", "/invite/x"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert not re.search(r"<script(?! src=\"/static/)|<script[^>]*>[^<]|style=|\son\w+=", answer.text)
            for style in re.findall(r'href="(/static/[^"]+\.css)"', answer.text):
                assert client.get(style).headers["content-type"].startswith("text/css")


def test_an_invitation_makes_a_member_once(server: Server, team: Founded) -> None:
    text = invite(team, "reviewer")
    with browser(server) as client:
        for _ in range(2):  # programs that look at links use nothing up
            page = client.get(f"/invite/{text}")
            assert (page.status_code, "Join Acme" in page.text, "reviewer" in page.text) == (200, True, True)
        assert "alert" in client.post(f"/invite/{text}", data={"name": " "}).text
        joined = client.post(f"/invite/{text}", data={"name": "Grace"})
        key = TOKEN.search(joined.text)
        assert key
        assert me(server, key[0]) == 200
        assert "Grace" in client.get("/team/tokens").text
    with browser(server) as client:
        assert client.post(f"/invite/{text}", data={"name": "Mallory"}).status_code == 404
        assert client.get(f"/invite/{text}").status_code == 404
    assert "Grace" in [member.name for member in members(team)]
    assert "Mallory" not in [member.name for member in members(team)]
    assert text not in server.text


def test_an_invitation_that_is_none_is_refused(server: Server) -> None:
    with browser(server) as client:
        for text in ("x", "hf_iaaaaaaaa1_" + "A" * 43 + "00000000", OTHERS, "%00", "..%2f..%2fetc"):
            assert client.get(f"/invite/{text}").status_code == 404


def test_failed_sign_ins_are_counted(home: Path) -> None:
    found()
    with served() as running, browser(running) as client:
        statuses = [sign_in(client, "wrong").status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2


def test_a_form_that_is_too_long_is_refused(server: Server) -> None:
    with browser(server) as client:
        assert client.post("/signin", data={"token": "x" * 20_000}).status_code == 400


# By an identity provider


@pytest.fixture
def theirs() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


@contextmanager
def served_with(theirs: IdentityProvider, team: Founded) -> Iterator[Server]:
    """A server whose people sign in there."""
    arguments = [f"oidc_issuer={theirs.issuer}", f"oidc_client={CLIENT}", "public_url=http://localhost"]
    with served(arguments, HOLDFAST_OIDC_SECRET=SECRET, **team.environment) as server:
        yield server


def depart(client: httpx.Client) -> str:
    """Go to the provider, which sends the browser back: to that address."""
    away = client.get("/signin/start")
    assert away.status_code == 303, away.text
    back = httpx.get(away.headers["location"]).headers["location"]
    assert back.startswith("http://localhost/signin/callback?")
    return back.removeprefix("http://localhost")


@pytest.fixture
def own_team(tmp_path: Path) -> Founded:
    return found(HOME=str(tmp_path), HOLDFAST_HOME=str(tmp_path / ".holdfast"), HOLDFAST_HOLDOUT="0")


def test_the_provider_s_person_becomes_the_member_with_that_address(
    theirs: IdentityProvider, own_team: Founded
) -> None:
    with served_with(theirs, own_team) as server, browser(server) as client:
        answer = client.get(depart(client), headers={"sec-fetch-site": "cross-site"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "Ada" in client.get("/team/tokens").text
        theirs.claims = {"email": "another@example.org", "email_verified": True}  # the subject counts, not the address
        with browser(server) as again:
            assert again.get(depart(again)).headers["location"] == "/"
    assert [member.external_id for member in members(own_team)] == [f"{theirs.issuer} person-1"]
    assert "member.sign_in" in [entry.action for entry in audit(own_team)]


def test_strangers_and_unproved_addresses_stay_outside(theirs: IdentityProvider, own_team: Founded) -> None:
    with served_with(theirs, own_team) as server, browser(server) as client:
        for claims in (
            {"email": "eve@example.org", "email_verified": True}, {"email": "ada@example.org"},
            {"email": "ada@example.org", "email_verified": False},
            {"email": "ada@example.org.evil", "email_verified": True},
        ):  # fmt: skip
            theirs.claims = claims
            answer = client.get(depart(client))
            assert answer.status_code == 403
            assert "holdfast" not in client.cookies
            assert client.get("/team/tokens").status_code == 303
        theirs.claims, theirs.signs_with_another_key = {"email": "ada@example.org", "email_verified": True}, True
        assert client.get(depart(client)).status_code == 400
        theirs.signs_with_another_key, theirs.refuses = False, True
        assert client.get(depart(client)).status_code == 400
    assert [member.external_id for member in members(own_team)] == [""]


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(theirs: IdentityProvider, own_team: Founded) -> None:
    with served_with(theirs, own_team) as server, browser(server) as client, browser(server) as victim:
        back = depart(client)
        assert victim.get(back).status_code == 400  # a link that an attacker has prepared
        assert client.get(back).status_code == 400  # the attempt is used up
        back = depart(client)
        cookies = dict(client.cookies)
        assert client.get(back).status_code == 303
        client.cookies.update(cookies)
        assert client.get(back).status_code == 400
        state = parse_qs(urlsplit(depart(client)).query)["state"][0]
        for query in ("", "code=x", f"code=x&state={'s' * 30}", f"state={state}"):
            assert client.get(f"/signin/callback?{query}").status_code == 400
        forged = depart(client).replace(theirs.issuer.replace(":", "%3A").replace("/", "%2F"), "https%3A%2F%2Fid")
        assert client.get(forged).status_code == 400


def test_a_provider_that_is_away_is_said(theirs: IdentityProvider, own_team: Founded) -> None:
    theirs.described_issuer = "https://id.example.org"
    with served_with(theirs, own_team) as server, browser(server) as client:
        assert client.get("/signin/start").status_code == 503
        assert "Sign in with single sign-on" in client.get("/signin").text


def test_without_a_provider_nobody_is_sent_away(server: Server) -> None:
    with browser(server) as client:
        assert client.get("/signin/start").status_code == 404
        assert client.get("/signin/callback").status_code == 404


def test_a_signed_in_person_who_does_something_stays_signed_in(own_team: Founded) -> None:
    with open_store(**own_team.environment) as backend:
        team = services(backend)
        member = team.stores.records.get(Member, caller_of(backend, own_team.key).member)
        assert member
        with team.stores.changing():
            session, _ = tokens.make_session(team, member)
        assert not tokens.renew_session(team, session.id)  # too soon to write it again

        def move(hours: float) -> Token:
            """Let the session have been made so long ago and hold for one more hour."""
            stored = team.stores.records.get(Token, session.id)
            assert stored
            now = CLOCK.now()
            team.stores.records.put(
                replace(stored, at=now - timedelta(hours=hours), expires_at=now + timedelta(hours=1))
            )
            tokens.renew_session(team, session.id)
            renewed = team.stores.records.get(Token, session.id)
            assert renewed
            assert renewed.expires_at
            return renewed

        renewed_until = move(11).expires_at
        assert renewed_until
        assert renewed_until - CLOCK.now() > timedelta(hours=SESSION_HOURS - 1)
        ended = move(24 * SESSION_DAYS - 2)
        assert ended.expires_at
        assert ended.expires_at - ended.at <= timedelta(days=SESSION_DAYS)
