from __future__ import annotations

import hmac
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.team import Limits, Member, OrganisationId, Token
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import (
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    StoreFullError,
)
from holdfast.redaction import redact
from holdfast.team import access, tokentext
from holdfast.team.members import change_member
from holdfast.team.projects import change_organisation
from holdfast.team.tokens import issue, list_tokens, revoke
from tests.team.office import HARBOUR, Office


@given(st.binary(min_size=37, max_size=37), st.sampled_from("psbi"), st.integers(1, 999_999_999))
def test_a_token_text_has_one_form_that_redaction_removes(random: bytes, letter: str, organisation: int) -> None:
    parts = iter((random[:5], random[5:]))
    made = tokentext.make(letter, OrganisationId(organisation), lambda size: next(parts))
    text = made.render()
    parsed = tokentext.parse(text)
    assert parsed is not None
    assert (parsed.letter, parsed.id, parsed.secret) == (letter, made.id, made.secret)
    assert parsed.organisation == organisation
    assert made.secret not in redact(f"I pasted {text} into the chat")
    assert made.secret not in redact(f"curl -H 'Authorization: Bearer {text}' https://memory.acme.org/#{text}")
    assert made.secret not in repr(made)


def test_a_mistyped_token_is_none(office: Office) -> None:
    text = office.key
    for wrong in ("", "hf_", text[:-1], text + "0", text.swapcase(), f" {text}", text.replace("hf_p", "hf_s")):
        assert tokentext.parse(wrong) is None
    for at in range(len(text)):
        other = text[:at] + ("a" if text[at] != "a" else "b") + text[at + 1 :]
        assert tokentext.parse(other) is None


def test_a_token_signs_its_member_in(office: Office) -> None:
    caller = office.signed_in(office.key)
    assert (caller.name, caller.role, caller.organisation, caller.kind) == ("Ada", "admin", 1, "personal")
    assert caller.may("administer")
    assert caller.actor == caller.member


def test_the_store_has_no_secret(office: Office) -> None:
    secret = tokentext.parse(office.key).secret
    assert all(secret not in repr(token) for token in office.records.find(Token))


def refused(office: Office, text: str) -> None:
    with pytest.raises(NotSignedInError) as caught:
        office.signed_in(text)
    assert (str(caught.value), caught.value.hint) == (
        "this needs a valid token",
        "holdfast login URL, with a token in force; programs send `Authorization: Bearer TOKEN`",
    )


def test_every_token_that_does_not_hold_is_refused_in_the_same_words(office: Office) -> None:
    refused(office, "")
    refused(office, "hf_nonsense")
    refused(office, tokentext.make("p", OrganisationId(1), office.random_bytes).render())
    refused(office, tokentext.make("p", OrganisationId(77), office.random_bytes).render())
    ours = tokentext.parse(office.key)
    refused(office, replace(ours, secret="A" * 43).render())
    refused(office, replace(ours, letter="s").render())
    refused(office, replace(ours, letter="i").render())
    expiring = office.token_of(office.admin, days=1)
    office.signed_in(expiring)
    office.clock.advance(24 * 3600)
    refused(office, expiring)
    token, revoked = issue(office.team, office.admin, name="lost")
    revoke(office.team, office.admin, token.id)
    refused(office, revoked)


