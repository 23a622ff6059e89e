"""The organisation's settings, and its projects."""

from __future__ import annotations

from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any

from holdfast.domain.project import ORGANISATION, PERSONAL
from holdfast.domain.team import Limits, Organisation, ReviewRules, Team, TeamCaller, TeamProject, role_rank
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.ports.team import TeamServices
from holdfast.team.access import organisation_of, project_for, require, require_unlimited
from holdfast.team.audit import record
from holdfast.team.names import checked_domain, checked_name
from holdfast.team.quotas import check_count
from holdfast.team.tuning import CODEOWNERS_BYTES, ID_LENGTH, MEMBERS_MOST

ORGANISATION_FIELDS = frozenset({"name", "rules", "limits", "domains", "sign_in_role"})
PROJECT_FIELDS = frozenset({"name", "remote", "root_commit", "teams", "rules", "codeowners"})


def get_organisation(team: TeamServices, caller: TeamCaller) -> Organisation:
    """Return the organisation's settings."""
    require(caller, "read")
    return organisation_of(team.stores)


def change_organisation(team: TeamServices, caller: TeamCaller, **changes: Any) -> Organisation:
    """Change the name, the rules of review, the limits, or who becomes a member by signing in."""
    require(caller, "administer")
    _require_fields(changes, ORGANISATION_FIELDS)
    fields = dict(changes)
    if "name" in fields:
        fields["name"] = checked_name(fields["name"])
    if "domains" in fields:
        fields["domains"] = tuple(dict.fromkeys(map(checked_domain, fields["domains"])))
    if "sign_in_role" in fields and role_rank(fields["sign_in_role"]) > role_rank("reviewer"):
        raise InvalidValueError("nobody becomes an admin by signing in", hint="reader, writer or reviewer")
    _require_numbers(fields.get("limits"))
    _require_numbers(fields.get("rules"))
    with team.stores.changing():
        team.stores.records.hold("organisation")
        before = organisation_of(team.stores)
        after = replace(before, **fields)
        if after != before:
            team.stores.records.put(after)
            record(team, caller.actor, "organisation.change", fields=",".join(sorted(changes)))
        return after


def add_project(
    team: TeamServices, caller: TeamCaller, id_: ProjectId, *, name: str, remote: str = "", root_commit: str = ""
) -> TeamProject:
    """Store a project, which every member sees. Needs a writer; the same project again is returned as it is.

    Raises NotFoundError for one that exists and that the caller may not see, QuotaExceededError, InvalidValueError.
    """
    require(caller, "write")
    require_unlimited(caller, "add projects")
    if not 0 < len(id_) <= ID_LENGTH or id_ == ORGANISATION or any(sign.isspace() for sign in id_):
        raise InvalidValueError(f"a project's id has 1 to {ID_LENGTH} characters and no spaces")
    if id_.startswith(PERSONAL):  # where a member's sealed lessons are
        raise InvalidValueError(f"a project's id does not begin with {PERSONAL}")
    with team.stores.changing():
        team.stores.records.hold("projects")
        known = team.stores.records.get(TeamProject, id_)
        if known is not None:
            return project_for(team.stores, caller, "read", id_)
        check_count(team, TeamProject)
        project = TeamProject(
            id=id_, at=team.clock.now(), name=checked_name(name), remote=_checked_text(remote),
            root_commit=_checked_text(root_commit),
        )  # fmt: skip
        team.stores.records.add(project)
        record(team, caller.actor, "project.add", id_)
        return project


def list_projects(team: TeamServices, caller: TeamCaller, *, after: str = "", limit: int = 100) -> list[TeamProject]:
    """Return the projects that the caller sees, in the order of their ids."""
    require(caller, "read")
    visible: list[TeamProject] = []
    while len(visible) < limit:
        page = team.stores.records.find(TeamProject, after=after, limit=limit)
        if not page:
            break
        visible += [project for project in page if caller.sees(project)]
        after = page[-1].id
    return visible[:limit]


def change_project(team: TeamServices, caller: TeamCaller, id_: ProjectId, **changes: Any) -> TeamProject:
    """Change a project's name, remote, root commit, teams, rules of review or CODEOWNERS.

    Needs an admin, because each of them decides who sees lessons or whose word counts.
    """
    _require_fields(changes, PROJECT_FIELDS)
    with team.stores.changing():
        team.stores.records.hold(f"project {id_}")
        before = project_for(team.stores, caller, "administer", id_)
        if id_ == ORGANISATION:
            raise InvalidValueError("the organisation's own lessons have no settings", hint="PATCH /v1/organisation")
        after = replace(before, **_checked(team, changes))
        if after != before:
            team.stores.records.put(after)
            record(team, caller.actor, "project.change", id_, fields=",".join(sorted(changes)))
        return after


def remove_project(team: TeamServices, caller: TeamCaller, id_: ProjectId) -> None:
    """Erase the project's entry and its documents. Its lessons are unreachable then; whoever calls this purges them."""
    with team.stores.changing():
        team.stores.records.hold(f"project {id_}")
        project_for(team.stores, caller, "administer", id_)
        if id_ == ORGANISATION:
            raise InvalidValueError("the organisation's own lessons stay as long as the organisation")
        team.stores.documents.remove_project(id_)
        team.stores.records.remove(TeamProject, id_)
        record(team, caller.actor, "project.remove", id_)


def _checked(team: TeamServices, changes: dict[str, Any]) -> dict[str, Any]:
    fields = dict(changes)
    if "name" in fields:
        fields["name"] = checked_name(fields["name"])
    for name in ("remote", "root_commit"):
        if name in fields:
            fields[name] = _checked_text(fields[name])
    if "teams" in fields:
        fields["teams"] = tuple(dict.fromkeys(fields["teams"]))
        if len(fields["teams"]) > MEMBERS_MOST:
            raise InvalidValueError(f"a project is for at most {MEMBERS_MOST} teams")
        for id_ in fields["teams"]:
            if team.stores.records.get(Team, id_) is None:
                raise NotFoundError("there is no such team")
    if len(fields.get("codeowners", "").encode()) > CODEOWNERS_BYTES:
        raise InvalidValueError(f"a CODEOWNERS file has at most {CODEOWNERS_BYTES:,} bytes")
    _require_numbers(fields.get("rules"))
    return fields


def _checked_text(text: str) -> str:
    text = text.strip()
    if len(text) > ID_LENGTH:
        raise InvalidValueError(f"a remote or a commit has at most {ID_LENGTH} characters")
    return text


def _require_fields(changes: dict[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(set(changes) - known)
    if unknown:
        raise InvalidValueError(f"{unknown[0]} cannot be changed", hint=f"one of {', '.join(sorted(known))}")


def _require_numbers(settings: Limits | ReviewRules | None) -> None:
    """Raise InvalidValueError for a negative number."""
    for field in fields_of(settings) if settings is not None else ():
        if getattr(settings, field.name) < 0:
            raise InvalidValueError(f"{field.name} cannot be negative", hint="0 is no limit")
