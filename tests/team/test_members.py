from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from holdfast.domain.project import ORGANISATION
from holdfast.domain.team import Invitation, Limits, Member, OrganisationId, ReviewRules, Team, TeamProject
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import (
    ForbiddenError,
    IllegalTransitionError,
    InvalidValueError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    TakenError,
)
from holdfast.team import access, audit, founding, tokentext
from holdfast.team.invitations import accept, invite, list_invitations, read_invitation, revoke_invitation
from holdfast.team.members import (
    add_team,
    change_member,
    change_team,
    get_member,
    list_members,
    list_teams,
    remove_team,
)
from holdfast.team.projects import (
    add_project,
    change_organisation,
    change_project,
    get_organisation,
    list_projects,
    remove_project,
)
from holdfast.team.signin import IdentityClaims, sign_in
from tests.team.office import HARBOUR, Office

QUAY = ProjectId("quay")


# Founding


def test_the_first_organisation_is_made_once(empty_office: Office) -> None:
    founded = empty_office.bootstrap(rules=ReviewRules(confirmations=2))
    assert (founded.number, founded.organisation.name, founded.member.role) == (1, "Acme", "admin")
    assert get_organisation(empty_office.team, empty_office.admin).rules.confirmations == 2
    with pytest.raises(IllegalTransitionError, match="already") as caught:
        empty_office.bootstrap(name="Another")
    assert "--new-key" in caught.value.hint
    assert get_organisation(empty_office.team, empty_office.admin).name == "Acme"
    assert empty_office.signed_in(founded.text).name == "Ada"


def test_only_one_of_two_who_begin_at_once_founds_it(empty_office: Office) -> None:
    errors = []

    def begin() -> None:
        try:
            founding.bootstrap(
                empty_office.backend, empty_office.clock, empty_office.random_bytes, name="A", admin="Ada"
            )
        except IllegalTransitionError as exc:
            errors.append(exc)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 3
    assert empty_office.records.count(Member) == 1


def test_a_lost_key_is_replaced_and_the_log_says_so(empty_office: Office) -> None:
    with pytest.raises(IllegalTransitionError, match="no organisation"):
        founding.new_key(empty_office.backend, empty_office.clock, empty_office.random_bytes)
    empty_office.bootstrap()
    member, text = founding.new_key(empty_office.backend, empty_office.clock, empty_office.random_bytes)
    assert member.name == "Ada"
    assert empty_office.signed_in(text).may("administer")
    last = empty_office.team.stores.audit.last()
    assert (last.action, last.actor) == ("token.issue", "system")


# Members


def test_members_see_names_and_admins_addresses(office: Office) -> None:
    bob = office.join("Bob", email="bob@acme.org")
    assert {(each.name, each.email) for each in list_members(office.team, bob)} == {
        ("Ada", ""), ("Bob", "bob@acme.org"),
    }  # fmt: skip
    assert get_member(office.team, office.admin, bob.member).email == "bob@acme.org"
    assert get_member(office.team, bob, office.admin.member).email == ""
    with pytest.raises(NotFoundError):
        get_member(office.team, bob, "nobody")


def test_members_change_their_name_and_nothing_else(office: Office) -> None:
    bob = office.join("Bob")
    assert change_member(office.team, bob, bob.member, name="Robert").name == "Robert"
    for change in ({"role": "admin"}, {"handles": ["ada"]}, {"email": "ada2@acme.org"}, {"active": False}):
        with pytest.raises(ForbiddenError):
            change_member(office.team, bob, bob.member, **change)
    with pytest.raises(ForbiddenError):
        change_member(office.team, bob, office.admin.member, name="Bob")
    assert office.records.get(Member, bob.member).role == "writer"


def test_what_a_member_cannot_have_is_refused(office: Office) -> None:
    for change in (
        {"role": "owner"}, {"email": "no address"}, {"name": ""}, {"name": "x" * 500}, {"id": "x"},
        {"handles": ["a b"]}, {"external_id": "x"},
    ):  # fmt: skip
        with pytest.raises(InvalidValueError):
            change_member(office.team, office.admin, office.admin.member, **change)


def test_an_organisation_keeps_an_admin(office: Office) -> None:
    for change in ({"role": "reviewer"}, {"active": False}):
        with pytest.raises(IllegalTransitionError, match="no admin"):
            change_member(office.team, office.admin, office.admin.member, **change)
    bob = office.join("Bob", "admin")
    change_member(office.team, office.admin, bob.member, active=False)
    with pytest.raises(IllegalTransitionError):
        change_member(office.team, office.admin, office.admin.member, role="reader")
    change_member(office.team, office.admin, bob.member, active=True)
    assert change_member(office.team, bob, office.admin.member, role="reader").role == "reader"


