"""The projects of a person's own memory file, which a server over that file shows without anybody adding them.

Only admins see them, as long as nobody gives them to others: what a person's own lessons and sessions hold was never
meant for a second member. `PATCH /v1/projects/{project}` with `teams` opens one.
"""

from __future__ import annotations

from holdfast.domain.project import ORGANISATION, PERSONAL
from holdfast.domain.team import NO_TEAM, ORGANISATION_RECORD, Organisation, TeamProject
from holdfast.domain.vocabulary import ProjectId
from holdfast.lessons.crossing import name_of
from holdfast.ports.team import TeamServices
from holdfast.team.audit import record_all
from holdfast.team.tuning import ID_LENGTH, NAME_LENGTH

SYSTEM = "system"


def add_own_projects(team: TeamServices) -> list[str]:
    """Add every project of the store that the organisation does not have yet; return their ids.

    Does nothing before the organisation is made.
    """
    stores = team.stores
    missing = [id_ for id_ in stores.store.list_projects() if _can_be_added(team, id_)]
    if not missing or stores.records.get(Organisation, ORGANISATION_RECORD) is None:
        return []
    with stores.changing():
        stores.records.hold("projects")
        added = stores.records.add_missing([_project(team, id_) for id_ in missing])
        if added:
            record_all(team, SYSTEM, "project.add", [(id_, {}) for id_ in added])
        return added


def _can_be_added(team: TeamServices, id_: ProjectId) -> bool:
    is_id = 0 < len(id_) <= ID_LENGTH and id_ != ORGANISATION and not id_.startswith(PERSONAL)
    is_id = is_id and not any(sign.isspace() for sign in id_)
    return is_id and team.stores.records.get(TeamProject, id_) is None


def _project(team: TeamServices, id_: ProjectId) -> TeamProject:
    name = name_of(team.stores.store, id_).strip()[:NAME_LENGTH] or id_[-8:]
    return TeamProject(id=id_, at=team.clock.now(), name=name, teams=(NO_TEAM,))
