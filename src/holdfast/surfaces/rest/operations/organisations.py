"""The organisation: its settings, its members and teams, and its audit log."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from holdfast.domain.team import Limits, Member, ReviewRules, Team
from holdfast.errors import InvalidValueError
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged, records_page
from holdfast.surfaces.rest.problems import RequestError
from holdfast.surfaces.rest.table import Op, OpAnswer, Strict
from holdfast.team import audit, members, projects


def read_organisation(call: OpCall) -> OpAnswer:
    """Return the organisation."""
    return OpAnswer(value=views.organisation(projects.get_organisation(call.team, call.caller)))


def change_organisation(call: OpCall) -> OpAnswer:
    """Change the organisation's settings."""
    body = call.says(models.OrganisationChange)
    changes = body.model_dump(exclude_none=True, exclude={"rules", "limits"})
    if body.rules is not None:
        changes["rules"] = ReviewRules(**body.rules.model_dump())
    if body.limits is not None:
        changes["limits"] = Limits(**body.limits.model_dump())
    return OpAnswer(value=views.organisation(projects.change_organisation(call.team, call.caller, **changes)))


def list_members(call: OpCall) -> OpAnswer:
    """Return the members, in the order of their ids."""

    def read(after: str, limit: int) -> list[Member]:
        return members.list_members(call.team, call.caller, after=after, limit=limit)

    return records_page(call, read, views.member)


def read_member(call: OpCall) -> OpAnswer:
    """Return a member."""
    return OpAnswer(value=views.member(members.get_member(call.team, call.caller, call.parameters["member"])))


def change_member(call: OpCall) -> OpAnswer:
    """Change a member."""
    changes = call.says(models.MemberChange).model_dump(exclude_none=True)
    member = members.change_member(call.team, call.caller, call.parameters["member"], **changes)
    return OpAnswer(value=views.member(members.shown_to(call.caller, member)))


def list_teams(call: OpCall) -> OpAnswer:
    """Return the teams, in the order of their ids."""

    def read(after: str, limit: int) -> list[Team]:
        return members.list_teams(call.team, call.caller, after=after, limit=limit)

    return records_page(call, read, views.team)


def add_team(call: OpCall) -> OpAnswer:
    """Store a team."""
    team = members.add_team(call.team, call.caller, **call.says(models.TeamIn).model_dump())
    return OpAnswer(value=views.team(team), location=f"/v1/teams/{team.id}")


def read_team(call: OpCall) -> OpAnswer:
    """Return a team."""
    return OpAnswer(value=views.team(members.get_team(call.team, call.caller, call.parameters["team"])))


def change_team(call: OpCall) -> OpAnswer:
    """Change a team."""
    changes = call.says(models.TeamChange).model_dump(exclude_none=True)
    return OpAnswer(value=views.team(members.change_team(call.team, call.caller, call.parameters["team"], **changes)))


def remove_team(call: OpCall) -> OpAnswer:
    """Erase a team; its members stay."""
    members.remove_team(call.team, call.caller, call.parameters["team"])
    return OpAnswer()


def list_audit(call: OpCall) -> OpAnswer:
    """Return the entries of the audit log, newest first."""
    query = call.asks(Paged)
    before = int(next(iter(call.position(query.cursor)), 0))
    entries = audit.list_entries(call.team, call.caller, before=before, limit=query.limit + 1)
    return OpAnswer(value=views.page(entries, query.limit, views.entry, lambda entry: call.cursor(entry.seq)))


class HeadQuery(Strict):
    """What was noted of the log earlier."""

    head: Annotated[str, Field(max_length=200, description="An earlier `head`, which the log has to contain")] = ""


def verify_audit(call: OpCall) -> OpAnswer:
    """Read the whole log and return what is wrong with it."""
    text = call.asks(HeadQuery).head
    try:
        noted = audit.parse_head(text) if text else None
    except InvalidValueError as exc:
        raise RequestError(410, str(exc), hint=exc.hint) from None
    verification = audit.verify(call.stores.audit, noted)
    return OpAnswer(
        value={"entries": verification.entries, "head": verification.head.render(), "faults": list(verification.faults)}
    )


OPERATIONS = (
    Op(
        method="GET", path="/organisation", name="read_organisation", verb="read", call=read_organisation,
        summary="Read the organisation's name, rules and limits.", out=models.OrganisationView,
    ),
    Op(
        method="PATCH", path="/organisation", name="change_organisation", verb="administer", call=change_organisation,
        body=models.OrganisationChange, summary="Change the organisation's name, rules or limits.",
        out=models.OrganisationView,
    ),
    Op(
        method="GET", path="/members", name="list_members", verb="read", call=list_members, query=Paged,
        summary="List the members.", out=models.Listing[models.MemberView],
    ),
    Op(
        method="GET", path="/members/{member}", name="read_member", verb="read", call=read_member,
        summary="Read a member.", out=models.MemberView,
    ),
    Op(
        method="PATCH", path="/members/{member}", name="change_member", verb="read", call=change_member,
        body=models.MemberChange, summary="Change a member's role, address or name, or close the account.",
        out=models.MemberView, notes="Everybody may change their own name. The rest is for admins.",
    ),
    Op(
        method="GET", path="/teams", name="list_teams", verb="read", call=list_teams, query=Paged,
        summary="List the teams.", out=models.Listing[models.TeamView],
    ),
    Op(
        method="POST", path="/teams", name="add_team", verb="administer", call=add_team, body=models.TeamIn,
        summary="Add a team.", out=models.TeamView, status=201, idempotent=True, errors=(404,),
    ),
    Op(
        method="GET", path="/teams/{team}", name="read_team", verb="read", call=read_team,
        summary="Read a team.", out=models.TeamView,
    ),
    Op(
        method="PATCH", path="/teams/{team}", name="change_team", verb="administer", call=change_team,
        body=models.TeamChange, summary="Change a team's name, handle or members.", out=models.TeamView,
    ),
    Op(
        method="DELETE", path="/teams/{team}", name="remove_team", verb="administer", call=remove_team,
        summary="Remove a team; its members stay.", medium="none", status=204,
    ),
    Op(
        method="GET", path="/audit", name="list_audit", verb="audit", call=list_audit, query=Paged,
        summary="List what was done in the organisation, newest first.", out=models.Listing[models.AuditView],
    ),
    Op(
        method="GET", path="/audit/verify", name="verify_audit", verb="audit", call=verify_audit, query=HeadQuery,
        summary="Check that nobody has changed the audit log.", out=models.VerificationView, errors=(410,),
    ),
)  # fmt: skip