def test_two_members_do_not_share_an_address(office: Office) -> None:
    bob = office.join("Bob")
    with pytest.raises(TakenError):
        change_member(office.team, office.admin, bob.member, email="ADA@acme.org")


def test_an_organisation_has_so_many_members(office: Office) -> None:
    change_organisation(office.team, office.admin, limits=Limits(members=2))
    office.join("Bob")
    with pytest.raises(QuotaExceededError, match="2 members"):
        office.join("Cleo")
    assert office.records.count(Member) == 2


# Invitations


def test_an_invitation_makes_one_member(office: Office) -> None:
    team = add_team(office.team, office.admin, name="Payments")
    invitation, text = invite(office.team, office.admin, role="reviewer", email="Bob@acme.org", teams=[team.id])
    assert read_invitation(office.backend, text, office.clock.now()) == invitation
    member, _, session = accept(office.team, text, name="Bob")
    assert (member.role, member.email) == ("reviewer", "bob@acme.org")
    caller = office.signed_in(session)
    assert (caller.kind, caller.teams) == ("session", (team.id,))
    with pytest.raises(NotSignedInError):
        accept(office.team, text, name="Eve")
    assert office.records.count(Member) == 2
    assert tokentext.parse(text).secret not in repr(list_invitations(office.team, office.admin))


def test_an_invitation_that_does_not_hold_is_refused_in_the_same_words(office: Office) -> None:
    _, expired = invite(office.team, office.admin, days=1)
    office.clock.advance(86_400)
    withdrawn, text = invite(office.team, office.admin)
    revoke_invitation(office.team, office.admin, withdrawn.id)
    forged = tokentext.make("i", OrganisationId(1), office.random_bytes)
    elsewhere = tokentext.make("i", OrganisationId(2), office.random_bytes)
    known, _ = invite(office.team, office.admin)
    guessed = tokentext.TokenText(letter="i", id=known.id, secret="A" * 43)
    words = set()
    for wrong in (expired, text, forged.render(), elsewhere.render(), guessed.render(), office.key, "", "hf_i"):
        with pytest.raises(NotSignedInError) as caught:
            accept(office.team, wrong, name="Eve")
        words.add(str(caught.value))
    assert len(words) == 1
    assert office.records.count(Member) == 1


def test_an_invitation_needs_an_admin_and_sense(office: Office) -> None:
    bob = office.join("Bob", "reviewer")
    with pytest.raises(ForbiddenError):
        invite(office.team, bob)
    with pytest.raises(ForbiddenError):
        list_invitations(office.team, bob)
    with pytest.raises(ForbiddenError):
        revoke_invitation(office.team, bob, "x")
    with pytest.raises(NotFoundError):
        revoke_invitation(office.team, office.admin, "x")
    for wrong in ({"days": 0}, {"days": 1_000}, {"email": "x"}, {"role": "owner"}):
        with pytest.raises(InvalidValueError):
            invite(office.team, office.admin, **wrong)
    with pytest.raises(NotFoundError):
        invite(office.team, office.admin, teams=["nowhere"])


def test_an_invitation_holds_until_it_has_made_a_member(office: Office) -> None:
    _, text = invite(office.team, office.admin, email="ada@acme.org")
    with pytest.raises(TakenError):
        accept(office.team, text, name="Ada again")
    _, nameless = invite(office.team, office.admin)
    with pytest.raises(InvalidValueError, match="name"):
        accept(office.team, nameless)
    assert accept(office.team, nameless, name="Bob")[0].name == "Bob"


def test_old_invitations_are_erased(office: Office) -> None:
    invite(office.team, office.admin)
    assert office.team.stores.records.expire(office.clock.at + timedelta(days=8)) == 0
    assert office.team.stores.records.expire(office.clock.at + timedelta(days=98)) == 1
    assert office.records.count(Invitation) == 0


# Sign-in


def claims(**fields: object) -> IdentityClaims:
    return IdentityClaims(
        **{
            "issuer": "https://id.acme.org", "subject": "7", "email": "bob@acme.org", "email_verified": True,
            "name": "Bob", **fields,
        }
    )  # fmt: skip


def test_nobody_becomes_a_member_by_signing_in_unless_the_domain_is_the_organisations(office: Office) -> None:
    for wrong in (claims(), claims(email="bob@evil.org"), claims(email="")):
        with pytest.raises(ForbiddenError, match="not a member"):
            sign_in(office.team, wrong)
    change_organisation(office.team, office.admin, domains=["@Acme.org"], sign_in_role="reader")
    for wrong in (claims(email_verified=False), claims(email="bob@notacme.org"), claims(email="bob@x.acme.org")):
        with pytest.raises(ForbiddenError):
            sign_in(office.team, wrong)
    member, token, text = sign_in(office.team, claims())
    assert (member.role, member.email, member.external_id) == ("reader", "bob@acme.org", "https://id.acme.org 7")
    assert token.expires_at - office.clock.at <= timedelta(hours=12)
    assert office.signed_in(text).member == member.id
    office.clock.advance(12 * 3600)
    with pytest.raises(NotSignedInError):
        office.signed_in(text)
    assert sign_in(office.team, claims(email="renamed@evil.org"))[0].id == member.id
    assert office.records.count(Member) == 2


