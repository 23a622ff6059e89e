"""Accounts: who calls, tokens and invitations. The text of a token leaves the server once, in the answer that made it.

An answer with a secret is never stored for an idempotency key.
"""

from __future__ import annotations

from secrets import token_bytes

from holdfast.domain.team import Invitation, Token
from holdfast.domain.vocabulary import ProjectId
from holdfast.lean.plain import render_instant
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged, records_page
from holdfast.surfaces.rest.table import Op, OpAnswer
from holdfast.team import invitations, projects, tokens


def read_me(call: OpCall) -> OpAnswer:
    """Return who calls, and what the token may do."""
    caller = call.caller
    return OpAnswer(
        value={
            "organisation": projects.get_organisation(call.team, caller).name if caller.may("read") else "",
            "name": caller.name,
            "member": caller.member,
            "role": caller.role,
            "token": caller.token,
            "verbs": sorted(caller.verbs),
            "projects": list(caller.projects),
            "teams": list(caller.teams),
            "expires_at": render_instant(caller.expires_at) if caller.expires_at else None,
        }
    )


def list_tokens(call: OpCall) -> OpAnswer:
    """Return the caller's tokens, and for an admin everybody's."""

    def read(after: str, limit: int) -> list[Token]:
        return tokens.list_tokens(call.team, call.caller, after=after, limit=limit)

    return records_page(call, read, views.token)


def add_token(call: OpCall) -> OpAnswer:
    """Make a token, and return its text for the only time."""
    body = call.says(models.TokenIn)
    token, text = tokens.issue(
        call.team, call.caller, name=body.name, kind=body.kind, role=body.role,
        projects=[ProjectId(name) for name in body.projects], verbs=body.verbs, days=body.days,
    )  # fmt: skip
    return OpAnswer(value=views.token(token) | {"text": text})


def revoke_token(call: OpCall) -> OpAnswer:
    """Make a token useless from now on."""
    return OpAnswer(value=views.token(tokens.revoke(call.team, call.caller, call.parameters["token"])))


def list_invitations(call: OpCall) -> OpAnswer:
    """Return the invitations of the last months."""

    def read(after: str, limit: int) -> list[Invitation]:
        return invitations.list_invitations(call.team, call.caller, after=after, limit=limit)

    return records_page(call, read, views.invitation)


def add_invitation(call: OpCall) -> OpAnswer:
    """Make an invitation, and return the text of its link for the only time."""
    body = call.says(models.InvitationIn)
    invitation, text = invitations.invite(call.team, call.caller, **body.model_dump())
    return OpAnswer(value=views.invitation(invitation) | {"text": text})


def accept_invitation(call: OpCall) -> OpAnswer:
    """Make the reader of an invitation a member, and return the text of a token for the only time."""
    body = call.says(models.JoinIn)
    shared = call.shared
    team = invitations.open_team(shared.backend, shared.requests.clock, token_bytes, body.text)
    _, token, text = invitations.join(team, body.text, name=body.name, token_name=body.token_name)
    return OpAnswer(value=views.token(token) | {"text": text})


def revoke_invitation(call: OpCall) -> OpAnswer:
    """Erase an invitation; who accepted it stays a member."""
    invitations.revoke_invitation(call.team, call.caller, call.parameters["invitation"])
    return OpAnswer()


OPERATIONS = (
    Op(
        method="GET", path="/me", name="read_me", verb="read", call=read_me,
        summary="Read who you are, and what your token may do.", out=models.MeView,
    ),
    Op(
        method="GET", path="/tokens", name="list_tokens", verb="read", call=list_tokens, query=Paged,
        summary="List your tokens; an admin sees everybody's.", out=models.Listing[models.TokenView],
    ),
    Op(
        method="POST", path="/tokens", name="add_token", verb="read", call=add_token, body=models.TokenIn, status=201,
        summary="Make a token of your own, or for an admin a program's.", out=models.IssuedView, errors=(402, 404),
        notes="The answer has the token's text, which nobody can read again. It never may more than you.",
    ),
    Op(
        method="DELETE", path="/tokens/{token}", name="revoke_token", verb="read", call=revoke_token,
        summary="Revoke a token: it is useless from now on.", out=models.TokenView,
    ),
    Op(
        method="GET", path="/invitations", name="list_invitations", verb="administer", call=list_invitations,
        query=Paged, summary="List invitations.", out=models.Listing[models.InvitationView],
    ),
    Op(
        method="POST", path="/invitations", name="add_invitation", verb="administer", call=add_invitation,
        body=models.InvitationIn, status=201, summary="Invite a new member.", out=models.InvitedView, errors=(404,),
        notes="The answer has the text for the link, which nobody can read again. It makes a member once.",
    ),
    Op(
        method="POST", path="/invitations/accept", name="accept_invitation", verb=None, call=accept_invitation,
        body=models.JoinIn, status=201, errors=(401, 402), summary="Accept an invitation: become a member.",
        out=models.IssuedView,
        notes="The text of the invitation stands for a token. The answer has a personal token for the new member. In a "
        "browser the invitation's link does the same.",
    ),
    Op(
        method="DELETE", path="/invitations/{invitation}", name="revoke_invitation", verb="administer",
        call=revoke_invitation, summary="Revoke an invitation.", medium="none", status=204,
    ),
)  # fmt: skip