def test_an_unknown_id_costs_the_same_questions_and_the_same_comparison(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: Counter[int] = Counter()

    def compare(presented: str, stored: str) -> bool:
        compared[len(presented), len(stored)] += 1
        return hmac.compare_digest(presented, stored)

    monkeypatch.setattr(access, "compare_digest", compare)
    known = replace(tokentext.parse(office.key), secret="A" * 43)
    for text in (known.render(), tokentext.make("p", OrganisationId(1), office.random_bytes).render(), "rubbish"):
        refused(office, text)
    assert compared == {(64, 64): 3}


def test_a_closed_account_signs_in_no_more(office: Office) -> None:
    bob = office.join("Bob")
    text = office.token_of(bob)
    office.signed_in(text)
    change_member(office.team, office.admin, bob.member, active=False)
    refused(office, text)
    change_member(office.team, office.admin, bob.member, active=True)
    assert office.signed_in(text).name == "Bob"


def test_a_member_who_is_gone_signs_in_no_more(office: Office) -> None:
    bob = office.join("Bob")
    text = office.token_of(bob)
    office.records.remove(Member, bob.member)
    refused(office, text)


def test_the_lesser_of_the_tokens_and_the_members_role_counts(office: Office) -> None:
    bob = office.join("Bob", "reviewer")
    reading, full = office.token_of(bob, role="reader"), office.token_of(bob)
    assert office.signed_in(reading).role == "reader"
    assert not office.signed_in(reading).may("write")
    assert office.signed_in(full).may("review")
    change_member(office.team, office.admin, bob.member, role="writer")
    assert office.signed_in(full).role == "writer"
    assert not office.signed_in(full).may("review")
    change_member(office.team, office.admin, bob.member, role="admin")
    assert office.signed_in(full).role == "reviewer"


def test_a_token_may_do_only_its_verbs_in_only_its_projects(office: Office) -> None:
    office.open_project()
    office.open_project(ProjectId("quay"))
    caller = office.signed_in(office.token_of(office.admin, verbs=["read", "capture"], projects=[HARBOUR]))
    stores = office.team.stores
    assert access.project_for(stores, caller, "read", HARBOUR).id == HARBOUR
    assert access.project_for(stores, caller, "capture", HARBOUR).id == HARBOUR
    with pytest.raises(ForbiddenError, match="this token may not write") as limited:
        access.project_for(stores, caller, "write", HARBOUR)
    assert "not limited" in limited.value.hint
    with pytest.raises(NotFoundError) as hidden:
        access.project_for(stores, caller, "read", ProjectId("quay"))
    with pytest.raises(NotFoundError) as unknown:
        access.project_for(stores, caller, "read", ProjectId("nowhere"))
    assert (str(hidden.value), hidden.value.hint) == (str(unknown.value), unknown.value.hint)


def test_nobody_issues_a_token_that_may_do_more_than_they(office: Office) -> None:
    office.open_project()
    bob = office.join("Bob")
    with pytest.raises(ForbiddenError, match="yours is writer"):
        issue(office.team, bob, name="x", role="reviewer")
    with pytest.raises(ForbiddenError, match="admin"):
        issue(office.team, bob, name="x", kind="service")
    with pytest.raises(ForbiddenError):
        issue(office.team, bob, name="x", kind="session")
    for limits in ({"verbs": ["read"]}, {"projects": [HARBOUR]}):
        limited = office.signed_in(office.token_of(bob, **limits))
        with pytest.raises(ForbiddenError, match="limited"):
            issue(office.team, limited, name="x")
    weaker = office.signed_in(office.token_of(bob, role="reader"))
    assert office.signed_in(office.token_of(weaker)).role == "reader"
    with pytest.raises(ForbiddenError):
        issue(office.team, weaker, name="x", role="writer")


def test_a_token_does_not_outlive_the_one_it_was_asked_for_with(office: Office) -> None:
    bob = office.signed_in(office.token_of(office.join("Bob"), days=10))
    soon, never = issue(office.team, bob, name="x", days=3)[0], issue(office.team, bob, name="x", days=0)[0]
    assert soon.expires_at - office.clock.at < timedelta(days=3)
    assert never.expires_at == bob.expires_at
    assert issue(office.team, office.admin, name="x", days=0)[0].expires_at is None
    browser = office.join("Cleo")
    assert issue(office.team, browser, name="x", days=30)[0].expires_at > browser.expires_at
    with pytest.raises(InvalidValueError):
        issue(office.team, office.admin, name="x", days=-1)


def test_a_service_token_is_nobodys(office: Office) -> None:
    caller = office.signed_in(office.token_of(office.admin, kind="service", role="writer", name="nightly build"))
    assert (caller.member, caller.name, caller.actor) == ("", "nightly build", f"token:{caller.token}")
    with pytest.raises(ForbiddenError):
        issue(office.team, caller, name="x")
    assert list_tokens(office.team, caller) == []


def test_a_token_for_an_unknown_project_or_verb_is_refused(office: Office) -> None:
    with pytest.raises(NotFoundError):
        issue(office.team, office.admin, name="x", projects=[ProjectId("nowhere")])
    with pytest.raises(InvalidValueError, match="fly"):
        issue(office.team, office.admin, name="x", verbs=["fly"])
    with pytest.raises(InvalidValueError, match="role"):
        issue(office.team, office.admin, name="x", role="owner")
    with pytest.raises(InvalidValueError, match="name"):
        issue(office.team, office.admin, name="  ")


def test_members_see_and_revoke_their_own_tokens_and_admins_all(office: Office) -> None:
    bob, cleo = office.join("Bob"), office.join("Cleo")
    bobs = issue(office.team, bob, name="laptop")[0]
    assert {token.member for token in list_tokens(office.team, bob)} == {bob.member}
    assert {token.member for token in list_tokens(office.team, office.admin)} == {
        bob.member, cleo.member, office.admin.member,
    }  # fmt: skip
    with pytest.raises(NotFoundError):
        revoke(office.team, cleo, bobs.id)
    with pytest.raises(NotFoundError):
        revoke(office.team, cleo, "unknown1")
    first = revoke(office.team, bob, bobs.id)
    assert revoke(office.team, office.admin, bobs.id) == first


def test_a_service_token_revokes_itself_and_no_other(office: Office) -> None:
    first, second = (issue(office.team, office.admin, name=name, kind="service", role="reader") for name in "ab")
    caller = office.signed_in(first[1])
    with pytest.raises(NotFoundError):
        revoke(office.team, caller, second[0].id)
    revoke(office.team, caller, first[0].id)
    refused(office, first[1])


def test_the_last_use_is_noted_at_most_once_a_minute(office: Office) -> None:
    token, text = issue(office.team, office.admin, name="laptop")

    def last_use() -> object:
        return office.records.get(Token, token.id).last_used_at

    assert last_use() is None
    office.signed_in(text)
    first = last_use()
    office.clock.advance(59)
    office.signed_in(text)
    assert last_use() == first
    office.clock.advance(2)
    office.signed_in(text)
    assert last_use() > first


def test_noting_the_last_use_does_not_undo_a_revocation(office: Office) -> None:
    token, text = issue(office.team, office.admin, name="laptop")
    before = office.records.get(Token, token.id)
    revoke(office.team, office.admin, token.id)
    access._note_use(office.team.stores, before.id, office.clock.now())
    assert office.records.get(Token, token.id).revoked_at is not None
    refused(office, text)


def test_a_full_disk_does_not_keep_a_reader_out(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    text = office.token_of(office.admin)

    def fail(*_: object) -> None:
        raise StoreFullError("disk full")

    monkeypatch.setattr(type(office.records), "put", fail)
    assert office.signed_in(text).name == "Ada"


def test_an_organisation_has_so_many_tokens(office: Office) -> None:
    change_organisation(office.team, office.admin, limits=Limits(tokens=2))
    office.join("Bob")  # a browser's token does not count
    last, _ = issue(office.team, office.admin, name="the last one")
    with pytest.raises(QuotaExceededError):
        issue(office.team, office.admin, name="one too many")
    assert office.records.count(Token) == 3
    revoke(office.team, office.admin, last.id)
    issue(office.team, office.admin, name="in its place")
    with pytest.raises(QuotaExceededError):
        issue(office.team, office.admin, name="one too many")


def test_tokens_stay_listed_for_some_months_after_their_end(office: Office) -> None:
    revoked, _ = issue(office.team, office.admin, name="lost", days=0)
    revoke(office.team, office.admin, revoked.id)
    expired, _ = issue(office.team, office.admin, name="short", days=10)
    office.clock.advance(89 * 86_400)
    office.records.expire(office.clock.now())
    assert {revoked.id, expired.id} <= {token.id for token in list_tokens(office.team, office.admin)}
    office.clock.advance(12 * 86_400)
    office.records.expire(office.clock.now())
    names = {token.name for token in list_tokens(office.team, office.admin)}
    assert names == {"first key"}