def test_an_invited_person_is_recognised_by_a_verified_address_once(office: Office) -> None:
    with pytest.raises(ForbiddenError):
        sign_in(office.team, claims(email="ada@acme.org", email_verified=False))
    member, _, _ = sign_in(office.team, claims(email="Ada@Acme.org"))
    assert member.id == office.admin.member
    change_organisation(office.team, office.admin, domains=["acme.org"])
    for other in (
        claims(email="ada@acme.org", subject="8"),
        claims(email="ada@acme.org", issuer="https://id.evil.org"),
    ):
        with pytest.raises(ForbiddenError):  # an address that was given to somebody else is not the member's
            sign_in(office.team, other)
    assert office.records.count(Member) == 1


def test_a_closed_account_does_not_sign_in_by_its_provider(office: Office) -> None:
    change_organisation(office.team, office.admin, domains=["acme.org"])
    member, _, text = sign_in(office.team, claims())
    change_member(office.team, office.admin, member.id, active=False)
    with pytest.raises(ForbiddenError, match="not a member"):
        sign_in(office.team, claims())
    with pytest.raises(NotSignedInError):
        office.signed_in(text)


def test_claims_need_an_issuer_and_a_subject() -> None:
    for wrong in ({"issuer": ""}, {"subject": ""}, {"issuer": "a b"}):
        with pytest.raises(InvalidValueError):
            claims(**wrong)


# Teams and projects


def test_teams(office: Office) -> None:
    bob = office.join("Bob", "reviewer")
    team = add_team(office.team, office.admin, name="Payments", handle="@Acme/Payments", members=[bob.member])
    assert team.handle == "acme/payments"
    assert list_teams(office.team, bob) == [team]
    with pytest.raises(TakenError):
        add_team(office.team, office.admin, name="Payments")
    with pytest.raises(NotFoundError):
        add_team(office.team, office.admin, name="Other", members=["nobody"])
    for attempt in (
        lambda: add_team(office.team, bob, name="x"),
        lambda: change_team(office.team, bob, team.id, name="x"),
        lambda: remove_team(office.team, bob, team.id),
    ):
        with pytest.raises(ForbiddenError):
            attempt()
    changed = change_team(office.team, office.admin, team.id, name="Money", members=[])
    assert (changed.name, changed.members, changed.handle) == ("Money", (), "acme/payments")
    with pytest.raises(InvalidValueError):
        change_team(office.team, office.admin, team.id, id="x")
    remove_team(office.team, office.admin, team.id)
    with pytest.raises(NotFoundError):
        remove_team(office.team, office.admin, team.id)


def test_a_project_of_a_team_is_for_its_members_and_admins(office: Office) -> None:
    bob, cleo = office.join("Bob"), office.join("Cleo", "reviewer")
    team = add_team(office.team, office.admin, name="Payments", members=[bob.member])
    office.open_project()
    office.open_project(QUAY, teams=[team.id])
    bob, cleo = (access.authenticate(office.backend, office.clock, office.token_of(each)) for each in (bob, cleo))
    assert [each.id for each in list_projects(office.team, bob)] == [HARBOUR, QUAY]
    assert [each.id for each in list_projects(office.team, cleo)] == [HARBOUR]
    assert [each.id for each in list_projects(office.team, office.admin)] == [HARBOUR, QUAY]
    assert list_projects(office.team, office.admin, after=HARBOUR, limit=1)[0].id == QUAY
    assert [each.id for each in list_projects(office.team, cleo, limit=1)] == [HARBOUR]
    for attempt in (
        lambda: access.project_for(office.team.stores, cleo, "read", QUAY),
        lambda: add_project(office.team, cleo, QUAY, name="mine"),
    ):
        with pytest.raises(NotFoundError, match="no such project"):
            attempt()
    with pytest.raises(IllegalTransitionError):
        remove_team(office.team, office.admin, team.id)
    remaining = change_project(office.team, office.admin, QUAY, teams=[])
    assert remaining.teams == ()
    assert access.project_for(office.team.stores, cleo, "review", QUAY).id == QUAY


def test_pages_of_projects_skip_what_is_hidden(office: Office) -> None:
    bob = office.join("Bob")
    team = add_team(office.team, office.admin, name="Payments")
    names = [ProjectId(f"p{number:02}") for number in range(12)]
    for number, name in enumerate(names):
        office.open_project(name, **({"teams": [team.id]} if number % 3 else {}))
    assert [each.id for each in list_projects(office.team, bob, limit=3)] == ["p00", "p03", "p06"]
    assert [each.id for each in list_projects(office.team, bob, limit=3, after="p06")] == ["p09"]


