"""Members and teams: who belongs to the organisation, with which role, and who works together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from holdfast.domain.team import Member, MemberId, Role, Team, TeamCaller, TeamProject, role_rank
from holdfast.errors import IllegalTransitionError, InvalidValueError, NotFoundError
from holdfast.ports.team import TeamServices
from holdfast.team.access import require
from holdfast.team.audit import record
from holdfast.team.names import checked_address, checked_handle, checked_name
from holdfast.team.quotas import check_count
from holdfast.team.tuning import MEMBERS_MOST

ADMINS = "admins"
"""What is held while it is decided whether an admin is left."""
OWN_FIELDS = frozenset({"name"})
"""What members may change of themselves. A handle or an address would make them owners of paths."""
MEMBER_FIELDS = OWN_FIELDS | {"email", "handles", "role", "active"}
TEAM_FIELDS = frozenset({"name", "handle", "members"})


def list_members(team: TeamServices, caller: TeamCaller, *, after: str = "", limit: int = 100) -> list[Member]:
    """Return the members in the order of their ids. Addresses and external ids are for admins: see `shown_to`."""
    require(caller, "read")
    return [shown_to(caller, member) for member in team.stores.records.find(Member, after=after, limit=limit)]


def get_member(team: TeamServices, caller: TeamCaller, id_: str) -> Member:
    """Return a member as the caller may see them. Raises NotFoundError."""
    require(caller, "read")
    return shown_to(caller, _member(team, id_))


def shown_to(caller: TeamCaller, member: Member) -> Member:
    """Return the member without their address, unless the caller is an admin or that member."""
    if caller.may("administer") or caller.member == member.id:
        return member
    return replace(member, email="", external_id="")


def add_member(
    team: TeamServices,
    actor: str,
    *,
    name: str,
    role: Role,
    email: str = "",
    external_id: str = "",
    teams: Sequence[str] = (),
) -> Member:
    """Store a new member who joins those teams. Call it inside `changing`.

    Raises TakenError for an address that a member has already, and QuotaExceededError.
    """
    check_count(team, Member)
    member = Member(
        id=team.clock.new_id(),
        at=team.clock.now(),
        name=checked_name(name),
        role=role,
        email=checked_address(email),
        external_id=external_id,
    )
    team.stores.records.add(member)
    for id_ in teams:
        joined = team.stores.records.get(Team, id_)
        if joined is not None:  # a team may be gone since somebody was invited to it
            team.stores.records.put(replace(joined, members=(*joined.members, MemberId(member.id))))
    record(team, actor, "member.add", member.id, role=role)
    return member


def change_member(team: TeamServices, caller: TeamCaller, id_: str, **changes: Any) -> Member:
    """Change a member's name, email, handles, role or whether the account is active.

    Members may change their own name; the rest needs an admin. A member whose account is closed can do nothing any
    more with any token. Raises ForbiddenError, NotFoundError, TakenError, and IllegalTransitionError where no admin
    would be left.
    """
    if caller.member != id_ or not OWN_FIELDS.issuperset(changes):
        require(caller, "administer")
    _require_fields(changes, MEMBER_FIELDS)
    with team.stores.changing():
        team.stores.records.hold(ADMINS)
        before = _member(team, id_)
        after = replace(before, **_checked(changes))
        if _is_admin(before) and not _is_admin(after) and _count_admins(team) == 1:
            raise IllegalTransitionError(
                "the organisation would have no admin any more", hint="make somebody else an admin first"
            )
        if after != before:
            team.stores.records.put(after)
            record(
                team, caller.actor, "member.change", id_, fields=",".join(sorted(changes)), role=after.role,
                active=str(after.active).lower(),
            )  # fmt: skip
        return after


def add_team(
    team: TeamServices, caller: TeamCaller, *, name: str, handle: str = "", members: Sequence[str] = ()
) -> Team:
    """Store a new team. Raises ForbiddenError, TakenError for its name, NotFoundError for a member."""
    require(caller, "administer")
    with team.stores.changing():
        made = Team(
            id=team.clock.new_id(),
            at=team.clock.now(),
            name=checked_name(name),
            handle=checked_handle(handle),
            members=_members(team, members),
        )
        team.stores.records.add(made)
        record(team, caller.actor, "team.add", made.id, members=len(made.members))
        return made


def list_teams(team: TeamServices, caller: TeamCaller, *, after: str = "", limit: int = 100) -> list[Team]:
    """Return the teams in the order of their ids."""
    require(caller, "read")
    return team.stores.records.find(Team, after=after, limit=limit)


def get_team(team: TeamServices, caller: TeamCaller, id_: str) -> Team:
    """Return a team. Raises NotFoundError."""
    require(caller, "read")
    return _team(team, id_)


def change_team(team: TeamServices, caller: TeamCaller, id_: str, **changes: Any) -> Team:
    """Change a team's name, handle or members. Raises as `add_team`."""
    require(caller, "administer")
    _require_fields(changes, TEAM_FIELDS)
    with team.stores.changing():
        team.stores.records.hold(f"team {id_}")
        before = _team(team, id_)
        fields = dict(changes)
        if "name" in fields:
            fields["name"] = checked_name(fields["name"])
        if "handle" in fields:
            fields["handle"] = checked_handle(fields["handle"])
        if "members" in fields:
            fields["members"] = _members(team, fields["members"])
        after = replace(before, **fields)
        if after != before:
            team.stores.records.put(after)
            record(team, caller.actor, "team.change", id_, fields=",".join(sorted(changes)), members=len(after.members))
        return after


def remove_team(team: TeamServices, caller: TeamCaller, id_: str) -> None:
    """Erase a team. Raises IllegalTransitionError while a project is only for it, which everybody would see then."""
    require(caller, "administer")
    with team.stores.changing():
        team.stores.records.hold(f"team {id_}")
        removed = _team(team, id_)
        if team.stores.records.count(TeamProject, {"teams": removed.id}):
            raise IllegalTransitionError("projects are for this team", hint="give them to another team first")
        team.stores.records.remove(Team, id_)
        record(team, caller.actor, "team.remove", id_)


def _member(team: TeamServices, id_: str) -> Member:
    member = team.stores.records.get(Member, id_)
    if member is None:
        raise NotFoundError("there is no such member")
    return member


def _team(team: TeamServices, id_: str) -> Team:
    record_ = team.stores.records.get(Team, id_)
    if record_ is None:
        raise NotFoundError("there is no such team")
    return record_


def _members(team: TeamServices, ids: Sequence[str]) -> tuple[MemberId, ...]:
    if len(ids) > MEMBERS_MOST:
        raise InvalidValueError(f"a team has at most {MEMBERS_MOST} members")
    return tuple(dict.fromkeys(MemberId(_member(team, id_).id) for id_ in ids))


def _require_fields(changes: dict[str, Any], fields: frozenset[str]) -> None:
    unknown = sorted(set(changes) - fields)
    if unknown:
        raise InvalidValueError(f"{unknown[0]} cannot be changed", hint=f"one of {', '.join(sorted(fields))}")


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    fields = dict(changes)
    if "name" in fields:
        fields["name"] = checked_name(fields["name"])
    if "email" in fields:
        fields["email"] = checked_address(fields["email"])
    if "handles" in fields:
        fields["handles"] = tuple(dict.fromkeys(filter(None, map(checked_handle, fields["handles"]))))
    if "role" in fields:
        role_rank(fields["role"])
    return fields


def _is_admin(member: Member) -> bool:
    return member.role == "admin" and member.active


def _count_admins(team: TeamServices) -> int:
    return sum(member.active for member in team.stores.records.find(Member, {"role": "admin"}))
