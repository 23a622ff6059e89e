"""Only a signed answer of the configured provider, to this sign-in and for this server, says who somebody is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest

from holdfast.server.oidc import Departure, Provider, SignInError
from holdfast.team.signin import IdentityClaims
from tests.server.identity import CLIENT, SECRET, IdentityProvider, identity_provider, make_key

CALLBACK = "https://memory.example.org/signin/callback"


@pytest.fixture
def theirs() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


@pytest.fixture
def ours(theirs: IdentityProvider) -> Provider:
    return Provider(theirs.issuer, CLIENT, SECRET, CALLBACK)


def visit(departure: Departure) -> dict[str, str]:
    """What the browser brings back."""
    answer = httpx.get(departure.url)
    place = urlsplit(answer.headers["location"])
    assert f"{place.scheme}://{place.netloc}{place.path}" == CALLBACK
    return {name: values[0] for name, values in parse_qs(place.query).items()}


def sign_in(ours: Provider, **other: str) -> IdentityClaims:
    departure = ours.depart()
    back = visit(departure)
    assert back["state"] == departure.state
    checked = {"nonce": departure.nonce, "verifier": departure.verifier, **other}
    return ours.receive(back["code"], checked["nonce"], checked["verifier"])


def test_a_signed_answer_says_who_somebody_is(theirs: IdentityProvider, ours: Provider) -> None:
    theirs.claims["name"] = "Ada"
    assert sign_in(ours) == IdentityClaims(
        issuer=theirs.issuer, subject="person-1", email="ada@example.org", email_verified=True, name="Ada"
    )


def test_an_address_may_be_told_separately(theirs: IdentityProvider, ours: Provider) -> None:
    theirs.claims, theirs.userinfo = {}, {"email": "ada@example.org", "email_verified": True}
    assert sign_in(ours).email == "ada@example.org"
    theirs.userinfo["sub"] = "person-2"
    with pytest.raises(SignInError):
        sign_in(ours)


@pytest.mark.parametrize("verified", [None, False, "true", 1])
def test_an_address_counts_as_verified_only_where_the_provider_says_so(
    theirs: IdentityProvider, ours: Provider, verified: Any
) -> None:
    theirs.claims["email_verified"] = verified
    assert not sign_in(ours).email_verified


PAST, FUTURE = timedelta(hours=-1), timedelta(hours=2)


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("aud", "another-client"), ("aud", ["another-client"]), ("aud", None), ("iss", "https://id.example.org"),
        ("iss", None), ("nonce", "an old one"), ("nonce", None), ("sub", None), ("exp", PAST),
        ("exp", None), ("exp", "soon"), ("iat", FUTURE), ("azp", "another-client"),
    ],
)  # fmt: skip
def test_a_wrong_claim_is_refused(theirs: IdentityProvider, ours: Provider, claim: str, value: Any) -> None:
    if isinstance(value, timedelta):
        value = int(time.time() + value.total_seconds())
    theirs.changed = {claim: value}
    with pytest.raises(SignInError):
        sign_in(ours)
    theirs.changed = {}
    assert sign_in(ours).subject == "person-1"


def test_a_signature_with_another_key_is_refused(theirs: IdentityProvider, ours: Provider) -> None:
    theirs.signs_with_another_key = True
    with pytest.raises(SignInError, match="BadSignatureError"):
        sign_in(ours)


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_an_answer_that_anybody_could_have_made_is_refused(
    theirs: IdentityProvider, ours: Provider, algorithm: str
) -> None:
    theirs.algorithm = algorithm
    with pytest.raises(SignInError):
        sign_in(ours)


def test_a_code_without_its_verifier_is_refused(ours: Provider) -> None:
    with pytest.raises(SignInError):
        sign_in(ours, verifier="v" * 48)


def test_a_code_holds_once(ours: Provider) -> None:
    departure = ours.depart()
    code = visit(departure)["code"]
    ours.receive(code, departure.nonce, departure.verifier)
    with pytest.raises(SignInError):
        ours.receive(code, departure.nonce, departure.verifier)


def test_a_wrong_client_secret_is_refused(theirs: IdentityProvider) -> None:
    with pytest.raises(SignInError):
        sign_in(Provider(theirs.issuer, CLIENT, "guessed", CALLBACK))


def test_a_provider_that_calls_itself_something_else_is_refused(theirs: IdentityProvider, ours: Provider) -> None:
    theirs.described_issuer = "https://id.example.org"
    with pytest.raises(SignInError, match="another issuer"):
        ours.depart()
    theirs.described_issuer = ""
    assert ours.depart().url.startswith(f"{theirs.issuer}/authorize?")


def test_a_provider_that_is_away_is_an_error_and_no_crash() -> None:
    with pytest.raises(SignInError, match="does not answer"):
        Provider("http://127.0.0.1:9", CLIENT, SECRET, CALLBACK).depart()


def test_a_new_key_of_the_provider_is_fetched(theirs: IdentityProvider, ours: Provider) -> None:
    sign_in(ours)
    theirs.key = make_key("two", 3)
    theirs.key_name = "two"
    assert sign_in(ours).subject == "person-1"


def test_each_sign_in_has_its_own_state_and_nonce(ours: Provider) -> None:
    first, second = ours.depart(), ours.depart()
    assert len({first.state, second.state, first.nonce, second.nonce, first.verifier, second.verifier}) == 6