def test_adding_a_project(office: Office) -> None:
    bob, reader = office.join("Bob"), office.join("Rita", "reader")
    project = add_project(office.team, bob, HARBOUR, name="Harbour", remote="github.com/acme/harbour")
    assert add_project(office.team, office.admin, HARBOUR, name="Another name") == project
    with pytest.raises(ForbiddenError):
        add_project(office.team, reader, QUAY, name="Quay")
    for wrong in ("", "a b", "x" * 301, ORGANISATION):
        with pytest.raises(InvalidValueError):
            add_project(office.team, bob, ProjectId(wrong), name="x")
    change_organisation(office.team, office.admin, limits=Limits(projects=1))
    with pytest.raises(QuotaExceededError):
        add_project(office.team, bob, QUAY, name="Quay")
    assert add_project(office.team, bob, HARBOUR, name="x") == project
    limited = office.signed_in(office.token_of(bob, projects=[HARBOUR]))
    with pytest.raises(ForbiddenError):
        add_project(office.team, limited, QUAY, name="Quay")


def test_changing_and_removing_a_project_needs_an_admin(office: Office) -> None:
    office.open_project()
    reviewer = office.join("Rob", "reviewer")
    for attempt in (
        lambda: change_project(office.team, reviewer, HARBOUR, codeowners="* @rob"),
        lambda: remove_project(office.team, reviewer, HARBOUR),
    ):
        with pytest.raises(ForbiddenError):
            attempt()
    for wrong in ({"codeowners": "x" * 3_000_001}, {"rules": ReviewRules(confirmations=-1)}, {"remote": "x" * 400}):
        with pytest.raises(InvalidValueError):
            change_project(office.team, office.admin, HARBOUR, **wrong)
    with pytest.raises(NotFoundError):
        change_project(office.team, office.admin, HARBOUR, teams=["none"])
    with pytest.raises(NotFoundError):
        change_project(office.team, office.admin, QUAY, name="x")
    remove_project(office.team, office.admin, HARBOUR)
    assert office.records.get(TeamProject, HARBOUR) is None


def test_the_organisations_own_lessons_are_for_all_to_read_and_for_reviewers_to_write(office: Office) -> None:
    bob, reviewer = office.join("Bob"), office.join("Rob", "reviewer")
    stores = office.team.stores
    assert access.project_for(stores, bob, "read", ORGANISATION).name == "Acme"
    with pytest.raises(ForbiddenError, match="reviewer"):
        access.project_for(stores, bob, "write", ORGANISATION)
    access.project_for(stores, reviewer, "write", ORGANISATION)
    for attempt in (
        lambda: change_project(office.team, office.admin, ORGANISATION, name="x"),
        lambda: remove_project(office.team, office.admin, ORGANISATION),
    ):
        with pytest.raises(InvalidValueError):
            attempt()


def test_the_organisations_settings_are_an_admins(office: Office) -> None:
    reviewer = office.join("Rob", "reviewer")
    with pytest.raises(ForbiddenError):
        change_organisation(office.team, reviewer, name="Mine")
    for wrong in (
        {"limits": Limits(lessons=-1)}, {"rules": ReviewRules(confirmations=-1)}, {"sign_in_role": "admin"},
        {"domains": ["not a domain"]}, {"name": ""}, {"id": "x"},
    ):  # fmt: skip
        with pytest.raises(InvalidValueError):
            change_organisation(office.team, office.admin, **wrong)
    assert change_organisation(office.team, office.admin, name="Acme & Co").name == "Acme & Co"


def test_names_lose_their_secrets(office: Office) -> None:
    bob = office.join(f"Bob {office.key}")
    assert "hf_p" not in get_member(office.team, bob, bob.member).name


def test_every_act_is_in_the_log_and_the_log_holds_no_words(office: Office) -> None:
    bob = office.join("Bob Smith", email="bob@acme.org")
    team = add_team(office.team, office.admin, name="Secret Payments", members=[bob.member])
    office.open_project(teams=[team.id])
    change_member(office.team, office.admin, bob.member, role="reader", name="Robert Smith")
    entries = audit.list_entries(office.team, office.admin, limit=100)
    actions = {each.action for each in entries}
    assert {
        "organisation.make", "member.add", "token.issue", "invitation.make", "invitation.accept", "team.add",
        "project.add", "project.change", "member.change",
    } <= actions  # fmt: skip
    text = repr(entries)
    for words in ("Smith", "bob@acme.org", "Payments", "Robert"):
        assert words not in text
    with pytest.raises(ForbiddenError):
        audit.list_entries(office.team, bob)
    assert office.records.count(Team) == 1
