"""A server over a person's own file shows the projects of that file."""

from __future__ import annotations

from pathlib import Path

from holdfast import Memory
from holdfast.domain.team import AuditEntry, TeamProject
from holdfast.team.ownprojects import add_own_projects
from tests.codebase import Codebase
from tests.surfaces.rest.world import SHOP, open_world


def test_projects_of_the_file_are_added_once_and_for_admins_alone(home: Path, tmp_path: Path) -> None:
    with open_world(tmp_path) as world:
        with Memory(str(Codebase(tmp_path / "harbour").folder)) as memory:
            memory.remember("The lock opens at high water.")
            project = memory.location.project.id
        team = world.home.team
        assert add_own_projects(team) == [project]
        assert add_own_projects(team) == []
        record = team.stores.records.get(TeamProject, project)
        assert record is not None
        assert record.name == "harbour"
        assert world.call("GET", f"/projects/{project}", role="reviewer").status_code == 404
        lessons = world.call("GET", f"/projects/{project}/lessons").json()
        assert [lesson["insight"] for lesson in lessons["items"]] == ["The lock opens at high water."]
        entries: list[AuditEntry] = team.stores.audit.read(newest_first=True)
        assert (entries[0].actor, entries[0].action, entries[0].target) == ("system", "project.add", project)
        assert world.call("GET", f"/projects/{SHOP}", role="reader").status_code == 200
